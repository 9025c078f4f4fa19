"""The network that suits windows of a length."""

WIDTH = 128  # of the har backbone, where a data set says no other
LONG = 1024  # time steps from which windows are for the bearings backbone
SHORTEST = 8  # time steps that a window needs for either


def backbone(window: int) -> str:
    """The backbone that suits windows of a length: `bearings` strides through long ones, `har` does not."""
    return "bearings" if window >= LONG else "har"
