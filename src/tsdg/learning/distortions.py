"""Random functions of windows beyond the paper's: what each draws for a window, and what becomes of it.

Axes: N window, C channel, T time step.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from scipy.interpolate import CubicSpline
from torch import Tensor

from tsdg.errors import InputError
from tsdg.learning.random_filter import RandomFilter

UM = "Um et al., Data Augmentation of Wearable Sensor Data for Parkinson's Disease Monitoring, ICMI 2017"
KNOTS = 6  # of the course of speed in a window, its ends among them
SLOWEST = 0.1  # speed of time, relative to the usual one


class Distortion:
    """A random function of each window.

    Attributes
    ----------
    citation : str
        Empty where it is of no paper.
    """

    citation: ClassVar[str] = ""

    def draw(self, stream: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """What the windows of a shape have at random, ``(*shape, k)``."""
        raise NotImplementedError

    def __call__(self, x: Tensor, drawn: Tensor) -> Tensor:
        """Of windows ``(N, C, T)`` and draws ``(N, k)``, the distorted ones."""
        raise NotImplementedError


class Filtering(Distortion):
    """The spectrum times a smooth random gain, the phase kept.

    Parameters
    ----------
    filter : tsdg.learning.random_filter.RandomFilter
    """

    def __init__(self, filter: RandomFilter):
        self.filter = filter
        self.courses = torch.from_numpy(filter.courses)

    def draw(self, stream, shape):
        return stream.standard_normal((*shape, self.filter.weights), np.float32)

    def __call__(self, x, drawn):
        self.courses = self.courses.to(drawn)  # once
        gains = (self.filter.deviation * drawn @ self.courses).exp()
        return torch.fft.irfft(torch.fft.rfft(x) * gains.unsqueeze(1).to(x), x.shape[-1])


class PhaseShift(Distortion):
    """All frequencies turned by one random angle, which mixes a window with its Hilbert transform.

    The mean stays, and so does the highest frequency of an even number of time steps: they have no phase.
    """

    def draw(self, stream, shape):
        return stream.uniform(-np.pi, np.pi, (*shape, 1))

    def __call__(self, x, drawn):
        spectrum = torch.fft.rfft(x)
        angle = drawn.to(x).unsqueeze(-1)
        spectrum[..., 1 : (x.shape[-1] + 1) // 2] *= torch.polar(torch.ones_like(angle), angle)
        return torch.fft.irfft(spectrum, x.shape[-1])


class TimeWarp(Distortion):
    """Time that passes faster and slower, alike in all channels.

    The speed is a cubic spline through `KNOTS` knots, normal around 1; the window's ends stay where they are.

    Parameters
    ----------
    length : int
        T.
    deviation : float
        Of the speed at a knot.
    """

    citation = UM

    def __init__(self, length: int, deviation: float):
        places = np.linspace(0, length - 1, KNOTS)
        self.courses = torch.from_numpy(CubicSpline(places, np.eye(KNOTS))(np.arange(length)).T)
        self.deviation = deviation

    def draw(self, stream, shape):
        return stream.standard_normal((*shape, KNOTS))

    def __call__(self, x, drawn):
        last = x.shape[-1] - 1
        self.courses = self.courses.to(drawn)  # once
        speed = 1 + self.deviation * drawn @ self.courses
        time = speed.clamp(min=SLOWEST).cumsum(-1)
        time = last * (time - time[:, :1]) / (time[:, -1:] - time[:, :1])
        before = time.long().clamp(max=last - 1)
        share = (time - before).to(x).unsqueeze(1)
        before = before.unsqueeze(1).expand_as(x)
        return torch.lerp(x.gather(-1, before), x.gather(-1, before + 1), share)


class ChannelDropout(Distortion):
    """Each channel at its mean with a probability; one of them stays in any case.

    Parameters
    ----------
    channels : int
        C.
    probability : float
    """

    def __init__(self, channels: int, probability: float):
        if channels < 2:
            raise InputError(
                "augmentation channel_dropout: windows have one channel, which must stay; leave it out"
            )
        self.channels, self.probability = channels, probability

    def draw(self, stream, shape):
        uniform = stream.random((*shape, self.channels))
        return (uniform < self.probability) & (uniform < uniform.max(-1, keepdims=True))

    def __call__(self, x, drawn):
        return torch.where(drawn.unsqueeze(-1), x.mean(-1, keepdim=True), x)


class Rotation(Distortion):
    """Another placement of tri-axial sensors: each three channels turned by one rotation, uniform over all.

    Parameters
    ----------
    channels : int
        C: x, y and z of a sensor, then of the next.
    """

    citation = UM

    def __init__(self, channels: int):
        if channels % 3:
            raise InputError(
                f"augmentation rotation: it turns x, y and z of sensors, and windows have {channels} "
                "channels; leave it out"
            )

    def draw(self, stream, shape):
        return stream.standard_normal((*shape, 4))  # a quaternion's direction

    def __call__(self, x, drawn):
        turned = torch.einsum("nij,ngjt->ngit", rotations(drawn).to(x), x.unflatten(1, (-1, 3)))
        return turned.flatten(1, 2)


def rotations(quaternions: Tensor) -> Tensor:
    """Matrices ``(N, 3, 3)`` of quaternions ``(N, 4)`` of any length but 0, their real part first."""
    real, *imaginary = (quaternions / quaternions.norm(dim=-1, keepdim=True)).unbind(-1)
    axis = torch.stack(imaginary, -1)
    x, y, z = imaginary
    zero = torch.zeros_like(x)
    cross = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).unflatten(-1, (3, 3))
    unit = torch.eye(3).to(axis)
    real = real.view(-1, 1, 1)
    return (2 * real**2 - 1) * unit + 2 * real * cross + 2 * axis.unsqueeze(-1) * axis.unsqueeze(-2)


class AmplitudeMix:
    """Amplitudes of the spectrum mixed with those of a window of another domain, the phase kept.

    The other's weight is uniform up to a greatest one. Where there is but one domain, it is of that.

    Parameters
    ----------
    greatest : float
    """

    citation = "Xu et al., A Fourier-based Framework for Domain Generalization, CVPR 2021"

    def __init__(self, greatest: float):
        self.greatest = greatest

    def draw(self, stream: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """What decides domain, window and weight of each window's partner, ``(*shape, 3)``."""
        return stream.random((*shape, 3))

    def partners(self, drawn: Tensor) -> Tensor:
        """Place of each window's partner in the whole batch: of draws ``(R, D, B, 3)``, ``(R, D, B)``."""
        runs, domains, batch = drawn.shape[:3]
        run, own = torch.arange(runs).view(-1, 1, 1), torch.arange(domains).view(-1, 1)
        domain = (own + 1 + (drawn[..., 0] * (domains - 1)).long()) % domains
        return (run * domains + domain) * batch + (drawn[..., 1] * batch).long()

    def __call__(self, x: Tensor, drawn: Tensor, partners: Tensor) -> Tensor:
        """Of windows ``(N, C, T)``, draws ``(N, 3)`` and partners ``(N, C, T)``, the mixed windows."""
        weight = (self.greatest * drawn[:, 2]).to(x).view(-1, 1, 1)
        own, others = torch.fft.rfft(x), torch.fft.rfft(partners)
        amplitude = torch.lerp(own.abs(), others.abs(), weight)
        return torch.fft.irfft(torch.polar(amplitude, own.angle()), x.shape[-1])


DISTORTIONS: dict[str, type[Distortion] | type[AmplitudeMix]] = {
    "random_filter": Filtering,
    "amplitude_mix": AmplitudeMix,
    "phase_shift": PhaseShift,
    "time_warp": TimeWarp,
    "channel_dropout": ChannelDropout,
    "rotation": Rotation,
}
