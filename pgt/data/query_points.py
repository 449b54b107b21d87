"""Checks of the points at which a user asks for a field: scattered points, or a grid of positions."""

import math
import numbers
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from pgt.core.errors import InputError
from pgt.core.machine import require_memory
from pgt.core.number_arrays import as_numbers
from pgt.data.bounds import TOLERANCE
from pgt.data.dates import are_dates, as_seconds
from pgt.data.domain import Domain

DEFAULT_POSITIONS = 50  # the number of positions along an axis for which the user gives none
COPIES = 3  # the number of copies of the values in memory: computed, labeled and written
MAX_POSITIONS = 100_000_000  # the largest number of positions along one axis


def as_points(points, domain: Domain) -> Float[np.ndarray, "n d"]:
    """The points as an (n, d) array, from rows or from columns by axis; a single number holds for all.

    >>> as_points({"t": [0.5], "x": [0.1]}, Domain(x=(0, 1), t=(0, 1))).tolist()
    [[0.1, 0.5]]
    """
    if isinstance(points, pd.DataFrame):
        points = {str(name): points[name] for name in points.columns}
    if isinstance(points, Mapping):
        missing = [a for a in domain.axes if a not in points]
        if missing or len(points) != len(domain.axes):
            raise InputError(
                f"points have {', '.join(map(str, points))}; give exactly {', '.join(domain.axes)}."
            )
        if "t" in points and are_dates(points["t"]):
            points = {**points, "t": as_seconds("t", points["t"], domain.units.get("t"))}
        given = [as_numbers(f"points[{a!r}]", points[a]) for a in domain.axes]
        count = next((c.shape for c in given if c.ndim), (1,))
        columns = [np.broadcast_to(c, count) if c.ndim == 0 else c for c in given]
        if len({c.shape for c in columns}) > 1:
            shapes = ", ".join(f"{a} {c.shape}" for a, c in zip(domain.axes, columns, strict=True))
            raise InputError(f"points: every axis needs the same number of values; got {shapes}.")
        points = np.stack(columns, axis=-1)
    points = as_numbers("points", points)
    if points.ndim != 2 or points.shape[1] != len(domain.axes):
        raise InputError(
            f"points have shape {points.shape}; give (n, {len(domain.axes)}) with columns "
            f"{', '.join(domain.axes)}, or a dict by axis."
        )
    if not np.isfinite(points).all():
        raise InputError(f"points: row {np.argwhere(~np.isfinite(points))[0][0]} is not finite.")
    return points


def check_either(asked: str, points, axes: Mapping) -> None:
    """Raise where both points and a grid are given, since one of them would be ignored."""
    if points is not None and axes:
        raise InputError(
            f"{asked}: write either points, or the axes of a grid: {asked}(x=50, t=20)."
        )


def as_axes(axes: Mapping, domain: Domain) -> dict[str, np.ndarray]:
    """The positions along every axis, from a list, or from a number of even positions (default 50).

    >>> domain = Domain(x=(0, 1), t=(0, 1))
    >>> {axis: list(map(float, p)) for axis, p in as_axes({"x": 3, "t": [0.5]}, domain).items()}
    {'x': [0.0, 0.5, 1.0], 't': [0.5]}
    """
    unknown = [a for a in axes if a not in domain.axes]
    if unknown:
        raise InputError(
            f"grid: no axis is called {unknown[0]}; axes are {', '.join(domain.axes)}."
        )
    return {
        axis: _positions(axis, axes.get(axis, DEFAULT_POSITIONS), domain) for axis in domain.axes
    }


def with_fixed(axes: Mapping, at: Mapping | None, domain: Domain) -> dict:
    """The axes of a grid, together with the axes that `at` holds at one position.

    >>> with_fixed({"x": 3}, {"t": 0.5}, Domain(x=(0, 1), t=(0, 1)))
    {'x': 3, 't': [0.5]}
    """
    for axis, position in (at or {}).items():
        if axis not in domain.axes:
            raise InputError(
                f"grid(at={{{axis!r}: ...}}): axes of the domain are {', '.join(domain.axes)}."
            )
        if axis in axes:
            raise InputError(f"grid({axis}=..., at={{{axis!r}: ...}}): give one of the two.")
        if np.ndim(position):
            raise InputError(
                f"grid(at={{{axis!r}: ...}}): give one position; several are {axis}=[...]."
            )
    return {**axes, **{axis: [position] for axis, position in (at or {}).items()}}


def require_grid(axes: Mapping, domain: Domain, columns: int = 1) -> None:
    """Raise where the values on a grid do not fit into memory, before they are computed.

    >>> require_grid({"x": 10**9, "t": 10**9}, Domain(x=(0, 1), t=(0, 1)))
    Traceback (most recent call last):
    ...
    pgt.InputError: grid(x=1000000000, t=1000000000): this needs 2.4e+10 GB of memory...
    """
    counts = {axis: _count(axes.get(axis, DEFAULT_POSITIONS)) for axis in domain.axes}
    asked = ", ".join(f"{axis}={count}" for axis, count in counts.items())
    require_points(math.prod(counts.values()), f"grid({asked})", columns)


def require_points(count: int, asked: str, columns: int = 1) -> None:
    """Raise where the values at `count` points do not fit into memory."""
    remedy = "ask for fewer points, or for one part of them after the other"
    # The bound prevents an overflow of the conversion to a float.
    require_memory(8.0 * COPIES * min(count, 10**30) * columns, asked, remedy)


def _count(wanted) -> int:
    """The number of positions along an axis; an invalid request counts as one and fails elsewhere."""
    if is_number(wanted):
        return max(int(wanted), 1) if wanted == wanted and abs(wanted) != math.inf else 1
    try:
        return max(int(np.size(wanted)), 1) if not isinstance(wanted, str) else 1
    except TypeError:  # no array, such as a Dataset
        return 1


def is_number(wanted) -> bool:
    """Whether a value is one number of any type; a list of one number is not.

    >>> [is_number(one) for one in (3, 3.0, np.float32(3), np.array(3), [3], True, "3")]
    [True, True, True, True, False, False, False]
    """
    if isinstance(wanted, numbers.Real):
        return not isinstance(wanted, bool)
    kind = getattr(getattr(wanted, "dtype", None), "kind", "-")
    return kind in "iuf" and getattr(wanted, "shape", None) == ()


def count_of(axis: str, wanted) -> int:
    """The number of positions as an integer; raises unless it is a whole number from 2 up.

    >>> count_of("x", 3.0)
    3
    >>> count_of("t", 0.5)
    Traceback (most recent call last):
    ...
    pgt.InputError: grid(t=0.5): a number is a count of positions, a whole one from 2 up...
    """
    if not (wanted >= 2 and (wanted == math.inf or wanted % 1 == 0)):
        raise InputError(
            f"grid({axis}={wanted}): a number is a count of positions, a whole one from 2 up; for the "
            f"field at {axis} = {wanted} write {axis}=[{wanted}] or at={{{axis!r}: {wanted}}}."
        )
    if wanted > MAX_POSITIONS:
        raise InputError(f"grid({axis}={wanted}): ask for at most {MAX_POSITIONS:,} positions.")
    return int(wanted)


def _positions(axis: str, wanted, domain: Domain) -> np.ndarray:
    if is_number(wanted):
        return np.linspace(*domain.bounds(axis), count_of(axis, wanted))
    if axis == "t" and are_dates(wanted):
        wanted = as_seconds(axis, wanted, domain.units.get(axis))
    try:
        positions = np.atleast_1d(np.asarray(wanted))
        positions = positions.astype(float) if positions.dtype.kind in "iuf" else np.empty((0, 0))
    except (ValueError, TypeError):  # rows of unequal length, or no rows
        positions = np.empty((0, 0))
    if positions.ndim != 1 or not positions.size or not np.isfinite(positions).all():
        raise InputError(f"grid({axis}=...): give a number of positions or a list of numbers.")
    return positions


def outside(points: Float[np.ndarray, "n d"], domain: Domain) -> Bool[np.ndarray, " n"]:
    """Which of the points lie outside the box of the domain; a periodic axis has no outside.

    >>> outside(np.array([[0.5, 0.5], [9.0, 0.5]]), Domain(x=(0, 1), t=(0, 1))).tolist()
    [False, True]
    """
    found = [beyond(axis, points[:, k], domain) for k, axis in enumerate(domain.axes)]
    return np.any(found, axis=0)


def outside_grid(
    axes: Mapping[str, np.ndarray], domain: Domain, order: Sequence[str]
) -> Bool[np.ndarray, "..."]:
    """Which points of a grid lie outside the box of the domain, with dimensions in this `order`."""
    found = [beyond(axis, axes[axis], domain) for axis in order]
    return np.any(np.stack(np.meshgrid(*found, indexing="ij")), axis=0)


def beyond(axis: str, positions: np.ndarray, domain: Domain) -> np.ndarray:
    """Which positions along an axis lie outside; none where the axis is periodic."""
    (low, high), slack = domain.bounds(axis), TOLERANCE * domain.extent[domain.index(axis)]
    if axis in domain.periodic:
        return np.zeros(len(positions), bool)
    return (positions < low - slack) | (positions > high + slack)
