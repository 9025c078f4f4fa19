"""A trained model to take away: exported with all that is needed to use it, and used on new recordings."""
