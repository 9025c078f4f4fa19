"""The Bearings (CWRU)."""
