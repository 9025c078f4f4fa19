"""Data sets: the container, and one module for each kind of raw files."""
