"""Tables that are a grid: times below each other, and positions beside each other in the heading.

"t, 0.1, 0.5" above rows of readings, "x\\t, 0, 60", and the instants of a glass fibre, each a column.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pgt.ground.errors import InputError
from pgt.io.called import AXES, is_called
from pgt.io.guessed import length_of
from pgt.io.headings import Heading, parse_heading
from pgt.io.marks import is_number_like, tidy
from pgt.io.stamps import is_stamp, parse_stamps, since, spoken

# The corner of such a table: "t/x", "x [m] \ t [s]".
_CORNER = re.compile(r"(?P<down>[^\\/]+?)\s*[\\/]\s*(?P<along>[^\\/]+)")


def with_corner(headings: Sequence[Heading]) -> list[Heading]:
    """The headings, with places where the first names both axes of a grid: "t/x".

    >>> [h.places for h in with_corner([parse_heading(n) for n in ("x/t", "0", "60")])[1:]]
    [{'t': (0.0, None)}, {'t': (60.0, None)}]
    """
    corner = _CORNER.fullmatch(headings[0].text)
    down, along = (
        (parse_heading(corner[name]) for name in ("down", "along")) if corner else (None,) * 2
    )
    rows, columns = _axis(down), _axis(along)
    if not (down and along and rows and columns) or rows == columns:
        return list(headings)
    placed = _placed(headings[1:], columns, along.unit)
    return [Heading(headings[0].text, rows, down.unit), *placed] if placed else list(headings)


def pivoted(headings: Sequence[Heading], axes: Sequence[str]) -> list[Heading]:
    """The headings, with places where they are a grid's along that of the `axes` which the first is not.

    >>> [h.places for h in pivoted([parse_heading(n) for n in ("t", "0.1", "0.5")], ("x", "t"))[1:]]
    [{'x': (0.1, None)}, {'x': (0.5, None)}]
    """
    rows = _axis(headings[0])
    left = [axis for axis in axes if axis != rows]
    # Whole numbers one after the other are rather those of channels: 1, 2, 3, or 101, 102.
    values = _numbers([heading.text for heading in headings[1:]]) or [0.5]
    is_counted = values[0].is_integer() and bool((np.diff(values) == 1).all())
    is_grid = rows is not None and len(left) == 1 and not is_counted
    placed = _placed(headings[1:], left[0], None) if is_grid else []
    return [headings[0], *placed] if placed else list(headings)


def _axis(heading: Heading | None) -> str | None:
    if heading is None or heading.name == "T":
        return None
    return next((axis for axis in AXES if is_called(heading.name, axis)), length_of(heading))


def _placed(headings: Sequence[Heading], axis: str, unit: str | None) -> list[Heading]:
    """Columns at the numbers or instants that their headings are; none: they are not all such."""
    texts = [heading.text for heading in headings]
    if len(texts) < 2 or len({*texts}) < len(texts):
        return []
    if axis == "t" and all(is_stamp(text) and not is_number_like(text) for text in texts):
        return _at_times(headings)
    pairs = zip(headings, _numbers(texts) or [], strict=False)
    return [replace(heading, places={axis: (value, unit)}) for heading, value in pairs]


def _numbers(texts: Sequence[str]) -> list[float] | None:
    """Positions, of which one is as good as another; 1,234 is none."""
    try:
        return [float(tidy(text).replace(",", ".")) for text in texts]
    except ValueError:
        return None


def _at_times(headings: Sequence[Heading]) -> list[Heading]:
    """Columns at instants, in seconds since the first of them."""
    texts = [heading.text for heading in headings]
    moments = parse_stamps(texts, np.ones(len(texts), int), "t", None)
    if moments.dtype.kind != "M":
        return [
            replace(h, places={"t": (float(s), "s")})
            for h, s in zip(headings, moments, strict=True)
        ]
    origin = moments.min()
    if np.isnat(origin):
        raise InputError("a heading is no time; write them all as 2024-03-12 10:00:00.")
    unit, seconds = f"seconds since {spoken(origin)}", since(moments, origin, "s")
    return [
        replace(heading, places={"t": (float(at), unit)})
        for heading, at in zip(headings, seconds, strict=True)
    ]
