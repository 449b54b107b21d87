"""The settings that say how a table of readings is written where the file itself is ambiguous."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from pgt.core.errors import InputError

Separator = Literal[",", ";", "tab", "space", "bar"]
Mark = Literal[".", ","]
Dates = Literal["day first", "month first"]
SEPARATORS = {",": ",", ";": ";", "tab": "\t", "space": " ", "bar": "|"}
SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", " ": "spaces", "|": "bars"}


@dataclass(frozen=True)
class Dialect:
    """The format of a table; for a setting that is None the reader decides by the file.

    Attributes
    ----------
    separator : between cells: ",", ";", "tab", "space" or "bar".
    decimal : the decimal mark, "." or ",".
    dates : whether 01/02/2024 has the "day first" or the "month first".
    missing : numbers that stand for "no reading"; () if no number does.
    sheet : the name of the sheet of a workbook.
    valid : the heading of a column that is 0, or below, in rows whose readings are invalid.

    >>> Dialect(decimal=",").decimal
    ','
    """

    separator: str | None = None
    decimal: str | None = None
    dates: str | None = None
    missing: Any = None
    sheet: str | None = None
    valid: str | None = None

    def __post_init__(self):
        for name, kind in (("separator", Separator), ("decimal", Mark), ("dates", Dates)):
            given = getattr(self, name)
            if given is not None and given not in get_args(kind):
                known = ", ".join(f'"{word}"' for word in get_args(kind))
                raise InputError(f"Dialect({name}) is {given!r}; write one of {known}.")
        for name, thing in (("sheet", "a sheet"), ("valid", "a column")):
            given = getattr(self, name)
            if given is not None and not isinstance(given, str):
                raise InputError(f"Dialect({name}) is {given!r}; write the name of {thing}.")
        object.__setattr__(self, "missing", _numbers(self.missing))


def _numbers(missing) -> tuple[float, ...] | None:
    if missing is None:
        return None
    try:
        return tuple(float(number) for number in missing)
    except (TypeError, ValueError):
        raise InputError(
            f"Dialect(missing) is {missing!r}; write a list of numbers, such as [-9999]."
        ) from None
