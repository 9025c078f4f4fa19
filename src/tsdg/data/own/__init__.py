"""A user's own recordings."""
