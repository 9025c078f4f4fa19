"""RSC + Ours: representation self-challenging and selective consistency, by turns on one network."""

from tsdg.methods import declarations
from tsdg.methods.base import Losses
from tsdg.methods.rsc import RSC
from tsdg.methods.selective import LearnedConsistency, MetadataConsistency


class RSCWithMetadata(declarations.RSCWithMetadata, MetadataConsistency):
    r"""RSC at even iterations, Ours (metadata) at odd ones.

    Formula
    -------
    L(h(m \odot z)) \text{ and } L + \lambda \Omega_\mathrm{metadata} \text{ by turns}
    """

    def phase(self):
        return self.iteration % 2

    def losses(self, x, y, draws) -> Losses:
        return RSC.losses(self, x, y, draws) if self.iteration % 2 == 0 else super().losses(x, y, draws)  # type: ignore[arg-type]


class RSCWithLearned(declarations.RSCWithLearned, LearnedConsistency):
    r"""RSC at even iterations, Ours (learned) at odd ones; its similarity rests on the latter's logits.

    Formula
    -------
    L(h(m \odot z)) \text{ and } L + \lambda \Omega_\mathrm{learned} \text{ by turns}
    """

    stream = "RSC + Ours (learned)"

    def refreshes(self) -> bool:
        turns, every = divmod(self.iteration, 2)[0], max(1, self.every // 2)
        return self.iteration % 2 == 1 and turns % every == 0

    def phase(self):
        return self.iteration % 2, self.refreshes()

    def losses(self, x, y, draws) -> Losses:
        return RSC.losses(self, x, y, draws) if self.iteration % 2 == 0 else super().losses(x, y, draws)  # type: ignore[arg-type]
