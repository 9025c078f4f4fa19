"""Training on a tiny data set: repeatable, alone as in a pack, blind to the target."""

import numpy as np
import pytest
import torch

from tiny_study import write_tiny
from tsdg.data.split import VALIDATION, split
from tsdg.data.windows import WindowedDataset, write
from tsdg.errors import InputError
from tsdg.learning import metrics
from tsdg.learning.inputs import Windows
from tsdg.learning.sources import Sources
from tsdg.results.kept import read_kept
from tsdg.runs import training
from tsdg.runs.record import typed
from tsdg.runs.training import Progress, Trainer, choose_device, recorded, train
from tsdg.runs.writing import plain
from tsdg.study.run import Run
from tsdg.study.study import Study

ITERATIONS = 12


def config(params, variant, **settings):
    overrides = [f"{key}={value}" for key, value in {"iterations": ITERATIONS, **settings}.items()]
    return Study(params, overrides).config("tiny", variant)


def run(variant, target="D", seed=0, draw=0):
    return Run("tiny", variant, target, seed, draw)


HPARAMS = {
    "erm": {},
    "vrex": {"lambda": 3.0, "annealing": 5.0},
    "ours-metadata": {"lambda": 0.05},
    "ours-learned": {"lambda": 0.05, "xi": 2.0},
    "mtl": {"a": 0.9},
}


def one(dataset, params, variant, target="D", seed=0, **settings):
    """The record of one run."""
    runs = [run(variant, target, seed)]
    return train(dataset, runs, config(params, variant, **settings), [HPARAMS[variant]])[0]


def packed(dataset, runs, settings, hparams):
    """Records of runs trained together, and their weights."""
    records, _, after = trained(dataset, runs, settings, hparams)
    return records, after


def trained(dataset, runs, settings, hparams):
    """Records of runs trained together, and their weights before and after."""
    targets, seeds = zip(*((run.target, run.seed) for run in runs), strict=True)
    trainer = Trainer(dataset, Windows(dataset), settings, targets=targets, seeds=seeds, hparams=hparams)
    network = trainer.method.network
    before = {name: value.clone() for name, value in network.state_dict().items()}
    records = [
        recorded(run, settings, values, dataset, "cpu", result)
        for run, values, result in zip(runs, hparams, trainer.train(), strict=True)
    ]
    return records, before, {name: value.clone() for name, value in network.state_dict().items()}


def lasting(record):
    """A record without what may differ when it is made again: time and machine."""
    return {key: value for key, value in record.items() if key not in ("timing", "machine")}


def alike(ours, theirs, tolerance, place="record"):
    """Same shape, same texts, numbers within a tolerance."""
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), place
        for key, value in ours.items():
            alike(value, theirs[key], tolerance, f"{place}.{key}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), place
        for i, (value, other) in enumerate(zip(ours, theirs, strict=True)):
            alike(value, other, tolerance, f"{place}.{i}")
    elif isinstance(ours, float):
        assert theirs == pytest.approx(ours, abs=tolerance, rel=tolerance), place
    else:
        assert ours == theirs, place


@pytest.mark.parametrize("variant", ["vrex", "ours-learned"])
def test_a_record_repeats(tiny, params, variant):
    first, second = (one(tiny, params, variant, evaluate_every=5) for _ in range(2))
    assert lasting(first) == lasting(second)
    typed(plain(first))
    assert [c["iteration"] for c in first["checkpoints"]] == [5, 10, 12]
    other = one(tiny, params, variant, seed=1, evaluate_every=5)
    assert other["losses"] != first["losses"]


def test_the_evaluation_interval_changes_nothing(tiny, params):
    seldom, often = (one(tiny, params, "ours-learned", evaluate_every=every) for every in (ITERATIONS, 1))
    assert len(often["checkpoints"]) == ITERATIONS
    assert often["checkpoints"][-1] == seldom["checkpoints"][-1]
    assert often["losses"] == seldom["losses"]
    assert often["neighbours"] == seldom["neighbours"]


def test_draws_with_seeds_of_their_own_share_the_split_and_nothing_else(tiny, params, monkeypatch):
    splits = []

    class Watched(Sources):
        def __init__(self, *args, seed, **others):
            splits.append(seed)
            super().__init__(*args, seed=seed, **others)

    monkeypatch.setattr(training, "Sources", Watched)
    runs = [run("erm", draw=0), run("erm", draw=1), run("erm", seed=1, draw=0)]
    alike = train(tiny, runs[:2], config(params, "erm", iterations=2), [{}, {}])
    assert alike[0]["losses"] == alike[1]["losses"]
    apart = train(tiny, runs, config(params, "erm", iterations=2) | {"seeds": "by draw"}, [{}] * 3)
    assert len({str(record["losses"]["loss"]) for record in [*apart, alike[0]]}) == 4
    assert splits == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("variant", ["erm", "vrex", "ours-metadata", "ours-learned"])
def test_a_pack_of_three_is_three_runs(tiny, params, variant):
    """In single precision: losses and metrics within 1e-3, weights within 5 % of how far they moved.

    Adam's first steps have the size of the learning rate wherever the gradient is not zero, were it rounding.
    """
    settings = config(params, variant, iterations=6, evaluate_every=3)
    runs = [run(variant, "C", 0), run(variant, "B", 0), run(variant, "C", 1, draw=1)]
    hparams = [{key: value * factor for key, value in HPARAMS[variant].items()} for factor in (1, 2, 0.4)]
    records, weights = packed(tiny, runs, settings, hparams)
    for r in range(3):
        [alone], initial, own = trained(tiny, runs[r : r + 1], settings, hparams[r : r + 1])
        assert (records[r]["run"], records[r]["hparams"]) == (alone["run"], alone["hparams"])
        assert records[r]["sources"] == alone["sources"] == [d for d in "ABCD" if d != runs[r].target]
        alike(alone["losses"], records[r]["losses"], 1e-3)
        for checkpoint, expected in zip(records[r]["checkpoints"], alone["checkpoints"], strict=True):
            for name in ("validation", "target"):
                for key in ("accuracy", "nll", "brier", "n"):
                    theirs, ours = expected[name], checkpoint[name]
                    if name == "target":
                        theirs, ours = {"target": theirs}, {"target": ours}
                    alike({d: s[key] for d, s in theirs.items()}, {d: s[key] for d, s in ours.items()}, 1e-3)
        assert records[r].get("neighbours") == alone.get("neighbours")
        for name, value in own.items():
            moved = (value - initial[name]).norm()
            assert moved > 0
            assert (weights[name][r] - value[0]).norm() < 0.05 * moved, name


def test_a_pack_evaluates_domains_of_different_sizes_as_alone(tiny, params):
    """MTL looks at all windows of a domain together; what fills up the smaller domain has no part in it."""
    params["variants"]["mtl"] = {"label": "MTL", "method": "mtl", "options": {"embedding": "average"}}
    settings = config(params, "mtl", iterations=1, learning_rate="1.0e-9")
    runs, hparams = [run("mtl", "C"), run("mtl", "B")], [HPARAMS["mtl"]] * 2
    records, _ = packed(tiny, runs, settings, hparams)
    for r in range(2):
        [alone], _ = packed(tiny, runs[r : r + 1], settings, hparams[:1])
        ours, theirs = records[r]["checkpoints"][0], alone["checkpoints"][0]
        nll = {name: scores["nll"] for name, scores in theirs["validation"].items()}
        alike(nll, {name: scores["nll"] for name, scores in ours["validation"].items()}, 2e-6)
        alike(theirs["target"]["nll"], ours["target"]["nll"], 2e-6)


def test_train_records_each_run_in_order_as_soon_as_it_is_done(tiny, params):
    runs = [run("erm", "D", 0), run("erm", "A", 1)]
    told = []
    records = train(tiny, runs, config(params, "erm"), [{}, {}], finished=lambda *pair: told.append(pair))
    assert [pair[0] for pair in told] == runs
    assert [pair[1] for pair in told] == records
    assert [record["run"]["target"] for record in records] == ["D", "A"]
    assert lasting(records[1]) == lasting(one(tiny, params, "erm", "A", 1) | {"run": records[1]["run"]})


@pytest.mark.parametrize("variant", ["erm", "ours-learned"])
def test_the_targets_data_has_no_part_in_training(tiny, params, variant, tmp_path):
    other = WindowedDataset.load(write_tiny(tmp_path / "other", changed="D"))
    settings, hparams = config(params, variant), [HPARAMS[variant]]
    ([mine], weights), ([theirs], same) = (
        packed(d, [run(variant)], settings, hparams) for d in (tiny, other)
    )
    assert mine["data"]["fingerprint"] != theirs["data"]["fingerprint"]
    assert mine["losses"] == theirs["losses"]
    assert all(torch.equal(value, same[name]) for name, value in weights.items())
    ours, changed = mine["checkpoints"][-1], theirs["checkpoints"][-1]
    assert ours["validation"] == changed["validation"]
    assert ours["temperature"] == changed["temperature"]
    assert ours["target"] != changed["target"]
    [source], _ = packed(tiny, [run(variant, "A")], settings, hparams)
    [changed], _ = packed(other, [run(variant, "A")], settings, hparams)
    assert source["losses"] != changed["losses"], "as a source, D has a part"


def with_gaps(folder, changed=()):
    """The tiny data set with a fifth of its values missing."""
    data = WindowedDataset.load(write_tiny(folder / "whole", changed))
    signals = np.where(np.random.default_rng(0).random(data.signals.shape) < 0.2, np.nan, data.signals)
    card = {key: data.card[key] for key in ("name", "classes", "channels", "window", "domains")}
    write(folder / "gaps", [signals.astype(np.float32)], windows=data.windows, card=card)
    return WindowedDataset.load(folder / "gaps")


def test_filling_and_standardization_are_blind_to_the_target(params, tmp_path):
    params["datasets"]["tiny"]["standardize"] = "sources"
    mine, theirs = with_gaps(tmp_path / "a"), with_gaps(tmp_path / "b", changed="D")
    settings, hparams = config(params, "ours-learned"), [HPARAMS["ours-learned"]]
    ([ours], weights), ([others], same) = (
        packed(data, [run("ours-learned")], settings, hparams) for data in (mine, theirs)
    )
    assert ours["losses"] == others["losses"]
    assert all(torch.equal(value, same[name]) for name, value in weights.items())
    assert ours["checkpoints"][-1]["validation"] == others["checkpoints"][-1]["validation"]
    assert ours["checkpoints"][-1]["target"] != others["checkpoints"][-1]["target"]
    [source], _ = packed(mine, [run("ours-learned", "A")], settings, hparams)
    [changed], _ = packed(theirs, [run("ours-learned", "A")], settings, hparams)
    assert source["losses"] != changed["losses"], "as a source, D has a part"


def test_runs_of_a_pack_are_standardized_each_by_its_own_sources(params, tmp_path):
    params["datasets"]["tiny"]["standardize"] = "sources"
    data, settings = with_gaps(tmp_path), config(params, "erm")
    runs = [run("erm", "A"), run("erm", "D", seed=1)]
    together, _ = packed(data, runs, settings, [{}, {}])
    for one_run, record in zip(runs, together, strict=True):
        [alone], _ = packed(data, [one_run], settings, [{}])
        assert record["losses"]["loss"] == pytest.approx(alone["losses"]["loss"], rel=5e-3)


def test_missing_values_without_standardization_are_refused(params, tmp_path):
    with pytest.raises(InputError, match="missing values; give it `standardize: sources`"):
        one(with_gaps(tmp_path), params, "erm")


def test_all_of_the_target_and_the_validation_windows_are_evaluated(tiny, params):
    records, _ = packed(tiny, [run("erm", d, 2) for d in "ABCD"], config(params, "erm"), [{}] * 4)
    parts = split(tiny.windows, fraction=0.2, seed=2)
    sizes = tiny.windows.groupby("domain").size()
    validating = tiny.windows[parts == VALIDATION].groupby("domain").size()
    assert sizes.nunique() == 4
    for record in records:
        target, checkpoint = record["run"]["target"], record["checkpoints"][-1]
        assert checkpoint["target"]["n"] == sizes[target]
        assert sum(checkpoint["target"]["reliability"]["count"]) == sizes[target]
        assert {name: s["n"] for name, s in checkpoint["validation"].items()} == {
            name: validating[name] for name in record["sources"]
        }


def test_the_network_learns_and_neighbours_are_recorded(tiny, params):
    params["variants"]["ours-learned"]["options"]["every"] = 10
    record = one(tiny, params, "ours-learned", iterations=40, learning_rate=0.003, evaluate_every=40)
    scores = record["checkpoints"][-1]["validation"]
    assert sum(s["accuracy"] for s in scores.values()) / 3 > 0.9
    assert [entry["iteration"] for entry in record["neighbours"]] == [0, 10, 20, 30]
    for entry in record["neighbours"]:
        assert list(entry["of"]) == ["A", "B", "C"]
        for domain, neighbour in entry["of"].items():
            assert neighbour in record["sources"]
            assert neighbour != domain
    assert "neighbours" not in one(tiny, params, "erm", iterations=1)


def test_without_a_target_every_domain_trains_and_is_validated(tiny, params):
    windows, settings = Windows(tiny), config(params, "erm", iterations=1)
    [result] = Trainer(tiny, windows, settings, targets=[None], seeds=[0], hparams=[{}]).train()
    [checkpoint] = result.checkpoints
    assert result.sources == list(checkpoint["validation"]) == list("ABCD")
    assert "target" not in checkpoint


def test_what_a_method_keeps_is_recorded_and_displaces_nothing(tiny, params, monkeypatch):
    monkeypatch.setattr(
        "tsdg.methods.erm.ERM.kept", lambda self, r, names: {"weights": dict.fromkeys(names, r)}
    )
    assert one(tiny, params, "erm", iterations=1)["weights"] == {"A": 0, "B": 0, "C": 0}
    monkeypatch.setattr("tsdg.methods.erm.ERM.kept", lambda self, r, names: {"losses": {}})
    with pytest.raises(InputError, match="'erm': `kept` has 'losses', a field that every record has"):
        one(tiny, params, "erm", iterations=1)


def test_losses_are_recorded_as_means_over_intervals(tiny, params):
    losses, first = (one(tiny, params, "vrex", iterations=n, decay_at=0.9) for n in (53, 50))
    losses, first = losses["losses"], first["losses"]
    assert (losses["iteration"], first["iteration"]) == ([50, 53], [50])
    assert losses["loss"][1] < losses["loss"][0]
    for name in ("loss", "cross_entropy", "penalty"):
        assert losses[name][0] == pytest.approx(first[name][0], rel=0.05)


def test_a_diverging_run_is_a_record_and_leaves_its_pack_alone(tiny, params):
    settings = config(params, "ours-metadata", evaluate_every=6)
    runs = [run("ours-metadata", "D", 0, 0), run("ours-metadata", "D", 1, 1), run("ours-metadata", "A", 0, 2)]
    fine, bad = {"lambda": 0.05}, {"lambda": 1e39}  # infinite in single precision
    records, weights = packed(tiny, runs, settings, [fine, bad, fine])
    sound, expected = packed(tiny, runs, settings, [fine, fine, fine])
    assert [record["status"] for record in records] == ["finished", "diverged", "finished"]
    assert records[1]["diverged_at"] == 1
    assert records[1]["losses"]["loss"] == [None]
    assert all("diverged_at" not in record for record in (records[0], records[2]))
    for r in (0, 2):
        alike(sound[r]["losses"], records[r]["losses"], 1e-5)
        alike(sound[r]["checkpoints"], records[r]["checkpoints"], 1e-4)
        for name, value in expected.items():
            torch.testing.assert_close(weights[name][r], value[r], atol=1e-5, rtol=1e-4, msg=name)


def test_where_all_runs_diverge_training_ends_early(tiny, params):
    class Count(Progress):
        done = 0

        def advance(self, iterations):
            self.done += iterations

    progress = Count()
    settings = config(params, "erm", iterations=100000, evaluate_every=100000, learning_rate="1.0e+30")
    [record] = train(tiny, [run("erm")], settings, [{}], progress=progress)
    assert record["status"] == "diverged"
    assert 1 < record["diverged_at"] <= progress.done < 1000
    typed(plain(record))


def test_progress_tells_every_iteration_and_checkpoint(tiny, params):
    class Note(Progress):
        def __init__(self):
            self.done, self.seen = 0, []

        def advance(self, iterations):
            self.done += iterations

        def checkpoint(self, name, checkpoint):
            self.seen.append((name, checkpoint["iteration"]))

    note = Note()
    runs = [run("erm", "D"), run("erm", "B")]
    train(tiny, runs, config(params, "erm", evaluate_every=8), [{}, {}], progress=note)
    assert note.done == 2 * ITERATIONS
    d, b = ("erm target D seed 0 draw 0", "erm target B seed 0 draw 0")
    assert note.seen == [(d, 8), (d, 12), (b, 8), (b, 12)]


def test_an_interruption_passes_through_and_finishes_nothing(tiny, params):
    class Stop(Progress):
        def checkpoint(self, name, checkpoint):
            raise KeyboardInterrupt

    told = []
    with pytest.raises(KeyboardInterrupt):
        train(
            tiny, [run("erm")], config(params, "erm", evaluate_every=5), [{}],
            progress=Stop(), finished=lambda *pair: told.append(pair),
        )  # fmt: skip
    assert not told


def test_domains_of_the_study_that_are_not_prepared_are_refused(tiny, params):
    params["datasets"]["tiny"]["domains"]["E"] = {"site": "west", "load": 0}
    with pytest.raises(InputError, match="no domain 'E'; it has A, B, C, D"):
        one(tiny, params, "erm")


def test_only_the_studys_domains_take_part(tiny, params):
    del params["datasets"]["tiny"]["domains"]["B"]
    assert one(tiny, params, "erm", iterations=1)["sources"] == ["A", "C"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused():
    assert choose_device("auto").type == choose_device("cpu").type == "cpu"
    with pytest.raises(InputError, match="--device cpu"):
        choose_device("cuda")


@pytest.mark.parametrize("variant", ["erm", "ours-learned"])
def test_a_group_is_held_out_as_a_whole_and_told_by_domain(tiny, params, variant):
    settings = config(params, variant)
    group = run(variant, "site=south")
    [record] = train(tiny, [group], settings, [HPARAMS[variant]], groups={"site=south": ("C", "D")})
    typed(plain(record))
    assert record["sources"] == ["A", "B"]
    target = record["checkpoints"][-1]["target"]
    by_domain = target["domains"]
    assert by_domain.keys() == {"C", "D"}
    assert target["n"] == sum(scores["n"] for scores in by_domain.values())
    right = sum(scores["n"] * scores["accuracy"] for scores in by_domain.values())
    assert right == pytest.approx(target["n"] * target["accuracy"])
    assert "domains" not in one(tiny, params, variant)["checkpoints"][-1]["target"]


def test_some_domains_an_iteration_are_alone_as_in_a_pack_and_change_nothing_where_they_are_all(tiny, params):
    def records(variant, **more):
        runs = [run(variant, target, seed) for target, seed in (("A", 0), ("D", 1))]
        return packed(tiny, runs, config(params, variant) | more, [HPARAMS[variant]] * 2)[0]

    def numbers(record):
        return record["losses"], record["checkpoints"]

    whole = records("ours-learned")
    assert list(map(numbers, whole)) == list(map(numbers, records("ours-learned", domains_per_batch=3)))
    some = records("ours-learned", domains_per_batch=2)
    assert all(numbers(a) != numbers(b) for a, b in zip(whole, some, strict=True))
    for record, (target, seed) in zip(some, (("A", 0), ("D", 1)), strict=True):
        typed(plain(record))
        assert len(record["checkpoints"][-1]["validation"]) == 3
        alone = one(tiny, params, "ours-learned", target, seed, domains_per_batch=2)
        alike(lasting(plain(record)), lasting(plain(alone)), 1e-4)


def test_some_domains_are_a_setting_of_the_data_set_or_of_all(params):
    plain_config = config(params, "erm")
    assert "domains_per_batch" not in plain_config
    params["training"]["domains_per_batch"] = 2
    assert config(params, "erm")["domains_per_batch"] == 2
    params["datasets"]["tiny"]["domains_per_batch"] = 3
    assert config(params, "erm") == plain_config | {"domains_per_batch": 3}
    params["datasets"]["tiny"]["domains_per_batch"] = 1
    with pytest.raises(InputError, match=r"domains_per_batch: 1: variant ours-learned learns from 2 domains"):
        Study(params)


AVERAGED = {"average": {"from": 0.5}}


@pytest.mark.parametrize("variant", ["erm", "ours-learned"])
def test_averaging_changes_nothing_of_the_training_and_is_judged_beside_it(tiny, params, variant):
    def record(average, **settings):
        own = config(params, variant, **settings) | average
        return train(tiny, [run(variant)], own, [HPARAMS[variant]])[0]

    without, both = record({}, evaluate_every=3), record(AVERAGED, evaluate_every=3)
    typed(plain(both))
    assert both["losses"] == without["losses"]
    averaged = [checkpoint.pop("averaged", None) for checkpoint in both["checkpoints"]]
    assert both["checkpoints"] == without["checkpoints"]
    assert averaged[:2] == [None, None], "the mean begins after half of the iterations"
    assert averaged[-1].keys() == {"temperature", "validation", "target"}
    assert averaged[-1]["target"]["nll"] != both["checkpoints"][-1]["target"]["nll"]
    seldom = record(AVERAGED)["checkpoints"][-1]
    assert seldom["averaged"] == averaged[-1], "how often is evaluated changes nothing"


def test_the_averaged_weights_are_the_mean_over_iterations_alone_as_in_a_pack(tiny, params):
    settings = config(params, "ours-metadata", evaluate_every=4) | AVERAGED
    runs = [run("ours-metadata", "C", 0), run("ours-metadata", "B", 1)]

    def trainer(some):
        return Trainer(
            tiny, Windows(tiny), settings, targets=[one.target for one in some],
            seeds=[one.seed for one in some], hparams=[HPARAMS["ours-metadata"]] * len(some),
        )  # fmt: skip

    together, taken = trainer(runs), []
    update = together.method.update

    def watched(*batch):
        losses = update(*batch)
        taken.append([p.detach().double().clone() for p in together.method.network.parameters()])
        return losses

    together.method.update = watched
    results = together.train()
    means = [torch.stack(values).mean(0) for values in zip(*taken[ITERATIONS // 2 :], strict=True)]
    for value, mean in zip(together.averaged.network.parameters(), means, strict=True):
        torch.testing.assert_close(value.double(), mean, atol=1e-6, rtol=1e-5)
    for r, one_run in enumerate(runs):
        [alone] = trainer([one_run]).train()
        alike(
            alone.checkpoints[-1]["averaged"]["target"]["nll"],
            results[r].checkpoints[-1]["averaged"]["target"]["nll"],
            1e-3,
        )


def test_averaging_is_a_setting_of_a_variant_or_of_all(params):
    assert "average" not in config(params, "erm")
    params["training"]["average"] = {"from": 0.2}
    params["variants"]["erm"]["average"] = False
    params["variants"]["vrex"]["average"] = {"from": 0}
    found = [config(params, variant).get("average") for variant in ("erm", "vrex", "ours-learned")]
    assert found == [None, {"from": 0}, {"from": 0.2}]
    params["variants"]["erm"]["average"] = {"from": 1}
    with pytest.raises(InputError, match=r"variants.erm.average: .*share of the iterations"):
        Study(params)


@pytest.mark.parametrize("average", [{}, AVERAGED])
def test_probabilities_are_kept_of_what_may_be_reported_and_give_its_metrics(tiny, params, average):
    settings = config(params, "erm", evaluate_every=1, learning_rate=0.02) | average
    [lean] = train(tiny, [run("erm")], settings, [{}])
    [record] = train(tiny, [run("erm")], settings | {"keep": "probabilities"}, [{}])
    read = typed(plain(record))
    ours, theirs = record["checkpoints"], read.checkpoints
    families = [(ours, theirs)]
    if average:
        averaged = [c["averaged"] for c in ours if "averaged" in c]
        families.append((averaged, [c.averaged for c in theirs if c.averaged]))
    for written, typed_ones in families:
        best = max(written, key=training.source_accuracy)
        for checkpoint, evaluation in zip(written, typed_ones, strict=True):
            reported = checkpoint is best or checkpoint is written[-1]
            assert ("probabilities" in checkpoint) == reported
            found = read_kept(read, evaluation)
            scores = checkpoint["validation"] | {"D": checkpoint["target"]}
            assert found.keys() == (scores.keys() if reported else set())
            for domain, (rows, labels, known) in found.items():
                table = tiny.windows.iloc[rows]
                assert (table["domain"] == domain).all()
                assert (table["label"] == labels).all()
                assert len(known) == scores[domain]["n"]
                expected = {name: scores[domain][name] for name in ("accuracy", "nll", "brier")}
                told = metrics.evaluate(known, labels)
                assert {name: told[name] for name in expected} == pytest.approx(expected, abs=1e-3)
            checkpoint.pop("probabilities", None)
    assert record["checkpoints"] == lean["checkpoints"], "else they change nothing"
