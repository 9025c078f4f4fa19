"""What each method says of itself: all that a study needs to know of it, without PyTorch.

A method that trains is the class of the same name in `module`, which has its declaration among its bases. One
from outside of the package (`tsdg.methods.plugins`) says the same in its class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tsdg.errors import InputError
from tsdg.methods.search import Distribution


class Declaration:
    """What a method says of itself.

    Attributes
    ----------
    module : str
        Of `tsdg.methods`, where the class that trains is.
    title, citation : str
        For tables alone.
    forward_default : {"joint", "per_domain"}
        What batch normalization sees together, unless the study says: all source domains, or each alone.
    search : mapping of str to Distribution
        Hyperparameters.
    options : mapping
        Values that each option takes; `int` for whole numbers from 1.
    uses_clusters : bool
        Whether it must be told which domains belong together.
    least_sources : int
        Source domains that it takes at least: 1 of a method that compares none.
    some_domains : bool
        Whether a batch may have some of the source domains alone: what the method keeps by domain goes by
        `tsdg.methods.base.Method.of_batch` then.
    """

    module: ClassVar[str]
    title: ClassVar[str]
    citation: ClassVar[str]
    forward_default: ClassVar[str] = "joint"
    search: ClassVar[Mapping[str, Distribution]] = {}
    options: ClassVar[Mapping[str, Any]] = {}
    uses_clusters: ClassVar[bool] = False
    least_sources: ClassVar[int] = 2
    some_domains: ClassVar[bool] = False

    @staticmethod
    def check(options: Mapping[str, Any]) -> None:
        """Raise `InputError` for options that contradict each other, each of which is valid alone."""

    @staticmethod
    def looks_at_domain(options: Mapping[str, Any]) -> bool:
        """Whether it classifies a sample by what others of its domain are like, too."""
        return False


def annealed(default: float) -> dict[str, Distribution]:
    """Search space of lambda, with the method's published default, and of the annealing iteration."""
    return {
        "lambda": Distribution(default, "power", (-1, 5)),
        "annealing": Distribution(500, "floor_power", (0, 4)),
    }


class ERM(Declaration):
    module = "erm"
    title = "ERM"
    citation = "Vapnik, Statistical Learning Theory, 1998"
    least_sources = 1
    some_domains = True


class IRM(Declaration):
    module = "irm"
    title = "IRM"
    citation = "Arjovsky et al., Invariant Risk Minimization, 2019"
    some_domains = True
    search = annealed(default=100)


class VREx(Declaration):
    module = "vrex"
    title = "V-REx"
    citation = "Krueger et al., Out-of-Distribution Generalization via Risk Extrapolation, ICML 2021"
    some_domains = True
    search = annealed(default=10)


class GroupDRO(Declaration):
    module = "groupdro"
    title = "GroupDRO"
    citation = "Sagawa et al., Distributionally Robust Neural Networks for Group Shifts, ICLR 2020"
    forward_default = "per_domain"
    some_domains = True
    search = {"eta": Distribution(0.01, "power", (-3, -1))}


class InterdomainMixup(Declaration):
    module = "mixup"
    title = "Interdomain Mixup"
    citation = "Yan et al., Improve Unsupervised Domain Adaptation with Mixup Training, 2020"
    forward_default = "per_domain"
    some_domains = True
    search = {"alpha": Distribution(0.2, "power", (-1, 1))}


class MLDG(Declaration):
    module = "mldg"
    title = "MLDG"
    citation = "Li et al., Learning to Generalize: Meta-Learning for Domain Generalization, AAAI 2018"
    forward_default = "per_domain"
    some_domains = True
    search = {"beta": Distribution(1.0, "power", (-1, 1))}


class MTL(Declaration):
    module = "mtl"
    title = "MTL"
    citation = "Blanchard et al., Domain Generalization by Marginal Transfer Learning, JMLR 2021"
    forward_default = "per_domain"
    some_domains = True
    search = {"a": Distribution(0.99, "choice", (0.5, 0.9, 0.99, 1.0))}
    options = {"embedding": ("noise", "average")}

    @staticmethod
    def looks_at_domain(options: Mapping[str, Any]) -> bool:
        return options.get("embedding") == "average"


class Correlation(Declaration):
    module = "correlation"
    title = "Correlation"
    citation = "Arpit et al., Predicting with High Correlation Features, 2019"
    some_domains = True
    search = {"lambda": Distribution(1e-5, "choice", (1e-5,))}


class RSC(Declaration):
    module = "rsc"
    title = "RSC"
    citation = "Huang et al., Self-Challenging Improves Cross-Domain Generalization, ECCV 2020"
    least_sources = 1
    some_domains = True
    search = {
        "p": Distribution(1 / 3, "uniform", (0, 0.5)),
        "b": Distribution(1 / 3, "uniform", (0, 0.5)),
    }


class DANN(Declaration):
    module = "adversarial"
    title = "DANN-DG"
    citation = "Ganin et al., Domain-Adversarial Training of Neural Networks, JMLR 2016"
    some_domains = True
    search = {
        "lambda": Distribution(1.0, "power", (-2, 2)),
        "discriminator_lr": Distribution(5e-5, "power", (-5, -3.5)),
        "discriminator_weight_decay": Distribution(0.0, "power", (-6, -2)),
        "beta1": Distribution(0.5, "choice", (0.0, 0.5)),
        "discriminator_steps": Distribution(1, "floor_power", (0, 3), base=2),
        "gradient_penalty": Distribution(0.0, "power", (-2, 1)),
    }


class CDANN(DANN):
    title = "CDANN-DG"
    citation = (
        "Li et al., Deep Domain Generalization via Conditional Invariant Adversarial Networks, ECCV 2018"
    )


class Alignment(Declaration):
    module = "alignment"
    forward_default = "per_domain"
    some_domains = True
    search = {"lambda": Distribution(0.01, "power", (-3, -1))}


class CORAL(Alignment):
    title = "CORAL-DG"
    citation = "Sun & Saenko, Deep CORAL: Correlation Alignment for Deep Domain Adaptation, ECCV 2016"


class MMD(Alignment):
    title = "MMD-DG"
    citation = "Li et al., Domain Generalization with Adversarial Feature Learning, CVPR 2018"


class SelectiveConsistency(Declaration):
    module = "selective"
    citation = "Zhang, Ragab & Foo, Domain Generalization via Selective Consistency Regularization, ICPR 2022"
    some_domains = True
    search = {"lambda": Distribution(0.01, "power", (-3, -1))}
    options = {"regularize": ("logits", "features", "soft_labels"), "kernel": ("linear", "gaussian")}


class MetadataConsistency(SelectiveConsistency):
    title = "Ours (metadata)"
    uses_clusters = True
    options = {
        **SelectiveConsistency.options,
        "distance": ("l2", "cosine", "kl"),
        "level": ("domain", "sample"),
    }

    @staticmethod
    def check(options: Mapping[str, Any]) -> None:
        regularize = options.get("regularize", "logits")
        if options.get("distance") == "kl" and regularize != "soft_labels":
            raise InputError(
                f"distance kl compares distributions, and {regularize} are none: "
                "give it `regularize: soft_labels`"
            )
        default = options.get("distance", "l2") == "l2" and options.get("level", "domain") == "domain"
        if options.get("kernel") == "gaussian" and not default:
            raise InputError(
                "kernel gaussian compares domains pair by pair: leave out `distance` and `level`"
            )


class LearnedConsistency(SelectiveConsistency):
    title = "Ours (learned)"
    search = {**SelectiveConsistency.search, "xi": Distribution(0.1, "power", (-2, 2))}
    options = {
        **SelectiveConsistency.options,
        "rbf": ("bandwidth", "gamma", "one"),
        "neighbour": ("nearest", "random"),
        "every": int,
    }


class RSCWithMetadata(MetadataConsistency):
    module = "combined"
    title = "RSC + Ours (metadata)"
    search = {**RSC.search, **MetadataConsistency.search}


class RSCWithLearned(LearnedConsistency):
    module = "combined"
    title = "RSC + Ours (learned)"
    search = {**RSC.search, **LearnedConsistency.search}


class Fishr(Declaration):
    module = "fishr"
    title = "Fishr"
    citation = (
        "Rame et al., Fishr: Invariant Gradient Variances for Out-of-Distribution Generalization, ICML 2022"
    )
    some_domains = True
    search = {
        "lambda": Distribution(1000, "power", (1, 4)),
        "average": Distribution(0.95, "uniform", (0.9, 0.99)),
        "burn_in": Distribution(0.3, "uniform", (0, 1)),
    }


class EQRM(Declaration):
    module = "eqrm"
    title = "EQRM"
    citation = "Eastwood et al., Probable Domain Generalization via Quantile Risk Minimization, NeurIPS 2022"
    forward_default = "per_domain"
    some_domains = True
    search = {
        "quantile": Distribution(0.75, "uniform", (0.5, 0.99)),
        "quantile_lr": Distribution(1e-6, "power", (-7, -5)),
        "burn_in": Distribution(0.5, "uniform", (0, 1)),
    }


class IBERM(Declaration):
    module = "ib_erm"
    title = "IB-ERM"
    citation = (
        "Ahuja et al., Invariance Principle Meets Information Bottleneck for Out-of-Distribution "
        "Generalization, NeurIPS 2021"
    )
    some_domains = True
    search = annealed(default=100)


class SpectralDecoupling(Declaration):
    module = "spectral_decoupling"
    title = "SD"
    citation = "Pezeshki et al., Gradient Starvation: A Learning Proclivity in Neural Networks, NeurIPS 2021"
    least_sources = 1
    some_domains = True
    search = {"lambda": Distribution(0.1, "power", (-5, -1))}


class RDM(Declaration):
    module = "rdm"
    title = "RDM"
    citation = "Nguyen et al., Domain Generalization with Risk Distribution Matching, WACV 2024"
    some_domains = True
    search = {
        "lambda": Distribution(5, "uniform", (0.1, 10)),
        "variance": Distribution(0.004, "uniform", (0.001, 0.007)),
        "matching_lr": Distribution(1.5e-5, "uniform", (8e-6, 2e-5)),
        "burn_in": Distribution(0.3, "uniform", (0.16, 0.54)),
    }


class Fish(Declaration):
    module = "fish"
    title = "Fish"
    citation = "Shi et al., Gradient Matching for Domain Generalization, ICLR 2022"
    forward_default = "per_domain"
    some_domains = True
    search = {"epsilon": Distribution(0.5, "choice", (0.05, 0.1, 0.5))}


class ANDMask(Declaration):
    module = "and_mask"
    title = "AND-mask"
    citation = "Parascandolo et al., Learning Explanations That Are Hard to Vary, ICLR 2021"
    forward_default = "per_domain"
    some_domains = True
    search = {"tau": Distribution(1, "uniform", (0.5, 1))}


class LISA(Declaration):
    module = "lisa"
    title = "LISA"
    citation = "Yao et al., Improving Out-of-Distribution Robustness via Selective Augmentation, ICML 2022"
    some_domains = True
    search = {
        "alpha": Distribution(2, "choice", (2,)),
        "intra_label": Distribution(0.5, "choice", (0.5, 1)),
    }


class MixStyle(Declaration):
    module = "mixstyle"
    title = "MixStyle"
    citation = "Zhou et al., Domain Generalization with MixStyle, ICLR 2021"
    least_sources = 1
    some_domains = True
    search = {"alpha": Distribution(0.1, "choice", (0.1, 0.2, 0.3))}
