"""Distortions of windows, each against another way to compute it, and what they draw."""

import numpy as np
import pytest
import torch
from scipy.interpolate import CubicSpline
from scipy.signal import hilbert
from scipy.spatial.transform import Rotation as Reference

from tsdg.errors import InputError
from tsdg.learning.distortions import (
    AmplitudeMix,
    ChannelDropout,
    PhaseShift,
    Rotation,
    TimeWarp,
    rotations,
)


def windows(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(2, 3, shape))


def drawn(distortion, *shape, seed=1):
    return torch.from_numpy(distortion.draw(np.random.default_rng(seed), shape))


@pytest.mark.parametrize("length", [60, 61])
def test_a_phase_shift_turns_tones_and_keeps_the_mean(length):
    time, angle = 2 * np.pi * np.arange(length) / length, 0.7
    tones = [a * np.cos(k * time + p) for a, k, p in ((1, 3, 0.2), (2, 17, -1), (0.5, 28, 2))]
    turned = [a * np.cos(k * time + p + angle) for a, k, p in ((1, 3, 0.2), (2, 17, -1), (0.5, 28, 2))]
    shifted = PhaseShift()(torch.from_numpy(5 + sum(tones)).view(1, 1, -1), torch.tensor([[angle]]))
    np.testing.assert_allclose(shifted.flatten(), 5 + sum(turned), atol=1e-9)


def test_a_phase_shift_mixes_a_window_with_its_hilbert_transform():
    x, angles = windows(4, 2, 51), drawn(PhaseShift(), 4)
    assert angles.unique().numel() == 4
    centred = x - x.mean(-1, keepdim=True)
    transform = np.imag(hilbert(centred.numpy(), axis=-1))
    a = angles.numpy()[..., None]
    expected = np.cos(a) * centred.numpy() - np.sin(a) * transform + x.mean(-1, keepdim=True).numpy()
    np.testing.assert_allclose(PhaseShift()(x, angles), expected, atol=1e-9)


def test_a_warped_window_is_read_at_times_of_another_speed():
    x, warp = windows(5, 2, 80), TimeWarp(80, 0.2)
    knots = drawn(warp, 5)
    warped = warp(x, knots)
    for n in range(5):
        speed = CubicSpline(np.linspace(0, 79, knots.shape[1]), 1 + 0.2 * knots[n].numpy())(np.arange(80))
        passed = np.cumsum(np.maximum(speed, 0.1))
        time = 79 * (passed - passed[0]) / (passed[-1] - passed[0])
        for channel in range(2):
            expected = np.interp(time, np.arange(80), x[n, channel].numpy())
            np.testing.assert_allclose(warped[n, channel], expected, atol=1e-9)
    torch.testing.assert_close(warped[..., [0, -1]], x[..., [0, -1]])
    torch.testing.assert_close(TimeWarp(80, 0.0)(x, knots), x)


def test_however_fast_time_passes_it_never_goes_back():
    warp = TimeWarp(50, 3.0)
    ramp = torch.arange(50.0).double().expand(200, 1, 50)
    assert (warp(ramp, drawn(warp, 200)).diff(dim=-1) >= 0).all()


def test_channels_drop_to_their_mean_and_one_stays():
    x = windows(3000, 4, 10)
    dropout = ChannelDropout(4, 0.2)
    y = dropout(x, drawn(dropout, 3000))
    gone = (y == x.mean(-1, keepdim=True)).all(-1)
    assert torch.equal(y[~gone], x[~gone])
    assert 0.18 < gone.double().mean() < 0.21
    every = ChannelDropout(4, 1.0)
    assert (drawn(every, 300).sum(-1) == 3).all()
    with pytest.raises(InputError, match="windows have one channel, which must stay"):
        ChannelDropout(1, 0.2)


def test_rotations_turn_every_sensor_alike_and_are_uniform():
    rotation = Rotation(6)
    x, quaternions = windows(7, 6, 30), drawn(rotation, 7)
    y = rotation(x, quaternions)
    for n, (real, *imaginary) in enumerate(quaternions.tolist()):
        matrix = Reference.from_quat([*imaginary, real]).as_matrix()
        for sensor in (slice(0, 3), slice(3, 6)):
            np.testing.assert_allclose(y[n, sensor], matrix @ x[n, sensor].numpy(), atol=1e-9)
    many = rotations(drawn(rotation, 20000))
    assert many.mean(0).abs().max() < 0.02
    trace = many.diagonal(dim1=1, dim2=2).sum(-1)  # mean square 1 over all rotations
    assert float(trace.square().mean()) == pytest.approx(1, abs=0.05)
    with pytest.raises(InputError, match="windows have 4 channels"):
        Rotation(4)


def test_amplitudes_are_those_of_two_windows_and_the_phase_is_the_first_ones():
    mix = AmplitudeMix(0.8)
    x, other, numbers = windows(6, 2, 40), windows(6, 2, 40, seed=5), drawn(mix, 6)
    y = mix(x, numbers, other)
    for n in range(6):
        weight = 0.8 * float(numbers[n, 2])
        own, partner = np.fft.fft(x[n].numpy()), np.fft.fft(other[n].numpy())
        amplitude = (1 - weight) * np.abs(own) + weight * np.abs(partner)
        expected = np.fft.ifft(amplitude * np.exp(1j * np.angle(own)))
        np.testing.assert_allclose(y[n], expected.real, atol=1e-9)
        assert np.abs(expected.imag).max() < 1e-9


@pytest.mark.parametrize("domains", [2, 4])
def test_partners_are_any_windows_of_the_other_domains_of_a_run(domains):
    mix = AmplitudeMix(1.0)
    place = mix.partners(drawn(mix, 3, domains, 500))
    for run in range(3):
        for domain in range(domains):
            of_run, rest = place[run, domain] // (domains * 500), place[run, domain] % (domains * 500)
            assert (of_run == run).all()
            assert set((rest // 500).tolist()) == {*range(domains)} - {domain}
            assert len(set((rest % 500).tolist())) > 250
    assert (mix.partners(drawn(mix, 2, 1, 5)) // 5 == torch.tensor([0, 1]).view(2, 1, 1)).all()
