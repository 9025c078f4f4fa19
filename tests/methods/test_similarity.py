"""Which domains are related: by hand, and where centroids are missing."""

import math

import pytest
import torch

from tsdg.methods.similarity import (
    centroids,
    class_sums,
    metadata_weights,
    nearest_neighbours,
    neighbour_weights,
    squared_distances,
)

NAN = math.nan


def on_a_line(*domains):
    """Centroids ``(1, D, K, 1)`` from each domain's positions, one a class."""
    return torch.tensor([[[[position] for position in domain] for domain in domains]], dtype=torch.double)


def neighbours(*domains):
    return nearest_neighbours(on_a_line(*domains))[0].tolist()


def test_class_sums_and_centroids():
    values = torch.tensor([[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]]])
    labels = torch.tensor([[[0, 2, 0], [2, 2, 2]]])
    sums, counts = class_sums(values, labels, 3)
    assert sums.tolist() == [[[[6, 8], [0, 0], [3, 4]], [[0, 0], [0, 0], [3, 3]]]]
    assert counts.tolist() == [[[2, 0, 1], [0, 0, 3]]]
    means = centroids(sums, counts)
    assert means[0, 0, 0].tolist() == [3, 4]
    assert means[0, 1, 2].tolist() == [1, 1]
    assert means[0, :, 1].isnan().all()
    assert means[0, 1, 0].isnan().all()


def test_squared_distances():
    distances = squared_distances(on_a_line([0, NAN], [3, 1], [5, 2]))
    assert distances.shape == (1, 2, 3, 3)
    assert distances[0, 0].tolist() == [[0, 9, 25], [9, 0, 4], [25, 4, 0]]
    assert distances[0, 1, 0].isnan().all()
    assert distances[0, 1, 1:, 1:].tolist() == [[0, 1], [1, 0]]


def test_metadata_weights():
    """1 / (2 |cluster|) within a cluster, itself included; 0 between clusters."""
    weights = metadata_weights([[7, 2, 7, 7], [0, 1, 2, 2]])
    third, half = 1 / 6, 1 / 2
    expected = [
        [[third, 0, third, third], [0, half, 0, 0], [third, 0, third, third], [third, 0, third, third]],
        [[half, 0, 0, 0], [0, half, 0, 0], [0, 0, 0.25, 0.25], [0, 0, 0.25, 0.25]],
    ]
    torch.testing.assert_close(
        weights.double(), torch.tensor(expected, dtype=torch.double), rtol=1e-6, atol=0
    )


def test_the_nearest_for_the_most_classes():
    # To domain 0 domain 1 is nearest for two classes of three, though far away in the third.
    assert neighbours([0, 0, 0], [1, 1, 90], [2, 2, 1]) == [1, 0, 1]


def test_votes_beat_the_mean_distance_and_decide_ties_by_it():
    # Of domain 0, domains 1 and 2 win one class each; the mean distances are 5.5 and 2.5.
    assert neighbours([0, 0], [1, 10], [3, 2])[0] == 2
    assert neighbours([0, 0], [3, 2], [1, 10])[0] == 1


def test_a_domain_without_votes_is_no_neighbour_however_near_on_average():
    # Domain 3 is second for both classes and has the smallest mean distance.
    assert neighbours([0, 0], [1, 50], [50, 1], [2, 2])[0] in (1, 2)


def test_two_domains_have_each_other():
    assert neighbours([0, 0], [100, -100]) == [1, 0]


def test_missing_classes_have_no_vote():
    # Domain 1 lacks class 0, where it would be nearest; domain 0 lacks class 2.
    assert neighbours([0, 0, NAN], [NAN, 5, 0], [3, 3, 0])[0] == 2
    # The mean distance, too, is over known classes: 2 or 6 of domain 1, (1 + 9) / 2 of domain 2.
    assert neighbours([0, 0], [NAN, 2], [1, 9])[0] == 1
    assert neighbours([0, 0], [NAN, 6], [1, 9])[0] == 2


def test_no_class_in_common():
    """Someone is the neighbour, never the domain itself, and its weight is 0."""
    places = on_a_line([0, NAN], [NAN, 1], [NAN, 2])
    found = nearest_neighbours(places)
    assert found[0, 0] in (1, 2)
    assert found[0, 1:].tolist() == [2, 1]
    weights = neighbour_weights(places, found, torch.tensor([1.0]))
    assert weights[0, 0].tolist() == [0, 0, 0]
    assert weights[0, 1, 2] > 0


def test_nowhere_a_centroid():
    places = torch.full((1, 3, 2, 2), NAN)
    found = nearest_neighbours(places)
    assert (found != torch.arange(3)).all()
    assert not neighbour_weights(places, found, torch.tensor([1.0])).any()


def test_identical_domains_are_not_their_own_neighbours():
    found = nearest_neighbours(torch.zeros(1, 4, 2, 2))
    assert (found != torch.arange(4)).all()


def test_runs_do_not_mix():
    first, second = on_a_line([0, 0], [1, 1], [5, 5]), on_a_line([0, 0], [5, 5], [1, 1])
    assert nearest_neighbours(torch.cat([first, second])).tolist() == [[1, 0, 1], [2, 2, 0]]


@pytest.mark.parametrize(
    ("rbf", "function"),
    [
        ("bandwidth", lambda d, xi: math.exp(-(d**2) / (2 * xi**2))),
        ("gamma", lambda d, xi: math.exp(-xi * d**2)),
        ("one", lambda d, xi: 1.0),
    ],
)
def test_neighbour_weights(rbf, function):
    """Mean over classes of the function, not the function of a mean; nothing but at the neighbour."""
    places = on_a_line([0, 0, 0], [1, 2, NAN], [4, 4, 4])
    found, xi = torch.tensor([[1, 2, 0]]), 0.7
    weights = neighbour_weights(places, found, torch.tensor([xi], dtype=torch.double), rbf)
    expected = torch.zeros(1, 3, 3, dtype=torch.double)
    expected[0, 0, 1] = (function(1, xi) + function(2, xi)) / 2
    expected[0, 1, 2] = (function(3, xi) + function(2, xi)) / 2
    expected[0, 2, 0] = function(4, xi)
    torch.testing.assert_close(weights.double(), expected)


def test_the_forms_of_the_weight_go_opposite_ways_in_xi():
    """Wide bandwidths and small gammas weigh 1."""
    places, found = on_a_line([0], [2]).expand(2, 2, 1, 1), torch.tensor([[1, 0], [1, 0]])
    xi = torch.tensor([1e-2, 1e2], dtype=torch.double)
    bandwidth = neighbour_weights(places, found, xi, "bandwidth")[:, 0, 1]
    gamma = neighbour_weights(places, found, xi, "gamma")[:, 0, 1]
    assert bandwidth.tolist() == pytest.approx([0, 1], abs=1e-3)
    assert gamma.tolist() == pytest.approx([1, 0], abs=5e-2)
