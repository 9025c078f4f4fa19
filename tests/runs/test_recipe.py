"""A recipe changes with what may change a number, and only then; and it says in what a record differs."""

from dataclasses import replace

import pytest

from tiny_study import PARAMS
from tsdg.runs.recipe import Recipe, Recipes
from tsdg.study.jobs import training_jobs
from tsdg.study.run import Run
from tsdg.study.study import Study


def set_in(tree, path, value):
    *parents, last = path.split(".")
    for key in parents:
        tree = tree[key]
    tree[last] = value


def text(params):
    return Recipes(Study(params)).of_variant("tiny", "ours-learned").text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("protocols", {"renamed": PARAMS["protocols"]["small"]}),
        ("variants.ours-learned.label", "Ours"),
        ("tables.tiny.caption", "Other."),
        ("tables.tiny.rows", ["erm", "vrex", "ours-learned"]),
        ("runs_per_job", 4),
        ("checkpoint", "best"),
        ("device", "auto"),
        ("protocols.small.seeds", 3),
        ("datasets.tiny.raw", "elsewhere"),
        ("variants.erm.forward", "per_domain"),
        ("seed", 9),  # of draws; this protocol takes the published values
    ],
)
def test_the_text_ignores_what_changes_no_result(params, path, value):
    before = text(params)
    set_in(params, path, value)
    if path == "protocols":
        params["protocol"] = "renamed"
    assert text(params) == before


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("protocols.small.iterations", 7),
        ("training.learning_rate", 0.01),
        ("variants.ours-learned.options", {"every": 4, "rbf": "gamma"}),
        ("variants.ours-learned.augment", False),
        ("variants.ours-learned.augment", ["masking"]),
        ("variants.ours-learned.hparams", {"xi": 3}),
        ("variants.ours-learned.forward", "per_domain"),
        ("datasets.tiny.augmentation.masked", 0.2),
        ("datasets.tiny.split", "blocked"),
        ("datasets.tiny.domains.E", {"site": "west", "load": 0}),
    ],
)
def test_the_text_changes_with_what_may_change_a_result(params, path, value):
    before = text(params)
    set_in(params, path, value)
    assert text(params) != before


def test_the_text_follows_the_studys_seed_where_draws_are_searched(params):
    def identities(variant):
        overrides = (["protocol=large"], ["protocol=large", "seed=1"], ["protocol=large", "draws=9"])
        return [Recipes(Study(params, more)).of_variant("tiny", variant).text for more in overrides]

    first, other_seed, more_draws = identities("ours-learned")
    assert first == more_draws != other_seed
    assert len(set(identities("erm"))) == 1


def test_the_same_job_of_two_studies_has_two_identities(params):
    jobs = [
        training_jobs(Study(params, ["runs_per_job=4", change]))[0]
        for change in ("iterations=36", "iterations=36", "iterations=24")
    ]
    assert len({job.log for job in jobs}) == 1
    one, again, other = (
        Recipes(Study(params, [change])).identity(job.runs)
        for job, change in zip(jobs, ("iterations=36", "iterations=36", "iterations=24"), strict=True)
    )
    assert one == again != other
    assert one != Recipes(Study(params, ["iterations=36"])).identity(jobs[0].runs[:1])


RECIPE = Recipe({"protocol": "x", "iterations": 3, "split": "random"}, {"lambda": 0.1}, "code", "data")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"config": RECIPE.config | {"iterations": 4}}, "config.iterations was 4 and is 3"),
        ({"config": {"protocol": "x", "iterations": 3}}, "the record has no config.split"),
        ({"config": RECIPE.config | {"fuse": 1}}, "the study has no config.fuse"),
        ({"hparams": {"lambda": 0.2}}, "hparams.lambda was 0.2 and is 0.1"),
        ({"data": "other"}, "it was trained on other data"),
        ({"code": "other"}, "it was trained by other code"),
        ({"config": RECIPE.config | {"protocol": "renamed"}}, None),
        ({"config": RECIPE.config | {"average": {"from": 0.2}, "keep": "probabilities"}}, None),
        ({}, None),
    ],
)
def test_how_a_record_differs(changed, words):
    assert RECIPE.difference(replace(RECIPE, **changed)) == words


def test_a_record_without_what_is_asked_for_beside_is_outdated():
    averaged = replace(RECIPE, config=RECIPE.config | {"average": {"from": 0.2}})
    assert averaged.difference(RECIPE) == "the record has no config.average"
    later = replace(RECIPE, config=RECIPE.config | {"average": {"from": 0.5}})
    assert averaged.difference(later) == "config.average.from was 0.5 and is 0.2"


def test_data_that_are_not_prepared_are_not_compared():
    assert replace(RECIPE, data=None).difference(RECIPE) is None


def test_the_toy_study_has_recipes_as_all_others(toy_study):
    recipes = Recipes(toy_study)
    first, second = (recipes.of(Run("toy", "ours", "D", seed, "fixed")) for seed in (0, 1))
    assert (first.config, first.hparams) == (second.config, second.hparams)
    assert first.config["risk_threshold"] == 0.2
    assert first.data != second.data
    assert first.code != recipes.of(Run("tiny", "ours-learned", "A", 0, "fixed")).code
    changed = Recipes(Study(toy_study.params, ["toy.variants.ours.hparams.lambda=2"]))
    assert changed.of_variant("toy", "ours").text != recipes.of_variant("toy", "ours").text
    assert changed.of_variant("toy", "erm").text == recipes.of_variant("toy", "erm").text
