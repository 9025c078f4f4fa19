import pandas as pd

from tsdg import methods
from tsdg.results.about.hyperparameters import WORDS, render


def test_the_table_has_every_hyperparameter_of_every_method(tmp_path):
    csv, tex = render(tmp_path)
    table = pd.read_csv(csv, keep_default_na=False)
    assert set(table["method"]) == {method.title for method in methods.METHODS.values()}
    searched = {(m.title, name) for m in methods.METHODS.values() for name in m.search}
    assert set(zip(table["method"], table["hyperparameter"], strict=True)) - {("ERM", "")} == searched
    text = tex.read_text()
    assert text.isascii(), "what pdflatex has no letter for ends the document"
    assert r"IRM & weight of the term beside cross-entropy, $\lambda$ & $10^{U(-1, 5)}$ \\" in text
    assert r" & steps of the discriminator for one of the features & $\lfloor 2^{U(0, 3)} \rfloor$ \\" in text
    assert r"MTL & weight of the old in the moving average of embeddings & $\{0.5, 0.9, 0.99, 1\}$ \\" in text
    assert r"Correlation & weight of the term beside cross-entropy, $\lambda$ & $\{10^{-5}\}$ \\" in text
    assert {name for _, name in searched} == set(WORDS)
