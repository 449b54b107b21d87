"""A box of named axes: checked bounds, membership, random points and Gauss–Legendre quadrature."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from scipy.special import roots_legendre

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.machine import require_memory
from pgt.core.number_arrays import as_numbers
from pgt.core.numbers import listed
from pgt.core.parser import AXES as AXES
from pgt.core.types import Key, Point, Points, Scalar
from pgt.data.dates import are_counted, text

# The largest number of Gauss nodes along an axis; computing more takes seconds.
MAX_GAUSS_NODES = 20_000
# The number of copies of the points that are in memory at the same time.
COPIES_IN_MEMORY = 3
# Points outside by less than this share of the extent count as inside: a reading on the boundary must not
# be excluded by a rounding error.
TOLERANCE = 1e-9


@checked
@dataclasses.dataclass(frozen=True)
class Bounds:
    """A box: lower and upper bounds of any number of named axes.

    It holds only strings and numbers, so it is hashable and static under `jit`. Points and bounds may be
    relative to an `origin` (origin.py).

    >>> box = Bounds(("x", "t"), ((-1.0, 1.0), (0.0, 3.0)))
    >>> box.contains([[0.0, 1.0], [2.0, 1.0]]).tolist()
    [True, False]
    """

    axes: tuple[str, ...]
    limits: tuple[tuple[float, float], ...]
    origin: tuple[float, ...] = ()

    def __post_init__(self):
        if len(self.limits) != len(self.axes) or len(self.origin) not in (0, len(self.axes)):
            raise InputError(
                f"Bounds(axes={self.axes}, limits={self.limits}, origin={self.origin}): write a "
                "lower and an upper bound for every axis."
            )
        for name in ("axes", "limits", "origin"):  # lists have no hash
            value = getattr(self, name)
            plain = (tuple(one) if isinstance(one, list) else one for one in value)
            object.__setattr__(self, name, tuple(plain))

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
    def middle(self) -> Float[np.ndarray, " d"]:
        return (self.lower + self.upper) / 2

    @property
    def spatial_axes(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.axes if axis != "t")

    @property
    def has_time(self) -> bool:
        return "t" in self.axes

    @property
    def dimension(self) -> int:
        """The number of axes, time included, which is the d of points with shape (n, d)."""
        return len(self.axes)

    def index(self, axis: str) -> int:
        """The column of `axis` in an array of points."""
        if not isinstance(axis, str) or axis not in self.axes:
            raise InputError(f"the domain has no axis {axis!r}, only {', '.join(self.axes)}.")
        return self.axes.index(axis)

    def bounds(self, axis: str) -> tuple[float, float]:
        """The lower and upper bound of one axis."""
        return self.limits[self.index(axis)]

    def along(self, axes: Sequence[str]) -> "Bounds":
        """The box of some of the axes."""
        origin = tuple(self.origin[self.index(axis)] for axis in axes) if self.origin else ()
        return Bounds(tuple(axes), tuple(self.bounds(axis) for axis in axes), origin)

    @checked
    def moved(self, by: Sequence[float] | Float[np.ndarray, " d"]) -> "Bounds":
        """The same box with points relative to the origin `by`.

        >>> box = Bounds(("x",), ((1000.0, 1001.0),)).moved([1000.0])
        >>> box.bounds("x"), float(box.named(np.array([0.5]))["x"])
        ((0.0, 1.0), 1000.5)
        """
        if len(by) != len(self.axes):
            raise InputError(
                f"moved(by={list(by)}): write one number for each of {', '.join(self.axes)}."
            )
        limits = tuple((low - o, high - o) for (low, high), o in zip(self.limits, by, strict=True))
        return Bounds(self.axes, limits, tuple(float(o) for o in by))

    def wrapped(self, points, axes: Sequence[str]) -> Float[np.ndarray, "n d"]:
        """The points, with those less than an extent beyond an end of these axes moved to the inside.

        Points farther away stay: they are probably in other units or of another axis, and checks should
        find them.
        """
        points, middle = np.array(points, float), self.middle
        for column in map(self.index, axes):
            extent, from_middle = self.extent[column], points[:, column] - middle[column]
            beyond = (np.abs(from_middle) > (0.5 + TOLERANCE) * extent) & (
                np.abs(from_middle) < 1.5 * extent
            )
            points[beyond, column] -= np.sign(from_middle[beyond]) * extent
        return points

    def named(self, z: Point) -> dict[str, Scalar]:
        """The coordinates of one point by name, with the origin added."""
        origin = self.origin or (0.0,) * self.dimension
        moved = (z[i] + o if o else z[i] for i, o in enumerate(origin))
        return {axis: jnp.asarray(c) for axis, c in zip(self.axes, moved, strict=True)}

    def to_local(self, axis: str, position: float) -> float:
        """A position along an axis, relative to the origin of the box."""
        return position - self.origin[self.index(axis)] if self.origin else position

    def contains(self, points) -> Bool[np.ndarray, " n"]:
        """Which of the points (n, d) lie inside, boundary included."""
        points = self.as_points(points)
        slack = TOLERANCE * self.extent
        return np.all((points >= self.lower - slack) & (points <= self.upper + slack), axis=1)

    def as_points(self, points) -> Float[np.ndarray, "n d"]:
        """Points as an array with one column for each axis."""
        points = as_numbers("points", points)
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise InputError(
                f"points have shape {points.shape}; the domain has axes {self.axes}, so write an "
                f"array of shape (n, {self.dimension}) with columns in that order."
            )
        return points

    def from_unit(self, unit: Points) -> Points:
        """Points of the unit cube mapped to the box."""
        lower, upper = (np.asarray(end, unit.dtype) for end in (self.lower, self.upper))
        return (lower + (upper - lower) * unit).clip(lower, upper)  # rounding may overshoot

    def sample(self, key: Key, n: int) -> Float[Array, "{n} d"]:
        """n independent points, uniform in the box; works under jit."""
        return jnp.asarray(self.from_unit(jax.random.uniform(key, (n, self.dimension))))

    @checked
    def quadrature(self, n: int) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, " m"]]:
        """At least n Gauss–Legendre nodes, equally many along each axis; weights sum to the volume.

        >>> points, weights = Bounds(("x",), ((0.0, 2.0),)).quadrature(3)
        >>> round(float(points[:, 0] ** 2 @ weights), 12)  # ∫ x² over (0, 2)
        2.666666666667
        """
        if n < 1:
            raise InputError(f"quadrature(n={n}): ask for 1 point or more.")
        if not self.axes:
            return np.zeros((1, 0)), np.ones(1)
        per_axis = math.ceil(n ** (1 / self.dimension))
        if per_axis > MAX_GAUSS_NODES:
            raise InputError(
                f"quadrature(n={n}): that is {per_axis} points along an axis; ask for {MAX_GAUSS_NODES} "
                "at most."
            )
        require_memory(
            8.0 * COPIES_IN_MEMORY * n * (self.dimension + 1), f"quadrature(n={n})", "ask for fewer"
        )
        nodes, weights = _gauss(per_axis)
        half = self.extent / 2
        columns = [low + h * (1 + nodes) for low, h in zip(self.lower, half, strict=True)]
        points = np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(columns))
        return points, functools.reduce(np.outer, [h * weights for h in half]).ravel()


@functools.lru_cache(maxsize=32)
def _gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The Gauss–Legendre nodes in [-1, 1] and their weights.

    SciPy computes n nodes in O(n²). NumPy needs O(n³), which is minutes for thousands of nodes.
    """
    return roots_legendre(n)


def check_names(bounds: Mapping, periodic: Sequence[str], units: Mapping[str, str]) -> None:
    """Raise where an axis has an unknown name, or `periodic` or `units` name an axis without bounds."""
    if not bounds:
        raise InputError("Domain() has no axes; write for example Domain(x=(0, 1), t=(0, 1)).")
    for axis in bounds:
        if axis not in AXES:
            raise InputError(f"Domain: unknown axis {axis!r}; the axes are named {listed(AXES)}.")
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


def limits_of(axis: str, pair) -> tuple[float, float]:
    """The bounds of an axis as two finite numbers, the lower one first; raises where they are not."""
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


def shown(axis: str, position: float, units: Mapping[str, str]) -> str:
    """A position along an axis as text, with 12 digits or as a date.

    >>> shown("x", 431256.75, {}), shown("t", 60.0, {"t": "seconds since 1970-01-01"})
    ('431256.75', '1970-01-01T00:01:00')
    """
    is_date = axis == "t" and are_counted(units)
    return text(position) if is_date else f"{position:.12g}"


def spanned(axis: str, bounds: tuple[float, float], units: Mapping[str, str]) -> str:
    """Two bounds of an axis as text: "(0, 1)"."""
    low, high = (shown(axis, bound, units) for bound in bounds)
    return f"({low}, {high})"


def no_wall(axis: str) -> str:
    """The message that says why an axis has no wall."""
    if axis == "t":
        return "time has no walls; its start is `start()`."
    return (
        f"the domain is periodic along {axis}: no wall there; drop the condition or take '{axis}' out "
        "of the domain's `periodic`."
    )
