"""Execution of independent pieces of work: a failure is recorded, and the other pieces still run."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pgt.core.errors import InputError, warn_of

Made = TypeVar("Made")
Other = TypeVar("Other")


class Attempts:
    """Calls functions and records one sentence for each that fails.

    An interrupt is not a failure; it ends the work.

    >>> attempts = Attempts()
    >>> attempts("a half", lambda: 1 / 2), attempts("a zeroth", lambda: 1 / 0)
    (0.5, None)
    >>> attempts.failures[0].split(" (")[0]
    'a zeroth could not be made: ZeroDivisionError: division by zero'
    """

    def __init__(self) -> None:
        self.failures: list[str] = []

    def __call__(
        self, name: str, make: Callable[[], Made], otherwise: Other = None
    ) -> "Made | Other":
        """The result of the function, or `otherwise` where it raises."""
        try:
            return make()
        except Exception as error:
            self.failures.append(f"{name} could not be made: {reason(error)}")
            return otherwise

    def warn(self) -> None:
        """Warn of each failure, for callers that do not print them."""
        for failure in self.failures:
            warn_of(failure)


class Strict(Attempts):
    """Raises the first error, for pieces of work that are useless without the others."""

    def __call__(self, name: str, make: Callable[[], Made], otherwise: object = None) -> Made:
        return make()


def reason(error: Exception) -> str:
    """An error in one line: its message, and for unexpected errors also the place where it was raised.

    >>> reason(InputError("the grid is empty.")), reason(OSError(28, "No space left", "field.nc"))
    ('the grid is empty.', 'No space left: field.nc')
    """
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    words = " ".join(str(error).split())
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {words}{where}" if words else f"{type(error).__name__}{where}"
