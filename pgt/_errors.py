"""The one exception for anything a user can get wrong."""


class InputError(ValueError):
    """Bad input. The message says what was wrong, where, and what to write instead."""
