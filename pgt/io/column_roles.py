"""Guesses of the roles of columns from headings and cells: coordinates, times, fields, sensors, flags.

`survey` uses them, because it does not ask the user. Where a role stays unclear, an error says what to
write.
"""

import itertools
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.data.units import conversion
from pgt.io.column_aliases import (
    AXES,
    DATE_PARTS,
    FLAG_NAMES,
    QUANTITY_NAMES,
    SENSOR_NAMES,
    TEMPERATURE_NAMES,
    UNIT_NAMES,
    VALIDITY_NAMES,
    VALUE_NAMES,
    field_aliases,
    find_date_parts,
    find_day_count,
    is_axis_alias,
    is_milliseconds,
    letters_of,
    normalize_name,
    parse_flag,
    strip_brackets,
)
from pgt.io.headings import Heading, parse_unit
from pgt.io.number_format import is_number_like, is_numeric_column
from pgt.io.selection import COLUMN_JOINER, is_of_field
from pgt.io.table import CellTable
from pgt.io.time_spellings import (
    are_unmarked_clocks,
    is_compact_date,
    is_unambiguous_zone,
    is_zone_name,
)
from pgt.io.time_stamps import CLOCK_NAMES, find_ordinal_parts, is_time_stamp


@dataclass
class ColumnRoles:
    """The roles of the columns of a table; `survey` fills them in step by step, coordinates first."""

    coords: dict[str, str] = field(
        default_factory=dict
    )  # the heading by axis; "" where no column is meant
    numeric: list[Heading] = field(default_factory=list)  # columns of numbers without a role so far
    sensors: list[Heading] = field(default_factory=list)  # columns of one sensor each
    valid: str | None = None  # the heading of a column that marks valid rows
    names: list[str] = field(default_factory=list)  # all headings
    constant: set[str] = field(default_factory=set)  # headings of columns with one value
    words: dict[str, str] = field(default_factory=dict)  # a cell by heading, of all other columns
    quantities: tuple[str, ...] = ()  # names of quantities whose readings shared one column
    unit: str | None = None  # the unit of the readings, from a column of units


def may_be_axis(axis: str, heading: Heading) -> bool:
    """Whether a column of that name may be the axis; T is a temperature, and so is t in °C."""
    is_warm = heading.unit is not None and conversion(heading.unit, "K") is not None
    return heading.name != "T" and not heading.positions and not (axis == "t" and is_warm)


def check_one_time(headings: Sequence[Heading]) -> None:
    """Raise where both t and time are columns and t may be a temperature, because no other column is."""
    times = [h for h in headings if is_axis_alias(h.name, "t") and may_be_axis("t", h)]
    letter = [h for h in times if h.name == "t" and h.unit is None]
    others = [h for h in times if h.name.lower() in ("time", "zeit", "elapsed time", "elapsed")]
    if (
        letter
        and others
        and not any(h.name.lower().startswith("t") for h in headings if h not in times)
    ):
        raise InputError(
            f"'t' and {others[0].text!r} may both be the time; choose one: "
            f'`columns={{"t": "{others[0].text}"}}`.'
        )


def note_unused_flags(words: Mapping[str, str], valid: str | None) -> list[str]:
    """Notes on columns of quality flags that are not used, because their words are unknown."""
    unused = [text for text in words if text.lower() in FLAG_NAMES and text != valid]
    return [f"the flags in {text!r} are not used" for text in unused]


def check_one_quantity(columns: Sequence[tuple[Heading, set[str]]], given: dict[str, str]) -> None:
    """Raise for readings of several quantities in one column if another column names the quantities."""
    for heading, cells in columns:
        names = (
            [] if is_numeric_column([*cells]) or heading.text in given.values() else sorted(cells)
        )
        if heading.name.lower() in QUANTITY_NAMES and len(names) > 1:
            raise InputError(
                f"the column {heading.text!r} names {names[0]!r}, {names[1]!r} ...: several quantities "
                "stand below each other. Write a file, or a column, for each."
            )


def check_not_mixed(roles: ColumnRoles, table: CellTable, sensors: Container[str]) -> None:
    """Raise for readings of one position and time that only a column of words distinguishes.

    They may be of several quantities, whose mean would be meaningless.
    """
    coordinate_texts = {
        text for texts in roles.coords.values() for text in texts.split(COLUMN_JOINER)
    }
    columns = {at: table.cells(at) for at in range(len(table.headings))}
    keys = {at for at, h in enumerate(table.headings) if {h.text, h.name} & coordinate_texts}
    keys |= {at for at, cells in columns.items() if cells and all(c in sensors for c in cells)}
    rows = [*zip(*(columns[at] for at in sorted(keys)), strict=False)]
    if len({*rows}) == len(rows):
        return
    for at, heading in enumerate(table.headings):
        words = {cell for cell in columns[at] if cell}
        is_name = heading.text in roles.words and 1 < len(words) <= 0.5 * len(rows)
        is_name = is_name and heading.name.lower() not in FLAG_NAMES
        if not set(roles.coords) - {"t"} and _names_sensors(heading.text):
            continue  # `check_sensor_positions` reports sensors without positions
        pairs = [*zip(rows, columns[at], strict=False)]
        if at not in keys and is_name and len({*pairs}) == len(pairs):
            one, other = sorted(words)[:2]
            raise InputError(
                f"readings of one position and time differ in {heading.text!r} ({one}, {other} ...), and "
                "may be of several quantities. Write a file, or a column, for each; to have a mean, "
                "leave that column out."
            )


def check_sensor_positions(roles: ColumnRoles) -> None:
    """Raise for readings of several sensors without positions, which would be averaged."""
    for text in (*roles.words, *(heading.text for heading in roles.numeric)):
        if text not in roles.constant and _names_sensors(text):
            raise InputError(
                f"the column {text!r} names sensors, and their positions are missing: readings of one "
                "time would be averaged. Give a table of names and positions: "
                '`sensors="positions.csv"`; or write a file of one sensor alone.'
            )


def _names_sensors(text: str) -> bool:
    """Whether a heading is that of a column of sensor names."""
    return any(word in SENSOR_NAMES for word in normalize_name(text).split())


def find_common_unit(columns: Sequence[tuple[Heading, set[str]]]) -> str | None:
    """The unit that a column of units gives for all rows."""
    for heading, cells in columns:
        units = sorted({unit for cell in cells if (unit := parse_unit(cell))})
        if heading.name.lower() in UNIT_NAMES and units:
            if len(cells) > 1:
                one, other = sorted(cells)[:2]
                raise InputError(
                    f"the column {heading.text!r} gives the units {one!r}, {other!r} ...; write all rows "
                    "in one unit, or a file for each."
                )
            return units[0]
    return None


def remove_validity_column(
    roles: ColumnRoles, table: CellTable, given: dict[str, str], dialect: Dialect
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


# Headings of columns that accompany a quantity: its error, limits or setpoint, or the logger's state.
_AUXILIARY = re.compile(
    r"(?:^|[^a-z])(?:std|stdev|sd|rms|sigma|err|error|unc|uncertainty|min|max|minimum|maximum|set ?point|"
    r"soll|target|limit|alarm|dew ?point|qc|flag|battery|panel|ptemp|internal|cj)(?:[^a-z]|$)"
    r"|^[a-z](?:min|max|std|rms|err|set|amb|ref)$|[±σΔ]",
    re.IGNORECASE,
)
_MEAN_SUFFIXES = ("mean", "avg", "average")
_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def find_sensor_fields(headings: Sequence[Heading], measured: Sequence[str]) -> dict[str, str]:
    """The name that the columns of each field share, by field, in a table with one column per sensor."""
    names = list(dict.fromkeys(heading.name for heading in headings))
    name_by_field = {n: n if n in names else _find_alias(n, names, measured) for n in measured}
    if any(name_by_field.values()):
        return {name: heading for name, heading in name_by_field.items() if heading}
    if measured:
        return {measured[0]: measured[0]}
    if len(names) == 1 and _FIELD_NAME.fullmatch(names[0]):
        return {names[0]: names[0]}
    return (
        {"T": "T"} if any(_may_be_temperature(heading, "T") for heading in headings) else {"u": "u"}
    )


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


def find_unused_sensors(
    roles: ColumnRoles, own: Mapping[str, str], fields: Sequence[str]
) -> list[str]:
    """The headings of sensors that belong to none of the fields; none where no sensor belongs to one."""
    names = [own.get(name, name) for name in fields]
    is_used = [any(is_of_field(heading, name) for name in names) for heading in roles.sensors]
    pairs = zip(roles.sensors, is_used, strict=True)
    return [] if not any(is_used) else [heading.text for heading, used in pairs if not used]


def find_column_fields(
    headings: Sequence[Heading],
    measured: Sequence[str],
    constant: Container[str],
    quantities: Sequence[str] = (),
) -> dict[str, str]:
    """The heading of the column of each field, by field.

    Where the columns are `quantities` that shared one column of the file, none is guessed.
    """
    if not measured:
        return {_make_field_name(h.name, n): h.text for n, h in enumerate(headings)}
    found, unassigned = {}, list(headings)
    for name in measured:
        aliases = field_aliases(name, measured)
        means = {name.lower() + word for word in _MEAN_SUFFIXES}
        # The rules go from sure to likely. Ux comes before U, which may be the magnitude of a velocity.
        matches = [h for h in unassigned if name in (h.name, h.text)]
        matches = matches or [h for h in unassigned if name == strip_brackets(h.name)]
        matches = matches or [h for h in unassigned if letters_of(h.name) in aliases]
        matches = matches or [
            h for h in unassigned if letters_of(strip_brackets(h.name)) in aliases
        ]
        matches = matches or [h for h in unassigned if h.name.lower() == name.lower()]
        matches = matches or [h for h in unassigned if letters_of(h.name) in means]
        matches = matches or sorted(
            [h for h in unassigned if _may_be_temperature(h, name)], key=_is_auxiliary
        )
        if matches:
            found[name] = matches[0].text
            unassigned.remove(matches[0])
    if not found and quantities and len(measured) == 1:  # u usually is the temperature
        warm = [
            h
            for h in unassigned
            if letters_of(h.name) in TEMPERATURE_NAMES or _may_be_temperature(h, "T")
        ]
        found = {measured[0]: warm[0].text} if len(warm) == 1 else {}
    if not found and quantities:
        raise InputError(
            f"readings are of {', '.join(map(repr, quantities))}, and none of them is called "
            f'{measured[0]!r}; choose one: `columns={{"{measured[0]}": "{quantities[0]}"}}`.'
        )
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


def _has_time_unit(heading: Heading) -> bool:
    return heading.unit is not None and conversion(heading.unit, "s") is not None


def _make_field_name(name: str, number: int) -> str:
    """The name itself if an equation can use it; otherwise u, or u with the column's number."""
    return (
        name
        if _FIELD_NAME.fullmatch(name) and name not in AXES
        else f"u{number}"
        if number
        else "u"
    )


ZONE_COLUMN_NAMES = ("tz", "tz_cd", "timezone", "time zone", "time_zone", "zone")


def find_time_columns(roles: ColumnRoles, table: CellTable, given: Mapping[str, str]) -> None:
    """Add the columns of times to the roles, whatever their names; date and time of day are joined."""
    if "t" in given:
        return
    stamps = _find_time(roles, table)
    _check_dates_are_used(roles, table)
    if roles.coords.get("t") in [heading.text for heading in stamps]:
        _append_zone(roles, table)
    _append_milliseconds(roles, table)


def _find_time(roles: ColumnRoles, table: CellTable) -> list[Heading]:
    """Set the columns of times in the roles; returns the columns of dates with a time of day."""
    stamps = [
        (heading, cells)
        for at, heading in enumerate(table.headings)
        if (cells := [cell for cell in table.cells(at) if cell]) and all(map(is_time_stamp, cells))
    ]
    clocks = [h for h, cells in stamps if all(re.match(r"\d+:", cell) for cell in cells)]
    days = [h for h, cells in stamps if not any(":" in cell for cell in cells)]
    clock_columns = _find_clock_columns(roles, table) if days and not clocks else []
    dates = find_date_parts([heading.name for heading in roles.numeric]) if clocks else []
    if clocks and days:
        roles.coords["t"] = f"{days[0].text}{COLUMN_JOINER}{clocks[0].text}"
    elif len(dates) == len(DATE_PARTS[:3]):
        roles.coords["t"] = COLUMN_JOINER.join([*dates, clocks[0].text])
        roles.numeric = [heading for heading in roles.numeric if heading.name not in dates]
    elif clock_columns:
        roles.coords["t"] = COLUMN_JOINER.join(
            [days[0].text, *(heading.text for heading in clock_columns)]
        )
        roles.numeric = [
            h for h in roles.numeric if h not in clock_columns and h.text != days[0].text
        ]
    elif stamps and ("t" not in roles.coords or _are_finer(table, roles.coords["t"], stamps)):
        roles.coords["t"] = min(stamps, key=_time_preference)[0].text
    elif (parts := _find_date_columns(roles, table)) and roles.coords.get("t", parts[0]) in parts:
        roles.coords["t"] = COLUMN_JOINER.join(parts)
        roles.numeric = [heading for heading in roles.numeric if heading.name not in parts]
    elif "t" not in roles.coords and (
        day_column := find_day_count([h.name for h in roles.numeric])
    ):
        roles.coords["t"] = day_column
        roles.numeric = [heading for heading in roles.numeric if heading.name != day_column]
    elif (
        "t" not in roles.coords
        and len(counted := [h for h in roles.numeric if _is_elapsed_time(h)]) == 1
    ):
        roles.coords["t"] = counted[0].text
        roles.numeric = [heading for heading in roles.numeric if heading != counted[0]]
    return [h for h, cells in stamps if h not in clocks and h not in days]


def _check_dates_are_used(roles: ColumnRoles, table: CellTable) -> None:
    """Raise for times that are plain numbers beside changing dates: 930 may be 9:30, hours or seconds."""
    by_text = {heading.text: at for at, heading in enumerate(table.headings)}
    time = roles.coords.get("t", "")
    if time not in by_text or table.headings[by_text[time]].unit or normalize_name(time) != "time":
        return
    if all(
        is_number_like(cell) and not is_time_stamp(cell)
        for cell in table.cells(by_text[time])
        if cell
    ):
        for text, at in by_text.items():
            days = {cell for cell in table.cells(at) if cell}
            if text != time and len(days) > 1 and all(is_time_stamp(cell) for cell in days):
                raise InputError(
                    f"the numbers in {time!r} stand beside dates in {text!r}, and may be hours, hours "
                    "and minutes, or seconds. Write them as 0930 or 9:30:00; hours are "
                    f'`columns={{"t": "{text}{COLUMN_JOINER}{time}"}}`.'
                )


def _is_elapsed_time(heading: Heading) -> bool:
    """Whether a column is named a time and has a unit of time: "Physical Time: Physical Time (s)"."""
    is_time = re.search(r"time|zeit|temps", heading.name, re.IGNORECASE) is not None
    return is_time and _has_time_unit(heading)


def _are_finer(table: CellTable, name: str, stamps: Sequence[tuple[Heading, list[str]]]) -> bool:
    """Whether dates with a time of day distinguish at least as many rows as a column of numbers."""
    names = [heading.text for heading in table.headings]
    if name not in names or name in [heading.text for heading, _ in stamps]:
        return False
    numbers = {cell for cell in table.cells(names.index(name)) if cell}
    moments_by_column = [
        {*cells}
        for _, cells in stamps
        if all(":" in c and not re.match(r"-?\d+:", c) for c in cells)
    ]
    return any(len(moments) >= len(numbers) > 1 for moments in moments_by_column)


def _time_preference(stamps: tuple[Heading, list[str]]) -> tuple[bool, bool]:
    """The sort key of a column of times; constant ones, and times of an end or upload, come last."""
    heading, cells = stamps
    is_late = re.search(r"end|stop|recei|upload|server|modif|insert", heading.name, re.IGNORECASE)
    return len({*cells}) < 2, is_late is not None


def _append_milliseconds(roles: ColumnRoles, table: CellTable) -> None:
    """Append the column of milliseconds, if there is one, to times in whole seconds."""
    time_columns = roles.coords.get("t", "").split(COLUMN_JOINER)
    for at, heading in enumerate(table.headings):
        cells = {cell for cell in table.cells(at) if cell}
        are_milliseconds = len(cells) > 1 and all(c.isdigit() and len(c) < 4 for c in cells)
        if (
            are_milliseconds
            and is_milliseconds(heading.name)
            and _are_whole_seconds(table, time_columns)
        ):
            roles.coords["t"] = COLUMN_JOINER.join([*time_columns, heading.text])
            roles.numeric = [other for other in roles.numeric if other != heading]
            return


def _are_whole_seconds(table: CellTable, names: Sequence[str]) -> bool:
    """Whether the last of some columns ends in seconds without a fraction."""
    columns = [table.cells(at) for at, h in enumerate(table.headings) if h.text == names[-1]]
    return bool(columns) and all(re.search(r":\d\d:\d\d$", c) for c in columns[0] if c)


def _find_date_columns(roles: ColumnRoles, table: CellTable) -> list[str]:
    """The columns of the parts of a date, with the day of the year or of the month."""
    ordinal = find_ordinal_parts([heading.name for heading in table.headings])
    return ordinal or find_date_parts([heading.name for heading in roles.numeric])


def _append_zone(roles: ColumnRoles, table: CellTable) -> None:
    """Append the column of time zones to the times, unless its zone is ambiguous."""
    named = [(at, h) for at, h in enumerate(table.headings) if h.name.lower() in ZONE_COLUMN_NAMES]
    for at, heading in named:
        zones = {cell for cell in table.cells(at) if cell}
        if (
            zones
            and all(map(is_zone_name, zones))
            and (len(zones) > 1 or is_unambiguous_zone(*zones))
        ):
            roles.coords["t"] += f"{COLUMN_JOINER}{heading.text}"
            return


def _find_clock_columns(roles: ColumnRoles, table: CellTable) -> list[Heading]:
    """The column of times of day without marks, such as 0930, or those of hours, minutes and seconds."""
    places = {heading.text: at for at, heading in enumerate(table.headings)}
    named = [
        h
        for h in table.headings
        if (is_axis_alias(h.name, "t") or h.name.lower() in CLOCK_NAMES) and h.unit is None
    ]
    dates = [h for h in table.headings if _are_compact_dates(table.cells(places[h.text]))]
    for heading in named:
        cells = [cell for cell in table.cells(places[heading.text]) if cell]
        if heading not in dates and cells and are_unmarked_clocks(cells, bool(dates)):
            return [heading]
    parts = [[h for h in roles.numeric if h.name.lower() in words] for words in DATE_PARTS[3:]]
    return [found[0] for found in itertools.takewhile(bool, parts)]


def _are_compact_dates(cells: Sequence[str]) -> bool:
    """Whether all cells are dates without marks, such as 20240312."""
    return bool(cells) and all(map(is_compact_date, cells))
