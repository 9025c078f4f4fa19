"""What the draw of hyperparameters that stands for a row is selected by, and its checkpoint with it."""

from dataclasses import dataclass
from typing import Self

from tsdg.study.metric import METRICS

VALIDATED, WORST, LEFT_OUT, ORACLE = "source-validation", "worst-source", "leave-one-source-out", "oracle"
POLICIES = {
    VALIDATED: "the mean over sources of validation {}",
    WORST: "the worst source's validation {}",
    LEFT_OUT: "the mean {} on sources that trainings without them reach, a group left out in turn",
    ORACLE: "the target's own {}",
}
ACCURACY = "accuracy"
JUDGES = (ACCURACY, "balanced_accuracy", "macro_f1", "auc", "nll", "brier")  # metrics that may select


@dataclass(frozen=True)
class Selection:
    """A policy, and the metric that it looks at.

    Attributes
    ----------
    policy : str
        One of `POLICIES`. `ORACLE` is DomainBed's test-domain selection: an upper bound, no result, since of
        a new domain nobody has labels. So it is printed, and neither ranked nor marked best nor exported.
    metric : str
        One of `JUDGES`.
    """

    policy: str = VALIDATED
    metric: str = ACCURACY

    @classmethod
    def of(cls, name: str) -> Self:
        """Of its name."""
        policy, _, metric = name.partition("/")
        return cls(policy, metric or ACCURACY)

    @property
    def name(self) -> str:
        """The policy and, unless it is accuracy, a slash and the metric."""
        return self.policy + f"/{self.metric}" * (self.metric != ACCURACY)

    @property
    def is_result(self) -> bool:
        """Whether what it selects may be ranked, claimed and exported."""
        return self.policy != ORACLE

    @property
    def words(self) -> str:
        """By what it selects."""
        return POLICIES[self.policy].format(METRICS[self.metric].in_words)

    def better(self, value: float) -> float:
        """A value of the metric, turned so that more is better."""
        return value if METRICS[self.metric].higher_is_better else -value


DEFAULT = Selection()
NAMES = [Selection(policy, metric).name for policy in POLICIES for metric in JUDGES]
RESULTS = [name for name in NAMES if Selection.of(name).is_result]
