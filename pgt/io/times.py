"""Which columns of a table are its times: stamps, dates beside clocks, parts of a date, days."""

import itertools
import re
from collections.abc import Mapping, Sequence

from pgt.io.called import CALLED, PARTS, decimal_days, parts_of_a_date
from pgt.io.found import JOINED
from pgt.io.guessed import Guess
from pgt.io.headings import Heading
from pgt.io.ordinals import ordinal_parts
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
    if guess.coords.get("t") in [heading.text for heading in stamps]:
        _with_zone(guess, table)


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
    if clocks and days:
        guess.coords["t"] = f"{days[0].text}{JOINED}{clocks[0].text}"
    elif beside:
        guess.coords["t"] = JOINED.join([days[0].text, *(heading.text for heading in beside)])
        guess.numeric = [h for h in guess.numeric if h not in beside and h.text != days[0].text]
    elif stamps and "t" not in guess.coords:
        guess.coords["t"] = stamps[0][0].text
    elif (parts := _parts(guess, table)) and guess.coords.get("t", parts[0]) in parts:
        guess.coords["t"] = JOINED.join(parts)
        guess.numeric = [heading for heading in guess.numeric if heading.name not in parts]
    elif "t" not in guess.coords and (day := decimal_days([h.name for h in guess.numeric])):
        guess.coords["t"] = day
        guess.numeric = [heading for heading in guess.numeric if heading.name != day]
    return [h for h, cells in stamps if h not in clocks and h not in days]


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
    named = [h for h in table.headings if h.name.lower() in CALLED["t"] and h.unit is None]
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
