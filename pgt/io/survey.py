"""What files of readings hold, as far as headings and cells show it: the start of a run file.

A column is a coordinate by its name, a time also by its cells, one sensor of many by a position, and else
a field. Where a role stays unclear, an error says what to write.
"""

import itertools
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.core.registry import parts
from pgt.data._checks import first_equal_rows
from pgt.data.units import conversion
from pgt.io.arrays import list_mat_names, list_npz_names
from pgt.io.column_aliases import (
    AXES,
    AXIS_ALIASES,
    COUNTER_NAMES,
    DATE_PART_NAMES,
    FLAG_NAMES,
    QUANTITY_NAMES,
    SENSOR_NAMES,
    SPACE_AXES,
    TEMPERATURE_NAMES,
    UNIT_NAMES,
    VALIDITY_NAMES,
    VALUE_NAMES,
    explain_angles,
    field_aliases,
    is_axis_alias,
    letters_of,
    normalize_name,
    parse_flag,
    rename_axes_in_order,
    strip_brackets,
)
from pgt.io.columns import MAX_NAMES_SHOWN, ArrayNames, Columns
from pgt.io.file_access import check_is_file, check_suffix, name_file_in_errors, wrap_library_errors
from pgt.io.headings import Heading, Positions, find_length_axis, parse_headings, place_by_grid
from pgt.io.netcdf import NETCDF_ENDINGS, list_netcdf_names
from pgt.io.number_format import is_number_like, is_numeric_column
from pgt.io.readers import CELL_ENDINGS, open_table, read_columns, read_sensor_positions
from pgt.io.selection import (
    COLUMN_JOINER,
    CellTable,
    as_text,
    explain_sensor_positions,
    is_of_field,
)
from pgt.io.simulation_text import ZONE_TIME
from pgt.io.time_stamps import is_time_stamp

ARRAY_NAME_READERS: dict[str, Callable[[Path], ArrayNames]] = {
    **dict.fromkeys(NETCDF_ENDINGS, list_netcdf_names),
    ".npz": list_npz_names,
    ".mat": list_mat_names,
}
# Headings of columns that accompany a quantity: its error, limits or setpoint, or the logger's state.
_AUXILIARY = re.compile(
    r"(?:^|[^a-z])(?:std|stdev|sd|rms|sigma|err|error|unc|uncertainty|min|max|set ?point|target|limit|"
    r"alarm|qc|flag|battery|panel|internal)(?:[^a-z]|$)|^[a-z](?:min|max|std|rms|err|set|amb|ref)$|[±σΔ]",
    re.IGNORECASE,
)
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")


@dataclass(frozen=True)
class Survey:
    """What was found: names as the equation uses them, and the names in the file where they differ."""

    files: tuple[Path, ...]
    sensors: Path | None
    coords: tuple[str, ...]
    fields: tuple[str, ...]
    columns: dict[str, str]
    table: Columns
    repeated: int  # readings of one field at one position and time, beyond the first
    unused: tuple[str, ...] = ()
    dialect: Dialect | None = None  # completed by what the files show

    @property
    def lacks_places(self) -> bool:
        """Whether several columns change in time only: they may be sensors without positions."""
        return self.coords == ("t",) and len(self.fields) + len(self.unused) > 1

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The box around the readings; along an axis of one position it extends a unit beyond it."""
        found = {}
        for axis in self.coords:
            column = self.table.values[axis]
            low, high = float(np.nanmin(column)), float(np.nanmax(column))
            found[axis] = (low, high if high > low else low + 1.0)
        return found

    @property
    def hidden(self) -> dict[str, tuple[int, int]]:
        """By field, the number of missing readings, and of all readings."""
        counts = {n: int(np.isnan(self.table.values[n]).sum()) for n in self.fields}
        return {name: (count, len(self.table)) for name, count in counts.items() if count}


@dataclass
class _ColumnRoles:
    """The roles of the columns of a table; they are filled in step by step, coordinates first."""

    coords: dict[str, str]  # the heading by axis; "" where the positions are no column
    names: list[str]  # all headings
    numeric: list[Heading] = field(default_factory=list)  # columns of numbers without a role so far
    sensors: list[Heading] = field(default_factory=list)  # columns of one sensor each
    valid: str | None = None  # the heading of a column that marks valid rows
    constant: set[str] = field(default_factory=set)  # headings of columns with one value
    words: dict[str, str] = field(default_factory=dict)  # a cell by heading, of columns of text

    def set_time(self, headings: Sequence[Heading]) -> None:
        """Take the time from these columns, which then are no fields."""
        self.coords["t"] = COLUMN_JOINER.join(heading.text for heading in headings)
        self.numeric = [heading for heading in self.numeric if heading not in headings]


def survey(
    files: Sequence[Path],
    *,
    measured: Sequence[str] = (),
    sensors: Path | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    axes: Sequence[str] = (),
    axes_in_order: bool = False,
) -> Survey:
    """What files of readings hold.

    `measured` are the fields of an equation, if one is known, and `axes` its coordinates;
    `axes_in_order` maps the axes of space in the files to x, y and z in this order.
    """
    files = [Path(file) for file in files]
    if sensors is None:
        sensors = _find_sensor_table(files, dialect or Dialect())
        files = [file for file in files if file != sensors]
    positions = read_sensor_positions(sensors, dialect or Dialect(), axes) or {}
    given = dict(columns or {})
    with name_file_in_errors(files[0]):
        roles = _look_at_file(files[0], positions, given, dialect or Dialect(), axes)
        fields = _find_fields(roles, measured, given)
    space = [axis for axis in SPACE_AXES if axis in roles.coords]
    is_single = len(space) == 1 and [axis for axis in axes if axis != "t"] == ["x"]
    if (axes_in_order or is_single) and not set(given) & set(AXES):
        roles.coords = rename_axes_in_order(roles.coords)
    if roles.valid is not None:
        dialect = replace(dialect or Dialect(), valid=roles.valid)
    coords = tuple(axis for axis in AXES if axis in roles.coords)
    own = {a: roles.coords[a] for a in coords if roles.coords[a] not in ("", a)} | fields
    own = {name: heading for name, heading in own.items() if heading != name} | given
    table = read_columns(
        files, coords=coords, fields=tuple(fields), columns=own, sensors=sensors, dialect=dialect
    )
    taken = {*own.values(), *fields, *roles.coords.values(), *coords}
    # The time of a single zone of Tecplot is constant.
    kept = [axis for axis in coords if own.get(axis) != ZONE_TIME]
    table, coords = drop_constant_axes(table, coords, (*axes, *given) if axes else kept)
    own = {name: heading for name, heading in own.items() if name in (*coords, *fields)}
    unused = [h.text for h in roles.numeric if h.text not in taken and h.name not in taken]
    unused += _find_unused_sensors(roles, [own.get(name, name) for name in fields])
    repeated = _count_repeated(table, coords, tuple(fields))
    if repeated:
        with name_file_in_errors(files[0]):
            _check_not_mixed(roles)
    flags = [text for text in roles.words if text.lower() in FLAG_NAMES and text != roles.valid]
    notes = (*table.notes, *(f"the flags in {text!r} are not used" for text in flags))
    return Survey(
        tuple(files), sensors, coords, tuple(fields), own, replace(table, notes=notes), repeated,
        tuple(unused), dialect,
    )  # fmt: skip


def _look_at_file(
    path: Path,
    sensors: dict[str, Positions],
    given: dict[str, str],
    dialect: Dialect,
    axes: Sequence[str],
) -> _ColumnRoles:
    check_is_file(path)
    suffix = check_suffix(path, (*CELL_ENDINGS, *ARRAY_NAME_READERS))
    if suffix in ARRAY_NAME_READERS:
        return _look_at_arrays(path, given)
    with open_table(path, dialect) as table:
        table = _place_by_headings(table, sensors, given, axes)
        cells = {h.text: {*table.filled_cells(at)} for at, h in enumerate(table.headings)}
        is_numeric = {text: is_numeric_column([*found]) for text, found in cells.items()}
        numeric = [
            h for h in table.headings if is_numeric[h.text] and not cells[h.text] <= {*sensors}
        ]
        # A column of names is no coordinate, even if its heading is "location".
        possible = [
            h
            for h in table.headings
            if h in numeric
            or not cells[h.text]
            or h.name.lower() in AXES
            or is_axis_alias(h.name, "t")
        ]
        roles = _guess_roles(possible, numeric, sensors, given)
        roles.names = [text for text in cells if text]
        roles.constant = {text for text, found in cells.items() if len(found) == 1}
        roles.words = {
            text: _example_cell(found)
            for text, found in cells.items()
            if text and found and not is_numeric[text]
        }
        _check_one_quantity(table, given)
        _remove_validity_column(roles, table, given, dialect)
        if "t" not in given:
            _find_time(roles, table)
        if not roles.numeric and not roles.sensors:
            table.load({0: as_text})  # raises what is wrong with its rows
        _add_given_axes(roles, table, sensors, axes)
        _add_length_axis(roles)
        return roles


def _look_at_arrays(path: Path, given: dict[str, str]) -> _ColumnRoles:
    with wrap_library_errors("a file of arrays"):
        names = ARRAY_NAME_READERS[path.suffix.lower()](path)
    # What the attributes say; else the last part of "structure.name".
    headings = [
        replace(heading, name=known if known != heading.text else heading.name.rpartition(".")[2])
        for heading, known in zip(parse_headings([*names]), names.values(), strict=True)
    ]
    roles = _guess_roles(headings, headings, {}, given)
    full = {heading.name: heading.text for heading in reversed(headings)}
    roles.coords |= {a: full.get(n, n) for a, n in roles.coords.items() if a not in given}
    return roles


def _example_cell(cells: set[str]) -> str:
    """A cell that is no number, if possible one with digits in it."""
    others = sorted(cell for cell in cells if not is_number_like(cell)) or sorted(cells)
    return next((cell for cell in others if re.search(r"\d", cell)), others[0])


def _place_by_headings(
    table: CellTable, sensors: dict[str, Positions], given: Mapping[str, str], axes: Sequence[str]
) -> CellTable:
    """The table, whose headings are positions where they are numbers beside a time."""
    if sensors or len({*given} & {*AXES}) > 1 or any(h.positions for h in table.headings):
        return table
    default = ("x", "t") if is_axis_alias(table.headings[0].name, "t") else ()
    return replace(table, headings=place_by_grid(table.headings, axes or default))


def _guess_roles(
    headings: Sequence[Heading],
    numeric: Sequence[Heading],
    sensors: Container[str],
    given: Mapping[str, str],
) -> _ColumnRoles:
    """The roles of columns that may be coordinates and of columns of numbers, by their names."""
    coords = {axis: given[axis] for axis in AXES if axis in given}
    if "t" not in given:
        _check_one_time(headings)
    for axis, words in AXIS_ALIASES.items():
        for word in words:
            found = [
                h for h in headings if word == normalize_name(h.name) and _may_be_axis(axis, h)
            ]
            found.sort(key=lambda h: h.name != axis)  # beside x, X is the number of a row
            if found and axis not in coords:
                is_short = found[0].name == axis and found[0].text.startswith(axis)
                coords[axis] = axis if is_short else found[0].text
    taken = {text for texts in coords.values() for text in texts.split(COLUMN_JOINER)}
    taken |= {axis.upper() for axis in SPACE_AXES if coords.get(axis) == axis}
    roles = _ColumnRoles(coords, [heading.text for heading in headings if heading.text])
    for heading in numeric:
        if heading.positions or heading.text in sensors or heading.name in sensors:
            roles.sensors.append(heading)
        elif not {heading.text, heading.name} & taken and heading.name.lower() not in COUNTER_NAMES:
            roles.numeric.append(heading)
    return roles


def _may_be_axis(axis: str, heading: Heading) -> bool:
    """Whether a column of that name may be the axis; T is a temperature, and so is t in °C."""
    is_warm = heading.unit is not None and conversion(heading.unit, "K") is not None
    return heading.name != "T" and not heading.positions and not (axis == "t" and is_warm)


def _check_one_time(headings: Sequence[Heading]) -> None:
    """Raise where both t and time are columns and t may be a temperature, because no other column is."""
    times = [h for h in headings if is_axis_alias(h.name, "t") and _may_be_axis("t", h)]
    letter = [h for h in times if h.name == "t" and h.unit is None]
    others = [h for h in times if h.name.lower() in ("time", "zeit", "elapsed time", "elapsed")]
    is_other = any(h.name.lower().startswith("t") for h in headings if h not in times)
    if letter and others and not is_other:
        raise InputError(
            f"'t' and {others[0].text!r} may both be the time; choose one: "
            f'`columns={{"t": "{others[0].text}"}}`.'
        )


def _check_one_quantity(table: CellTable, given: Mapping[str, str]) -> None:
    """Raise for readings of several quantities in one column if another column names the quantities."""
    for at, heading in enumerate(table.headings):
        cells = sorted({*table.filled_cells(at)})
        if heading.text in given.values() or is_numeric_column(cells) or len(cells) < 2:
            continue
        if heading.name.lower() in UNIT_NAMES:
            raise InputError(
                f"the column {heading.text!r} gives the units {cells[0]!r}, {cells[1]!r} ...; write all "
                "rows in one unit, or a file for each."
            )
        if heading.name.lower() in QUANTITY_NAMES:
            raise InputError(
                f"the column {heading.text!r} names {cells[0]!r}, {cells[1]!r} ...: several quantities "
                "stand below each other. Write a column for each, for example with pandas: "
                f"table.pivot(columns={heading.text!r}, ...)."
            )


def _check_not_mixed(roles: _ColumnRoles) -> None:
    """Raise for readings of one position and time that may be of several sensors."""
    for text in (*roles.words, *(heading.text for heading in roles.numeric)):
        is_name = any(word in SENSOR_NAMES for word in normalize_name(text).split())
        if is_name and text not in roles.constant:
            raise InputError(
                f"the column {text!r} names sensors, and their positions are missing: readings of one "
                "time would be averaged. Give a table of names and positions: "
                '`sensors="positions.csv"`; or write a file of one sensor alone.'
            )


def _remove_validity_column(
    roles: _ColumnRoles, table: CellTable, given: Mapping[str, str], dialect: Dialect
) -> None:
    """Set `roles.valid` to the column that marks valid rows, and remove it from the numeric columns."""
    for at, heading in enumerate(table.headings):
        if heading.text in given.values():
            continue
        cells = {cell.lower() for cell in table.cells(at)}
        is_boolean = cells <= {"0", "1", "true", "false"} and heading.name.lower() in VALIDITY_NAMES
        # Only the user knows which numbers of a numeric flag are good.
        is_flag = heading.name.lower() in FLAG_NAMES and not any(map(is_number_like, cells))
        is_flag = is_flag and all(parse_flag(cell) is not None for cell in cells)
        if dialect.valid is None and (is_boolean or is_flag):
            roles.valid = heading.text
        elif dialect.valid not in (heading.text, heading.name):
            continue
        roles.numeric = [other for other in roles.numeric if other != heading]


def _find_time(roles: _ColumnRoles, table: CellTable) -> None:
    """Set the columns of times, whatever their names; a date and a time of day are joined."""
    stamps = [
        (heading, cells)
        for at, heading in enumerate(table.headings)
        if (cells := table.filled_cells(at)) and all(map(is_time_stamp, cells))
    ]
    clocks = [h for h, cells in stamps if all(re.match(r"\d+:", cell) for cell in cells)]
    days = [h for h, cells in stamps if not any(":" in cell for cell in cells)]
    named = roles.coords.get("t")
    if clocks and days:
        roles.set_time([days[0], clocks[0]])
    elif stamps and (named is None or _are_finer(table, named, stamps)):
        roles.set_time([min(stamps, key=_time_preference)[0]])
    elif named is None:
        counted = [h for h in roles.numeric if _has_time_unit(h) and _is_time_name(h.name)]
        if len(counted) == 1:
            roles.set_time(counted)
    elif normalize_name(named) == "time" and any(h.text != named for h in days):
        _check_dates_are_used(table, named, next(h.text for h in days if h.text != named))
    _check_whole_time(roles, clocks, days)


def _check_whole_time(
    roles: _ColumnRoles, clocks: Sequence[Heading], days: Sequence[Heading]
) -> None:
    """Raise where the time is only a part of what stands in columns of years, days, hours, ..."""
    time = roles.coords.get("t")
    is_part = time in [h.text for h in (*clocks, *days)] or (time or "").lower() in DATE_PART_NAMES
    others = [h.text for h in roles.numeric if h.name.lower() in DATE_PART_NAMES and h.text != time]
    if others and (time is None or is_part):
        names = [text for text in roles.names if text == time or text in others]
        raise InputError(
            f"the time stands in the columns {', '.join(names)}. Name them in the order year, month, "
            f'day, hour, as in `columns={{"t": "{COLUMN_JOINER.join(names)}"}}`, or write one column of '
            "times such as 2024-03-12 10:00:00."
        )


def _time_preference(stamps: tuple[Heading, list[str]]) -> tuple[bool, bool]:
    """The sort key of a column of times; constant ones, and times of an end or an upload, come last."""
    heading, cells = stamps
    is_late = re.search(r"end|stop|recei|upload|server|modif|insert", heading.name, re.IGNORECASE)
    return len({*cells}) < 2, is_late is not None


def _is_time_name(name: str) -> bool:
    return re.search(r"time|zeit|temps|^day|^doy", name, re.IGNORECASE) is not None


def _are_finer(table: CellTable, named: str, stamps: Sequence[tuple[Heading, list[str]]]) -> bool:
    """Whether dates with a time of day distinguish at least as many rows as a column of numbers."""
    names = [heading.text for heading in table.headings]
    if named not in names or named in [heading.text for heading, _ in stamps]:
        return False
    numbers = {*table.filled_cells(names.index(named))}
    full = [{*c} for _, c in stamps if all(re.search(r"\d\D+\d+:", cell) for cell in c)]
    return any(len(moments) >= len(numbers) > 1 for moments in full)


def _check_dates_are_used(table: CellTable, time: str, date: str) -> None:
    """Raise for times that are plain numbers beside changing dates: 930 may be 9:30, hours or seconds."""
    names = [heading.text for heading in table.headings]
    if time not in names or table.headings[names.index(time)].unit:
        return
    is_plain = all(is_number_like(c) for c in table.filled_cells(names.index(time)))
    if is_plain and len({*table.filled_cells(names.index(date))}) > 1:
        raise InputError(
            f"the numbers in {time!r} stand beside dates in {date!r}, and may be hours, minutes "
            f'or seconds. Write them as 9:30:00; or take one alone: `columns={{"t": "{date}"}}`.'
        )


def _has_time_unit(heading: Heading) -> bool:
    return heading.unit is not None and conversion(heading.unit, "s") is not None


def _add_given_axes(
    roles: _ColumnRoles, table: CellTable, sensors: dict[str, Positions], axes
) -> None:
    """Add the axes of positions outside of the columns; a time among them only where it is asked for."""
    beside = [heading.positions for heading in roles.sensors] + [
        table.fixed_positions,
        *sensors.values(),
    ]
    for axis in AXES:
        asked = beside if axis != "t" or "t" in axes else beside[: len(roles.sensors)]
        if axis not in roles.coords and any(axis in places for places in asked):
            roles.coords[axis] = ""


def _add_length_axis(roles: _ColumnRoles) -> None:
    """Take the only column of lengths as the axis of space, where none is found: "Soil depth (cm)"."""
    if set(roles.coords) & set(SPACE_AXES):
        return
    found = [(axis, heading) for heading in roles.numeric if (axis := find_length_axis(heading))]
    if len(found) == 1:
        axis, heading = found[0]
        roles.coords[axis] = heading.text
        roles.numeric = [other for other in roles.numeric if other != heading]


def _find_fields(
    roles: _ColumnRoles, measured: Sequence[str], given: dict[str, str]
) -> dict[str, str]:
    """By the name in the equation, the heading of each field."""
    shown = ", ".join(roles.names[:MAX_NAMES_SHOWN])
    listed = f" There are: {shown}{', …' if len(roles.names) > MAX_NAMES_SHOWN else ''}."
    if not roles.coords:
        raise InputError(
            "no column is called x, y, z or t, and no heading gives a position; name the columns: "
            f'`columns={{"x": "name in the file"}}`.{listed}{explain_angles(roles.names)}'
        )
    named = {name: heading for name, heading in given.items() if name not in AXES}
    if named:
        return named
    if roles.sensors:
        return _find_sensor_fields(roles.sensors, measured)
    if roles.numeric:
        return _find_column_fields(roles.numeric, measured, roles.constant)
    text = next(
        ((h, cell) for h, cell in roles.words.items() if h not in roles.coords.values()), None
    )
    hint = (
        f" The column {text[0]!r} holds {text[1][:40]!r}: write numbers alone, and a unit into the "
        "heading, as in T [°C]."
        if text
        else ""
    )
    raise InputError(
        f"there is no column of readings, which are numbers, beside the coordinates.{listed}{hint}"
    )


def _find_sensor_fields(headings: Sequence[Heading], measured: Sequence[str]) -> dict[str, str]:
    """The name that the columns of each field share, by field, in a table with one column per sensor."""
    names = list(dict.fromkeys(heading.name for heading in headings))
    by_field = {n: n if n in names else _find_alias(n, names, measured) for n in measured}
    if any(by_field.values()):
        return {name: heading for name, heading in by_field.items() if heading}
    if measured:
        return {measured[0]: measured[0]}
    if len(names) == 1 and _FIELD_NAME.fullmatch(names[0]):
        return {names[0]: names[0]}
    name = "T" if any(_may_be_temperature(heading, "T") for heading in headings) else "u"
    return {name: name}


def _may_be_temperature(heading: Heading, name: str) -> bool:
    """Whether `name` is the temperature T and the column may hold it."""
    is_spelt = any(word in letters_of(heading.name) for word in TEMPERATURE_NAMES[1:])
    return name == "T" and (is_spelt or bool(heading.unit and conversion(heading.unit, "K")))


def _find_alias(name: str, names: Sequence[str], measured: Sequence[str]) -> str | None:
    """The name of a field in the file by its aliases; a pattern such as "Temp *" for numbered sensors."""
    aliases = [other for other in names if letters_of(other) in field_aliases(name, measured)]
    pairs = itertools.takewhile(lambda letter: len({*letter}) == 1, zip(*aliases, strict=False))
    begin = "".join(letter[0] for letter in pairs).rstrip("0123456789 _-")
    return f"{begin}*" if len(aliases) > 1 and begin else next(iter(aliases), None)


def _find_unused_sensors(roles: _ColumnRoles, names: Sequence[str]) -> list[str]:
    """The headings of sensors that belong to none of the fields; none where no sensor belongs to one."""
    unused = [h.text for h in roles.sensors if not any(is_of_field(h, name) for name in names)]
    return unused if len(unused) < len(roles.sensors) else []


def _find_column_fields(
    headings: Sequence[Heading], measured: Sequence[str], constant: Container[str]
) -> dict[str, str]:
    """The heading of the column of each field, by field."""
    if not measured:
        return {_make_field_name(h.name, n): h.text for n, h in enumerate(headings)}
    found, unassigned = {}, list(headings)
    for name in measured:
        aliases = field_aliases(name, measured)
        # From sure to likely. Ux comes before U, which may be the magnitude of a velocity.
        rules: list[Callable[[Heading], bool]] = [
            lambda h, name=name: name in (h.name, h.text, strip_brackets(h.name)),
            lambda h, aliases=aliases: letters_of(h.name) in aliases,
            lambda h, aliases=aliases: letters_of(strip_brackets(h.name)) in aliases,
            lambda h, name=name: h.name.lower() == name.lower(),
            lambda h, name=name: letters_of(h.name) == f"{name.lower()}mean",
            lambda h, name=name: _may_be_temperature(h, name) and not _is_auxiliary(h),
            lambda h, name=name: _may_be_temperature(h, name),
        ]
        match = next((h for rule in rules for h in unassigned if rule(h)), None)
        if match is not None:
            found[name] = match.text
            unassigned.remove(match)
    if not found:
        # Take a column of values, and avoid constants, times and errors.
        best = min(
            unassigned,
            key=lambda h: (
                normalize_name(h.name) not in VALUE_NAMES,
                h.text in constant,
                _has_time_unit(h),
                _is_auxiliary(h),
            ),
        )
        found[measured[0]] = best.text
    return found


def _is_auxiliary(heading: Heading) -> bool:
    """Whether a column accompanies a quantity, such as its error."""
    return _AUXILIARY.search(heading.name) is not None


def _make_field_name(name: str, number: int) -> str:
    """The name itself if an equation can use it; otherwise u, or u with the column's number."""
    is_usable = _FIELD_NAME.fullmatch(name) and name not in AXES
    return name if is_usable else f"u{number or ''}"


def _count_repeated(table: Columns, coords: Sequence[str], fields: Sequence[str]) -> int:
    points = np.stack([table.values[axis] for axis in coords], axis=1)
    count = 0
    for name in fields:
        measured = points[np.isfinite(points).all(axis=1) & ~np.isnan(table.values[name])]
        count += len(measured) - len(np.unique(first_equal_rows(measured))) if len(measured) else 0
    return count


def drop_constant_axes(
    table: Columns, coords: Sequence[str], wanted: Sequence[str]
) -> tuple[Columns, tuple[str, ...]]:
    """The table without axes of one value, and the axes that are left.

    A simulation writes z = 0 beside every point of a plane. Axes that are `wanted` stay, and so do all
    axes of space where none varies.

    >>> flat = Columns({"x": np.array([0.0, 1.0]), "z": np.zeros(2), "u": np.ones(2)})
    >>> drop_constant_axes(flat, ("x", "z"), ("x",))[1]
    ('x',)
    """
    space = [axis for axis in coords if axis in SPACE_AXES]
    constant = [axis for axis in coords if (table.values[axis] == table.values[axis][:1]).all()]
    if set(space) <= set(constant):
        return table, tuple(coords)
    dropped = [axis for axis in constant if axis not in wanted]
    notes = [
        f"{axis} left out, since it is {table.values[axis][0]:g} everywhere" for axis in dropped
    ]
    values = {name: column for name, column in table.values.items() if name not in dropped}
    units = {name: unit for name, unit in table.units.items() if name not in dropped}
    left = replace(table, values=values, units=units, notes=(*table.notes, *notes))
    return left, tuple(axis for axis in coords if axis not in dropped)


def _find_sensor_table(files: Sequence[Path], dialect: Dialect) -> Path | None:
    """The one of several files that gives positions for the columns, names or files of the others."""
    for file in files if len(files) > 1 else ():
        try:
            names = read_sensor_positions(file, dialect) or {}
        except InputError:
            continue
        others = [other for other in files if other != file]
        if any(other.name.partition(".")[0] in names for other in others):
            return file
        if _is_named_in(names, others[0], dialect):
            return file
        is_table = check_suffix(others[0], parts("reader")) in CELL_ENDINGS
        if is_table and _has_only_positions(file, names, dialect):
            raise InputError(
                f"{file}: this looks like a table of sensors.{explain_sensor_positions('x', names)}"
            )
    return None


def _has_only_positions(path: Path, sensors: Mapping[str, Positions], dialect: Dialect) -> bool:
    """Whether a table holds only names of sensors and positions."""
    axes = {axis for places in sensors.values() for axis in places}
    with open_table(path, dialect) as table:
        filled = [heading for heading in table.headings if heading.text]
        return len(filled) == 1 + len(axes) and not any(map(is_time_stamp, sensors))


def _is_named_in(names: Container[str], path: Path, dialect: Dialect) -> bool:
    """Whether columns of a table, or cells in it, have such names."""
    try:
        with open_table(path, dialect) as table:
            cells = (cell for place in range(len(table.headings)) for cell in table.cells(place))
            texts = (text for heading in table.headings for text in (heading.text, heading.name))
            return any(text in names for text in (*texts, *cells))
    except InputError:
        return False
