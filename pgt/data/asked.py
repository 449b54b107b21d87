"""Where a field is asked: scattered points, or positions along each axis."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from pgt.data.dates import are_dates, seconds, without_dates
from pgt.data.domain import Domain
from pgt.ground.errors import InputError


def as_points(points, domain: Domain) -> Float[np.ndarray, "n d"]:
    """Points given as rows, or as columns by axis.

    >>> as_points({"t": [0.5], "x": [0.1]}, Domain(x=(0, 1), t=(0, 1))).tolist()
    [[0.1, 0.5]]
    """
    if isinstance(points, Mapping):
        missing = [a for a in domain.axes if a not in points]
        if missing or len(points) != len(domain.axes):
            raise InputError(
                f"points have {', '.join(map(str, points))}; give exactly {', '.join(domain.axes)}."
            )
        points, _ = without_dates(points, None)
        columns = [np.atleast_1d(np.asarray(points[a], float)) for a in domain.axes]
        if len({c.shape for c in columns}) > 1:
            shapes = ", ".join(f"{a} {c.shape}" for a, c in zip(domain.axes, columns, strict=True))
            raise InputError(f"points: every axis needs the same number of values; got {shapes}.")
        points = np.stack(columns, axis=-1)
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != len(domain.axes):
        raise InputError(
            f"points have shape {points.shape}; give (n, {len(domain.axes)}) with columns "
            f"{', '.join(domain.axes)}, or a dict by axis."
        )
    if not np.isfinite(points).all():
        raise InputError(f"points: row {np.argwhere(~np.isfinite(points))[0][0]} is not finite.")
    return points


def as_axes(axes: Mapping, domain: Domain) -> dict[str, np.ndarray]:
    """Positions along every axis: given, or a number of them (default 50) over the whole of it.

    >>> {a: p.tolist() for a, p in as_axes({"x": 3, "t": 0.5}, Domain(x=(0, 1), t=(0, 1))).items()}
    {'x': [0.0, 0.5, 1.0], 't': [0.5]}
    """
    unknown = [a for a in axes if a not in domain.axes]
    if unknown:
        raise InputError(
            f"grid: no axis is called {unknown[0]}; axes are {', '.join(domain.axes)}."
        )
    return {axis: _positions(axis, axes.get(axis, 50), domain) for axis in domain.axes}


def _positions(axis: str, wanted, domain: Domain) -> np.ndarray:
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool):
        if wanted < 1:
            raise InputError(f"grid({axis}={wanted}): ask for at least one position.")
        return np.linspace(*domain.bounds(axis), int(wanted))
    try:
        wanted = seconds(axis, wanted) if axis == "t" and are_dates(wanted) else wanted
        positions = np.atleast_1d(np.asarray(wanted))
        positions = positions.astype(float) if positions.dtype.kind in "iuf" else np.empty((0, 0))
    except ValueError:  # rows of unequal length
        positions = np.empty((0, 0))
    if positions.ndim != 1 or not positions.size or not np.isfinite(positions).all():
        raise InputError(f"grid({axis}=...): give a number of positions or a list of numbers.")
    return positions
