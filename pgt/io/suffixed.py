"""Cells that hold a number and its unit: "21.3 °C", "60 s", "45 %"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from pgt.data.units import conversion
from pgt.ground.errors import InputError
from pgt.io.headings import as_unit, parse_heading
from pgt.io.marks import MISSING, WORDS, is_number_like
from pgt.io.stamps import is_stamp
from pgt.io.table import Convert, Table

LONGEST = 40  # characters of such a cell
_CELL = re.compile(
    r"(?P<number>[+\u2212-]?\s?(?:\d[\d.,'\u00a0\u202f]*|[.,]\d+)(?:[eE][+-]?\d+)?)"
    r"(?P<blank>\s*)(?P<unit>[^\W\d_]\D*\d?|[°º˚%‰].*)"
)


class Amount(NamedTuple):
    """The parts of a cell, as they are written."""

    number: str
    unit: str


def amount(cell: str) -> Amount | None:
    """The number and the unit of a cell; None: it does not hold both.

    >>> amount("21,3 °C"), amount("-60s"), amount("5 apples"), amount("1A")
    (Amount(number='21,3', unit='°C'), Amount(number='-60', unit='s'), None, None)
    """
    cell = cell.strip()
    found = _CELL.fullmatch(cell) if cell[:1] and len(cell) <= LONGEST else None
    if found is None or is_stamp(cell) or not _is_unit(found["unit"]):
        return None
    if not found["blank"] and re.fullmatch(
        r"[A-Z]", found["unit"]
    ):  # 1A, 2C may be names of sensors
        return None
    return Amount(found["number"].strip(), found["unit"].strip())


@cache
def _is_unit(text: str) -> bool:
    return as_unit(text) is not None or text.strip() == "F"


def without_units(table: Table) -> Table:
    """The table with numbers alone in its cells, and the units that stood there in its headings."""
    units = {at: unit for at in range(len(table.headings)) if (unit := _unit_of(table, at))}
    if not units:
        return table
    headings = [replace(h, unit=units.get(at, h.unit)) for at, h in enumerate(table.headings)]
    sample = [
        [_plain(cell) if at in units else cell for at, cell in enumerate(row)]
        for row in table.sample
    ]

    def load(converters: dict[int, Convert]) -> tuple[dict[int, np.ndarray], np.ndarray]:
        return table.load(
            {
                at: _converter(convert, table.headings[at].text, units[at])
                if at in units
                else convert
                for at, convert in converters.items()
            }
        )

    return replace(
        table, headings=headings, sample=sample, load=load, said=(*table.said, "units in cells")
    )


def _plain(cell: str) -> str:
    found = amount(cell)
    return cell if found is None else found.number


def _unit_of(table: Table, at: int) -> str | None:
    """The unit in the first cell of a column, where cells hold such throughout."""
    cells = (cell for row in table.sample if at < len(row) and (cell := row[at].strip()))
    filled = [cell for cell in cells if not _is_empty(cell)]
    if not filled or is_number_like(filled[0]) or not all(map(amount, filled[:1])):
        return None
    amounts = [found for cell in filled if (found := amount(cell))]
    if len(amounts) < 0.5 * len(filled):
        return None
    heading = table.headings[at]
    unit = parse_heading(f"{heading.name} [{amounts[0].unit}]").unit
    if unit and heading.unit and conversion(unit, heading.unit) != (1.0, 0.0):
        raise InputError(
            f"the heading {heading.text!r} says {heading.unit!r}, and its cells {amounts[0].unit!r}, "
            f"as in {filled[0]!r}; correct one of them."
        )
    return unit


def _is_empty(cell: str) -> bool:
    return cell.lower() in MISSING or cell.lower() in WORDS


def _converter(convert: Convert, name: str, unit: str) -> Convert:
    """Numbers in the unit of the column, out of cells that have units of their own."""

    def converted(cells: list[str], lines: np.ndarray) -> np.ndarray:
        amounts = [amount(cell) for cell in cells]
        values = convert([a.number if a else c for a, c in zip(amounts, cells, strict=True)], lines)
        to = _scales(amounts, cells, lines, name, unit)
        return values if values.dtype == object else values * to[:, 0] + to[:, 1]

    return converted


def _scales(
    amounts: Sequence[Amount | None], cells: Sequence[str], lines: np.ndarray, name: str, unit: str
) -> np.ndarray:
    """By cell, the scale and the offset that take its number to the unit of the column."""
    known: dict[str, tuple[float, float] | None] = {}
    found = np.tile([1.0, 0.0], (len(cells), 1))
    for row, (one, cell) in enumerate(zip(amounts, cells, strict=True)):
        if one is None and not is_number_like(cell.strip()):
            continue  # no reading, or an error that is said already
        own = one.unit if one else ""
        if own not in known:
            parsed = parse_heading(f"{name} [{own}]").unit or as_unit(own)
            known[own] = conversion(parsed, unit) if parsed and own else None
        if (to := known[own]) is None:
            raise InputError(
                f"line {lines[row]}, column {name!r}: {cell.strip()!r} is not in {unit!r}, as others "
                "are; write all in one unit."
            )
        found[row] = to
    return found
