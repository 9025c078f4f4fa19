"""Backbones of networks, a file each; `tsdg.learning.networks` has their list."""
