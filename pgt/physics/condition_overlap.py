"""Whether a wall of the shape, and an end of the box with a condition of its own, are one place.

A polygon that fills its box to the base has a base that is a wall and an end at once. A condition on the
wall then holds there, too, beside that of the end, and both can seldom be true.
"""

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float

from pgt.core.errors import InputError, warn_of
from pgt.data.condition_regions import walled_ends
from pgt.data.domain import Domain
from pgt.geometry.point_location import chosen
from pgt.geometry.shape import Boundary
from pgt.physics.conditions import AbstractCondition, AbstractWallCondition

ON_IT = 1e-6  # of the box: as near as that a place is on its end
INSTANTS = 9  # at which a wall that moves is looked at
TOUCHED = 0.01  # of a wall: a circle touches an end in less


def warn_of_overlap(conditions: Sequence[AbstractCondition] | None, domain: Domain) -> None:
    """Warn where a condition on a wall holds on an end of the box that has one of its own."""
    if domain.shape is None:
        return
    for named, end in _pairs(conditions or ()):
        share, word = _shared(domain, named, end)
        if share > TOUCHED:
            warn_of(
                f"{share:.0%} of the wall {named.wall!r} lies on an end of the box that has a condition "
                f"of its own: {type(named).__name__} and {type(end).__name__} both hold there. If that "
                f"of the end is meant alone, write where={word!r} for the wall."
            )


def on_ends(domain: Domain, wall: str) -> float:
    """The share of a wall that lies on ends of the box.

    >>> import pgt
    >>> plate = pgt.shapes.Rectangle(x=(0, 1), y=(0, 1), name="plate")
    >>> on_ends(pgt.Domain(x=(0, 3), y=(0, 1), shape=plate), "plate")
    0.75
    """
    found = _wall(domain, wall)
    if found is None:
        return 0.0
    ends = [(axis, side) for axis in domain.spatial_axes for side in (0, 1)]
    on = np.any([_on(domain, found, axis, side) for axis, side in ends], axis=0)
    return float(found.weights[on].sum() / found.weights.sum())


def _pairs(conditions) -> Iterator[tuple[AbstractWallCondition, AbstractWallCondition]]:
    """A condition on a wall and one on ends of the box that speak of one field, and differently."""
    walls = [each for each in conditions if isinstance(each, AbstractWallCondition)]
    for named in (each for each in walls if each.wall is not None):
        for end in (each for each in walls if each.wall is None):
            first, second = (getattr(each, "values", None) for each in (named, end))
            apart = bool(first) and bool(second) and not set(first) & set(second)
            alike = type(named) is type(end) and str(first) == str(second)
            if not apart and not alike:
                yield named, end


def _shared(domain: Domain, named, end) -> tuple[float, str]:
    """The share of a wall on ends that a condition names, and the words for the rest of the wall."""
    found = _wall(domain, named.wall, named.where)
    if found is None:
        return 0.0, ""
    origin = domain.box.along(domain.spatial_axes).origin or np.zeros(len(domain.spatial_axes))
    there, words = np.zeros(len(found.points), bool), [named.where] if named.where else []
    for axis, side in walled_ends(domain.box, domain.periodic, end.axis, end.side):
        on = _on(domain, found, axis, side)
        if end.where:
            on &= chosen(end.where, found.points + np.asarray(origin), domain.spatial_axes)
        if on.any():
            bound = domain.bounds(axis)[side] + origin[domain.spatial_axes.index(axis)]
            words.append(f"{axis} {'<' if side else '>'} {bound:g}")
            there |= on
    return float(found.weights[there].sum() / found.weights.sum()), " and ".join(words)


def _wall(domain: Domain, name: str, where: str | None = None) -> Boundary | None:
    """What of a wall is in the box, at some instants where it moves; None, where nothing is."""
    times = np.linspace(*domain.bounds("t"), INSTANTS).tolist() if domain.moves else ()
    parts = []
    for space in [domain.at(t) for t in times] or [domain]:
        with contextlib.suppress(InputError):  # nothing is left of it
            parts += space.boundary(name, where=where)
    return Boundary.joined(parts) if parts else None


def _on(domain: Domain, found: Boundary, axis: str, side: int) -> Bool[np.ndarray, " n"]:
    bounds = domain.box.bounds(axis)
    along: Float[np.ndarray, " n"] = found.points[:, domain.spatial_axes.index(axis)]
    return np.abs(along - bounds[side]) < ON_IT * (bounds[1] - bounds[0])
