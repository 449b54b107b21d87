"""Curves that Fluent plots to files: brackets around a title, the labels of axes, and each curve."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.ground.errors import InputError
from pgt.io.encoding import Line
from pgt.io.headings import Places, places_in

_LABELS = re.compile(r'\s*\(labels\s+"([^"]*)"\s+"([^"]*)"\)\s*')
_CURVE = re.compile(r"\s*\(\(xy/key/label\b")
_LABEL = re.compile(r'label\s+"([^"]*)"')
LOOKED_AT = 20


def as_table(
    head: Sequence[Line], rest: Iterator[Line], _name: str = ""
) -> tuple[Sequence[Line], Iterator[Line]]:
    """The lines of all curves below the labels of their axes, where they are such; others as they are.

    >>> lines = ['(labels "Position" "Pressure")', '((xy/key/label "wall")', "0 1", "1 2", ")"]
    >>> as_table(list(enumerate(lines, 1)), iter(()))[0]
    [(2, 'Position\\tPressure'), (3, '0\\t1'), (4, '1\\t2')]
    """
    found = (_LABELS.fullmatch(text) for _, text in head[:LOOKED_AT])
    labels = next((match for match in found if match), None)
    first = next((at for at, (_, text) in enumerate(head) if _CURVE.match(text)), None)
    if labels is None or first is None:
        return head, rest
    places = _places(head[first][1])
    rows = _rows(itertools.chain(head[first + 1 :], rest), places)
    names = [_along(labels[1], places), labels[2], *map(_named, places.items())]
    return [(head[first][0], "\t".join(names)), *itertools.islice(rows, len(head))], rows


def _places(text: str) -> Places:
    """What the label of a curve says of where or when it is."""
    found = _LABEL.search(text)
    return places_in(found[1].replace("-x=", " x=").replace("-y=", " y=")) if found else {}


def _along(label: str, places: Places) -> str:
    """A position along a line at one x is a y, and one at a y or z an x."""
    others = {"x": "y", "y": "x", "z": "x"}
    axes = [others[axis] for axis in places if axis in others]
    return axes[0] if label.strip().lower() == "position" and len(axes) == 1 else label


def _named(place: tuple[str, tuple[float, str | None]]) -> str:
    axis, (_, unit) = place
    return f"{axis} [{unit}]" if unit else axis


def _rows(lines: Iterable[Line], first: Places) -> Iterator[Line]:
    """The points of all curves, each with what its label says of it."""
    here = first
    for number, text in lines:
        if _CURVE.match(text):
            here = _places(text)
            if not here or here.keys() != first.keys():
                raise InputError(
                    f"line {number} begins another curve, and nothing says where it is; write its place "
                    'or time into all labels, as in "x=0.5", or each curve to a file of its own.'
                )
            continue
        if text.strip(" )\t\r\n"):
            beside = (repr(value) for value, _ in here.values())
            yield number, "\t".join([*text.split(), *beside])
