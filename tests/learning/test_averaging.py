"""The averaged network against plain means of weights and of batch statistics."""

import pytest
import torch

from tsdg.learning.averaging import AveragedNetwork
from tsdg.learning.networks import build


def networks(runs, seed=0):
    generators = [torch.Generator().manual_seed(10 * seed + r) for r in range(runs)]
    return build("har", channels=2, length=16, classes=3, generators=generators, width=4)


def test_weights_are_the_mean_of_those_taken_in():
    network = networks(2)
    averaged, taken = AveragedNetwork(network), []
    for seed in range(40):
        network.load_state_dict(networks(2, seed).state_dict())
        averaged.add(network)
        taken.append({name: value.double().clone() for name, value in network.named_parameters()})
    assert averaged.count == 40
    for name, value in averaged.network.named_parameters():
        mean = torch.stack([one[name] for one in taken]).mean(0)
        torch.testing.assert_close(value.double(), mean, atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("per_domain", [False, True])
def test_batch_statistics_are_means_over_batches_of_what_the_averaged_layers_see(per_domain):
    """The first layer's, of its convolution by PyTorch, run by run and in double precision."""
    network = networks(2)
    averaged = AveragedNetwork(network)
    averaged.add(network)
    stream = torch.Generator().manual_seed(1)
    batches = [(torch.randn(2, 3, 5, 2, 16, generator=stream) * (d + 1), None) for d in range(4)]
    for norm in averaged.network.featurizer.norms:
        norm.running_mean.fill_(7.0)  # of the past, which is forgotten
    averaged.estimate(batches, per_domain)
    conv, norm = averaged.network.featurizer.convs[0], averaged.network.featurizer.norms[0]
    assert not averaged.network.training
    for r in range(2):
        means, variances = [], []
        for x, _ in batches:
            for part in x[r].double().unbind(0) if per_domain else [x[r].double().flatten(0, 1)]:
                y = torch.nn.functional.conv1d(
                    part, conv.weight[r].double(), conv.bias[r].double(), padding=1
                )
                means.append(y.mean((0, 2)))
                variances.append(y.transpose(0, 1).flatten(1).var(1))
        torch.testing.assert_close(
            norm.running_mean[r].double(), torch.stack(means).mean(0), atol=1e-6, rtol=1e-5
        )
        torch.testing.assert_close(
            norm.running_var[r].double(), torch.stack(variances).mean(0), atol=1e-5, rtol=1e-5
        )
