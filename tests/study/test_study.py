"""The study: resolved as documented, refused in words."""

import re
from collections import Counter
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from tiny_study import FIGURES, LINE, PARAMS
from tsdg.errors import InputError
from tsdg.learning.backbones.options import OPTIONS
from tsdg.runs.recipe import Recipes
from tsdg.study.layout import Panel
from tsdg.study.params import read
from tsdg.study.run import Run
from tsdg.study.study import Study

PUBLISHED = Path(__file__).parents[2] / "params.yaml"


def set_in(tree, path, value):
    *parents, last = path.split(".")
    for key in parents:
        tree = tree[key]
    tree[last] = value


@pytest.mark.parametrize(
    ("name", "protocol", "reduced"),
    [
        (None, {"name": "paper", "seeds": 3, "draws": 20, "iterations": 3000}, False),
        ("single", {"name": "single", "seeds": 3, "draws": "fixed", "iterations": 3000}, True),
        ("quick", {"name": "quick", "seeds": 1, "draws": "fixed"}, True),
    ],
)
def test_published_protocols(name, protocol, reduced):
    study = Study.load(PUBLISHED, [f"protocol={name}"] if name else [])
    assert asdict(study.protocol).items() >= (protocol | {"reduced": reduced}).items()
    config = study.config("bearings", "erm")
    assert config["protocol"] == protocol["name"]
    if name != "quick":
        published = {"iterations": 3000, "batch_size": 32, "learning_rate": 1e-3, "weight_decay": 5e-5}
        published |= {"decay_at": 0.8, "decay": 0.1, "validation_fraction": 0.2, "split": "random"}
        assert config.items() >= published.items()
    runs = study.runs("bearings", ["ours-learned"])
    draws = 20 if protocol["draws"] == 20 else 1
    assert len(set(runs)) == len(runs) == 8 * protocol["seeds"] * draws


def test_fixed_draws_are_the_published_values():
    study = Study.load(PUBLISHED, ["protocol=single"])
    assert study.hparams(Run("bearings", "ours-learned", "A", 0, "fixed")) == {"lambda": 0.01, "xi": 0.1}


def test_every_published_variant_resolves():
    study = Study.load(PUBLISHED)
    recipes, identities = Recipes(study), {}
    for variant, row in study.variants.items():
        if "of" in row:  # has no training of its own
            continue
        config = study.config("bearings", variant)
        identities.setdefault(recipes.of_variant("bearings", variant).text, []).append(variant)
        if row["method"] == "estimator":
            assert (config["features"], config["arguments"]) == (row["features"], row["arguments"])
            continue
        assert (config["clusters"] is None) == ("metadata" not in row["method"])
        assert (config["augment"] is None) == ("augment" not in row)
        assert config["forward"] in ("joint", "per_domain")
    assert all(len(variants) == 1 for variants in identities.values()), "the same is trained twice"
    metadata = study.config("bearings", "ours-metadata")
    assert metadata["clusters"] == {name: int(name >= "E") for name in "ABCDEFGH"}
    assert metadata["augment"]["functions"] == ["mean_shift", "scaling", "masking"]


@pytest.mark.parametrize(
    ("overrides", "protocol", "setting"),
    [
        (["iterations=7"], "small", {"iterations": 7}),
        (["batch_size=3", "seeds=5"], "small", {"batch_size": 3, "iterations": 6}),
        (["iterations=7", "protocol=large"], "large", {"iterations": 7}),  # in whatever order
        (["protocol=large", "iterations=7"], "large", {"iterations": 7}),
        (["protocol=large"], "large", {"iterations": 40}),
        (["datasets.tiny.split=blocked"], "small", {"split": "blocked"}),
        (["protocols.small.iterations=9"], "small", {"iterations": 9}),
        (["variants.erm.forward=per_domain"], "small", {"forward": "per_domain"}),
        (["learning_rate=0.5", "learning_rate=0.25"], "small", {"learning_rate": 0.25}),
    ],
)
def test_overrides(params, overrides, protocol, setting):
    study = Study(params, overrides)
    config = study.config("tiny", "erm")
    assert config["protocol"] == protocol
    assert config.items() >= setting.items()
    assert study.protocol.iterations == config["iterations"]
    if "seeds=5" in overrides:
        assert study.protocol.seeds == 5
    assert params == PARAMS, "the caller's parameters changed"


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("iterations", "write key=value"),
        ("=3", "write key=value"),
        ("iteratons=3", "override 'iteratons=3': unknown key 'iteratons', did you mean 'iterations'?"),
        ("iterations=0", "iterations: 0 is wrong: a number of iterations from 1"),
        ("iterations=many", "'many' is wrong: a number of iterations"),
        ("draws=fixd", "`fixed`"),
        ("protocol=sngle", "'sngle' is not one"),
        ("protocol=larg", "did you mean 'large'?"),
        ("dataset.tiny.split=blocked", "did you mean 'datasets'?"),
        ("datasets.tny.split=blocked", "did you mean 'tiny'?"),
        (
            "datasets.tiny.split=bloked",
            "tiny.split: 'bloked' is not one of random, blocked, did you mean 'blocked'?",
        ),
        ("datasets.tiny.split=[", "not valid YAML"),
        ("device=gpu", "device: 'gpu' is not one of auto, cpu, cuda"),
    ],
)
def test_wrong_overrides_are_refused(params, override, words):
    with pytest.raises(InputError) as error:
        Study(params, [override])
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_the_input_of_a_network_decides_a_training_unless_it_is_the_window(params):
    params["datasets"] |= {
        "long": TABLE,
        "spectra": TABLE | {"input": "spectrum"},
        "part": {"of": "spectra", "input": "raw"},
    }
    params["variants"]["spectrogram"] = {
        "label": "S", "method": "erm", "input": "spectrogram", "backbone": "har",
    }  # fmt: skip
    study = Study(params)

    def network(dataset, variant):
        config = study.config(dataset, variant)
        return config["backbone"], config.get("input")

    assert network("spectra", "erm") == ("har", "spectrum")
    assert network("part", "erm") == network("long", "erm") == ("bearings", None)
    assert "input" not in study.config("part", "erm")
    assert network("spectra", "spectrogram") == network("part", "spectrogram") == ("har", "spectrogram")
    plain = Recipes(study).of_variant("tiny", "erm").text
    params["variants"]["erm"]["input"] = "zscore"
    assert Recipes(Study(params)).of_variant("tiny", "erm").text != plain


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("variants.erm.input", "spectrums", "'spectrums' is not one of raw, zscore, spectrum, spectrogram"),
        ("variants.erm.metod", "erm", "variants.erm: unknown key 'metod', did you mean 'method'?"),
        ("protokol", "small", "top level: unknown key 'protokol', did you mean 'protocol'?"),
        ("variants.erm.method", "ermm", "variants.erm: unknown method 'ermm', did you mean 'erm'?"),
        ("variants.vrex.hparams", {"lambd": 1}, "no hyperparameter 'lambd', did you mean 'lambda'?"),
        ("variants.erm.hparams", {"lambda": 1}, "erm has no hyperparameter 'lambda'; it has none"),
        ("variants.ours-learned.options", {"evry": 3}, "no option 'evry', did you mean 'every'?"),
        ("variants.ours-learned.options", {"rbf": "gama"}, "'gama', did you mean 'gamma'?"),
        ("variants.ours-learned.options", {"every": 0}, "whole number from 1"),
        (
            "variants.ours-metadata.options",
            {"distance": "kl"},
            "variants.ours-metadata: method 'ours-metadata'",
        ),
        ("variants.ours-metadata.options", {"distance": "kl"}, "give it `regularize: soft_labels`"),
        ("variants.ours-metadata.options", {"kernel": "gaussian", "level": "sample"}, "leave out `distance`"),
        ("variants.ours-learned.options", {"distance": "l2"}, "has no option 'distance'"),
        ("tables.tiny.rows", ["erm", "ours-lerned"], "did you mean 'ours-learned'?"),
        ("tables.tiny.dataset", "tny", "tables.tiny.dataset: 'tny' is not a data set, did you mean 'tiny'?"),
        ("tables.tiny.targets", ["E"], "tables.tiny.targets: 'E' is not a domain"),
        (
            "datasets.tiny.raw",
            "data/{x}",
            "datasets.tiny.raw: 'data/{x}' is wrong: the folder of the raw recordings",
        ),
        ("tables.tiny.ours", ["vrx"], "tables.tiny.ours: 'vrx' is not a row of the table"),
        ("tables.tiny.labels", {"emr": "None"}, "tables.tiny.labels: 'emr' is not a row of the table"),
        ("tables.tiny.metrics", ["acuracy"], "did you mean 'accuracy'?"),
        ("datasets.tiny.domains", {"A": {}, "B": {}}, "three domains or more"),
        ("datasets.tiny.augmentation.functions", ["scalin"], "did you mean 'scaling'?"),
        ("training.batch_size", 1, "training.batch_size: 1 is wrong: samples of each domain"),
        ("variants.ours-metadata.clusters", ["sit"], "no metadata 'sit', did you mean 'site'?"),
        ("variants.ours-metadata.clusters", [["A", "B"], ["C"]], "each of its domains once"),
        ("variants.ours-metadata.clusters", [["A", "B"], ["B", "C", "D"]], "each of its domains once"),
        ("variants.ours-metadata.clusters", [["A", "B"], ["C", "D", "E"]], "each of its domains once"),
        ("datasets.tiny.clusters", ["site", "site"], "'tiny' name a field twice: site, site; name it once"),
        ("variants.ours-metadata.clusters", ["load", "load"], "name a field twice"),
        ("datasets.tiny.domains_per_batch", 9, "datasets.tiny.domains_per_batch: 9 where 3 domains at most"),
        (
            "variants.erm",
            {"label": "MTL", "method": "mtl", "adapt": ["t3a"]},
            "give variant erm `adapt: []`",
        ),
        (
            "variants.erm",
            {"label": "TCN", "method": "erm", "backbone": "tcn", "adapt": ["all", "t3a"]},
            "adapt: all: backbone tcn of variant erm has no batch normalization",
        ),
        (
            "variants.erm",
            {"label": "Heads", "method": "erm", "backbone": {"name": "transformer", "heads": 5}},
            "variants.erm: backbone.heads: 5 does not divide the width, which is 64",
        ),
        (
            "datasets.tiny.backbone",
            {"name": "transformer", "width": 6},
            "datasets.tiny: backbone.heads: 4 does not divide the width, which is 6",
        ),
        ("training.domains_per_batch", 4, "domains_per_batch: 4 where 3 domains at most are sources"),
        (
            "tables.tiny.targets",
            ["D", "site=north", "A+B"],
            "tables.tiny.targets: 'site=north' and 'A+B' are",
        ),
        ("datasets.tiny.clusters", ["sit"], "no metadata 'sit', did you mean 'site'?"),
        ("variants.erm.clusters", ["site"], "variants.erm.clusters: erm uses none; leave them out"),
        ("variants.ours-learned.hparams", {"xi": 0}, "hparams.xi: 0 is wrong: a number above 0"),
        ("variants.ours-learned.hparams", {"lambda": -1}, "hparams.lambda: -1 is wrong: a number from 0"),
        ("datasets.tiny.domains.Average", {"site": "x", "load": 0}, "domains.Average: tables call the mean"),
        ("datasets.tiny.domains.Worst", {"site": "x", "load": 0}, "domains.Worst: tables call the worst"),
        ("tables.tiny.paper", "bearing", "'bearing' is not a table of results of the paper, did you"),
        ("tables.tiny.paper", "bearings-samples", "tables.tiny.paper: 'bearings-samples' is not a table"),
        (
            "tables.tiny.metrics",
            ["ece", "ece"],
            "tables.tiny.metrics: ['ece', 'ece'] is wrong: metrics, each",
        ),
        ("tables.tiny.labels", {"ours-learned": "ERM"}, "erm and ours-learned are both called 'ERM'"),
        ("tables.tiny.title", "", "tables.tiny.title: '' is wrong: text, which is printed"),
        ("variants.erm.label", " ", "variants.erm.label: ' ' is wrong: text, which is printed"),
    ],
)
def test_wrong_parameters_are_refused_by_place(params, path, value, words):
    params["tables"]["tiny"]["rows"].append("ours-metadata")
    set_in(params, path, value)
    with pytest.raises(InputError) as error:
        Study(params)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["clusters", "augmentation"])
def test_a_row_that_needs_what_its_data_set_lacks_is_refused(params, key):
    del params["datasets"]["tiny"][key]
    params["tables"]["tiny"] |= {"rows": ["ours-metadata"], "ours": []}
    with pytest.raises(InputError, match=rf"variants.ours-metadata.*datasets.tiny has.*{key}|`{key}`"):
        Study(params)


def test_a_group_has_numbers_by_domain_whose_name_is_theirs(params):
    tiny = params["tables"]["tiny"]
    del tiny["targets"]
    params["tables"] |= {"tiny": tiny | {"holdout": "site"}, "tiny_by_domain": tiny}
    with pytest.raises(InputError, match="tiny_by_domain: the name is taken, by the numbers of table"):
        Study(params)
    del params["tables"]["tiny_by_domain"]
    assert Study(params).panels("tiny")[0].domains == [
        ("site=north", "A"), ("site=north", "B"), ("site=south", "C"), ("site=south", "D"),
    ]  # fmt: skip


def test_the_papers_numbers_stand_beside_the_whole_data_set_of_their_kind_alone(params):
    params["datasets"]["part"] = {"of": "tiny", "domains": ["A", "B", "D"]}
    params["tables"]["tiny"]["paper"] = "bearings"
    Study(params)
    params["tables"]["tiny_comparison"] = params["tables"]["tiny"] | {"paper": "bearings"}
    with pytest.raises(InputError, match="taken, by the comparison of table tiny with the paper"):
        Study(params)
    del params["tables"]["tiny_comparison"]
    params["tables"]["tiny"] |= {"dataset": "part"}
    with pytest.raises(InputError, match="kind bearings with recordings of its own, which part is not"):
        Study(params)
    params["tables"]["tiny"]["paper"] = "bearings_locdrive"
    with pytest.raises(InputError, match="the domains A, B, C, D of a data set of kind bearings"):
        Study(params)
    params["datasets"]["part"]["domains"] = ["A", "B", "C", "D"]
    Study(params)


def test_rows_with_nothing_to_search_are_known_under_every_protocol(params):
    params["variants"]["ours-learned"]["hparams"] = {"lambda": 1}
    params["variants"]["fixed"] = params["variants"]["ours-learned"] | {
        "label": "Fixed", "hparams": {"lambda": 1, "xi": 1},
    }  # fmt: skip
    params["tables"]["tiny"]["rows"] = ["erm", "vrex", "ours-learned", "fixed"]
    for protocol in ("small", "large"):
        assert Study(params, [f"protocol={protocol}"]).layout("tiny").settled == ("erm", "fixed")


def test_a_table_beside_the_papers_says_how_its_data_differ(params):
    assert Study(params).layout("tiny").caption == "Tiny."
    params["tables"]["tiny"]["paper"] = "bearings"
    assert (
        "at 12 kHz here, there most likely at 48 kHz; a domain has all"
        in Study(params).layout("tiny").caption
    )
    params["datasets"]["tiny"]["prepare"] = {"preset": "published"}
    assert (
        Study(params)
        .layout("tiny")
        .caption.endswith(
            "paper's: a domain has 400 windows of each class here, there 4,000 (371 to 417 of each class)."
        )
    )
    params["datasets"]["tiny"]["prepare"]["per_class"] = "paper"
    assert Study(params).layout("tiny").caption == "Tiny."


def test_overrides_in_the_file_are_refused(params, tmp_path):
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params | {"set": ["iterations=9"]}))
    with pytest.raises(InputError, match=r"params.yaml: set: overrides are given on the command line"):
        Study.load(tmp_path / "params.yaml")


def test_an_absent_key_of_the_top_level_is_set_there(params):
    study = Study(params, ["ranking={tables: [tiny], metric: ece}"])
    assert study.ranking().layout.panels[0].metrics == ("ece",)
    study = Study(params, ["ranking={tables: [tiny], metric: {tiny: auc}}"])
    assert study.ranking().layout.panels[0].metrics == ("auc",)


def test_without_tables_it_says_so(params):
    with pytest.raises(InputError, match="'tiny' is not a table; there are none"):
        Study(params | {"tables": {}}).layout("tiny")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (
            "figures.gains.kind",
            "florest",
            "'florest' is not one of optimization, neighbours, reliability, confusion, forest, transfer",
        ),
        ("figures.gains.baselin", "erm", "figures.gains: unknown key 'baselin', did you mean 'baseline'?"),
        ("figures.gains.tables", ["tny"], "figures.gains.tables: 'tny' is not a table, did you mean 'tiny'?"),
        ("figures.gains.baseline", "ermm", "'ermm' is not a row of all its tables, did you mean 'erm'?"),
        ("figures.gains.tables", ["tiny", "twin"], "figures.gains.tables: a data set can have one panel"),
        ("figures.gains.tables", ["tiny", "stranger"], "no row is in all of tiny, stranger"),
        ("figures.near.variant", "erm", "figures.near.variant: erm learns no neighbours (erm)"),
        ("figures.near.kind", "optimization", "figures.near: row erm of its tables has no clusters"),
        ("figures.near.baseline", "erm", "figures.near: unknown key 'baseline'"),
        (
            "figures.tiny",
            {"kind": "forest", "tables": ["twin"], "baseline": "erm", "caption": ""},
            "of which it is not",
        ),
        ("ranking.tables", ["tinny"], "ranking.tables: 'tinny' is not a table, did you mean 'tiny'?"),
        ("ranking.metric", "acuracy", "did you mean 'accuracy'?"),
        ("ranking.metric", {"tiny": "acuracy"}, "ranking.metric.tiny: 'acuracy' is not one of"),
        ("ranking.metric", {"tinny": "auc"}, "ranking.metric: 'tinny' is not a table of the ranking"),
        ("ranking.metric", {}, "ranking.metric: tiny must have one too"),
        (
            "ranking.baseline",
            "emr",
            "ranking.baseline: 'emr' is not a row of the ranking, did you mean 'erm'?",
        ),
        ("ranking.rope", -1, "ranking.rope: -1 is wrong: a number from 0"),
        (
            "tables.tiny",
            {"dataset": "tiny", "rows": ["erm"], "metrics": ["ece"], "caption": "x"},
            "figures.gains: its tables share no row to compare with the baseline erm",
        ),
        (
            "ranking.tables",
            ["tiny", "derived"],
            "tiny and part are of the same recordings, which would count",
        ),
        ("tables.toy", {"dataset": "tiny", "rows": ["erm"], "metrics": ["ece"], "caption": "x"}, "is taken"),
        (
            "tables.ranking",
            {"dataset": "tiny", "rows": ["erm"], "metrics": ["ece"], "caption": "x"},
            "is taken",
        ),
    ],
)
def test_wrong_figures_and_rankings_are_refused_by_place(figure_params, path, value, words):
    params = figure_params
    params["tables"]["twin"] = dict(params["tables"]["tiny"])
    params["datasets"]["part"] = {"of": "tiny", "domains": ["A", "B", "D"]}
    params["tables"]["derived"] = {**params["tables"]["twin"], "dataset": "part"}
    params["tables"]["stranger"] = {"dataset": "part", "rows": ["vrex"], "metrics": ["ece"], "caption": "x"}
    set_in(params, path, value)
    with pytest.raises(InputError) as error:
        Study(params)
    assert any(words in line for line in str(error.value).splitlines())


def test_a_figure_and_the_ranking_join_the_tables_that_are_at_hand(figure_params):
    params = figure_params
    params["datasets"]["part"] = deepcopy(params["datasets"]["tiny"])
    rows = ["ours-learned", "erm", "vrex"]
    params["tables"]["more"] = {
        "dataset": "part",
        "rows": rows,
        "metrics": ["ece"],
        "caption": "x",
        "title": "Part",
    }
    params["figures"]["near"]["tables"] = params["ranking"]["tables"] = ["tiny", "more"]
    study = Study(params)
    near = study.figure("near")
    assert [panel.dataset for panel in near.layout.panels] == ["tiny", "part"]
    assert near.layout.rows == ("erm", "ours-learned")
    clusters = {"A": "north", "B": "north", "C": "south", "D": "south"}
    assert near.options["clusters"]["tiny"] == clusters
    ranking = study.ranking(["tiny"])
    assert (ranking.layout.rows, ranking.without) == (("erm", "ours-learned"), ("Part",))
    assert study.ranking().dropped == ("V-REx",)
    params["datasets"]["small"] = deepcopy(params["datasets"]["tiny"])
    params["tables"]["one"] = {
        "dataset": "small",
        "rows": ["erm"],
        "metrics": ["ece"],
        "caption": "x",
    }
    params["ranking"]["tables"] = ["tiny", "more", "one"]
    alike = Study(params).ranking()
    assert (alike.layout.rows, alike.others, alike.without) == (("erm", "ours-learned"), ("small",), ())
    params["tables"]["one"]["rows"] = ["erm", "ours-learned"]
    assert Study(params).ranking().others == ()
    assert study.document()[-4:] == ["tiny", "more", "ranking", "next_domain"]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ((["erm", "vrex"], ["erm", "vrex"], ["ours-metadata"], ["ours-learned"]), ["a", "b"]),
        ((["erm", "vrex"], ["erm", "vrex"], ["ours-metadata", "ours-learned"]) * 2, ["a", "b", "d", "e"]),
        ((["erm", "vrex"], ["ours-metadata", "ours-learned"]) * 2, ["a", "c"]),
        ((["erm", "vrex", "ours-metadata"], ["erm", "vrex"], ["erm"]), ["a", "b"]),
    ],
)
def test_tables_that_are_ranked_are_those_with_most_to_compare_in_any_order(params, rows, kept, order):
    names = "abcdef"[: len(rows)]
    params["datasets"] |= {name: deepcopy(params["datasets"]["tiny"]) for name in names}
    for name, own in zip(names, rows, strict=True):
        params["tables"][name] = {"dataset": name, "rows": own, "metrics": ["ece"], "caption": ""}
    params["ranking"] = {"tables": [*names][::order], "metric": "ece"}
    study = Study(params)
    for given in (None, [*names][::-order]):
        ranked = study.ranking(given)
        assert [panel.dataset for panel in ranked.layout.panels] == kept
        assert ranked.others == tuple(name for name in names if name not in kept)


def test_a_missing_key_is_named(params):
    del params["datasets"]["tiny"]["backbone"]
    with pytest.raises(InputError, match=r"datasets.tiny: key 'backbone' is missing"):
        Study(params)


@pytest.mark.parametrize(
    ("clusters", "expected"),
    [
        (["site"], [0, 0, 1, 1]),
        (["load"], [0, 1, 0, 1]),
        (["site", "load"], [0, 1, 2, 3]),
        ([["D", "A"], ["C", "B"]], [0, 1, 1, 0]),
    ],
)
def test_clusters(params, clusters, expected):
    params["datasets"]["tiny"]["clusters"] = clusters
    study = Study(params)
    assert study.config("tiny", "ours-metadata")["clusters"] == dict(zip("ABCD", expected, strict=True))
    assert study.config("tiny", "erm")["clusters"] is None
    params["variants"]["ours-metadata"]["clusters"] = ["load"]  # a variant's own go first
    assert list(Study(params).config("tiny", "ours-metadata")["clusters"].values()) == [0, 1, 0, 1]


def test_a_variant_may_choose_its_augmentation(params):
    params["variants"]["erm"]["augment"] = ["masking"]
    study = Study(params)
    assert study.config("tiny", "erm")["augment"] == {"functions": ["masking"], "statistics": "window"}
    assert study.config("tiny", "vrex")["augment"] is None


def test_draws_search_what_has_no_value_of_its_own(params):
    params["protocol"] = "large"
    params["variants"]["half"] = {"label": "x", "method": "ours-learned", "hparams": {"lambda": 0.5}}
    params["variants"]["full"] = {"label": "x", "method": "vrex", "hparams": {"lambda": 1, "annealing": 5}}
    study = Study(params)
    assert study.draws("erm") == [0]
    assert study.draws("full") == [0]
    assert study.draws("half") == study.draws("vrex") == [0, 1, 2]
    assert set(study.search("half")) == {"xi"}
    half, whole = (
        [study.hparams(Run("tiny", variant, "A", 0, draw)) for draw in range(3)]
        for variant in ("half", "ours-learned")
    )
    assert {values["lambda"] for values in half} == {0.5}
    assert [values["xi"] for values in half] == [values["xi"] for values in whole]
    assert len({values["xi"] for values in whole}) == 3
    table = study.hparams_table()
    assert table["variant"].value_counts().to_dict() == {
        "vrex": 6, "ours-metadata": 3, "ours-learned": 6, "half": 6, "full": 2,
    }  # fmt: skip


def test_draws_depend_on_the_studys_seed_not_on_run_seed_or_target(params):
    study, other = Study(params), Study(params, ["seed=1"])
    first = study.hparams(Run("tiny", "vrex", "A", 0, 1))
    assert study.hparams(Run("tiny", "vrex", "C", 2, 1)) == first
    assert other.hparams(Run("tiny", "vrex", "A", 0, 1)) != first
    assert first == Study(params, ["draws=50"]).hparams(Run("tiny", "vrex", "A", 0, 1))


def test_in_domainbeds_protocol_each_seed_draws_anew_and_first_the_published_values(params):
    params["protocols"]["anew"] = {"seeds": 2, "draws": 3, "search": "anew", "checkpoint": "best"}
    params["variants"]["linear"] = {
        "label": "L", "method": "estimator", "features": "statistics",
        "estimator": "sklearn.linear_model.LogisticRegression",
    }  # fmt: skip
    params["variants"]["own"] = {"label": "O", "method": "vrex", "hparams": {"lambda": 7}}
    study, shared = Study(params, ["protocol=anew"]), Study(params, ["protocol=large"])
    assert study.draws("erm") == study.draws("vrex") == [0, 1, 2]
    assert study.draws("linear") == [0]
    assert (study.checkpoint, shared.checkpoint) == ("best", "last")
    assert Study(params, ["protocol=anew", "checkpoint=last"]).checkpoint == "last"

    def drawn(study, seed, number, variant="vrex"):
        return tuple(study.hparams(Run("tiny", variant, "A", seed, number)).values())

    assert drawn(study, 0, 0) == drawn(study, 1, 0) == drawn(study, 0, "fixed")
    others = [drawn(study, seed, number) for seed in (0, 1) for number in (1, 2)]
    assert len({*others, *(drawn(shared, 0, number) for number in range(3)), drawn(study, 0, 0)}) == 8
    assert study.hparams(Run("tiny", "own", "A", 0, 2))["lambda"] == 7
    recipes = Recipes(study)
    assert recipes.of(Run("tiny", "vrex", "A", 1, 2)).hparams == study.hparams(Run("tiny", "vrex", "A", 1, 2))
    table = study.hparams_table().set_index(["variant", "seed", "draw", "hparam"])["value"]
    assert table["vrex", 1, 2, "lambda"] == study.hparams(Run("tiny", "vrex", "A", 1, 2))["lambda"]
    # ERM's draws differ by their seeds: no record of another protocol passes for one.
    run = Run("tiny", "erm", "A", 0, 0)
    assert recipes.of(run).difference(Recipes(shared).of(run)) == "the record has no config.seeds"
    with pytest.raises(InputError, match=r"protocols.anew.search: fixed hyperparameters are not drawn anew"):
        Study(params, ["protocol=anew", "draws=fixed"])


def test_a_table_needs_the_runs_of_its_rows_and_targets(params):
    runs = Study(params, ["protocol=large"]).table_runs("tiny")
    expected = [Run("tiny", "erm", t, s, 0) for t in "AD" for s in (0, 1)]
    expected += [Run("tiny", "ours-learned", t, s, d) for t in "AD" for s in (0, 1) for d in range(3)]
    assert Counter(runs) == Counter(expected)
    del params["tables"]["tiny"]["targets"]
    assert {run.target for run in Study(params).table_runs("tiny")} == set("ABCD")
    assert Study(params).layout("tiny").panels[0].targets == tuple("ABCD")


def test_a_table_may_have_several_data_sets(params):
    params["datasets"]["part"] = {"of": "tiny", "domains": ["D", "A", "B"]}
    one = {"dataset": "tiny", "metrics": ["accuracy"], "targets": ["A"], "title": "All"}
    two = {"dataset": "part", "metrics": ["ece"], "average_only": True}
    params["tables"]["tiny"] = {"rows": ["erm"], "caption": "Two.", "arrange": "beside", "panels": [one, two]}
    study = Study(params)
    expected = [Run("tiny", "erm", "A", 0, "fixed")]
    expected += [Run("part", "erm", target, 0, "fixed") for target in "DAB"]
    assert study.table_runs("tiny") == expected
    layout = study.layout("tiny")
    a, b, c, d = "A: north, load 0", "B: north, load 1", "C: south, load 0", "D: south, load 1"
    assert layout.panels == (
        Panel("tiny", "All", ("A",), ("accuracy",), legend=(a, b, c, d)),
        Panel("part", "part", ("D", "A", "B"), ("ece",), average_only=True, legend=(d, a, b)),
    )
    assert (layout.arrange, layout.labels) == ("beside", {"erm": "ERM"})
    params["tables"]["tiny"]["labels"] = {"erm": "Nothing"}
    assert Study(params).layout("tiny").labels == {"erm": "Nothing"}
    params["tables"]["tiny"] |= {"title": "Both", "dataset": "tiny"}
    with pytest.raises(InputError, match=r"tables.tiny.dataset: 'tiny' is wrong: in a table with `panels`"):
        Study(params)
    params["tables"]["tiny"] = {"rows": ["erm"], "caption": "None."}
    with pytest.raises(InputError, match=r"^tables.tiny: key 'dataset', 'metrics' is missing$"):
        Study(params)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("0.dataset", "tny", "tables.tiny.panels.0.dataset: 'tny' is not a data set, did you mean 'tiny'?"),
        ("1.targets", ["C"], "tables.tiny.panels.1.targets: 'C' is not a domain"),
        ("1.metrics", ["ece", "auc"], "tables.tiny: all panels must have equally many metrics"),
        ("1.dataset", "tiny", "tables.tiny: a data set can have one panel"),
        ("1.average", True, "panels.1: unknown key 'average', did you mean 'average_only'?"),
    ],
)
def test_wrong_panels_are_refused_by_place(params, path, value, words):
    params["datasets"]["part"] = {"of": "tiny", "domains": ["A", "B", "D"]}
    panels = [{"dataset": "tiny", "metrics": ["ece"]}, {"dataset": "part", "metrics": ["ece"]}]
    params["tables"]["tiny"] = {"rows": ["erm"], "caption": "Two.", "panels": panels}
    number, key = path.split(".")
    panels[int(number)][key] = value
    with pytest.raises(InputError) as error:
        Study(params)
    assert words in str(error.value)


def test_a_derived_data_set_is_the_other_but_for_its_own_values(params):
    own = {"split": "blocked", "clusters": ["load"], "backbone": "bearings", "standardize": "sources"}
    params["datasets"]["part"] = {"of": "tiny", "domains": ["D", "A", "B"], **own}
    params["datasets"]["same"] = {"of": "tiny"}
    study = Study(params)
    assert study.dataset("same") == study.dataset("tiny")
    tiny = params["datasets"]["tiny"]
    domains = {name: tiny["domains"][name] for name in "DAB"}
    assert study.dataset("part") == {**tiny, **own, "domains": domains}
    assert [study.prepared(name) for name in ("tiny", "part", "same")] == ["tiny"] * 3
    config = study.config("part", "ours-metadata")
    assert config["domains"] == ["D", "A", "B"]
    assert config["clusters"] == {"D": 0, "A": 1, "B": 0}
    assert {run.target for run in study.runs("part", ["erm"])} == set("ABD")
    same, tiny = (study.config(name, "ours-learned") for name in ("same", "tiny"))
    assert same == tiny


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"of": "tny"}, "datasets.part.of: 'tny' is not a data set with recordings of its own, did you mean"),
        ({"of": "part"}, "datasets.part.of: 'part' is not a data set with recordings of its own"),
        ({"of": "tiny", "domains": ["A", "B", "X"]}, "datasets.part.domains: 'X' is not a domain of tiny"),
        ({"of": "tiny", "domains": ["A", "B"]}, "three domains or more"),
        ({"of": "tiny", "raw": "there"}, "unknown key 'raw'; known are of, domains"),
        ({"of": "tiny", "prepare": {}}, "has that one's recordings and windows"),
        ({"of": "tiny", "splt": "random"}, "datasets.part: unknown key 'splt', did you mean 'split'?"),
        ({"of": "tiny", "split": "bloked"}, "did you mean 'blocked'?"),
        ("tiny", "datasets.part: 'tiny' should hold keys"),
    ],
)
def test_a_wrong_derived_data_set_is_refused_by_place(params, entry, words):
    params["datasets"]["part"] = entry
    with pytest.raises(InputError) as error:
        Study(params)
    assert words in str(error.value)


def test_clusters_by_lists_must_fit_a_derived_data_set(params):
    params["datasets"]["tiny"]["clusters"] = [["A", "B"], ["C", "D"]]
    params["datasets"]["part"] = {"of": "tiny", "domains": ["A", "B", "C"]}
    params["tables"]["tiny"] |= {"dataset": "part", "rows": ["ours-metadata"], "ours": [], "targets": ["A"]}
    with pytest.raises(InputError, match="clusters of data set 'part' must hold each of its domains once"):
        Study(params)
    params["datasets"]["part"]["clusters"] = [["A", "B"], ["C"]]
    assert Study(params).config("part", "ours-metadata")["clusters"] == {"A": 0, "B": 0, "C": 1}


def test_dump_is_read_back(params, tmp_path):
    study = Study(params, ["protocol=large", "iterations=9", "variants.erm.label=Größe 1"])
    (tmp_path / "dumped.yaml").write_text(study.dump(), encoding="utf-8")
    assert Study.load(tmp_path / "dumped.yaml").params == study.params
    published = Study.load(PUBLISHED)
    assert yaml.safe_load(published.dump()) == published.params


TABLE = {
    "kind": "table",
    "raw": "mine.csv",
    "source": "own",
    "prepare": {"window": 1024},
    "backbone": "auto",
    "split": "blocked",
    "domains": {name: {"user": number} for number, name in enumerate("ABC")},
}


def test_the_backbone_of_own_recordings_follows_from_their_windows(params):
    params["datasets"] |= {
        "long": TABLE,
        "short": TABLE | {"prepare": {"window": 1023}},
        "part": {"of": "short", "split": "random"},
    }
    study = Study(params)
    backbones = {name: study.config(name, "erm")["backbone"] for name in ("long", "short", "part")}
    assert backbones == {"long": "bearings", "short": "har", "part": "har"}
    assert "width" not in study.config("short", "erm")


def test_a_width_decides_a_training_unless_it_is_the_usual_one(params):
    params["datasets"] |= {
        "usual": TABLE | {"prepare": {"window": 9}, "width": 128},
        "narrow": TABLE | {"prepare": {"window": 9}, "width": 16},
        "part": {"of": "narrow"},
        "wide": {"of": "narrow", "width": 200},
    }
    study = Study(params)
    widths = {name: study.config(name, "erm").get("width") for name in ("usual", "narrow", "part", "wide")}
    assert widths == {"usual": None, "narrow": 16, "part": 16, "wide": 200}
    params["datasets"]["narrow"]["prepare"]["window"] = 1024
    with pytest.raises(InputError, match=r"datasets\.narrow: width: 16 is for backbone har, not bearings"):
        Study(params)


def test_options_of_a_backbone_decide_a_training_unless_they_are_the_usual_ones(params):
    params["datasets"] |= {"narrow": TABLE | {"prepare": {"window": 9}, "width": 16}}
    params["variants"] |= {
        name: {"label": name, "method": "erm", "backbone": backbone}
        for name, backbone in {
            "usual": {"name": "resnet1d", "width": 64, "norm": "batch"},
            "other": {"name": "resnet1d", "width": 8, "norm": "layer"},
            "har": {"name": "har", "width": 128},
            "tcn": "tcn",
        }.items()
    }
    study = Study(params)

    def network(variant, dataset="narrow"):
        config = study.config(dataset, variant)
        return {key: config[key] for key in ("backbone", *OPTIONS) if key in config}

    assert network("usual") == {"backbone": "resnet1d"}
    assert network("other") == {"backbone": "resnet1d", "width": 8, "norm": "layer"}
    assert network("har") == {"backbone": "har"}
    assert network("tcn") == {"backbone": "tcn"}
    assert network("erm") == {"backbone": "har", "width": 16}


@pytest.mark.parametrize(
    ("backbone", "words"),
    [
        ("resnet", "variants.erm.backbone: 'resnet' is not one of bearings, har, resnet1d"),
        ("auto", "variants.erm.backbone: 'auto' is not one of"),
        ({"width": 3}, "variants.erm.backbone: key 'name' is missing"),
        ({"name": "resnet"}, "variants.erm.backbone.name: 'resnet' is not one of"),
        ({"name": "tcn", "heads": 3}, "variants.erm.backbone: unknown key 'heads'; known are name, width"),
        ({"name": "resnet1d", "depth": 0}, "variants.erm.backbone.depth: 0 is wrong: a number of blocks"),
        (
            {"name": "har", "norm": "weight"},
            "backbone.norm: 'weight' is not one of batch, layer, instance",
        ),
    ],
)
def test_wrong_backbones_are_refused(params, backbone, words):
    params["variants"]["erm"]["backbone"] = backbone
    with pytest.raises(InputError) as error:
        Study(params)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("mine.prepare", {}, "datasets.mine.prepare: key 'window' is missing"),
        ("mine.prepare.window", 1, "1 is wrong: a number of time steps from 2"),
        ("mine.prepare.chanels", ["x"], "unknown key 'chanels', did you mean 'channels'?"),
        ("mine.prepare.classes", ["walk"], "labels such as [1, 2], or names for them"),
        ("mine.width", 0, "datasets.mine.width: 0 is wrong: channels of the har backbone"),
        ("mine.prepare.short", "cut", "'cut' is not one of drop, pad"),
        ("mine.source", "official", "datasets.mine.source: 'official' is not one of own, simulated"),
        ("tiny.source", "own", "datasets.tiny.source: 'own' is not one of official, simulated"),
        ("tiny.backbone", "auto", "datasets.tiny.backbone: 'auto' is not one of bearings, har"),
        ("mine.domains", {"A": {"user": 1}}, "three domains or more"),
        (
            "mine.domains",
            {"Zürich": {"user": 1}, "B": {"user": 2}, "C": {"user": 3}},
            "'Zürich' is wrong: a name has letters",
        ),
    ],
)
def test_wrong_entries_of_own_recordings_are_refused(params, path, value, words):
    params["datasets"]["mine"] = deepcopy(TABLE)
    set_in(params["datasets"], path, value)
    with pytest.raises(InputError) as error:
        Study(params)
    assert words in str(error.value)


def test_null_takes_an_entry_or_a_section_away(params):
    study = Study(params | deepcopy(FIGURES) | {"plugins": None}, ["figures.near=null", "ranking=null"])
    assert list(study.figures) == ["gains"]
    assert not {"ranking", "plugins"} & set(study.params)


def test_a_misspelt_estimator_is_told_before_its_keys(params):
    params["variants"]["row"] = LINE | {"method": "estimater"}
    with pytest.raises(InputError, match=r"^variants.row.method: 'estimater' .*did you mean 'estimator'\?"):
        Study(params)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"seed: 1\nprotocol: a\nseed: 2\n", "the key 'seed' is given twice in line 3"),
        (b"a: &a {seed: 1}\nb:\n  <<: *a\n", "merge key << is not known here; write the keys out in line 3"),
        (b"seed: 010\n", "the number 010 is read in different ways"),
        (b"seed: 0\ncaption: \xff\n", "line 2 is not UTF-8"),
        (b"seed: 0\nx: !!bool maybe\n", "no value of kind bool in line 2"),
        (b"seed: 0\nx: \x07\n", "line 2: special characters"),
        (b"x: " + b"[" * 3000 + b"]" * 3000, "nested too deeply"),
    ],
)
def test_yaml_that_is_read_in_different_ways_or_not_at_all_is_refused_by_line(tmp_path, text, words):
    (tmp_path / "params.yaml").write_bytes(text)
    with pytest.raises(InputError, match=re.escape(words)):
        read(tmp_path / "params.yaml")


def test_rows_that_show_the_same_of_the_same_trainings_are_ranked_once(figure_params):
    for name in ("first", "second"):
        figure_params["variants"][name] = {"label": name, "of": "erm", "weights": "averaged"}
    figure_params["training"]["average"] = {"from": 0.5}
    figure_params["tables"]["tiny"]["rows"] = ["first", "erm", "second", "ours-learned"]
    ranked = Study(figure_params).ranking()
    assert sorted(ranked.layout.rows) == ["erm", "first", "ours-learned"]
    assert (ranked.twice, ranked.apart) == (("second",), ())


def test_rows_of_different_levels_are_compared_by_claims_that_say_so_alone(figure_params):
    line = {"label": "Line", "method": "estimator", "estimator": "a.B", "features": "spectrum"}
    line["estimator"] = "sklearn.linear_model.LogisticRegression"
    figure_params["variants"] |= {"line": line, "own": line | {"label": "Own mean", "center": "domain"}}
    figure_params["tables"]["tiny"]["rows"] += ["line", "own"]
    claim = {"says": "Much.", "table": "tiny", "metric": "accuracy", "better": ["own"], "than": ["line"]}
    figure_params["claims"] = {"much": claim}
    figure_params["figures"] = {}
    with pytest.raises(
        InputError, match=r"claims\.much: rows: own \(windows .*\) and line \(nothing .*\) are not"
    ):
        Study(figure_params)
    figure_params["claims"]["much"]["across_levels"] = True
    study = Study(figure_params)
    ranked = study.ranking()
    assert ranked.layout.rows == ("erm", "line", "ours-learned")
    assert ranked.apart == ("Own mean",)
    figure_params["ranking"]["given"] = "domain"
    with pytest.raises(
        InputError, match="own alone is a row of all, of those to which the new domain gives domain"
    ):
        Study(figure_params)
    figure_params["ranking"]["given"] = "none"
    figure_params["figures"] = {
        "f": {"kind": "forest", "tables": ["tiny"], "baseline": "erm", "caption": "F."}
    }
    with pytest.raises(InputError, match=r"figures\.f\.tables: (erm|line) .* and own .* are not compared"):
        Study(figure_params)


def test_rows_that_are_taken_away_take_what_names_them_along(figure_params):
    tiny = figure_params["tables"]["tiny"]
    tiny |= {
        "rows": ["erm", "ours-learned", "vrex"], "ours": ["ours-learned"],
        "labels": {"vrex": "V", "ours-learned": "O"},
        "groups": [{"rows": {"ours-learned": "A"}}, {"rows": {"erm": "B", "vrex": "C"}}],
    }  # fmt: skip
    figure_params["claims"] = {
        name: {"says": name, "table": "tiny", "better": [row], "than": ["erm"], "metric": "accuracy"}
        for name, row in (("kept", "vrex"), ("lost", "ours-learned"))
    }
    assert Study(figure_params).notes == []
    study = Study(figure_params, ["tables.tiny.rows=[erm, vrex]"])
    table = study.tables["tiny"]
    assert (table["ours"], table["groups"]) == ([], [{"rows": {"erm": "B", "vrex": "C"}}])
    assert (table["labels"], list(study.params["claims"])) == ({"vrex": "V"}, ["kept"])
    assert "tables.tiny.ours: without ours-learned, no row of the table" in study.notes
    assert "claims.lost: left out, since ours-learned is no row of tiny" in study.notes
    tiny |= {"rows": ["erm", "ours-learned"], "labels": {}}  # no list names vrex, and nobody overrides
    assert list(Study(figure_params).params["claims"]) == ["lost"]
    alone = Study(figure_params, ["tables.tiny.rows=[erm]"])
    assert "ranking" not in alone.params
    assert "gains" not in alone.figures
    assert Study(yaml.safe_load(alone.dump())).notes == []


@pytest.mark.parametrize(
    ("rows", "lost"),
    [
        (
            "mimic.rows=[statistics-logistic, both-logistic, rsc, dann, cdann, coral, mmd, ours-learned]",
            ["mimic-rsc", "mimic-alignment"],
        ),
        ("mimic.rows=[ours-learned]", ["mimic-rsc", "mimic-alignment", "mimic-auc", "mimic-ece"]),
        ("optimization.rows=[clusters-4-fixed, clusters-2-fixed, clusters-1-fixed]", ["time"]),
    ],
)
def test_claims_that_need_rows_that_are_taken_away_are_left_out(rows, lost):
    claims = Study.load(PUBLISHED).params["claims"]
    study = Study.load(PUBLISHED, [f"tables.{rows}"])
    assert list(study.params["claims"]) == [name for name in claims if name not in lost]
    told = [note.split(":")[0] for note in study.notes if note.startswith("claims.")]
    assert told == [f"claims.{name}" for name in lost]


def test_all_problems_are_told_at_once(params):
    params["tables"]["tiny"]["rows"] = ["emr", "erm"]
    params["tables"]["other"] = params["tables"]["tiny"] | {"dataset": "tinny", "rows": ["erm"], "ours": []}
    with pytest.raises(InputError) as error:
        Study(params)
    first, *rest = str(error.value).splitlines()
    assert first == "2 problems:"
    assert [line.split(":")[0].strip() for line in rest] == ["tables.tiny.rows", "tables.other.dataset"]
