"""Casts of Sea-Bird, .cnv: a header that names the columns one by one, then rows of numbers."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.io.encoding import Line
from pgt.io.marks import is_plain

_NAME = re.compile(r"#\s*name\s+(\d+)\s*=\s*(?P<short>[^:]*):\s*(?P<long>.*?)\s*")
_BAD = re.compile(r"#\s*bad_flag\s*=\s*(\S+)\s*")
_END = re.compile(r"\*END\*\s*")
# Beside the unit there may stand the scale, or of what water: [ITS-90, deg C], [salt water, m].
_UNIT = re.compile(r"(?P<name>[^\[]*?)\s*\[(?:[^\]]*,\s*)?(?P<unit>[^\],]*)\]\s*")
_UNITS = {"db": "dbar", "julian days": "days"}
# Times that count from a moment; others do from the start.
_SINCE = {"timeK": "2000-01-01", "timeQ": "2000-01-01", "timeN": "1970-01-01"}
_AXES = {"dep": "depth", "time": "time"}


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines with the names of the columns as a heading, where they are such; others as they are.

    >>> names = ["# name 0 = depSM: Depth [salt water, m]", "# bad_flag = -9.990e-29"]
    >>> lines = [*names, "*END*", " -9.99e-29"]
    >>> as_table(list(enumerate(lines, 1)), iter(()))[0][2:]
    [(3, 'depth [m]'), (4, 'nan')]
    """
    end = next((at for at, (_, text) in enumerate(head) if _END.fullmatch(text)), None)
    header = [text for _, text in head[: end or 0]]
    names = [_heading(found) for text in header if (found := _NAME.fullmatch(text.strip()))]
    if end is None or not names:
        return head, rest
    bad = next(
        (float(f[1]) for t in header if (f := _BAD.fullmatch(t.strip())) and is_plain(f[1])), None
    )
    above = [(number, f"# {text}") for number, text in head[:end]]
    rows = _rows(itertools.chain(head[end + 1 :], rest), bad)
    heading = (head[end][0], "\t".join(names))
    return [*above, heading, *itertools.islice(rows, len(head))], rows


def _heading(found: re.Match) -> str:
    """The long name with its unit; axes by the names that all files have for them."""
    axis = next((name for short, name in _AXES.items() if found["short"].startswith(short)), None)
    unit = _UNIT.fullmatch(found["long"])
    if unit is None:
        name, its = found["long"] or found["short"], _UNITS.get(found["long"].lower())
    else:
        name, its = unit["name"], _UNITS.get(unit["unit"], unit["unit"])
    its = f"seconds since {_SINCE[found['short']]}" if found["short"] in _SINCE else its
    is_number = is_plain(name)  # "flag:  0.000e+00"
    name = axis or (found["short"] if is_number else name)
    return f"{name} [{its}]" if its else name


def _rows(lines: Iterable[Line], bad: float | None) -> Iterator[Line]:
    for number, text in lines:
        cells = ("nan" if is_plain(c) and float(c) == bad else c for c in text.split())
        yield number, "\t".join(cells)
