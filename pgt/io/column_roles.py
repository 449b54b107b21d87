"""The roles of columns, guessed from headings and cells: coordinates, times, sensors, fields, flags.

Where a role stays unclear, an error says what to write.
"""

import itertools
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.data.units import conversion
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
    strip_brackets,
)
from pgt.io.columns import MAX_NAMES_SHOWN
from pgt.io.headings import Heading
from pgt.io.number_format import is_number_like, is_numeric_column
from pgt.io.selection import COLUMN_JOINER, CellTable, is_of_field
from pgt.io.time_stamps import is_time_stamp

# Headings of columns that accompany a quantity: its error, limits or setpoint, or the logger's state.
_AUXILIARY = re.compile(
    r"(?:^|[^a-z])(?:std|stdev|sd|rms|sigma|err|error|unc|uncertainty|min|max|set ?point|target|limit|"
    r"alarm|qc|flag|battery|panel|internal)(?:[^a-z]|$)|^[a-z](?:min|max|std|rms|err|set|amb|ref)$|[±σΔ]",
    re.IGNORECASE,
)
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")


@dataclass
class ColumnRoles:
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


def guess_roles(
    headings: Sequence[Heading],
    numeric: Sequence[Heading],
    sensors: Container[str],
    given: Mapping[str, str],
) -> ColumnRoles:
    """The roles of columns that may be coordinates and of columns of numbers, by their names."""
    coords = {axis: given[axis] for axis in AXES if axis in given}
    named = {text for texts in given.values() for text in texts.split(COLUMN_JOINER)}
    free = [heading for heading in headings if heading.text not in named]
    if "t" not in given:
        _check_one_time(headings)
    for axis, words in AXIS_ALIASES.items():
        for word in words:
            found = [h for h in free if word == normalize_name(h.name) and _may_be_axis(axis, h)]
            found.sort(key=lambda h: h.name != axis)  # beside x, X is the number of a row
            if found and axis not in coords:
                is_short = found[0].name == axis and found[0].text.startswith(axis)
                coords[axis] = axis if is_short else found[0].text
    taken = {text for texts in coords.values() for text in texts.split(COLUMN_JOINER)}
    taken |= {axis.upper() for axis in SPACE_AXES if coords.get(axis) == axis}
    roles = ColumnRoles(coords, [heading.text for heading in headings if heading.text])
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


def check_one_quantity(table: CellTable, given: Mapping[str, str]) -> None:
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


def check_not_mixed(roles: ColumnRoles, table: CellTable, sensors: Container[str]) -> None:
    """Raise for readings of one position and time that only a column of words distinguishes.

    They may be of several quantities, whose mean would be meaningless.
    """
    joined = {text for texts in roles.coords.values() for text in texts.split(COLUMN_JOINER)}
    columns = [table.cells(at) for at in range(len(table.headings))]
    keys = [
        at
        for at, (heading, cells) in enumerate(zip(table.headings, columns, strict=True))
        if {heading.text, heading.name} & joined or (cells and all(c in sensors for c in cells))
    ]
    rows = [*zip(*(columns[at] for at in keys), strict=False)]
    for at, heading in enumerate(table.headings) if len({*rows}) < len(rows) else ():
        words, pairs = {*columns[at]} - {""}, {*zip(rows, columns[at], strict=False)}
        is_name = heading.text in roles.words and heading.name.lower() not in FLAG_NAMES
        is_distinct = 1 < len(words) <= 0.5 * len(rows) and len(pairs) == len(rows)
        is_reported = set(roles.coords) == {"t"} and _names_sensors(heading.text)
        if at not in keys and is_name and is_distinct and not is_reported:
            one, other = sorted(words)[:2]
            raise InputError(
                f"readings of one position and time differ in {heading.text!r} ({one}, {other} ...), and "
                "may be of several quantities. Write a file, or a column, for each; to have a mean, "
                "leave that column out."
            )


def check_sensor_positions(roles: ColumnRoles) -> None:
    """Raise for readings of several sensors without positions, which would be averaged."""
    for text in (*roles.words, *(heading.text for heading in roles.numeric)):
        if _names_sensors(text) and text not in roles.constant:
            raise InputError(
                f"the column {text!r} names sensors, and their positions are missing: readings of one "
                "time would be averaged. Give a table of names and positions: "
                '`sensors="positions.csv"`; or write a file of one sensor alone.'
            )


def _names_sensors(text: str) -> bool:
    """Whether a heading is that of a column of sensor names."""
    return any(word in SENSOR_NAMES for word in normalize_name(text).split())


def remove_validity_column(
    roles: ColumnRoles, table: CellTable, given: Mapping[str, str], dialect: Dialect
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


def find_time(roles: ColumnRoles, table: CellTable) -> None:
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
    roles: ColumnRoles, clocks: Sequence[Heading], days: Sequence[Heading]
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


def find_fields(
    roles: ColumnRoles, measured: Sequence[str], given: dict[str, str]
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


def find_unused_sensors(roles: ColumnRoles, names: Sequence[str]) -> list[str]:
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
