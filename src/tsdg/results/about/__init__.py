"""Tables of what goes into a study."""
