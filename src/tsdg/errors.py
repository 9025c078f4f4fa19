"""The one exception for what a user can put right."""


class InputError(Exception):
    """Bad input: the message names the file, the field and the remedy.

    The command line prints the message alone, without a traceback, and exits with code 2.
    """
