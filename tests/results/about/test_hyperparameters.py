import pandas as pd

from tsdg import methods
from tsdg.results.about.hyperparameters import render


def test_the_table_has_every_hyperparameter_of_every_method(tmp_path):
    csv, tex = render(tmp_path)
    table = pd.read_csv(csv, keep_default_na=False)
    assert set(table["method"]) == {method.title for method in methods.METHODS.values()}
    searched = {(m.title, name) for m in methods.METHODS.values() for name in m.search}
    assert set(zip(table["method"], table["hyperparameter"], strict=True)) - {("ERM", "")} == searched
    text = tex.read_text()
    assert r"IRM & joint & $\lambda$ & 100 & $10^{U(-1, 5)}$ \\" in text
    assert r" &  & discriminator steps & 1 & $\lfloor 2^{U(0, 3)} \rfloor$ \\" in text
    assert r"MTL & per domain & a & 0.99 & $\{0.5, 0.9, 0.99, 1\}$ \\" in text
