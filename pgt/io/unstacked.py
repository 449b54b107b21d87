"""Readings of several quantities in one column, which another column tells apart: a column for each.

time, sensor, quantity,    value          time, sensor, temperature, humidity
0,    S1,     temperature, 21.5     ->    0,    S1,     21.5,        45
0,    S1,     humidity,    45
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pgt.ground.errors import InputError
from pgt.io.called import AXES, COUNTERS, FLAGS, KINDS, UNITS, VALID, VALUES, is_called, spelt
from pgt.io.headings import Heading, as_unit, parse_heading
from pgt.io.marks import MISSING
from pgt.io.table import Convert, Table, as_text
from pgt.io.told import is_numeric

MOST = 200  # quantities in a table
Loaded = tuple[dict[int, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Stack:
    """Which columns hold the names of quantities, their values and units, and what the names are."""

    kind: int
    value: int
    unit: int | None
    names: tuple[str, ...]


def unstacked(table: Table) -> Table:
    """The table with a column for each quantity; one that has them already, as it is."""
    stack = _stack(table)
    if stack is None:
        return table
    units = _units(table, stack)
    gone = {stack.kind, stack.value, stack.unit}
    headings = [Heading("", "") if at in gone else h for at, h in enumerate(table.headings)]
    for name in stack.names:
        heading = parse_heading(name)
        headings.append(replace(heading, unit=units.get(name, heading.unit)))
    width = len(table.headings)
    sample = [_row(row, width, stack) for row in table.sample]

    def load(converters: dict[int, Convert]) -> Loaded:
        return _load(table, stack, units, converters)

    said = f"{len(stack.names)} quantities below each other, by {table.headings[stack.kind].text!r}"
    return replace(
        table,
        headings=headings,
        sample=sample,
        load=load,
        said=(*table.said, said),
        kinds=stack.names,
    )


def _row(row: Sequence[str], width: int, stack: Stack) -> list[str]:
    cells = [*row, *[""] * (width - len(row))]
    kind, value = cells[stack.kind].strip(), cells[stack.value]
    return [*cells, *(value if kind == name else "" for name in stack.names)]


def _stack(table: Table) -> Stack | None:
    """None: nothing is stacked, or nobody can tell what is."""
    found: list[tuple[int, tuple[str, ...]]] = []
    for at, heading in enumerate(table.headings):
        if heading.name.lower() in KINDS:
            names = dict.fromkeys(c for c in table.cells(at) if c.lower() not in MISSING)
            if 1 < len(names) <= MOST and not is_numeric([*names]):
                found.append((at, tuple(names)))
    value = _value(table) if len(found) == 1 else None
    if value is None:
        return None
    units = [at for at, h in enumerate(table.headings) if h.name.lower() in UNITS]
    return Stack(found[0][0], value, units[0] if units else None, found[0][1])


def _value(table: Table) -> int | None:
    """The only column of readings: by its name, or since no other has numbers that are no coordinate."""
    numeric = [at for at in range(len(table.headings)) if is_numeric(table.cells(at))]
    named = [at for at in numeric if spelt(table.headings[at].name) in VALUES]
    if not named:
        named = [at for at in numeric if not _is_beside(table.headings[at])]
    return named[0] if len(named) == 1 else None


def _is_beside(heading: Heading) -> bool:
    """Whether a column of numbers is a coordinate, a counter or a flag."""
    name = heading.name.lower()
    is_axis = heading.name != "T" and any(is_called(heading.name, axis) for axis in AXES)
    return is_axis or name in (*COUNTERS, *FLAGS, *VALID)


def _units(table: Table, stack: Stack) -> dict[str, str]:
    """By quantity, the unit that stands beside its readings."""
    if stack.unit is None:
        return {}
    pairs = zip(table.cells(stack.kind), table.cells(stack.unit), strict=False)
    found: dict[str, str] = {}
    for kind, text in pairs:
        if unit := as_unit(text):
            found.setdefault(kind, unit)
    return found


def _load(
    table: Table, stack: Stack, units: dict[str, str], converters: dict[int, Convert]
) -> Loaded:
    width = len(table.headings)
    own = {at: convert for at, convert in converters.items() if at < width}
    asked = {at: stack.names[at - width] for at in converters if at >= width}
    beside = [at for at in (stack.kind, stack.value, stack.unit) if at is not None]
    raw, lines = table.load(own | dict.fromkeys(beside, as_text))
    if not asked:
        return {at: raw[at] for at in own}, lines
    kept = np.isin(raw[stack.kind], [*asked.values()])
    raw, lines = {at: column[kept] for at, column in raw.items()}, lines[kept]
    if stack.unit is not None:
        _check_units(raw, lines, stack, units)
    row = _rows([raw[at] for at in own], raw[stack.kind])
    _, first = np.unique(row, return_index=True)
    values = {at: raw[at][first] for at in own}
    for at, name in asked.items():
        cells, where = np.full(len(first), "", object), lines[first].copy()
        is_it = raw[stack.kind] == name
        cells[row[is_it]], where[row[is_it]] = raw[stack.value][is_it], lines[is_it]
        values[at] = converters[at](cells.tolist(), where)
    return values, lines[first]


def _rows(keys: Sequence[np.ndarray], kinds: np.ndarray) -> np.ndarray:
    """The row that each reading goes to: quantities of one place and time share it, and what is there
    twice has a row more."""
    frame = pd.DataFrame(dict(enumerate([*keys, kinds])))
    repeats = frame.groupby([*frame.columns], dropna=False, sort=False).cumcount()
    shared = frame.drop(columns=len(keys)).assign(repeats=repeats)
    return shared.groupby([*shared.columns], dropna=False, sort=False).ngroup().to_numpy()


def _check_units(
    raw: dict[int, np.ndarray], lines: np.ndarray, stack: Stack, units: dict[str, str]
) -> None:
    for kind, text, line in zip(raw[stack.kind], raw[stack.unit or 0], lines, strict=True):
        if (unit := as_unit(text)) and unit != units.get(kind, unit):
            raise InputError(
                f"line {line}: {kind!r} is in {text!r}, and in {units[kind]!r} above; write one unit."
            )
