"""Domain generalization for time series: from raw recordings to tables."""

__version__ = "0.1.0"
