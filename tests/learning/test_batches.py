"""Minibatches: the right windows, of the right part, whatever else is trained beside."""

import torch
from held_out import sources

from tsdg.data.split import TRAIN, split
from tsdg.learning.augment import Augmentation
from tsdg.learning.batches import minibatches
from tsdg.learning.inputs import Windows


def batches(dataset, runs, iterations=130, batch_size=7, **kwargs):
    """Starts ``(I, R, D, B)`` and labels of the windows drawn for (target, seed) runs."""
    parts = [sources(dataset, target, seed) for target, seed in runs]
    seeds = [seed for _, seed in runs]
    drawn = list(
        minibatches(Windows(dataset), parts, seeds, iterations=iterations, batch_size=batch_size, **kwargs)
    )
    assert len(drawn) == iterations
    return torch.stack([x for x, _ in drawn])[..., 0, 0].long(), torch.stack([y for _, y in drawn])


def test_batches_hold_training_windows_of_each_source_and_nothing_else(counting):
    starts, labels = batches(counting, [("C", 3)])
    parts = split(counting.windows, fraction=0.25, seed=3, method="random")
    table = counting.windows.set_index("start").assign(part=parts)
    assert starts.shape == (130, 1, 3, 7)
    for d, name in enumerate("ABD"):
        drawn = table.loc[starts[:, 0, d].flatten().tolist()]
        assert set(drawn["domain"]) == {name}
        assert set(drawn["part"]) == {TRAIN}
        assert drawn["label"].tolist() == labels[:, 0, d].flatten().tolist()
        available = ((table["domain"] == name) & (table["part"] == TRAIN)).sum()
        assert drawn.index.nunique() == available  # 910 draws leave none of some 40 out


def test_windows_are_drawn_with_replacement_and_uniformly(counting):
    starts, _ = batches(counting, [("C", 0)], iterations=400, batch_size=16)
    for d in range(3):
        rows = starts[:, 0, d]
        assert any(len(set(batch.tolist())) < 16 for batch in rows)
        _, counts = rows.flatten().unique(return_counts=True)
        expected = rows.numel() / len(counts)
        assert (counts - expected).abs().max() < 6 * expected**0.5


def test_a_run_draws_alone_what_it_draws_in_a_pack(counting):
    runs = [("A", 0), ("D", 1), ("D", 0)]
    starts, labels = batches(counting, runs)
    for r, run in enumerate(runs):
        alone, own_labels = batches(counting, [run])
        assert torch.equal(alone[:, 0], starts[:, r])
        assert torch.equal(own_labels[:, 0], labels[:, r])
    assert not torch.equal(starts[:, 1], starts[:, 2])  # another seed


def some_of(dataset, targets, domains, augmentation=None, iterations=130):
    """Batches of so many domains for runs whose seeds are 0, 1, ..."""
    parts = [sources(dataset, target, seed) for seed, target in enumerate(targets)]
    return list(
        minibatches(
            Windows(dataset), parts, range(len(parts)),
            iterations=iterations, batch_size=7, augmentation=augmentation, domains=domains,
        )
    )  # fmt: skip


def test_domains_that_are_drawn_have_the_windows_that_they_would_have_among_all(counting):
    every, some = (some_of(counting, "CA", domains) for domains in (3, 2))
    for (x, y), (x_some, y_some, present) in zip(every, some, strict=True):
        for r in range(2):
            assert torch.equal(x[r, present[r]], x_some[r])
            assert torch.equal(y[r, present[r]], y_some[r])


def test_domains_are_drawn_alike_often_by_each_run_alone(counting):
    places = torch.stack([present for _, _, present in some_of(counting, "CA", 2)])
    assert places.shape == (130, 2, 2)
    assert (places[..., 0] < places[..., 1]).all()
    for r in range(2):
        counts = places[:, r].flatten().bincount(minlength=3)
        assert (counts - 130 * 2 / 3).abs().max() < 25
    assert not torch.equal(places[:, 0], places[:, 1])  # another seed
    alone = torch.stack([present for _, _, present in some_of(counting, "C", 2)])
    assert torch.equal(alone[:, 0], places[:, 0])


def test_domains_that_are_drawn_are_augmented_as_they_would_be_among_all(counting):
    def drawn(domains):
        functions = ["mean_shift", "scaling"]
        augmentation = Augmentation([0], [["B", "C", "D"]], functions=functions, scale=(0.5, 2))
        return some_of(counting, "A", domains, augmentation, 30)

    for (x, _), (x_some, _, present) in zip(drawn(None), drawn(2), strict=True):
        assert torch.equal(x[0, present[0]], x_some[0])


def test_a_domains_batches_do_not_depend_on_the_target(counting):
    with_d, with_b = (batches(counting, [(target, 4)])[0][:, 0] for target in "DB")
    assert torch.equal(with_d[:, 0], with_b[:, 0])  # A
    assert torch.equal(with_d[:, 2], with_b[:, 1])  # C


def test_a_longer_training_begins_alike(counting):
    long, short = (batches(counting, [("A", 0)], iterations=i)[0] for i in (130, 37))
    assert torch.equal(long[:37], short)


def test_augmentation_changes_signals_but_not_the_windows_drawn(counting):
    augmentation = Augmentation([0], [["B", "C", "D"]], functions=["mean_shift"], mean=0.0)
    windows, parts = Windows(counting), [sources(counting, "A")]
    kwargs = {"iterations": 3, "batch_size": 8}
    plain = list(minibatches(windows, parts, [0], **kwargs))
    augmented = list(minibatches(windows, parts, [0], **kwargs, augmentation=augmentation))
    for (x, y), (z, same) in zip(plain, augmented, strict=True):
        assert torch.equal(y, same)
        centred = x - x.mean(-1, keepdim=True)
        unchanged = (z == x).flatten(3).all(-1)
        shifted = ((z - centred).abs() < 1e-2).flatten(3).all(-1)
        assert (unchanged | shifted).all()
        assert unchanged.any()
        assert shifted.any()
