"""Where the field is sought, in space and time.

The domain owns its geometry: what is inside, points to enforce an equation at, and the walls, the start
and the seams on which conditions hold. Whoever needs points asks it, and computes none from its bounds.
"""

import copy
import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.data.box import Box
from pgt.data.dates import without_dates
from pgt.data.regions import Faces, Instants, Seam, ends_of
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.types import Key, Points

AXES = ("x", "y", "z", "t")
Real = float | int | np.floating | np.integer


@checked
@dataclasses.dataclass(frozen=True, init=False, repr=False)
class Domain:
    """Named, bounded axes, any of x, y, z, t, always kept in that order.

    It holds only strings and numbers: hashable, static under `jit`, and written to JSON as it is.

    Parameters
    ----------
    periodic
        Spatial axes whose two ends are one place.
    units
        By axis, for labels and to compare with those of the readings.
    **bounds
        A pair of numbers for each axis; of dates for t, t=("2024-05-01T12:00", "2024-05-01T13:00").

    >>> domain = Domain(t=(0, 2), x=(-1, 1), periodic=("x",), units={"t": "s"})
    >>> domain.axes, domain.bounds("t"), domain.extent.tolist()
    (('x', 't'), (0.0, 2.0), [2.0, 2.0])
    """

    box: Box
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
        bounds, units = without_dates(bounds, units, "Domain")
        set_field = object.__setattr__  # the way into a frozen dataclass
        set_field(self, "box", Box(axes, tuple(_limits(axis, bounds[axis]) for axis in axes)))
        set_field(self, "periodic", tuple(axis for axis in axes if axis in periodic))
        set_field(
            self, "unit_pairs", tuple((a, str(units[a])) for a in axes if units and a in units)
        )

    def __repr__(self) -> str:
        bounds = {axis: self.bounds(axis) for axis in self.axes}
        parts = [f"{axis}=({low:g}, {high:g})" for axis, (low, high) in bounds.items()]
        parts += [f"periodic={self.periodic}"] if self.periodic else []
        parts += [f"units={self.units}"] if self.unit_pairs else []
        return f"Domain({', '.join(parts)})"

    @property
    def axes(self) -> tuple[str, ...]:
        return self.box.axes

    @property
    def lower(self) -> Float[np.ndarray, " d"]:
        return self.box.lower

    @property
    def upper(self) -> Float[np.ndarray, " d"]:
        return self.box.upper

    @property
    def extent(self) -> Float[np.ndarray, " d"]:
        return self.box.extent

    @property
    def units(self) -> dict[str, str]:
        return dict(self.unit_pairs)

    @property
    def spatial_axes(self) -> tuple[str, ...]:
        return self.box.spatial_axes

    @property
    def has_time(self) -> bool:
        return self.box.has_time

    @property
    def dimension(self) -> int:
        """Number of axes, time included: the d of points with shape (n, d)."""
        return self.box.dimension

    @checked
    def index(self, axis: str) -> int:
        """The column of `axis` in an array of points."""
        return self.box.index(axis)

    @checked
    def bounds(self, axis: str) -> tuple[float, float]:
        """Lower and upper bound of one axis."""
        return self.box.bounds(axis)

    # ---------------------------------------------------------------------------------- inside

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which of the points (n, d) lie inside, boundary included."""
        return self.box.contains(points)

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n independent points, uniform in the domain; pure, and works under jit."""
        return self.box.sample(key, n)

    def from_unit(self, unit: Points) -> Points:
        """Points of the unit cube as points of the domain: what is spread evenly stays so."""
        is_float = getattr(getattr(unit, "dtype", None), "kind", "") == "f"
        if not is_float or unit.shape[-1:] != (self.dimension,):
            columns = ", ".join(self.axes)
            raise InputError(f"from_unit: write an array of numbers with the columns {columns}.")
        return self.box.from_unit(unit)

    @checked
    def quadrature(self, n: int) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, " m"]]:
        """At least n fixed points, and weights that sum to the volume.

        >>> points, weights = Domain(x=(0, 2), t=(0, 3)).quadrature(4)
        >>> len(points), round(float(weights.sum()), 12)
        (4, 6.0)
        """
        return self.box.quadrature(n)

    # --------------------------------------------------------------- where conditions hold

    @checked
    def walls(self, axis: str | Sequence[str] | None = None, side: str = "both") -> Faces:
        """The ends of some spatial axes, or of all that are not periodic.

        `side` is "lower", "upper" or "both".

        >>> Domain(x=(0, 1), y=(0, 1), t=(0, 1), periodic=("y",)).walls().pairs
        (('x', 0), ('x', 1))
        """
        walled = tuple(a for a in self.spatial_axes if a not in self.periodic)
        axes = (axis,) if isinstance(axis, str) else tuple(axis or walled)
        if not axes:
            raise InputError(f"{self} has no spatial axis that ends in a wall.")
        for name in axes:
            self.index(name)
            if name not in walled:
                raise InputError(_no_wall(name))
        return Faces(self.box, tuple((name, end) for name in axes for end in ends_of(side)))

    def start(self) -> Faces:
        """The whole of space at the first moment."""
        self.index("t")
        return Faces(self.box, (("t", 0),))

    @checked
    def seam(self, axis: str) -> Seam:
        """The two ends of an axis, as one place."""
        self.index(axis)
        return Seam(self.box, axis)

    @checked
    def instants(self, position: Mapping[str, float] | None = None) -> Instants:
        """A position, or all of space where none is given, at every time; at one, if it names a t."""
        held = None if position is None else tuple(position.items())
        for axis, _ in held or ():
            self.index(axis)
        here = held and tuple((axis, self.box.to_local(axis, at)) for axis, at in held)
        return Instants(self.box, here)

    # --------------------------------------------------------------- counted from elsewhere

    def moved(self, by: Float[np.ndarray, " d"]) -> "Domain":
        """The same domain, its points counted from `by` (origin.py)."""
        other = copy.copy(self)
        object.__setattr__(other, "box", self.box.moved(by))
        return other

    # ----------------------------------------------------------------------------------- as JSON

    def to_dict(self) -> dict:
        """Plain lists and dictionaries, for JSON."""
        bounds = {axis: list(self.bounds(axis)) for axis in self.axes}
        return {"bounds": bounds, "periodic": list(self.periodic), "units": self.units}

    @classmethod
    @checked
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


def _no_wall(axis: str) -> str:
    if axis == "t":
        return "time has no walls; its start is `start()`."
    return (
        f"the domain is periodic along {axis}: no wall there; drop the condition or take '{axis}' out "
        "of the domain's `periodic`."
    )
