"""The one exception for anything a user can get wrong, and the one warning about an answer."""

import sys
import warnings

INSIDE = ("pgt", "equinox", "jaxtyping", "beartype")  # whose functions call ours


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


# By this name users catch it, and tracebacks show it.
InputError.__module__ = "pgt"


class DoubtWarning(UserWarning):
    """What was asked is answered, but there is cause for doubt: points outside the domain, a fit that
    diverged.

    >>> import warnings
    >>> import pgt
    >>> from pgt.core.errors import warn_of
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", pgt.DoubtWarning)
    ...     warn_of("the point x=2 lies outside the domain")
    >>> print(caught[0].category.__name__, "-", caught[0].message)
    DoubtWarning - the point x=2 lies outside the domain
    """


DoubtWarning.__module__ = "pgt"


def warn_of(doubt: str) -> None:
    """Warn whoever called the library, and not a line of its own."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(doubt, DoubtWarning, stacklevel=level)
