"""Files of instruments: casts of Sea-Bird (.cnv), measurements of LabVIEW (.lvm), EasyLog loggers."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.core.errors import InputError
from pgt.io.encoding import Line, Lines
from pgt.io.header import is_content
from pgt.io.number_format import is_plain_number

_COLUMN_NAME = re.compile(r"#\s*name\s+(\d+)\s*=\s*(?P<short>[^:]*):\s*(?P<long>.*?)\s*")
_BAD_FLAG = re.compile(r"#\s*bad_flag\s*=\s*(\S+)\s*")
_END_OF_CAST = re.compile(r"\*END\*\s*")
# Before the unit there may stand the scale, or the kind of water: [ITS-90, deg C], [salt water, m].
_LAST_UNIT = re.compile(r"(?P<name>[^\[]*?)\s*\[(?:[^\]]*,\s*)?(?P<unit>[^\],]*)\]\s*")
_SEABIRD_UNITS = {"db": "dbar", "julian days": "days"}
# Times that count from a date; all others count from the start of the cast.
_TIME_ORIGINS = {"timeK": "2000-01-01", "timeQ": "2000-01-01", "timeN": "1970-01-01"}
_AXIS_NAMES = {"dep": "depth", "time": "time"}
_END_OF_HEADER = re.compile(r"\*\*\*End_of_Header\*\*\*\s*")
_TIME_COLUMN = "X_Value"
_SERIAL_NUMBER = re.compile(r",\s*serial number\s*", re.IGNORECASE)


def convert_seabird(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """A cast of Sea-Bird: a header that names the columns one by one, then rows of numbers.

    >>> names = ["# name 0 = depSM: Depth [salt water, m]", "# bad_flag = -9.990e-29"]
    >>> lines = [*names, "*END*", " -9.99e-29"]
    >>> convert_seabird(list(enumerate(lines, 1)), iter(()))[0][2:]
    [(3, 'depth [m]'), (4, 'nan')]
    """
    end = next((at for at, (_, text) in enumerate(head) if _END_OF_CAST.fullmatch(text)), None)
    header = [text.strip() for _, text in head[: end or 0]]
    names = [_seabird_heading(found) for text in header if (found := _COLUMN_NAME.fullmatch(text))]
    if end is None or not names:
        return head, rest
    flags = [found[1] for text in header if (found := _BAD_FLAG.fullmatch(text))]
    bad = next((float(flag) for flag in flags if is_plain_number(flag)), None)
    above = [(number, f"# {text}") for number, text in head[:end]]
    rows = _iterate_scans(itertools.chain(head[end + 1 :], rest), bad)
    heading = (head[end][0], "\t".join(names))
    return [*above, heading, *itertools.islice(rows, len(head))], rows


def _seabird_heading(found: re.Match) -> str:
    """The long name and the unit of a column; axes get the usual names."""
    parsed = _LAST_UNIT.fullmatch(found["long"])
    if parsed is None:
        name, unit = found["long"] or found["short"], _SEABIRD_UNITS.get(found["long"].lower())
    else:
        name, unit = parsed["name"], _SEABIRD_UNITS.get(parsed["unit"], parsed["unit"])
    if found["short"] in _TIME_ORIGINS:
        unit = f"seconds since {_TIME_ORIGINS[found['short']]}"
    axis = next(
        (name for short, name in _AXIS_NAMES.items() if found["short"].startswith(short)), None
    )
    name = axis or (found["short"] if is_plain_number(name) else name)  # "flag:  0.000e+00"
    return f"{name} [{unit}]" if unit else name


def _iterate_scans(lines: Iterable[Line], bad: float | None) -> Iterator[Line]:
    for number, text in lines:
        cells = ("nan" if is_plain_number(c) and float(c) == bad else c for c in text.split())
        yield number, "\t".join(cells)


def convert_labview(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """A measurement of LabVIEW, with its column X_Value as a time in seconds.

    >>> header = ["LabVIEW Measurement", "Delta_X\\t2", "***End_of_Header***"]
    >>> lines = [*header, "X_Value\\tT", "\\t20", "\\t21"]
    >>> convert_labview(list(enumerate(lines, 1)), iter(()))[0][-3:]
    [(4, 'time [s]\\tT'), (5, '0.0\\t20'), (6, '2.0\\t21')]
    """
    ends = [at for at, (_, text) in enumerate(head) if _END_OF_HEADER.fullmatch(text)]
    heading = ends[-1] + 1 if ends else len(head)
    is_labview = head and head[0][1].startswith("LabVIEW Measurement") and heading < len(head)
    if not is_labview or not head[heading][1].startswith(f"{_TIME_COLUMN}\t"):
        return head, rest
    entries = {line[1].split("\t")[0]: line[1].rstrip().split("\t")[1:] for line in head[:heading]}
    if entries.get("X_Dimension", ["Time"])[0] not in ("", "Time"):
        return head, rest
    for key in ("X0", "Delta_X"):
        if len({_parse_entry(value) for value in entries.get(key, ())}) > 1:
            raise InputError(
                f"the channels have times of their own ({key} is {' and '.join(entries[key])}); write "
                "each to a file of its own."
            )
    rows = _iterate_timed(itertools.chain(head[heading + 1 :], rest), entries)
    number, names = head[heading][0], _name_time_columns(head[heading][1])
    return [*head[:heading], (number, names), *itertools.islice(rows, len(head) - heading)], rows


def _parse_entry(text: str) -> float | None:
    text = text.replace(",", ".")
    return float(text) if is_plain_number(text) else None


def _name_time_columns(heading: str) -> str:
    """The heading with its first X_Value as the time, and those of further channels numbered."""
    count = itertools.count(1)
    names = (
        f"X_Value {next(count)}" if name == _TIME_COLUMN else name for name in heading.split("\t")
    )
    return "\t".join("time [s]" if name == "X_Value 1" else name for name in names)


def _iterate_timed(lines: Iterable[Line], entries: dict[str, list[str]]) -> Iterator[Line]:
    """The rows; those without a time get one, which increases by the step of the header."""
    start, step = (_parse_entry((entries.get(key) or ["0"])[0]) or 0.0 for key in ("X0", "Delta_X"))
    count, point = itertools.count(), "," if "," in "".join(entries.get("Delta_X", ())) else "."
    for number, text in lines:
        is_untimed = text.startswith("\t") and is_content(text) and step
        time = repr(start + step * next(count)).replace(".", point) if is_untimed else ""
        yield number, f"{time}{text}"


def drop_easylog_serial(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """A log of EasyLog without the serial number of the logger, which only the first row has."""
    if head and head[0][1].startswith(('"TOB', "TOB")):
        raise InputError(
            "this is a binary table of Campbell (TOB); convert it to TOA5, as CardConvert does."
        )
    is_easylog = len(head) > 1 and _SERIAL_NUMBER.search(head[0][1])
    if not is_easylog or not head[0][1].strip().lower().endswith("number"):
        return head, rest
    (one, names), (other, row), *lines = head
    width = names.count(",")
    others = [text.count(",") for _, text in lines if text.strip()]
    if row.count(",") != width or any(count >= width for count in others):
        return head, rest
    # The name of the logger stands above the numbers of rows.
    logger, _, names = _SERIAL_NUMBER.sub("", names).partition(",")
    first = row.rstrip("\r\n").rpartition(",")[0]
    return [(0, f"# {logger}"), (one, f"no.,{names}"), (other, first), *lines], rest
