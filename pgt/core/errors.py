"""The exception for every mistake of a user, and the warning about a doubtful answer."""

import difflib
import sys
import warnings
from collections.abc import Iterable

INSIDE = ("pgt", "equinox", "jaxtyping", "beartype")  # packages whose stack frames a warning skips


class InputError(ValueError):
    """Bad input. The message says what was wrong, where, and what to write instead.

    >>> import pgt
    >>> pgt.Domain(x=(1, 0))
    Traceback (most recent call last):
    ...
    pgt.InputError: Domain(x=(1, 0)): the lower bound must be below the upper one.

    `about` names the argument that is at fault, where it is not the one that was being checked.
    """

    def __init__(self, message: str = "", about: str | None = None):
        super().__init__(message)
        self.about = about


# Users catch it under this name, and tracebacks show it.
InputError.__module__ = "pgt"


class DoubtWarning(UserWarning):
    """A warning that an answer is doubtful, because points are outside the domain or a fit diverged.

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
    """Warn with the location of the user's call and not of a line of the library."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(doubt, DoubtWarning, stacklevel=level)


def closest(name: str, known: Iterable) -> str:
    """A sentence that suggests the nearest known name and lists all of them."""
    known = [str(k) for k in known]
    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"{hint} Known: {', '.join(known) or 'none'}."
