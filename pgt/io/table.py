"""Columns out of a table of cells: long, one column per quantity, or wide, one column per sensor.

In a wide table the position of a sensor stands in its heading, or in a table of sensors beside it. In
one with a column of names, or with one file per sensor, it is found by the name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from pgt.data.units import conversion
from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.called import AXES, is_good
from pgt.io.clocks import SAID, past_midnight
from pgt.io.columns import Columns, absent, check_count
from pgt.io.found import by_field_and_place, places_of, positions, sensor_hint, texts_of
from pgt.io.headings import Heading, Places, placed_along
from pgt.io.marks import Marks, find_marks, is_number_like, is_plain
from pgt.io.ordinals import joined
from pgt.io.pivots import pivoted, with_corner
from pgt.io.spellings import is_compact
from pgt.io.stamps import is_stamp
from pgt.io.zones import has_zone, to_utc, zone_in

SAY_COMMA = '`dialect=pgt.io.Dialect(decimal=",")`'
Convert = Callable[[list[str], np.ndarray], np.ndarray]
Load = Callable[[dict[int, Convert]], tuple[dict[int, np.ndarray], np.ndarray]]


@dataclass(frozen=True)
class Table:
    """Headings, a few rows to look at, and how to load whole columns by their places.

    `fixed` are positions that hold for every row; `called` is what a table of sensors may call the
    file; `kinds` are columns that stood below each other as one.
    """

    headings: Sequence[Heading]
    sample: Sequence[Sequence[str]]
    load: Load
    said: tuple[str, ...] = ()
    fixed: Places = field(default_factory=dict)
    called: str = ""
    kinds: tuple[str, ...] = ()

    def cells(self, place: int) -> list[str]:
        """What stands in a column, in the sample."""
        return [row[place].strip() for row in self.sample if place < len(row)]


def titled(headings: Sequence[Heading], sample: Sequence[Sequence[str]]) -> list[Heading]:
    """The headings, with the axes that a corner such as "t/x" names; a first column of times without a
    name, as pandas writes its index, is "time"."""
    first = [row[0].strip() for row in sample if row and row[0].strip()]
    is_free = headings[0].text == "" and all(h.name.lower() != "time" for h in headings)
    if is_free and first and all(is_stamp(cell) and not is_number_like(cell) for cell in first):
        return [Heading("time", "time"), *headings[1:]]
    return with_corner(headings)


class Plan(NamedTuple):
    """Which columns make up what: by name, by field and position, and what holds for every row."""

    single: dict[str, tuple[int, ...]]
    wide: dict[str, dict[tuple[float, ...], int]]
    axes: tuple[str, ...]  # those of the positions in `wide`
    fixed: Places
    named_by: int | None  # the column with the names of sensors


def select(
    table: Table,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    sensors: dict[str, Places] | None,
    dialect: Dialect,
) -> Columns:
    """The columns that were asked for, by those names."""
    table = _with_lengths(table, coords, sensors)
    plan = _plan(table, coords, others, sensors or {})
    count = max((len(by_place) for by_place in plan.wide.values()), default=1)
    marks = _marks(table, plan, dialect)
    _check_marks(table, marks, dialect)
    raw, lines = table.load(_converters(table, plan, coords, marks, dialect.valid))
    check_count(count * len(lines))
    values = {
        name: joined([(table.headings[p], raw[p]) for p in places], lines, dialect.dates)
        for name, places in plan.single.items()
    }
    zones = _to_utc(values, raw, table, plan)
    clocks = {
        n for n, p in plan.single.items() if raw[p[0]].dtype == object and _is_number(values[n])
    }
    values |= {axis: np.full(len(lines), value) for axis, (value, _) in plan.fixed.items()}
    said, called = [*table.said, *marks.said, *zones], None
    if plan.named_by is not None:
        names = raw[plan.named_by]
        values |= _by_name(names, lines, sensors or {}, [c for c in coords if c not in values])
        said.append(f"{len(set(names))} sensors")
        called = names
    said += _past_midnight(values, clocks, coords, lines)
    units = _units(table, plan, sensors or {}, coords) | dict.fromkeys(clocks, "s")
    if plan.wide:
        called = np.tile(_called(table, plan), len(lines))
        values, lines = _melted(plan, values, raw, lines)
        of = ("times", "places") if plan.axes == ("t",) else ("sensors", "time stamps")
        said += [f"{count} {of[0]}", f"{len(lines) // count} {of[1]}"]
    words = {0: [], 1: ["1 word in place of a reading hidden"]}
    said += words.get(marks.words, [f"{marks.words} words in place of readings hidden"])
    found = {name: values[name] for name in (*coords, *others)}
    return Columns(found, units, lines, tuple(said), sensors=called)


def _with_lengths(table: Table, coords: Sequence[str], sensors: dict[str, Places] | None) -> Table:
    """Where one axis of space is given nowhere, lengths in headings are places along it."""
    space = [axis for axis in AXES if axis in coords and not places_of(table.headings, axis)]
    if len(space) == 1 and not sensors and not any(h.places for h in table.headings):
        grid = pivoted(table.headings, space)
        if any(heading.places for heading in grid):
            return replace(table, headings=grid)
    lost = [
        c
        for c in coords
        if c in "xyz" and c not in table.fixed and not places_of(table.headings, c)
    ]
    if len(lost) != 1 or sensors or any(heading.places for heading in table.headings):
        return table
    return replace(table, headings=placed_along(table.headings, lost[0]))


def _plan(table: Table, coords, others, sensors: dict[str, Places]) -> Plan:
    found = {name: places_of(table.headings, name) for name in (*coords, *others)}
    single = {name: places for name, places in found.items() if places}
    lost = [name for name in coords if name not in single]
    by_column = positions(table.headings, sensors)
    if lost and by_column:  # a column of one sensor, named in full, is a wide table of one
        single = {n: p for n, p in single.items() if n in coords or not set(p) & set(by_column)}
    unread = [name for name in others if name not in single]
    taken = {place for places in single.values() for place in places}
    if unread and lost and by_column:
        free = {place: at for place, at in by_column.items() if place not in taken}
        fixed = {a: table.fixed[a] for a in lost if a in table.fixed and not _has(free, a)}
        axes = tuple(axis for axis in lost if axis not in fixed)
        return Plan(
            single, by_field_and_place(table.headings, unread, free, axes), axes, fixed, None
        )
    fixed = {axis: table.fixed[axis] for axis in lost if axis in table.fixed}
    fixed |= {a: at for a, at in sensors.get(table.called, {}).items() if a in lost}
    lost = [axis for axis in lost if axis not in fixed]
    named_by = _names_column(table, sensors, taken) if lost else None
    for name in (*(lost if named_by is None else ()), *unread):
        raise absent(name, texts_of(table.headings), sensor_hint(name, sensors))
    return Plan(single, {}, (), fixed, named_by)


def _has(positions: dict[int, Places], axis: str) -> bool:
    return any(axis in at for at in positions.values())


def _names_column(table: Table, sensors: dict[str, Places], taken: set[int]) -> int | None:
    """The column whose cells are names of sensors."""
    for place in range(len(table.headings)):
        cells = table.cells(place)
        if (
            place not in taken
            and cells
            and sum(cell in sensors for cell in cells) > 0.5 * len(cells)
        ):
            return place
    return None


def _by_name(names: np.ndarray, lines: np.ndarray, sensors: dict[str, Places], axes: list[str]):
    """Coordinates of rows whose sensor is named in them."""
    for name, line in zip(names, lines, strict=True):
        for axis in axes:
            if axis not in sensors.get(name, {}):
                raise InputError(
                    f"line {line}: the table of sensors has no {axis!r} for {name!r}; add it there."
                )
    return {axis: np.array([sensors[name][axis][0] for name in names]) for axis in axes}


def _is_text(table: Table, place: int) -> bool:
    """Whether a column holds times; digits alone are a date only where all are, and have no unit."""
    cells = [cell for cell in table.cells(place) if cell]
    if not cells or not is_stamp(cells[0]):
        return False
    is_bare = table.headings[place].unit is None
    return not is_number_like(cells[0]) or (is_bare and all(map(is_compact, cells)))


def _check_marks(table: Table, marks: Marks, dialect: Dialect) -> None:
    """Refuse decimal commas beside columns with decimal points: "0060,1" may be two numbers in a cell."""
    if dialect.decimal is None and marks.decimal == ",":
        for place in range(len(table.headings)):
            cells = [cell for cell in table.cells(place) if cell]
            if cells and all(map(is_plain, cells)) and any("." in cell for cell in cells):
                point = next(cell for cell in cells if "." in cell)
                raise InputError(
                    f"column {table.headings[place].text!r} has decimal points ({point}), others have "
                    f"commas in their numbers; if these are decimals, say so: {SAY_COMMA}."
                )


def _marks(table: Table, plan: Plan, dialect: Dialect) -> Marks:
    """The marks of the numbers that are read; where these leave them open, those of the other columns."""
    try:
        return find_marks(_numeric_cells(table, plan), dialect)
    except InputError as error:
        places = [p for p in range(len(table.headings)) if not _is_text(table, p)]
        try:
            return find_marks((c for p in places for c in table.cells(p)), dialect)
        except InputError:
            raise error from None


def _numeric_cells(table: Table, plan: Plan) -> Iterable[str]:
    places = {p for at in plan.single.values() if len(at) == 1 for p in at}
    places |= {place for by_place in plan.wide.values() for place in by_place.values()}
    return (c for p in places if not _is_text(table, p) for c in table.cells(p))


def _converters(
    table: Table, plan: Plan, coords: Sequence[str], marks: Marks, valid: str | None
) -> dict[int, Convert]:
    """How each column is read: as numbers, or kept as text where it is times or names."""

    def number(place: int) -> Convert:
        name = table.headings[place].text
        return lambda cells, lines: marks.numbers(cells, lines, name, place in axes)

    axes = {place for name in coords for place in plan.single.get(name, ())}
    wide = {place for by_place in plan.wide.values() for place in by_place.values()}
    found = {place: number(place) for place in wide}
    for name, places in plan.single.items():
        is_time = len(places) > 1 or any(name in coords and _is_text(table, p) for p in places)
        found |= {p: as_text if is_time else number(p) for p in places}
        if name == valid:
            found |= {p: _truth(number(p)) for p in places}
    return found if plan.named_by is None else found | {plan.named_by: as_text}


def _truth(number: Convert) -> Convert:
    """Numbers, or words such as TRUE, OK and Bad in their place."""
    words: dict[bool | None, str] = {True: "1", False: "0"}
    return lambda cells, lines: number(
        [c if is_plain(c) else words.get(is_good(c), c) for c in cells], lines
    )


def as_text(cells: list[str], lines: np.ndarray) -> np.ndarray:
    """A column kept as it is written."""
    return np.array([cell.strip() for cell in cells], dtype=object)


def _to_utc(
    values: dict[str, np.ndarray], raw: dict[int, np.ndarray], table: Table, plan: Plan
) -> list[str]:
    """Bring times whose heading has a zone to UTC, as those are already that have one themselves."""
    said = []
    for name, places in plan.single.items():
        zone = next((z for p in places if (z := zone_in(table.headings[p].text))), None)
        own = any(has_zone(text) for place in places if zone for text in raw[place])
        if zone and not own and values[name].dtype.kind == "M":
            values[name] = to_utc(pd.Series(values[name]), zone).to_numpy("datetime64[us]")
            said.append(f"times from {zone} to UTC")
    return said


def _is_number(column: np.ndarray) -> bool:
    return column.dtype.kind == "f"


def _past_midnight(values: dict[str, np.ndarray], clocks: set[str], coords, lines) -> list[str]:
    """Add the days that times of day leave out."""
    said = []
    for name in clocks:
        others = [values[c] for c in coords if c in values and c != name and _is_number(values[c])]
        found = past_midnight(values[name], others, lines)
        said += [] if np.array_equal(found, values[name], equal_nan=True) else [SAID]
        values[name] = found
    return said


def _called(table: Table, plan: Plan) -> np.ndarray:
    """By place, the heading of its column; of several fields there, of the first."""
    first: dict[tuple[float, ...], str] = {}
    for by_place in plan.wide.values():
        for at, place in by_place.items():
            first.setdefault(at, table.headings[place].text)
    return np.array([*first.values()], object)


def _melted(plan: Plan, values: dict[str, np.ndarray], raw: dict[int, np.ndarray], lines):
    """One row per instant and sensor; sensors of one place share a row."""
    places = list(dict.fromkeys(at for by_place in plan.wide.values() for at in by_place))
    rows = len(lines)
    melted = {name: np.repeat(column, len(places)) for name, column in values.items()}
    for index, axis in enumerate(plan.axes):
        melted[axis] = np.tile([at[index] for at in places], rows)
    nothing = np.full(rows, np.nan)
    for name, by_place in plan.wide.items():
        columns = [raw[by_place[at]] if at in by_place else nothing for at in places]
        melted[name] = np.stack(columns, axis=1).ravel()
    return melted, np.repeat(lines, len(places))


def _units(table: Table, plan: Plan, sensors: dict[str, Places], coords) -> dict[str, str]:
    """Units by name: of a column, of the columns of a field, and of positions."""
    units = {}
    for name, places in plan.single.items():
        units[name] = table.headings[places[0]].unit if len(places) == 1 else None
    for name, by_place in plan.wide.items():
        units[name] = _common(name, [table.headings[p].unit for p in by_place.values()])
    units |= {axis: unit for axis, (_, unit) in plan.fixed.items()}
    at = [*positions(table.headings, sensors).values(), *sensors.values()]
    for axis in coords:
        if axis not in units:
            units[axis] = _common(axis, [places[axis][1] for places in at if axis in places])
    return {name: unit for name, unit in units.items() if unit}


def _common(name: str, units: Iterable[str | None]) -> str | None:
    """The one unit of several sensors."""
    units = list(units)
    known = next((unit for unit in units if unit), None)
    for unit in units:
        if known is None or unit is None:
            continue
        if conversion(unit, known) not in ((1.0, 0.0),):
            raise InputError(
                f"{name!r} is in {known!r} at one sensor and in {unit!r} at another; write one unit."
            )
    return known
