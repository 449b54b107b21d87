"""Rows in blocks, each below a line that says their time or place: "# t = 60 s", "Time: 60", a date."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.ground.errors import InputError
from pgt.io.above import COMMENT, counts
from pgt.io.called import AXES, is_called
from pgt.io.encoding import Line
from pgt.io.headings import NUMBER, UNIT, as_unit, parse_heading
from pgt.io.marks import is_number_like
from pgt.io.stamps import is_stamp

_SAYS = re.compile(
    rf"(?<![^\W_])(?P<axis>[xyzXYZt]|[Tt]ime|TIME|[Zz]eit)\s*[=:]\s*(?P<value>{NUMBER})(?![\d:-])"
    rf"\s*(?P<unit>{UNIT})?"
)
_ALONE = re.compile(rf"[\W\d]*(?:(?:time)?step\W*\d*)?[\W_]*{_SAYS.pattern}\W*", re.IGNORECASE)
_MOMENT = re.compile(r"(?:(?:date|time|t|zeit)\W*[=:]\s*)", re.IGNORECASE)  # before a date
Said = dict[str, tuple[str, str | None]]  # by axis: the number as it is written, and its unit


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines with a column more for what stands above each block; others as they are.

    >>> lines = ["# t = 0", "x u", "0.1 20", "0.5 21", "# t = 60", "0.1 22"]
    >>> as_table(list(enumerate(lines, 1)), iter(()))[0]
    [(2, 'x u t'), (3, '0.1 20 0'), (4, '0.5 21 0'), (6, '0.1 22 60')]
    """
    first = next((at for at, (_, text) in enumerate(head) if _is_row(text)), None)
    if first is None:
        return head, rest
    above = [said for _, text in head[:first] if (said := _said(text))]
    below = [said for _, text in head[first:] if (said := _said(text))]
    own = _columns(head[:first], head[first][1]) if below else set()
    axes = [axis for axis in dict.fromkeys(a for said in below for a in said) if axis not in own]
    start: Said = {}
    for said in above:
        start |= {axis: at for axis, at in said.items() if axis in axes}
    if not any(said.get(a, start.get(a)) != start.get(a) for said in below for a in axes):
        return head, _agreeing(rest, above, head[: first + 1])
    lines = _rows(head, first, rest, axes, start)
    return list(itertools.islice(lines, len(head))), lines


def _is_row(text: str) -> bool:
    if not counts(text):
        return False
    cells = [cell for cell in re.split(r"[\s,;|]+", text.strip(" \t\r\n,;|")) if cell]
    return is_number_like(cells[0]) or is_stamp(cells[0]) if cells else False


def _said(text: str) -> Said:
    """What a comment, or a line of nothing else, says of the rows below it."""
    if len(text) > 200 or not (COMMENT.match(text) or _ALONE.fullmatch(text.strip())):
        return {}
    moment = _MOMENT.sub("", COMMENT.sub("", text).strip(), count=1)
    if is_stamp(moment) and not is_number_like(moment):
        return {"t": (moment.replace(" ", "T"), None)}
    return {
        "t" if len(found["axis"]) > 1 else found["axis"].lower(): (
            found["value"],
            as_unit(found["unit"] or ""),
        )
        for found in _SAYS.finditer(text)
    }


def _columns(above: Sequence[Line], row: str) -> set[str]:
    """The axes that are columns already."""
    found: set[str] = set()
    for _, text in above[-4:]:
        plain = COMMENT.sub("", text).strip()
        cells = re.split(r"[;|,\t]|\s{2,}", plain)
        cells = [*cells, *plain.split()] if not _said(text) else []
        names = [parse_heading(cell).name for cell in cells if cell.strip()]
        found |= {axis for axis in AXES for name in names if name != "T" and is_called(name, axis)}
    return found | ({"t"} if is_stamp(re.split(r"[,;\t|]", row.strip())[0]) else set())


def _agreeing(rest: Iterable[Line], above: Sequence[Said], head: Sequence[Line]) -> Iterator[Line]:
    """The rest of the lines, none of which may say something else than those above all rows."""
    start = {axis: value for said in above for axis, (value, _) in said.items()}
    for number, text in rest:
        for axis, (value, _) in _said(text).items() if COMMENT.match(text) else ():
            if start.get(axis, value) != value and axis not in _columns(head[:-1], head[-1][1]):
                raise _begins_late(number, axis, value)
        yield number, text


def _begins_late(number: int, axis: str, value: str) -> InputError:
    return InputError(
        f"line {number} says {axis} = {value} of the rows below it, and of those above nothing, or "
        f"something else: write {axis} into a column of its own."
    )


def _rows(
    head: Sequence[Line], first: int, rest: Iterable[Line], axes: Sequence[str], start: Said
) -> Iterator[Line]:
    mark = next((mark for mark in "\t;,|" if mark in head[first][1].strip()), " ")
    for axis in axes:
        if axis not in start:
            number = next(n for n, text in head[first:] if axis in _said(text))
            raise _begins_late(number, axis, _said(dict(head)[number])[axis][0])
    now = dict(start)
    names = [f"{axis}[{unit}]" if (unit := start[axis][1]) else axis for axis in axes]
    plain = [at for at, (_, text) in enumerate(head[:first]) if text.strip() and not _said(text)]
    for at, (number, text) in enumerate(itertools.chain(head, rest)):
        if said := _said(text):
            now |= _in_one_unit(said, start, number)
        elif _is_row(text):
            yield number, mark.join([_bare(text, mark), *(now[axis][0] for axis in axes)])
        elif at in plain[-1:] or (counts(text) and at > first):
            yield number, mark.join([_bare(text, mark), *names])
        else:
            yield number, text


def _bare(text: str, mark: str) -> str:
    return text.rstrip("\r\n ") if mark == "\t" else text.rstrip().removesuffix(mark)


def _in_one_unit(said: Said, start: Said, number: int) -> Said:
    for axis, (value, unit) in said.items():
        if axis in start and unit != start[axis][1]:
            raise InputError(
                f"line {number} says {axis} = {value} {unit or ''}, in another unit than above; write "
                "all alike."
            )
    return {axis: at for axis, at in said.items() if axis in start}
