"""Exports of programs for fluid dynamics: probes of OpenFOAM, curves of Fluent, sections of CFX."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pgt.core.errors import InputError
from pgt.io.encoding import Line, Lines
from pgt.io.header import COMMENT_MARK
from pgt.io.headings import Positions, parse_positions

_PROBE = re.compile(r"\s*#\s*Probe\s+\d+\s*\(([^()]*)\)")
_BRACKETS = str.maketrans("()", "  ")
_AXIS_LABELS = re.compile(r'\s*\(labels\s+"([^"]*)"\s+"([^"]*)"\)\s*')
_CURVE = re.compile(r"\s*\(\(xy/key/label\b")
_CURVE_LABEL = re.compile(r'label\s+"([^"]*)"')
_MAX_TITLE_LINES = 20  # above the first curve of Fluent
_SECTION = re.compile(
    r"\s*\[(Name|Data|Faces|Lines|Spatial Fields|Parameters|Points)\]\s*,*\s*", re.I
)
_MAX_SECTION_LINE = 50  # the last line in which the first sections of CFX begin


def convert_openfoam_probes(head: Sequence[Line], rest: Iterator[Line], name: str) -> Lines:
    """Probes of OpenFOAM: positions in comments above the rows become headings, vectors three cells.

    >>> lines = [(1, "# Probe 0 (0.5 0 0)"), (2, "# Time"), (3, "0.1 300")]
    >>> convert_openfoam_probes(lines, iter(()), "T.dat")[0][0]
    (2, 'Time T@x=0.5,y=0,z=0')
    """
    points = [found[1].split() for _, text in head if (found := _PROBE.match(text))]
    rows = [
        at for at, (_, text) in enumerate(head) if text.strip() and not COMMENT_MARK.match(text)
    ]
    if not points or not rows or any(len(point) != 3 for point in points):
        return head, rest
    field = re.sub(r"\W.*", "", name) or "u"
    parts = ["Ux", "Uy", "Uz"] if "(" in head[rows[0]][1] else [field]
    at = [",".join(f"{a}={value}" for a, value in zip("xyz", p, strict=True)) for p in points]
    heading = " ".join(["Time", *(f"{part}@{point}" for point in at for part in parts)])
    above = max(rows[0] - 1, 0)
    table = [(head[above][0], heading), *_strip_brackets(head[rows[0] :])]
    return table, _strip_brackets(rest)


def _strip_brackets(lines: Iterable[Line]) -> Iterator[Line]:
    return ((number, text.translate(_BRACKETS)) for number, text in lines)


def convert_fluent_curves(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """Curves that Fluent plots to a file, all below the labels of their axes.

    >>> lines = ['(labels "Position" "Pressure")', '((xy/key/label "wall")', "0 1", "1 2", ")"]
    >>> convert_fluent_curves(list(enumerate(lines, 1)), iter(()))[0]
    [(2, 'Position\\tPressure'), (3, '0\\t1'), (4, '1\\t2')]
    """
    found = (_AXIS_LABELS.fullmatch(text) for _, text in head[:_MAX_TITLE_LINES])
    labels = next((match for match in found if match), None)
    first = next((at for at, (_, text) in enumerate(head) if _CURVE.match(text)), None)
    if labels is None or first is None:
        return head, rest
    positions = _curve_positions(head[first][1])
    rows = _iterate_curves(itertools.chain(head[first + 1 :], rest), positions)
    given = [f"{axis} [{unit}]" if unit else axis for axis, (_, unit) in positions.items()]
    names = [_name_axis(labels[1], positions), labels[2], *given]
    return [(head[first][0], "\t".join(names)), *itertools.islice(rows, len(head))], rows


def _curve_positions(text: str) -> Positions:
    """The position or time in the label of a curve."""
    found = _CURVE_LABEL.search(text)
    return parse_positions(found[1].replace("-x=", " x=").replace("-y=", " y=")) if found else {}


def _name_axis(label: str, positions: Positions) -> str:
    """The axis of a "Position" along a line: y on a line at one x, x on a line at one y or z."""
    others = {"x": "y", "y": "x", "z": "x"}
    axes = [others[axis] for axis in positions if axis in others]
    return axes[0] if label.strip().lower() == "position" and len(axes) == 1 else label


def _iterate_curves(lines: Iterable[Line], first: Positions) -> Iterator[Line]:
    """The points of all curves, each with the positions in the label of its curve."""
    current = first
    for number, text in lines:
        if _CURVE.match(text):
            current = _curve_positions(text)
            if not current or current.keys() != first.keys():
                raise InputError(
                    f"line {number} begins another curve without its position; write a position or time "
                    'into all labels, as in "x=0.5", or each curve to a file of its own.'
                )
        elif text.strip(" )\t\r\n"):
            given = (repr(value) for value, _ in current.values())
            yield number, "\t".join([*text.split(), *given])


def convert_cfx_sections(head: Sequence[Line], rest: Iterator[Line], _name: str = "") -> Lines:
    """The sections [Data] of an export of CFX or CFD-Post, all below one heading.

    >>> lines = ["[Name]", "Line", "[Data]", "X [ m ], T [ K ]", "0, 300", "[Lines]", "0, 1"]
    >>> convert_cfx_sections(list(enumerate(lines, 1)), iter(()))[0]
    [(4, 'X [ m ], T [ K ]'), (5, '0, 300')]
    """
    if not {"name", "data"} <= {_section_of(text) for _, text in head[:_MAX_SECTION_LINE]}:
        return head, rest
    rows = _iterate_data(itertools.chain(head, rest))
    return list(itertools.islice(rows, len(head))), rows


def _section_of(text: str) -> str | None:
    found = _SECTION.fullmatch(text)
    return found[1].lower() if found else None


def _iterate_data(lines: Iterable[Line]) -> Iterator[Line]:
    """The heading and the rows of all sections of data."""
    section, heading, is_heading = None, "", False
    for number, text in lines:
        if (kind := _section_of(text)) is not None:
            section, is_heading = kind, kind == "data"
        elif section == "data" and text.strip():
            if is_heading and heading and text.strip() != heading:
                raise InputError(
                    f"line {number} is another heading than that of the first [Data]; write each to a "
                    "file of its own."
                )
            if not is_heading or not heading:
                yield number, text
            heading = heading or text.strip()
            is_heading = False
