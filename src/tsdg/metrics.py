"""The metrics, under the name that scripts outside of the package use."""

from tsdg.learning.metrics import *  # noqa: F403
