"""Columns out of a table of cells: long, one column per quantity, or wide, one column per sensor.

In a wide table the position of a sensor stands in its heading, or in a table of sensors beside it. In
one with a column of names, or with one file per sensor, it is found by the name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pgt.data.units import conversion
from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.columns import Columns, absent, check_count
from pgt.io.headings import Heading, Places
from pgt.io.marks import Marks, find_marks, is_number_like
from pgt.io.spellings import is_compact, seconds_of, zone_in
from pgt.io.stamps import is_stamp, parse_stamps

JOINED = " + "  # of a date and a time of day that are two columns
Convert = Callable[[list[str], np.ndarray], np.ndarray]
Load = Callable[[dict[int, Convert]], tuple[dict[int, np.ndarray], np.ndarray]]


@dataclass(frozen=True)
class Table:
    """Headings, a few rows to look at, and how to load whole columns by their places.

    `fixed` are positions that hold for every row; `called` is what a table of sensors may call the
    file.
    """

    headings: Sequence[Heading]
    sample: Sequence[Sequence[str]]
    load: Load
    said: tuple[str, ...] = ()
    fixed: Places = field(default_factory=dict)
    called: str = ""

    def cells(self, place: int) -> list[str]:
        """What stands in a column, in the sample."""
        return [row[place].strip() for row in self.sample if place < len(row)]


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
    plan = _plan(table, coords, others, sensors or {})
    count = max((len(by_place) for by_place in plan.wide.values()), default=1)
    marks = find_marks(_numeric_cells(table, plan), dialect)
    raw, lines = table.load(_converters(table, plan, coords, marks))
    check_count(count * len(lines))
    values = {name: _joined(raw, places, lines, dialect) for name, places in plan.single.items()}
    zones = _to_utc(values, table, plan)
    values |= {axis: np.full(len(lines), value) for axis, (value, _) in plan.fixed.items()}
    said, called = [*table.said, *marks.said, *zones], None
    if plan.named_by is not None:
        names = raw[plan.named_by]
        values |= _by_name(names, lines, sensors or {}, [c for c in coords if c not in values])
        said.append(f"{len(set(names))} sensors")
        called = names
    units = _units(table, plan, sensors or {}, coords)
    if plan.wide:
        called = np.tile(_called(table, plan), len(lines))
        values, lines = _melted(plan, values, raw, lines)
        said += [f"{count} sensors", f"{len(lines) // count} time stamps"]
    words = {0: [], 1: ["1 word in place of a reading hidden"]}
    said += words.get(marks.words, [f"{marks.words} words in place of readings hidden"])
    found = {name: values[name] for name in (*coords, *others)}
    return Columns(found, units, lines, tuple(said), sensors=called)


def _plan(table: Table, coords, others, sensors: dict[str, Places]) -> Plan:
    found = {name: _found(table.headings, name) for name in (*coords, *others)}
    single = {name: places for name, places in found.items() if places}
    lost = [name for name in coords if name not in single]
    by_column = _positions(table.headings, sensors)
    if lost and by_column:  # a column of one sensor, named in full, is a wide table of one
        single = {n: p for n, p in single.items() if n in coords or not set(p) & set(by_column)}
    unread = [name for name in others if name not in single]
    taken = {place for places in single.values() for place in places}
    if unread and lost and by_column:
        free = {place: at for place, at in by_column.items() if place not in taken}
        fixed = {a: table.fixed[a] for a in lost if a in table.fixed and not _has(free, a)}
        axes = tuple(axis for axis in lost if axis not in fixed)
        return Plan(single, _wide(table.headings, unread, free, axes), axes, fixed, None)
    fixed = {axis: table.fixed[axis] for axis in lost if axis in table.fixed}
    fixed |= {a: at for a, at in sensors.get(table.called, {}).items() if a in lost}
    lost = [axis for axis in lost if axis not in fixed]
    named_by = _names_column(table, sensors, taken) if lost else None
    for name in (*(lost if named_by is None else ()), *unread):
        raise absent(name, _texts(table.headings), _sensor_hint(name))
    return Plan(single, {}, (), fixed, named_by)


def _texts(headings: Iterable[Heading]) -> list[str]:
    return [heading.text for heading in headings if heading.text]


def _has(positions: dict[int, Places], axis: str) -> bool:
    return any(axis in at for at in positions.values())


def _sensor_hint(name: str) -> str:
    how = (
        " Where each column or file is one sensor, write its position into the heading, as in T@x=0.1, "
        'or give a table of names and positions: `sensors="positions.csv"`.'
    )
    return how if name in ("x", "y", "z") else ""


def _found(headings: Sequence[Heading], name: str) -> tuple[int, ...]:
    """The place of a column by its heading, or by the name in its heading; two for "Date + Time"."""
    texts = [heading.text for heading in headings]
    tidy = " ".join(name.split())
    if tidy in texts:
        return (texts.index(tidy),)
    places = [at for at, h in enumerate(headings) if h.name == tidy and not h.places]
    if len(places) > 1:
        listed = " and ".join(repr(texts[place]) for place in places)
        raise InputError(
            f'the columns {listed} are both {name!r}; say which: `columns={{"{name}": '
            f'"{texts[places[0]]}"}}`.'
        )
    if not places and JOINED in name:
        parts = [_found(headings, part) for part in name.split(JOINED)]
        return tuple(p for part in parts for p in part) if all(parts) else ()
    return tuple(places)


def _positions(headings: Sequence[Heading], sensors: dict[str, Places]) -> dict[int, Places]:
    """Where the sensors of columns are."""
    found = {at: h.places for at, h in enumerate(headings) if h.places}
    for at, heading in enumerate(headings):
        for name in (heading.text, heading.name):
            if heading.text and name in sensors:
                found[at] = found.get(at, {}) | sensors[name]
    return found


def _wide(headings: Sequence[Heading], fields, positions: dict[int, Places], axes):
    """By field and position, the column."""
    found = {}
    for name in fields:
        places = [at for at in positions if _matches(headings[at], name)]
        if not places and len(fields) == 1:
            places = list(positions)
        if not places:
            raise absent(name, _texts(headings))
        found[name] = {}
        for place in places:
            at = _position(headings[place], positions[place], axes)
            if at in found[name]:
                raise InputError(
                    f"the columns {headings[found[name][at]].text!r} and {headings[place].text!r} are "
                    f"both {name!r} at one place; correct a position, or take one of them away."
                )
            found[name][at] = place
    return found


def _matches(heading: Heading, name: str) -> bool:
    """Whether a column is of a field: by its name, or by a pattern such as "TC*"."""
    if name in (heading.name, heading.text):
        return True
    start, star, end = name.partition("*")
    return bool(star) and heading.text.startswith(start) and heading.text.endswith(end)


def _position(heading: Heading, places: Places, axes: Sequence[str]) -> tuple[float, ...]:
    for axis in axes:
        if axis not in places:
            raise InputError(
                f"the column {heading.text!r} does not say where its sensor is along {axis!r}; write "
                f"it in the heading, as in {heading.name}@{axis}=0.1, or in a table of sensors."
            )
    return tuple(places[axis][0] for axis in axes)


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


def _numeric_cells(table: Table, plan: Plan) -> Iterable[str]:
    places = {p for at in plan.single.values() if len(at) == 1 for p in at}
    places |= {place for by_place in plan.wide.values() for place in by_place.values()}
    return (c for p in places if not _is_text(table, p) for c in table.cells(p))


def _converters(
    table: Table, plan: Plan, coords: Sequence[str], marks: Marks
) -> dict[int, Convert]:
    """How each column is read: as numbers, or kept as text where it is times or names."""

    def number(place: int) -> Convert:
        name = table.headings[place].text
        return lambda cells, lines: marks.numbers(cells, lines, name)

    wide = {place for by_place in plan.wide.values() for place in by_place.values()}
    found = {place: number(place) for place in wide}
    for name, places in plan.single.items():
        is_time = len(places) > 1 or any(name in coords and _is_text(table, p) for p in places)
        found |= {p: _as_text if is_time else number(p) for p in places}
    return found if plan.named_by is None else found | {plan.named_by: _as_text}


def _as_text(cells: list[str], lines: np.ndarray) -> np.ndarray:
    return np.array([cell.strip() for cell in cells], dtype=object)


def _joined(raw: dict[int, np.ndarray], places: tuple[int, ...], lines, dialect: Dialect):
    columns = [raw[place] for place in places]
    if len(columns) == 1 and columns[0].dtype != object:
        return columns[0]
    texts = [" ".join(parts) for parts in zip(*columns, strict=True)]
    return parse_stamps(texts, lines, "t", dialect.dates)


def _to_utc(values: dict[str, np.ndarray], table: Table, plan: Plan) -> list[str]:
    """Bring times whose heading has a zone to UTC, as those are that have one themselves."""
    said = []
    for name, places in plan.single.items():
        zone = next((z for p in places if (z := zone_in(table.headings[p].text))), None)
        if zone and values[name].dtype.kind == "M":
            values[name] = values[name] - np.timedelta64(int(seconds_of(zone)), "s")
            said.append(f"times from {zone} to UTC")
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
    at = [*_positions(table.headings, sensors).values(), *sensors.values()]
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
