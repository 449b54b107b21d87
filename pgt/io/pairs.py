"""Lines of names and values, as programs print them: "t:0 x:0.1 T:21.5", "10:00:05 x=0.1 T=21.5"."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pgt.ground.errors import InputError
from pgt.io.encoding import Line
from pgt.io.marks import is_number_like
from pgt.io.stamps import is_stamp

LOOKED_AT = 20  # lines that show it
_PAIR = re.compile(
    r"(?<![^\s,;\[\]])([^\W\d][\w.\-/]*(?:[\[(][^\s\[\]()]*[\])])?)\s*[:=]\s*(?=[^\s:=,;])([^\s,;]+)"
)


class _Pairs(NamedTuple):
    names: tuple[str, ...]
    values: tuple[str, ...]
    stamp: str  # what stands before them


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines with their names in a heading; others as they are.

    >>> as_table([(1, "t:0 T:20"), (2, "t:1 T:21")], iter(()))[0]
    [(1, 't;T'), (1, '0;20'), (2, '1;21')]
    """
    shown = [(number, text) for number, text in head[:LOOKED_AT] if text.strip()]
    found = [_pairs(text) for _, text in shown]
    first = found[0] if found else None
    if (
        first is None
        or len(shown) < 2
        or any(one is None or one.names != first.names for one in found)
    ):
        return head, rest
    heading = (shown[0][0], ";".join([*(["time"] if first.stamp else []), *first.names]))
    lines = itertools.chain([heading], _rows(itertools.chain(head, rest), first.names))
    return list(itertools.islice(lines, len(head) + 1)), lines


def _pairs(text: str) -> _Pairs | None:
    found = [*_PAIR.finditer(text.strip())]
    stamp, *between = _PAIR.split(text.strip())[0::3] if found else ("", "-")
    stamp = stamp.strip(" ,;\t[]")
    is_plain = len(found) > 1 and all(is_number_like(pair[2]) for pair in found)
    if not is_plain or "".join(between).strip(" ,;\t") or not (stamp == "" or is_stamp(stamp)):
        return None
    return _Pairs(tuple(p[1] for p in found), tuple(p[2] for p in found), stamp)


def _rows(lines: Iterable[Line], names: tuple[str, ...]) -> Iterator[Line]:
    for number, text in lines:
        if not text.strip():
            continue
        found = _pairs(text)
        if found is None or found.names != names:
            raise InputError(
                f"line {number} does not have the names of the lines above, {', '.join(names)}, each "
                "with a number; correct or remove it."
            )
        yield number, ";".join([*([found.stamp] if found.stamp else []), *found.values])
