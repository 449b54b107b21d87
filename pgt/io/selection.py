"""Selection of the requested columns of a table: matched to headings and read as numbers.

A table is long, with one column per quantity, or wide, with one column per sensor. A wide table is
converted to a long one with one row per instant and position. The position of a sensor is in its heading,
or under its name in a separate table of sensors.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.data.units import conversion
from pgt.io.column_aliases import AXES, SPACE_AXES, parse_flag
from pgt.io.columns import Columns, check_row_count, missing_column
from pgt.io.headings import Heading, Positions, place_by_grid
from pgt.io.number_format import NumberFormat, find_number_format, is_number_like, is_plain_number
from pgt.io.time_stamps import (
    MIDNIGHT_NOTE,
    is_compact_date,
    is_time_stamp,
    parse_time_stamps,
    unwrap_midnights,
)

COLUMN_JOINER = " + "  # joins the names of columns that make up one time: "Date + Time"
Sensors = dict[str, Positions]  # positions by name of the sensor
Arrays = dict[str, np.ndarray]
# Cells and their line numbers to values.
Converter = Callable[[list[str], np.ndarray], np.ndarray]
LoadedColumns = tuple[dict[int, np.ndarray], np.ndarray]  # values by column, and line numbers


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
    """

    headings: Sequence[Heading]
    sample: Sequence[Sequence[str]]
    load: Callable[[dict[int, Converter]], LoadedColumns]
    notes: tuple[str, ...] = ()
    fixed_positions: Positions = field(default_factory=dict)
    file_stem: str = ""

    def cells(self, column: int) -> list[str]:
        """The cells of a column in the sample."""
        return [row[column].strip() for row in self.sample if column < len(row)]

    def filled_cells(self, column: int) -> list[str]:
        """The cells of a column in the sample that are not empty."""
        return [cell for cell in self.cells(column) if cell]


def as_text(cells: list[str], lines: np.ndarray) -> np.ndarray:
    """The cells of a column, with single blanks."""
    return np.array([" ".join(cell.split()) for cell in cells], dtype=object)


def name_index(headings: Sequence[Heading], sample: Sequence[Sequence[str]]) -> list[Heading]:
    """The headings, the first of which is "time" where pandas wrote an index of times without a name."""
    first = [row[0].strip() for row in sample if row and row[0].strip()]
    is_free = headings[0].text == "" and all(h.name.lower() != "time" for h in headings)
    is_stamped = all(is_time_stamp(cell) and not is_number_like(cell) for cell in first)
    if is_free and first and is_stamped:
        return [Heading("time", "time"), *headings[1:]]
    return list(headings)


class ColumnPlan(NamedTuple):
    """The columns of a table from which the requested names are read, as indices."""

    single: dict[str, tuple[int, ...]]  # by name, one column or several that are joined to a time
    wide: dict[str, dict[tuple[float, ...], int]]  # the column of a sensor by field and position
    axes: tuple[str, ...]  # the axes of the positions in `wide`
    fixed_positions: Positions  # the positions that hold for every row
    named_by: int | None  # the column that holds the names of sensors

    @property
    def wide_columns(self) -> set[int]:
        """All columns of sensors."""
        return {column for by_position in self.wide.values() for column in by_position.values()}


def select_columns(
    table: CellTable,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    sensors: Sensors | None,
    dialect: Dialect,
) -> Columns:
    """The columns of a table with the names `coords` and `others`, one row per reading."""
    sensors = sensors or {}
    table = _place_by_headings(table, coords, sensors)
    plan = _make_plan(table, coords, others, sensors)
    count = max((len(by_position) for by_position in plan.wide.values()), default=1)
    number_format = _find_format(table, plan, dialect)
    _check_decimal_marks(table, number_format, dialect)
    raw, lines = table.load(_make_converters(table, plan, coords, number_format, dialect.valid))
    check_row_count(count * len(lines))
    values = {
        name: _join_times([(table.headings[c], raw[c]) for c in columns], lines, dialect.dates)
        for name, columns in plan.single.items()
    }
    is_text = {name: raw[columns[0]].dtype == object for name, columns in plan.single.items()}
    clocks = {name for name in is_text if is_text[name] and _is_float(values[name])}
    values |= {axis: np.full(len(lines), at) for axis, (at, _) in plan.fixed_positions.items()}
    notes, sensor_names = [*table.notes, *number_format.notes], None
    if plan.named_by is not None:
        sensor_names = raw[plan.named_by]
        missing = [axis for axis in coords if axis not in values]
        values |= _positions_by_sensor(sensor_names, lines, sensors, missing)
        notes.append(f"{len(set(sensor_names))} sensors")
    notes += _unwrap_clocks(values, clocks, coords, lines)
    units = _collect_units(table, plan, sensors, coords) | dict.fromkeys(clocks, "s")
    if plan.wide:
        sensor_names = np.tile(_sensor_headings(table, plan), len(lines))
        values, lines = _melt(plan, values, raw, lines)
        kinds = ("times", "positions") if plan.axes == ("t",) else ("sensors", "time stamps")
        notes += [f"{count} {kinds[0]}", f"{len(lines) // count} {kinds[1]}"]
    if words := number_format.hidden_words:
        notes.append(f"{words} word{'s' if words > 1 else ''} in place of readings hidden")
    selected = {name: values[name] for name in (*coords, *others)}
    return Columns(selected, units, lines, tuple(notes), sensors=sensor_names)


def heading_texts(headings: Iterable[Heading]) -> list[str]:
    """The texts of the headings that are not empty, as in the file."""
    return [heading.text for heading in headings if heading.text]


def explain_sensor_positions(name: str, sensors: Collection[str] = ()) -> str:
    """A sentence that says how to give positions where the axis `name` is missing.

    `sensors` are the names of sensors with known positions.
    """
    if name not in SPACE_AXES:
        return ""
    if sensors:
        return (
            f" The table of sensors has {', '.join(list(sensors)[:5])}: none of them is the name of a "
            "column, of the file, or stands in a column. Write the names alike."
        )
    return (
        " Where each column or file is one sensor, write its position into the heading, as in T@x=0.1, "
        'or give a table of names and positions: `sensors="positions.csv"`.'
    )


# The columns that a name means


def find_columns(headings: Sequence[Heading], name: str) -> tuple[int, ...]:
    """The columns with this name as or in their heading: none, one, or several ("Date + Time")."""
    texts = [heading.text for heading in headings]
    name = " ".join(name.split())
    if texts.count(name) > 1:
        raise InputError(f"two columns are named {name!r}; rename one of them.")
    if name in texts:
        return (texts.index(name),)
    columns = [at for at, h in enumerate(headings) if h.name == name and not h.positions]
    if len({texts[column] for column in columns}) < len(columns):
        raise InputError(f"two columns are named {texts[columns[0]]!r}; rename one of them.")
    if len(columns) > 1:
        listed = " and ".join(repr(texts[column]) for column in columns)
        raise InputError(
            f'the columns {listed} are both {name!r}; say which: `columns={{"{name}": '
            f'"{texts[columns[0]]}"}}`.'
        )
    if not columns and COLUMN_JOINER in name:
        parts = [find_columns(headings, part) for part in name.split(COLUMN_JOINER)]
        return tuple(c for part in parts for c in part) if all(parts) else ()
    return tuple(columns)


def find_positions(headings: Sequence[Heading], sensors: Sensors) -> dict[int, Positions]:
    """The position of each column, by column, from its heading or from the table of sensors."""
    positions = {at: h.positions for at, h in enumerate(headings) if h.positions}
    for at, heading in enumerate(headings):
        for name in (heading.text, heading.name):
            if heading.text and name in sensors:
                positions[at] = positions.get(at, {}) | sensors[name]
    return positions


def group_by_field_and_position(
    headings: Sequence[Heading],
    fields: Sequence[str],
    positions: dict[int, Positions],
    axes: Sequence[str],
) -> dict[str, dict[tuple[float, ...], int]]:
    """The column of each sensor, by field and by position along `axes`."""
    groups: dict[str, dict[tuple[float, ...], int]] = {}
    for name in fields:
        columns = [at for at in positions if is_of_field(headings[at], name)]
        if not columns and len(fields) == 1:
            columns = list(positions)
        if not columns:
            raise missing_column(name, heading_texts(headings))
        groups[name] = {}
        for column in columns:
            at = _position_along(headings[column], positions[column], axes)
            if at in groups[name]:
                first = headings[groups[name][at]]
                raise InputError(
                    f"the columns {first.text!r} and {headings[column].text!r} are both {name!r} at one "
                    "position; correct a position, or say which columns are meant: "
                    f'`columns={{"{name}": "{first.name}*"}}`.'
                )
            groups[name][at] = column
    return groups


def is_of_field(heading: Heading, name: str) -> bool:
    """Whether a column belongs to the field `name`, which may be a pattern such as "TC*"."""
    if name in (heading.name, heading.text):
        return True
    start, star, end = name.partition("*")
    return bool(star) and heading.text.startswith(start) and heading.text.endswith(end)


def _position_along(
    heading: Heading, position: Positions, axes: Sequence[str]
) -> tuple[float, ...]:
    """The position of a column's sensor along the axes; raises where the position lacks one."""
    for axis in axes:
        if axis not in position:
            raise InputError(
                f"the column {heading.text!r} does not give the position of its sensor along {axis!r}; "
                f"write it in the heading, as in {heading.name}@{axis}=0.1, or in a table of sensors."
            )
    return tuple(position[axis][0] for axis in axes)


def _place_by_headings(table: CellTable, coords: Sequence[str], sensors: Sensors) -> CellTable:
    """The table, whose headings become positions along the one axis that is given nowhere else."""
    if sensors or any(heading.positions for heading in table.headings):
        return table
    missing = [axis for axis in AXES if axis in coords and not find_columns(table.headings, axis)]
    if len(missing) == 1:
        grid = place_by_grid(table.headings, missing)
        if any(heading.positions for heading in grid):
            return replace(table, headings=grid)
    return table


def _make_plan(
    table: CellTable, coords: Sequence[str], others: Sequence[str], sensors: Sensors
) -> ColumnPlan:
    """The plan for the requested names; raises where a column or a position is missing."""
    found = {name: find_columns(table.headings, name) for name in (*coords, *others)}
    single = {name: columns for name, columns in found.items() if columns}
    missing = [name for name in coords if name not in single]
    positions = find_positions(table.headings, sensors)
    # The column of a single sensor that is named in full counts as a wide table of one column.
    if missing and positions:
        single = {n: c for n, c in single.items() if n in coords or not set(c) & set(positions)}
    unplaced = [name for name in others if name not in single]
    taken = {column for columns in single.values() for column in columns}
    table_positions = {axis: at for axis, at in table.fixed_positions.items() if axis in missing}
    if unplaced and missing and positions:
        free = {column: at for column, at in positions.items() if column not in taken}
        fixed = {
            a: at
            for a, at in table_positions.items()
            if not any(a in other for other in free.values())
        }
        axes = tuple(axis for axis in missing if axis not in fixed)
        wide = group_by_field_and_position(table.headings, unplaced, free, axes)
        return ColumnPlan(single, wide, axes, fixed, None)
    fixed = table_positions | {
        a: at for a, at in sensors.get(table.file_stem, {}).items() if a in missing
    }
    missing = [axis for axis in missing if axis not in fixed]
    named_by = _find_sensor_column(table, sensors, taken) if missing else None
    for name in (*(missing if named_by is None else ()), *unplaced):
        hint = explain_sensor_positions(name, sensors)
        raise missing_column(name, heading_texts(table.headings), hint)
    return ColumnPlan(single, {}, (), fixed, named_by)


def _find_sensor_column(table: CellTable, sensors: Sensors, taken: set[int]) -> int | None:
    """The column most cells of which are names of sensors; None without one."""
    for column in range(len(table.headings)):
        cells = table.cells(column)
        known = sum(cell in sensors for cell in cells)
        if column not in taken and cells and known > 0.5 * len(cells):
            return column
    return None


# The conversion of cells to numbers


def _holds_times(table: CellTable, column: int) -> bool:
    """Whether a column holds times; digits alone are dates only where all cells are and have no unit."""
    cells = table.filled_cells(column)
    if not cells or not is_time_stamp(cells[0]):
        return False
    has_unit = table.headings[column].unit is not None
    return not is_number_like(cells[0]) or (not has_unit and all(map(is_compact_date, cells)))


def _check_decimal_marks(table: CellTable, number_format: NumberFormat, dialect: Dialect) -> None:
    """Raise for decimal commas beside columns with decimal points: "0060,1" may be two numbers."""
    if dialect.decimal is not None or number_format.decimal != ",":
        return
    for column, heading in enumerate(table.headings):
        cells = table.filled_cells(column)
        point = next((cell for cell in cells if "." in cell), None)
        if point and all(map(is_plain_number, cells)):
            raise InputError(
                f"column {heading.text!r} has decimal points ({point}), others have commas in their "
                'numbers; if these are decimal commas, write `dialect=pgt.io.Dialect(decimal=",")`.'
            )


def _find_format(table: CellTable, plan: ColumnPlan, dialect: Dialect) -> NumberFormat:
    """The format of the numbers in the planned columns; if those are ambiguous, that of all columns."""
    read = {c for columns in plan.single.values() if len(columns) == 1 for c in columns}
    numeric = [c for c in range(len(table.headings)) if not _holds_times(table, c)]
    wanted = [c for c in numeric if c in read | plan.wide_columns]
    try:
        return find_number_format((cell for c in wanted for cell in table.cells(c)), dialect)
    except InputError as error:
        try:
            return find_number_format((cell for c in numeric for cell in table.cells(c)), dialect)
        except InputError:
            raise error from None


def _make_converters(
    table: CellTable,
    plan: ColumnPlan,
    coords: Sequence[str],
    number_format: NumberFormat,
    valid: str | None,
) -> dict[int, Converter]:
    """The converter of each planned column, by column: to numbers, or to text for times and names."""

    def number(column: int) -> Converter:
        name, is_axis = table.headings[column].text, column in axes
        return lambda cells, lines: number_format.numbers(cells, lines, name, is_axis)

    axes = {column for name in coords for column in plan.single.get(name, ())}
    converters = {column: number(column) for column in plan.wide_columns}
    for name, columns in plan.single.items():
        is_time = len(columns) > 1 or any(
            name in coords and _holds_times(table, c) for c in columns
        )
        for column in columns:
            converters[column] = as_text if is_time else number(column)
            if name == valid:
                converters[column] = _convert_flags(number(column))
    return converters if plan.named_by is None else converters | {plan.named_by: as_text}


def _convert_flags(number: Converter) -> Converter:
    """A converter to numbers that also accepts words such as TRUE, OK and Bad."""
    words: dict[bool | None, str] = {True: "1", False: "0"}
    return lambda cells, lines: number(
        [c if is_plain_number(c) else words.get(parse_flag(c), c) for c in cells], lines
    )


def _join_times(
    parts: Sequence[tuple[Heading, np.ndarray]], lines: np.ndarray, dates: str | None
) -> np.ndarray:
    """The times in one or several columns of text; a column of numbers is returned as it is."""
    if len(parts) == 1 and parts[0][1].dtype != object:
        return parts[0][1]
    rows = zip(*(column.tolist() for _, column in parts), strict=True)
    texts = [" ".join(row) for row in rows]
    return parse_time_stamps(texts, lines, "t", dates, " ".join(h.text for h, _ in parts))


def _is_float(column: np.ndarray) -> bool:
    return column.dtype.kind == "f"


def _unwrap_clocks(
    values: Arrays, clocks: set[str], coords: Sequence[str], lines: np.ndarray
) -> list[str]:
    """Add the days that times of day leave out, and return notes on it."""
    notes = []
    for name in clocks:
        others = [values[c] for c in coords if c in values and c != name and _is_float(values[c])]
        unwrapped = unwrap_midnights(values[name], others, lines)
        notes += [] if np.array_equal(unwrapped, values[name], equal_nan=True) else [MIDNIGHT_NOTE]
        values[name] = unwrapped
    return notes


# The conversion of wide tables to long ones


def _positions_by_sensor(
    names: np.ndarray, lines: np.ndarray, sensors: Sensors, axes: Sequence[str]
) -> Arrays:
    """The coordinates of rows that name their sensor, from the table of sensors."""
    for name, line in zip(names, lines, strict=True):
        for axis in axes:
            if axis not in sensors.get(name, {}):
                raise InputError(
                    f"line {line}: the table of sensors has no {axis!r} for {name!r}; add it there."
                )
    return {axis: np.array([sensors[name][axis][0] for name in names]) for axis in axes}


def _sensor_headings(table: CellTable, plan: ColumnPlan) -> np.ndarray:
    """The heading of the first column at each position, in the order of positions."""
    first: dict[tuple[float, ...], str] = {}
    for by_position in plan.wide.values():
        for at, column in by_position.items():
            first.setdefault(at, table.headings[column].text)
    return np.array([*first.values()], object)


def _melt(plan: ColumnPlan, values: Arrays, raw: dict[int, np.ndarray], lines: np.ndarray):
    """The long table and its line numbers: one row per instant and position, which fields share."""
    positions = list(dict.fromkeys(at for columns in plan.wide.values() for at in columns))
    melted = {name: np.repeat(column, len(positions)) for name, column in values.items()}
    for index, axis in enumerate(plan.axes):
        melted[axis] = np.tile([at[index] for at in positions], len(lines))
    empty_column = np.full(len(lines), np.nan)
    for name, columns in plan.wide.items():
        parts = [raw[columns[at]] if at in columns else empty_column for at in positions]
        melted[name] = np.stack(parts, axis=1).ravel()
    return melted, np.repeat(lines, len(positions))


def _collect_units(
    table: CellTable, plan: ColumnPlan, sensors: Sensors, coords: Sequence[str]
) -> dict[str, str]:
    """The unit of each name: that of its column, of all columns of its field, or of its positions."""
    units: dict[str, str | None] = {}
    for name, columns in plan.single.items():
        units[name] = table.headings[columns[0]].unit if len(columns) == 1 else None
    for name, columns in plan.wide.items():
        units[name] = _common_unit(name, [table.headings[c].unit for c in columns.values()])
    units |= {axis: unit for axis, (_, unit) in plan.fixed_positions.items()}
    positions = [*find_positions(table.headings, sensors).values(), *sensors.values()]
    for axis in coords:
        if axis not in units:
            units[axis] = _common_unit(axis, [at[axis][1] for at in positions if axis in at])
    return {name: unit for name, unit in units.items() if unit}


def _common_unit(name: str, units: Iterable[str | None]) -> str | None:
    """The unit that all sensors share, some of which may give none; raises where two units differ."""
    given = [unit for unit in units if unit]
    for unit in given:
        if conversion(unit, given[0]) != (1.0, 0.0):
            raise InputError(
                f"{name!r} is in {given[0]!r} at one sensor and in {unit!r} at another; write one unit."
            )
    return given[0] if given else None
