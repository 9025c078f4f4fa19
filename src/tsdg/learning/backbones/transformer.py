"""A transformer of patches."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tsdg.errors import InputError
from tsdg.learning.backbones.base import LINEAR, Backbone, normalization
from tsdg.learning.layers import Linear

WIDER = 4  # of a layer's hidden values to its width


class Attention(nn.Module):
    """Self-attention over time with several heads, as `torch.nn.MultiheadAttention`."""

    def __init__(self, width: int, heads: int, generators: list[torch.Generator]):
        super().__init__()
        self.heads = heads
        self.inner, self.outer = Linear(width, 3 * width, generators), Linear(width, width, generators)

    def forward(self, x: Tensor) -> Tensor:
        runs, samples, time, width = x.shape
        parts = self.inner(x.flatten(1, 2)).view(runs * samples, time, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value).transpose(1, 2)
        return self.outer(mixed.reshape(runs, samples * time, width)).view(x.shape)


class EncoderLayer(nn.Module):
    """Attention, then a network of each step alone, each added to what it is given, normalized."""

    def __init__(self, width: int, heads: int, length: int, generators: list[torch.Generator], norm: str):
        super().__init__()
        self.norm1, self.norm2 = (
            normalization(norm, width, len(generators), length, LINEAR) for _ in range(2)
        )
        self.attention = Attention(width, heads, generators)
        self.linear1 = Linear(width, WIDER * width, generators)
        self.linear2 = Linear(WIDER * width, width, generators)
        self.title = f"Encoder layer, {heads} heads, {WIDER * width} hidden"

    def forward(self, x: Tensor, groups: int) -> Tensor:
        x = x + self.attention(self.norm1(x, groups))
        hidden = F.gelu(self.linear1(self.norm2(x, groups).flatten(1, 2)))
        return x + self.linear2(hidden).view(x.shape)


class Patches(nn.Module):
    """A window in patches, all channels of one together, each mapped to `width` values and given its place.

    The last step is repeated where the last patch has too few.
    """

    def __init__(self, channels: int, length: int, patch: int, width: int, generators: list[torch.Generator]):
        super().__init__()
        self.patch, self.surplus = patch, -length % patch
        self.length = (length + self.surplus) // patch
        self.linear = Linear(channels * patch, width, generators)
        places = [torch.randn(self.length, width, generator=generator) for generator in generators]
        self.place = nn.Parameter(0.02 * torch.stack(places))
        self.title = f"Patches of {patch}, fully connected, and their places"

    def forward(self, x: Tensor) -> Tensor:
        runs, samples, channels, _ = x.shape
        x = torch.cat([x, x[..., -1:].expand(-1, -1, -1, self.surplus)], -1)
        x = x.unflatten(3, (self.length, self.patch)).transpose(2, 3)  # (R, N, L, C, patch)
        x = self.linear(x.reshape(runs, samples * self.length, channels * self.patch))
        return x.view(runs, samples, self.length, -1) + self.place.unsqueeze(1)


class Transformer(Backbone):
    """Patches through layers of attention, normalized and averaged: `width` features.

    Layers as in Dosovitskiy et al.: "An Image is Worth 16x16 Words" (ICLR 2021): normalization before each
    part, learned places. Patches of time as in Nie et al.: "A Time Series is Worth 64 Words" (ICLR 2023), but
    apart from each other and of all channels together. The mean over patches in place of a class token, and
    no dropout.

    Parameters
    ----------
    channels, length : int
    generators : list of torch.Generator
    width, depth, heads : int
        Heads share the width.
    patch : int
        Time steps.
    norm : str
    """

    def __init__(
        self,
        channels: int,
        length: int,
        generators: list[torch.Generator],
        *,
        width: int = 64,
        depth: int = 3,
        heads: int = 4,
        patch: int = 16,
        norm: str = "layer",
    ):
        super().__init__()
        if width % heads:
            raise InputError(f"backbone transformer: `width` {width} is no multiple of its `heads`, {heads}")
        if length < patch:
            raise InputError(
                f"windows of {length} time steps are too short for the transformer backbone with "
                f"`patch: {patch}`: give it a smaller one"
            )
        self.patches = Patches(channels, length, patch, width, generators)
        steps = self.patches.length
        self.blocks = nn.ModuleList(EncoderLayer(width, heads, steps, generators, norm) for _ in range(depth))
        self.norm = normalization(norm, width, len(generators), steps, LINEAR)
        self.features = width

    def forward(self, x: Tensor, groups: int = 1) -> Tensor:
        x = self.patches(x)
        for block in self.blocks:
            x = block(x, groups)
        return self.norm(x, groups).mean(2)
