"""What augmentation does where a data set's entry says nothing, see `tsdg.learning.augment.Augmentation`."""

STATISTICS = "window"
MEAN = 0.0
SCALE = (1.0, 1.0)
MASKED = 0.1
