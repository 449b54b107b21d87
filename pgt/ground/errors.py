"""The one exception for anything a user can get wrong."""


class InputError(ValueError):
    """Bad input. The message says what was wrong, where, and what to write instead.

    >>> import pgt
    >>> pgt.Domain(x=(1, 0))
    Traceback (most recent call last):
    ...
    pgt.InputError: Domain(x=(1, 0)): the lower bound must be below the upper one.
    """


InputError.__module__ = (
    "pgt"  # the name by which users catch it, and under which tracebacks show it
)
