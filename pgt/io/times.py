"""Which columns of a table are its times: stamps, dates beside clocks, parts of a date, days."""

import itertools
import re
from collections.abc import Mapping, Sequence

from pgt.data.units import conversion
from pgt.ground.errors import InputError
from pgt.io.called import PARTS, decimal_days, is_called, is_milliseconds, parts_of_a_date, spelt
from pgt.io.found import JOINED
from pgt.io.guessed import Guess
from pgt.io.headings import Heading
from pgt.io.marks import is_number_like
from pgt.io.ordinals import CLOCKS, ordinal_parts
from pgt.io.spellings import is_compact, is_unmarked
from pgt.io.stamps import is_stamp
from pgt.io.table import Table
from pgt.io.zones import is_one_zone, is_zone

ZONES = ("tz", "tz_cd", "timezone", "time zone", "time_zone", "zone")


def add_times(guess: Guess, table: Table, given: Mapping[str, str]) -> None:
    """A column of times, whatever it is called; a date and a time of day belong together."""
    if "t" in given:
        return
    stamps = _add_times(guess, table)
    _check_dates_are_used(guess, table)
    if guess.coords.get("t") in [heading.text for heading in stamps]:
        _with_zone(guess, table)
    _with_milliseconds(guess, table)


def _add_times(guess: Guess, table: Table) -> list[Heading]:
    """Find the times; the columns of dates with a time of day are what comes back."""
    stamps = [
        (heading, cells)
        for at, heading in enumerate(table.headings)
        if (cells := [cell for cell in table.cells(at) if cell]) and all(map(is_stamp, cells))
    ]
    clocks = [h for h, cells in stamps if all(re.match(r"\d+:", cell) for cell in cells)]
    days = [h for h, cells in stamps if not any(":" in cell for cell in cells)]
    beside = _beside_a_date(guess, table) if days and not clocks else []
    dates = parts_of_a_date([heading.name for heading in guess.numeric]) if clocks else []
    if clocks and days:
        guess.coords["t"] = f"{days[0].text}{JOINED}{clocks[0].text}"
    elif len(dates) == len(PARTS[:3]):
        guess.coords["t"] = JOINED.join([*dates, clocks[0].text])
        guess.numeric = [heading for heading in guess.numeric if heading.name not in dates]
    elif beside:
        guess.coords["t"] = JOINED.join([days[0].text, *(heading.text for heading in beside)])
        guess.numeric = [h for h in guess.numeric if h not in beside and h.text != days[0].text]
    elif stamps and ("t" not in guess.coords or _are_finer(table, guess.coords["t"], stamps)):
        guess.coords["t"] = min(stamps, key=_is_rather_no_time)[0].text
    elif (parts := _parts(guess, table)) and guess.coords.get("t", parts[0]) in parts:
        guess.coords["t"] = JOINED.join(parts)
        guess.numeric = [heading for heading in guess.numeric if heading.name not in parts]
    elif "t" not in guess.coords and (day := decimal_days([h.name for h in guess.numeric])):
        guess.coords["t"] = day
        guess.numeric = [heading for heading in guess.numeric if heading.name != day]
    elif "t" not in guess.coords and len(counted := [h for h in guess.numeric if _counts(h)]) == 1:
        guess.coords["t"] = counted[0].text
        guess.numeric = [heading for heading in guess.numeric if heading != counted[0]]
    return [h for h, cells in stamps if h not in clocks and h not in days]


def _check_dates_are_used(guess: Guess, table: Table) -> None:
    """Refuse bare numbers for times beside dates that differ: they may be hours, 930, or seconds."""
    by_text = {heading.text: at for at, heading in enumerate(table.headings)}
    time = guess.coords.get("t", "")
    if time not in by_text or table.headings[by_text[time]].unit or spelt(time) != "time":
        return
    if all(
        is_number_like(cell) and not is_stamp(cell) for cell in table.cells(by_text[time]) if cell
    ):
        for text, at in by_text.items():
            days = {cell for cell in table.cells(at) if cell}
            if text != time and len(days) > 1 and all(is_stamp(cell) for cell in days):
                raise InputError(
                    f"the numbers in {time!r} stand beside dates in {text!r}, and may be hours, hours "
                    "and minutes, or seconds. Write them as 0930 or 9:30:00; hours are "
                    f'`columns={{"t": "{text}{JOINED}{time}"}}`.'
                )


def _counts(heading: Heading) -> bool:
    """Whether a column is called a time and has a unit of one: "Physical Time: Physical Time (s)"."""
    is_time = re.search(r"time|zeit|temps", heading.name, re.IGNORECASE) is not None
    return is_time and heading.unit is not None and conversion(heading.unit, "s") is not None


def _are_finer(table: Table, name: str, stamps: Sequence[tuple[Heading, list[str]]]) -> bool:
    """Whether dates with a time of day tell all apart that numbers in a column do, which may count days
    since a moment that nobody says, whatever the column is called."""
    names = [heading.text for heading in table.headings]
    if name not in names or name in [heading.text for heading, _ in stamps]:
        return False
    counted = {cell for cell in table.cells(names.index(name)) if cell}
    full = [
        {*cells}
        for _, cells in stamps
        if all(":" in c and not re.match(r"-?\d+:", c) for c in cells)
    ]
    return any(len(moments) >= len(counted) > 1 for moments in full)


def _is_rather_no_time(stamps: tuple[Heading, list[str]]) -> tuple[bool, bool]:
    """Of several columns of times, what puts one behind the others: that it always says the same, or that
    it says when something ended or came in."""
    heading, cells = stamps
    is_late = re.search(r"end|stop|recei|upload|server|modif|insert", heading.name, re.IGNORECASE)
    return len({*cells}) < 2, is_late is not None


def _with_milliseconds(guess: Guess, table: Table) -> None:
    """Put a column of milliseconds behind that of times which do not have them."""
    own = guess.coords.get("t", "").split(JOINED)
    for at, heading in enumerate(table.headings):
        cells = {cell for cell in table.cells(at) if cell}
        is_rest = len(cells) > 1 and all(c.isdigit() and len(c) < 4 for c in cells)
        if is_rest and is_milliseconds(heading.name) and _are_whole_seconds(table, own):
            guess.coords["t"] = JOINED.join([*own, heading.text])
            guess.numeric = [other for other in guess.numeric if other != heading]
            return


def _are_whole_seconds(table: Table, names: Sequence[str]) -> bool:
    """Whether the last of some columns ends with seconds that have no fraction."""
    columns = [table.cells(at) for at, h in enumerate(table.headings) if h.text == names[-1]]
    return bool(columns) and all(re.search(r":\d\d:\d\d$", c) for c in columns[0] if c)


def _parts(guess: Guess, table: Table) -> list[str]:
    """The columns of the parts of a date, by the day of the year or that of a month."""
    ordinal = ordinal_parts([heading.name for heading in table.headings])
    return ordinal or parts_of_a_date([heading.name for heading in guess.numeric])


def _with_zone(guess: Guess, table: Table) -> None:
    """Put the column of zones behind that of times, unless it is one that nobody can tell."""
    named = [(at, h) for at, h in enumerate(table.headings) if h.name.lower() in ZONES]
    for at, heading in named:
        zones = {cell for cell in table.cells(at) if cell}
        if zones and all(map(is_zone, zones)) and (len(zones) > 1 or is_one_zone(*zones)):
            guess.coords["t"] += f"{JOINED}{heading.text}"
            return


def _beside_a_date(guess: Guess, table: Table) -> list[Heading]:
    """The columns of times of day without marks, 0930, or of hours, minutes and seconds."""
    places = {heading.text: at for at, heading in enumerate(table.headings)}
    named = [
        h
        for h in table.headings
        if (is_called(h.name, "t") or h.name.lower() in CLOCKS) and h.unit is None
    ]
    dates = [h for h in table.headings if _is_date(table.cells(places[h.text]))]
    for heading in named:
        cells = [cell for cell in table.cells(places[heading.text]) if cell]
        if heading not in dates and cells and is_unmarked(cells, bool(dates)):
            return [heading]
    parts = [[h for h in guess.numeric if h.name.lower() in words] for words in PARTS[3:]]
    return [found[0] for found in itertools.takewhile(bool, parts)]


def _is_date(cells: Sequence[str]) -> bool:
    """Whether all are dates without marks."""
    return bool(cells) and all(map(is_compact, cells))
