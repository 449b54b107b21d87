"""The one exception for anything a user can get wrong."""


class InputError(ValueError):
    """Bad input. The message says what was wrong, where, and what to write instead.

    >>> import pgt
    >>> pgt.Domain(x=(1, 0))
    Traceback (most recent call last):
    ...
    pgt.InputError: Domain(x=(1, 0)): the lower bound must be below the upper one.

    `about` names the argument that is at fault, where it is not the one that was being looked at.
    """

    def __init__(self, message: str = "", about: str | None = None):
        super().__init__(message)
        self.about = about


InputError.__module__ = (
    "pgt"  # the name by which users catch it, and under which tracebacks show it
)
