"""The metrics that are selected, printed, drawn and ranked: what each is called, and which way is better."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """How a metric is printed.

    Attributes
    ----------
    label : str
    scale : float
        Turns the recorded value into `unit`.
    unit : str
    decimals : int
    higher_is_better : bool
    """

    label: str
    scale: float
    unit: str
    decimals: int
    higher_is_better: bool

    @property
    def heading(self) -> str:
        """Label and unit."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def in_words(self) -> str:
        """The label inside of a sentence."""
        return self.label if self.label[1:2].isupper() else self.label[0].lower() + self.label[1:]

    def printed(self, value: float) -> str:
        """A value, already in `unit`, as tables print it."""
        return f"{value:.{self.decimals}f}"


METRICS = {
    "accuracy": Metric("Accuracy", 100, "%", 1, True),
    "ece": Metric("ECE", 100, "%", 1, False),
    "ece_calibrated": Metric("ECE, calibrated", 100, "%", 1, False),
    "auc": Metric("AUC", 100, "%", 1, True),
    "balanced_accuracy": Metric("Balanced accuracy", 100, "%", 1, True),
    "macro_f1": Metric("Macro F1", 100, "%", 1, True),
    "worst_class": Metric("Worst class", 100, "%", 1, True),
    "worst_domain": Metric("Worst domain", 100, "%", 1, True),
    "nll": Metric("NLL", 1, "", 3, False),
    "brier": Metric("Brier score", 1, "", 3, False),
}
