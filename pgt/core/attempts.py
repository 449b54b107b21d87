"""Work in parts that do not depend on each other: what fails is written down, and the rest goes on."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pgt.core.errors import InputError, warn_of

Made = TypeVar("Made")
Other = TypeVar("Other")


class Attempts:
    """Calls functions, and keeps one sentence for each that fails.

    An interrupt is no failure: it ends the work.

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
        """What the function returns; where it raises, `otherwise`."""
        try:
            return make()
        except Exception as error:
            self.failures.append(f"{name} could not be made: {reason(error)}")
            return otherwise

    def warn(self) -> None:
        """Warn of each failure, where no command says them."""
        for failure in self.failures:
            warn_of(failure)


class Strict(Attempts):
    """Lets the first error through: where parts are of no use without the others."""

    def __call__(self, name: str, make: Callable[[], Made], otherwise: object = None) -> Made:
        return make()


def reason(error: Exception) -> str:
    """An error in one line: its own words where it was foreseen, else also where it was raised.

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
