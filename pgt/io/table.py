"""A table of cells, and the two changes that every reader makes to it.

Units in cells ("21.3 °C", "60 s") move to the headings. Readings of several quantities in one column
get a column for each quantity:

    time, sensor, quantity,    value          time, sensor, temperature, humidity
    0,    S1,     temperature, 21.5     ->    0,    S1,     21.5,        45
    0,    S1,     humidity,    45
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from pgt.core.errors import InputError
from pgt.data.units import conversion
from pgt.io.column_aliases import (
    AXES,
    COUNTER_NAMES,
    FLAG_NAMES,
    QUANTITY_NAMES,
    UNIT_NAMES,
    VALIDITY_NAMES,
    VALUE_NAMES,
    is_axis_alias,
    normalize_name,
)
from pgt.io.headings import Heading, Positions, parse_heading, parse_unit
from pgt.io.number_format import MISSING_WORDS, NO_READING_WORDS, is_number_like, is_numeric_column
from pgt.io.time_stamps import is_time_stamp

# Cells and their line numbers to values.
Converter = Callable[[list[str], np.ndarray], np.ndarray]
LoadedColumns = tuple[dict[int, np.ndarray], np.ndarray]  # values by column, and line numbers
Loader = Callable[[dict[int, Converter]], LoadedColumns]


@dataclass(frozen=True)
class CellTable:
    """The headings of a table, its first rows, and a function that loads whole columns by index.

    Attributes
    ----------
    headings, sample : headings, and rows of cells that show what columns hold.
    load : reads columns, each with its own converter.
    notes : how the file was understood.
    fixed_positions : positions that hold for every row.
    file_stem : the name by which a table of sensors may refer to the file.
    quantities : the quantities that stood below each other in one column.
    """

    headings: Sequence[Heading]
    sample: Sequence[Sequence[str]]
    load: Loader
    notes: tuple[str, ...] = ()
    fixed_positions: Positions = field(default_factory=dict)
    file_stem: str = ""
    quantities: tuple[str, ...] = ()

    def cells(self, column: int) -> list[str]:
        """The cells of a column in the sample."""
        return [row[column].strip() for row in self.sample if column < len(row)]

    def normalized(self) -> "CellTable":
        """The table with units in headings, and one column for each quantity."""
        return unstack_quantities(move_units_to_headings(self))


def as_text(cells: list[str], lines: np.ndarray) -> np.ndarray:
    """The cells of a column, unchanged."""
    return np.array([cell.strip() for cell in cells], dtype=object)


MAX_AMOUNT_LENGTH = 40  # characters of a cell that holds a number and a unit
_AMOUNT = re.compile(
    r"(?P<number>[+\u2212-]?\s?(?:\d[\d.,'\u00a0\u202f]*|[.,]\d+)(?:[eE][+-]?\d+)?)"
    r"(?P<blank>\s*)(?P<unit>[^\W\d_]\D*\d?|[°º˚%‰].*)"
)


class CellAmount(NamedTuple):
    """A number and its unit, as they are written in a cell."""

    number: str
    unit: str


def parse_amount(cell: str) -> CellAmount | None:
    """The number and the unit of a cell; None where it does not hold both.

    >>> parse_amount("21,3 °C"), parse_amount("-60s"), parse_amount("5 apples"), parse_amount("1A")
    (CellAmount(number='21,3', unit='°C'), CellAmount(number='-60', unit='s'), None, None)
    """
    cell = cell.strip()
    found = _AMOUNT.fullmatch(cell) if cell[:1] and len(cell) <= MAX_AMOUNT_LENGTH else None
    if found is None or is_time_stamp(cell) or not _is_cell_unit(found["unit"]):
        return None
    if not found["blank"] and re.fullmatch(r"[A-Z]", found["unit"]):  # "1A" may name a sensor
        return None
    return CellAmount(found["number"].strip(), found["unit"].strip())


@cache
def _is_cell_unit(text: str) -> bool:
    return parse_unit(text) is not None or text.strip() == "F"


def move_units_to_headings(table: CellTable) -> CellTable:
    """The table with plain numbers in its cells, and the units of the cells in the headings."""
    units = {at: unit for at in range(len(table.headings)) if (unit := _unit_in_cells(table, at))}
    if not units:
        return table
    headings = [replace(h, unit=units.get(at, h.unit)) for at, h in enumerate(table.headings)]
    sample = [
        [_number_of(cell) if at in units else cell for at, cell in enumerate(row)]
        for row in table.sample
    ]

    def load(converters: dict[int, Converter]) -> LoadedColumns:
        own = {
            at: _convert_amounts(converters[at], table.headings[at].text, unit)
            for at, unit in units.items()
            if at in converters
        }
        return table.load(converters | own)

    notes = (*table.notes, "units in cells")
    return replace(table, headings=headings, sample=sample, load=load, notes=notes)


def _number_of(cell: str) -> str:
    found = parse_amount(cell)
    return cell if found is None else found.number


def _unit_in_cells(table: CellTable, at: int) -> str | None:
    """The unit in the first cell of a column, where most cells have a unit."""
    cells = (cell for row in table.sample if at < len(row) and (cell := row[at].strip()))
    filled = [cell for cell in cells if not _is_missing(cell)]
    if not filled or is_number_like(filled[0]) or not all(map(parse_amount, filled[:1])):
        return None
    amounts = [found for cell in filled if (found := parse_amount(cell))]
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


def _is_missing(cell: str) -> bool:
    return cell.lower() in MISSING_WORDS or cell.lower() in NO_READING_WORDS


def _convert_amounts(convert: Converter, name: str, unit: str) -> Converter:
    """A converter of cells with units to numbers in one unit."""

    def converted(cells: list[str], lines: np.ndarray) -> np.ndarray:
        amounts = [parse_amount(cell) for cell in cells]
        values = convert([a.number if a else c for a, c in zip(amounts, cells, strict=True)], lines)
        to = _amount_conversions(amounts, cells, lines, name, unit)
        return values if values.dtype == object else values * to[:, 0] + to[:, 1]

    return converted


def _amount_conversions(
    amounts: Sequence[CellAmount | None],
    cells: Sequence[str],
    lines: np.ndarray,
    name: str,
    unit: str,
) -> np.ndarray:
    """By cell, the scale and offset that convert its number to the unit of the column."""
    known: dict[str, tuple[float, float] | None] = {}
    found = np.tile([1.0, 0.0], (len(cells), 1))
    for row, (amount, cell) in enumerate(zip(amounts, cells, strict=True)):
        if amount is None and not is_number_like(cell.strip()):
            continue  # no reading; the converter reports other text
        own = amount.unit if amount else ""
        if own not in known:
            parsed = parse_heading(f"{name} [{own}]").unit or parse_unit(own)
            known[own] = conversion(parsed, unit) if parsed and own else None
        if (to := known[own]) is None:
            raise InputError(
                f"line {lines[row]}, column {name!r}: {cell.strip()!r} is not in {unit!r} like the "
                "others; write all in one unit."
            )
        found[row] = to
    return found


MAX_QUANTITIES = 200  # in one column; a column with more names holds something else


@dataclass(frozen=True)
class QuantityStack:
    """The columns of the names, values and units of stacked quantities, and these names."""

    name_column: int
    value_column: int
    unit_column: int | None
    names: tuple[str, ...]

    @property
    def columns(self) -> list[int]:
        both = [self.name_column, self.value_column]
        return both if self.unit_column is None else [*both, self.unit_column]


def unstack_quantities(table: CellTable) -> CellTable:
    """The table with a column for each quantity; unchanged where nothing is stacked."""
    stack = _find_stack(table)
    if stack is None:
        return table
    units = _units_by_quantity(table, stack)
    headings = [
        Heading("", "") if at in stack.columns else h for at, h in enumerate(table.headings)
    ]
    for name in stack.names:
        heading = parse_heading(name)
        headings.append(replace(heading, unit=units.get(name, heading.unit)))
    width = len(table.headings)
    sample = [_unstack_row(row, width, stack) for row in table.sample]

    def load(converters: dict[int, Converter]) -> LoadedColumns:
        return _load_unstacked(table, stack, units, converters)

    name = table.headings[stack.name_column].text
    notes = (*table.notes, f"{len(stack.names)} quantities below each other, by {name!r}")
    return replace(
        table, headings=headings, sample=sample, load=load, notes=notes, quantities=stack.names
    )


def _unstack_row(row: Sequence[str], width: int, stack: QuantityStack) -> list[str]:
    cells = [*row, *[""] * (width - len(row))]
    name, value = cells[stack.name_column].strip(), cells[stack.value_column]
    return [*cells, *(value if name == other else "" for other in stack.names)]


def _find_stack(table: CellTable) -> QuantityStack | None:
    """The stacked quantities of a table; None where there are none, or it is unclear which."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for at, heading in enumerate(table.headings):
        if heading.name.lower() in QUANTITY_NAMES:
            names = dict.fromkeys(c for c in table.cells(at) if c.lower() not in MISSING_WORDS)
            if 1 < len(names) <= MAX_QUANTITIES and not is_numeric_column([*names]):
                found.append((at, tuple(names)))
    value = _find_value_column(table) if len(found) == 1 else None
    if value is None:
        return None
    units = [at for at, h in enumerate(table.headings) if h.name.lower() in UNIT_NAMES]
    return QuantityStack(found[0][0], value, units[0] if units else None, found[0][1])


def _find_value_column(table: CellTable) -> int | None:
    """The only column of readings: by its name, or because no other holds numbers."""
    numeric = [at for at in range(len(table.headings)) if is_numeric_column(table.cells(at))]
    named = [at for at in numeric if normalize_name(table.headings[at].name) in VALUE_NAMES]
    if not named:
        named = [at for at in numeric if not _is_no_reading(table.headings[at])]
    return named[0] if len(named) == 1 else None


def _is_no_reading(heading: Heading) -> bool:
    """Whether a column of numbers is a coordinate, a counter or a flag."""
    name = heading.name.lower()
    is_axis = heading.name != "T" and any(is_axis_alias(heading.name, axis) for axis in AXES)
    return is_axis or name in (*COUNTER_NAMES, *FLAG_NAMES, *VALIDITY_NAMES)


def _units_by_quantity(table: CellTable, stack: QuantityStack) -> dict[str, str]:
    """By quantity, the unit in the column of units."""
    if stack.unit_column is None:
        return {}
    found: dict[str, str] = {}
    names, units = table.cells(stack.name_column), table.cells(stack.unit_column)
    for name, text in zip(names, units, strict=False):
        if unit := parse_unit(text):
            found.setdefault(name, unit)
    return found


def _load_unstacked(
    table: CellTable, stack: QuantityStack, units: dict[str, str], converters: dict[int, Converter]
) -> LoadedColumns:
    width = len(table.headings)
    own = {at: convert for at, convert in converters.items() if at < width}
    asked = {at: stack.names[at - width] for at in converters if at >= width}
    raw, lines = table.load(own | dict.fromkeys(stack.columns, as_text))
    if not asked:
        return {at: raw[at] for at in own}, lines
    kept = np.isin(raw[stack.name_column], [*asked.values()])
    raw, lines = {at: column[kept] for at, column in raw.items()}, lines[kept]
    _check_stack_units(raw, lines, stack, units)
    names = raw[stack.name_column]
    row = _group_rows([raw[at] for at in own], names)
    _, first = np.unique(row, return_index=True)
    values = {at: raw[at][first] for at in own}
    for at, name in asked.items():
        cells, where = np.full(len(first), "", object), lines[first].copy()
        chosen = names == name
        cells[row[chosen]], where[row[chosen]] = raw[stack.value_column][chosen], lines[chosen]
        values[at] = converters[at](cells.tolist(), where)
    return values, lines[first]


def _group_rows(keys: Sequence[np.ndarray], names: np.ndarray) -> np.ndarray:
    """By reading, its row in the result. Quantities with equal keys share a row; repeats get new ones."""
    frame = pd.DataFrame(dict(enumerate([*keys, names])))
    repeats = frame.groupby([*frame.columns], dropna=False, sort=False).cumcount()
    shared = frame.drop(columns=len(keys)).assign(repeats=repeats)
    return shared.groupby([*shared.columns], dropna=False, sort=False).ngroup().to_numpy()


def _check_stack_units(
    raw: dict[int, np.ndarray], lines: np.ndarray, stack: QuantityStack, units: dict[str, str]
) -> None:
    if stack.unit_column is None:
        return
    for name, text, line in zip(raw[stack.name_column], raw[stack.unit_column], lines, strict=True):
        if (unit := parse_unit(text)) and unit != units.get(name, unit):
            raise InputError(
                f"line {line}: {name!r} is in {text!r}, and in {units[name]!r} above; write one unit."
            )
