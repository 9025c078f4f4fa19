"""The `tsdg` command, one file a group of commands."""
