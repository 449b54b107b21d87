"""Lines of text to readings: one heading, then numbers; every mistake is one sentence."""

import csv
import math
from collections.abc import Mapping, Sequence

import numpy as np

from pgt.ground.errors import InputError
from pgt.ground.numbers import listed, number

LONGEST = 10_000  # bytes of a line
SEPARATORS = ",;\t"
SHOWN = 40  # characters of what was wrong
NOTHING = ("", "nan", "na", "null", "none", "-")  # a value that was not measured


class Heading:
    """Which column is which; reads the lines below."""

    def __init__(self, line: bytes, axes: Mapping[str, np.ndarray], fields: Sequence[str]):
        text = _text(line)
        self.separator = next((mark for mark in SEPARATORS if mark in text), ",")
        self.names = [name.strip() for name in self._cells(text)]
        self.axes, self.fields = axes, fields
        if missing := [axis for axis in axes if axis not in self.names]:
            raise InputError(
                f"the heading {_shown(text)} lacks {listed(missing)}; columns of this model are "
                f"{listed([*axes, *fields])}."
            )
        if not set(fields) & set(self.names):
            raise InputError(f"the heading {_shown(text)} has none of {listed(fields)}.")
        if twice := [name for name in self.names if self.names.count(name) > 1]:
            raise InputError(f"the heading {_shown(text)} names {twice[0]} twice.")

    def read(self, line: bytes) -> np.ndarray | None:
        """Coordinates, then fields; None for an empty line and for the heading once more."""
        text = _text(line)
        cells = [cell.strip() for cell in self._cells(text)]
        if not any(cells) or cells == self.names:
            return None
        if len(cells) != len(self.names):
            raise InputError(f"{len(cells)} cells instead of {len(self.names)}")
        by_name = dict(zip(self.names, cells, strict=True))
        place = [self._coordinate(axis, by_name[axis]) for axis in self.axes]
        values = [_value(name, by_name.get(name, "")) for name in self.fields]
        if all(map(math.isnan, values)):
            raise InputError("no field has a value")
        return np.array([*place, *values])

    def _cells(self, text: str) -> list[str]:
        try:
            return next(csv.reader([text], delimiter=self.separator), [])
        except csv.Error as error:
            raise InputError(str(error)) from None

    def _coordinate(self, axis: str, cell: str) -> float:
        value = _number(axis, cell)
        low, high = float(self.axes[axis][0]), float(self.axes[axis][-1])
        if not low <= value <= high:
            bounds = f"{number(low)} to {number(high)}"
            raise InputError(f"{axis} = {_shown(cell)} lies outside of {bounds}")
        return value


def _value(name: str, cell: str) -> float:
    return math.nan if cell.lower() in NOTHING else _number(name, cell)


def _number(name: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name} = {_shown(cell)} is not a finite number")
    return value


def _text(line: bytes) -> str:
    if len(line) > LONGEST:
        raise InputError(f"it is longer than {LONGEST} bytes")
    return line.decode("utf-8-sig", "replace").strip("\r\n")


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")
