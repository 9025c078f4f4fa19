"""The `tsdg` command, one file a group of commands.

Each declares its parsers in ``add(commands)``, and has a function a command, which parses, calls and prints;
what is called is imported there, so that the command line itself is there at once.
"""
