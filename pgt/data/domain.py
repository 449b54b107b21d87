"""The box in space and time in which the field is sought."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

from pgt.ground.errors import InputError

AXES = ("x", "y", "z", "t")
Real = float | int | np.floating | np.integer
TOLERANCE = 1e-9  # of the extent: a reading on the boundary must not fall out by a rounding error


@dataclasses.dataclass(frozen=True, init=False, repr=False)
class Domain:
    """Named, bounded axes, any of x, y, z, t, always kept in that order.

    It holds only strings and numbers: hashable, static under `jit`, and written to JSON as it is.

    >>> domain = Domain(t=(0, 2), x=(-1, 1), periodic=("x",), units={"t": "s"})
    >>> domain.axes, domain.bounds("t"), domain.extent.tolist()
    (('x', 't'), (0.0, 2.0), [2.0, 2.0])
    """

    axes: tuple[str, ...]
    limits: tuple[tuple[float, float], ...]
    periodic: tuple[str, ...]
    unit_pairs: tuple[tuple[str, str], ...]

    def __init__(
        self,
        *,
        periodic: Sequence[str] = (),
        units: Mapping[str, str] | None = None,
        **bounds,  # a pair of numbers each
    ):
        _check_names(bounds, periodic, units or {})
        axes = tuple(axis for axis in AXES if axis in bounds)
        set_field = object.__setattr__  # the way into a frozen dataclass
        set_field(self, "axes", axes)
        set_field(self, "limits", tuple(_limits(axis, bounds[axis]) for axis in axes))
        set_field(self, "periodic", tuple(axis for axis in axes if axis in periodic))
        set_field(
            self, "unit_pairs", tuple((a, str(units[a])) for a in axes if units and a in units)
        )

    def __repr__(self) -> str:
        parts = [
            f"{axis}=({low:g}, {high:g})"
            for axis, (low, high) in zip(self.axes, self.limits, strict=True)
        ]
        parts += [f"periodic={self.periodic}"] if self.periodic else []
        parts += [f"units={self.units}"] if self.unit_pairs else []
        return f"Domain({', '.join(parts)})"

    @property
    def lower(self) -> Float[np.ndarray, " d"]:
        return np.array([low for low, _ in self.limits])

    @property
    def upper(self) -> Float[np.ndarray, " d"]:
        return np.array([high for _, high in self.limits])

    @property
    def extent(self) -> Float[np.ndarray, " d"]:
        return self.upper - self.lower

    @property
    def units(self) -> dict[str, str]:
        return dict(self.unit_pairs)

    @property
    def spatial_axes(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.axes if axis != "t")

    @property
    def has_time(self) -> bool:
        return "t" in self.axes

    @property
    def dimension(self) -> int:
        """Number of axes, time included: the d of points with shape (n, d)."""
        return len(self.axes)

    def index(self, axis: str) -> int:
        """The column of `axis` in an array of points."""
        if axis not in self.axes:
            raise InputError(f"axis {axis!r} is not in the domain, whose axes are {self.axes}.")
        return self.axes.index(axis)

    def bounds(self, axis: str) -> tuple[float, float]:
        """Lower and upper bound of one axis."""
        return self.limits[self.index(axis)]

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which of the points (n, d) lie inside, boundary included."""
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise InputError(
                f"points have shape {points.shape}; the domain has axes {self.axes}, so write an "
                f"array of shape (n, {self.dimension}) with columns in that order."
            )
        slack = TOLERANCE * self.extent
        return np.all((points >= self.lower - slack) & (points <= self.upper + slack), axis=1)

    def to_dict(self) -> dict:
        """Plain lists and dictionaries, for JSON."""
        bounds = {axis: list(pair) for axis, pair in zip(self.axes, self.limits, strict=True)}
        return {"bounds": bounds, "periodic": list(self.periodic), "units": self.units}

    @classmethod
    def from_dict(cls, data: Mapping) -> "Domain":
        """The inverse of `to_dict`."""
        if set(data) != {"bounds", "periodic", "units"} or not isinstance(data["bounds"], Mapping):
            raise InputError(
                'a domain is written {"bounds": {"x": [0, 1], ...}, "periodic": [...], '
                f'"units": {{...}}}}; got the keys {sorted(map(str, data))}.'
            )
        return cls(periodic=tuple(data["periodic"]), units=data["units"], **data["bounds"])


def _check_names(bounds: Mapping, periodic: Sequence[str], units: Mapping[str, str]) -> None:
    if not bounds:
        raise InputError("Domain() has no axes; write for example Domain(x=(0, 1), t=(0, 1)).")
    for axis in bounds:
        if axis not in AXES:
            raise InputError(f"Domain: unknown axis {axis!r}; the axes are named x, y, z and t.")
    for axis in periodic:
        if axis == "t":
            raise InputError("Domain: time cannot be periodic; remove 't' from `periodic`.")
    for argument, names in (("periodic", periodic), ("units", units)):
        for axis in names:
            if axis not in bounds:
                raise InputError(
                    f"Domain: `{argument}` names {axis!r}, which has no bounds; the domain's axes "
                    f"are {tuple(bounds)}."
                )


def _limits(axis: str, pair) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in pair)
    except (TypeError, ValueError):
        raise InputError(
            f"Domain({axis}={pair!r}): write the bounds as two numbers, {axis}=(0, 1)."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        raise InputError(f"Domain({axis}=({low:g}, {high:g})): both bounds must be finite.")
    if low >= high:
        raise InputError(
            f"Domain({axis}=({low:g}, {high:g})): the lower bound must be below the upper one."
        )
    return low, high
