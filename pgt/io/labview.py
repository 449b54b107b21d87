"""Measurements of LabVIEW, .lvm: a header for every channel, and times that may stand there alone."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.ground.errors import InputError
from pgt.io.above import counts
from pgt.io.encoding import Line
from pgt.io.marks import is_plain

_END = re.compile(r"\*\*\*End_of_Header\*\*\*\s*")
_X = "X_Value"


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines with the column X_Value as a time in seconds; others as they are.

    >>> header = ["LabVIEW Measurement", "Delta_X\\t2", "***End_of_Header***"]
    >>> lines = [*header, "X_Value\\tT", "\\t20", "\\t21"]
    >>> as_table(list(enumerate(lines, 1)), iter(()))[0][-3:]
    [(4, 'time [s]\\tT'), (5, '0.0\\t20'), (6, '2.0\\t21')]
    """
    ends = [at for at, (_, text) in enumerate(head) if _END.fullmatch(text)]
    heading = ends[-1] + 1 if ends else len(head)
    is_one = head and head[0][1].startswith("LabVIEW Measurement") and heading < len(head)
    if not is_one or not head[heading][1].startswith(f"{_X}\t"):
        return head, rest
    entries = {line[1].split("\t")[0]: line[1].rstrip().split("\t")[1:] for line in head[:heading]}
    if entries.get("X_Dimension", ["Time"])[0] not in ("", "Time"):
        return head, rest
    for key in ("X0", "Delta_X"):
        if len({_number(value) for value in entries.get(key, ())}) > 1:
            raise InputError(
                f"the channels have times of their own ({key} is {' and '.join(entries[key])}); write "
                "each to a file of its own."
            )
    rows = _timed(itertools.chain(head[heading + 1 :], rest), entries)
    number, names = head[heading][0], _numbered(head[heading][1])
    return [*head[:heading], (number, names), *itertools.islice(rows, len(head) - heading)], rows


def _number(text: str) -> float | None:
    text = text.replace(",", ".")
    return float(text) if is_plain(text) else None


def _numbered(heading: str) -> str:
    """The names, of which the times of further channels are numbered."""
    count = itertools.count(1)
    names = [f"{_X} {next(count)}" if name == _X else name for name in heading.split("\t")]
    return "\t".join("time [s]" if name == f"{_X} 1" else name for name in names)


def _timed(lines: Iterable[Line], entries: dict[str, list[str]]) -> Iterator[Line]:
    """Rows with their time, where the column of times is empty: it goes on by steps."""
    start, step = (_number((entries.get(key) or ["0"])[0]) or 0.0 for key in ("X0", "Delta_X"))
    count, point = itertools.count(), "," if "," in "".join(entries.get("Delta_X", ())) else "."
    for number, text in lines:
        is_bare = text.startswith("\t") and counts(text) and step
        time = repr(start + step * next(count)).replace(".", point) if is_bare else ""
        yield number, f"{time}{text}"
