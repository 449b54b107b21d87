"""Times in several columns: a date and a clock, or a year and a day that is counted from its first."""

from collections.abc import Sequence

import numpy as np

from pgt.ground.errors import InputError
from pgt.io.called import DAYS, PARTS, is_milliseconds
from pgt.io.headings import Heading
from pgt.io.marks import is_plain
from pgt.io.spellings import in_four_digits
from pgt.io.stamps import parse_stamps

# Columns of a time of day without marks: 930 is half past nine.
CLOCKS = (
    "hourminute",
    "hour_minute",
    "hour minute",
    "hour/minute",
    "hour/min",
    "hhmm",
    "hhmmss",
    "hrmn",
    "time",
)
OF_YEARS = tuple(
    word for word in DAYS if word != "day"
)  # beside a year that is a day of a month, too


def ordinal_parts(names: Sequence[str]) -> list[str]:
    """Those of some names that are a year, a day of the year and a time of day; none: there are no such.

    >>> ordinal_parts(["T", "Year", "DOY", "Hour"]), ordinal_parts(["DOY", "T"])
    (['Year', 'DOY', 'Hour'], [])
    """
    by_word = {name.lower(): name for name in reversed(names)}
    found = [_first(by_word, words) for words in (PARTS[0], OF_YEARS)]
    if not all(found) or _first(by_word, PARTS[1]):
        return []
    for words in ((*PARTS[3], *CLOCKS), PARTS[4], PARTS[5]):
        if (name := _first(by_word, words)) is None:
            break
        found.append(name)
    return [name for name in found if name]


def _first(by_word: dict[str, str], words: Sequence[str]) -> str | None:
    return next((by_word[word] for word in words if word in by_word), None)


def is_ordinal(names: Sequence[str]) -> bool:
    """Whether columns of these names are a year and a day of the year, with or without a time."""
    return len(names) > 1 and names[0].lower() in PARTS[0] and names[1].lower() in OF_YEARS


def with_date(parts: Sequence[str], line: int) -> str:
    """The date for a year and a day of the year, before the time of day; of a fraction, its time.

    >>> with_date(("2024", "72", "10"), 2), with_date(("2024", "72.5"), 2)
    ('2024-03-12 10', '2024-03-12 12:00:00')
    """
    year, day, *clock = (part.removesuffix(".0") for part in parts)
    if not any(parts):
        return ""
    if not (year.isdecimal() and len(year) == 4 and is_plain(day) and 1 <= float(day) < 367):
        raise InputError(
            f"line {line}: {' '.join(parts)!r} is no year and day of the year; write them as 2024 and 72."
        )
    date = np.datetime64(year, "D") + np.timedelta64(int(float(day)) - 1, "D")
    if (fraction := float(day) % 1.0) and not clock:
        seconds = np.timedelta64(round(86400 * fraction), "s")
        return str(date.astype("datetime64[s]") + seconds).replace("T", " ")
    return " ".join([str(date), *clock])


def joined(
    parts: Sequence[tuple[Heading, np.ndarray]], lines: np.ndarray, dates: str | None
) -> np.ndarray:
    """The times that one or several columns are together: a date, a clock, milliseconds; numbers stay."""
    if len(parts) == 1 and parts[0][1].dtype != object:
        return parts[0][1]
    columns, names = [column.tolist() for _, column in parts], [h.name for h, _ in parts]
    fractions = columns.pop() if len(columns) > 1 and is_milliseconds(names[-1]) else None
    if len(columns) == 2:
        columns[1] = in_four_digits(columns[1], names[1].lower() not in PARTS[3])
    rows = zip(*columns, strict=True)
    if is_ordinal(names):
        texts = [with_date(row, line) for row, line in zip(rows, lines.tolist(), strict=True)]
    else:
        texts = [" ".join(row) for row in rows]
    if fractions is not None:
        texts = [f"{text}.{ms:0>3}" for text, ms in zip(texts, fractions, strict=True)]
    return parse_stamps(texts, lines, "t", dates, " ".join(h.text for h, _ in parts))
