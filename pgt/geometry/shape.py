"""The base classes of shapes: membership, signed distance, walls, and operators that combine shapes."""

import abc
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, get_type_hints

import numpy as np
from jaxtyping import Bool, Float

from pgt.core.arguments import Limits, Number, PartOf, Positive, Written, metadata_of
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.number_arrays import as_numbers

if TYPE_CHECKING:
    from pgt.geometry.placement import Placed
    from pgt.geometry.set_operations import Complement, Difference, Intersection, Union


class Check(NamedTuple):
    """The function (where, value) that checks an argument of a simple shape and returns it converted."""

    function: Callable[[str, Any], Any]


# The types of constructor arguments. A run file must give the inner type; Python code may pass other
# types, which the constructor checks.
Pair = Annotated[
    Any, Written(tuple[Number, Number]), Check(lambda where, value: numbers(where, value, 2))
]
Triple = Annotated[
    Any,
    Written(tuple[Number, Number, Number]),
    Check(lambda where, value: numbers(where, value, 3)),
]
PositivePair = Annotated[
    Any,
    Written(tuple[Positive, Positive]),
    Check(lambda where, value: numbers(where, value, 2, above=0)),
]
Interval = Annotated[
    Any, Written(tuple[Number, Number]), Check(lambda where, value: interval(where, value))
]
Length = Annotated[
    Any, Written(Positive), Check(lambda where, value: number(where, value, above=0))
]
Plain = Annotated[Any, Written(Number)]
Several = Annotated[Any, Written(tuple[Number, ...])]
Ring = Annotated[Any, Written(tuple[tuple[Number, Number], ...])]
Rings = Annotated[Any, Written(tuple[tuple[tuple[Number, Number], ...], ...])]
Word = Annotated[Any, Written(str)]
Shape = Annotated[Any, PartOf("shape")]

Places = Float[np.ndarray, "n k"]
Bounds = tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]
# The largest number of points of a boundary.
MAX_WALL_POINTS = 10_000_000
# The largest number of characters of a shape in a message.
MAX_BRIEF_LENGTH = 200


class Boundary(NamedTuple):
    """Points of a boundary, their outward unit normals, and the length or area that each represents."""

    points: Places
    normals: Places
    weights: Float[np.ndarray, " n"]

    def take(self, chosen) -> "Boundary":
        """The boundary of some of the points."""
        return Boundary(*(part[chosen] for part in self))

    @staticmethod
    def joined(parts: Sequence["Boundary"]) -> "Boundary":
        """The boundary of all points of several parts."""
        return Boundary(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class AbstractShape(abc.ABC):
    """A part of the plane or of space. It is hashable and stored as data.

    `a - b`, `a & b` and `a | b` are shapes, too; `-a` is everything outside a.

    >>> from pgt.geometry import Disk, Rectangle
    >>> plate = Rectangle(x=(0, 2), y=(0, 1)) - Disk(centre=(1, 0.5), radius=0.2, name="hole")
    >>> plate.inside(np.array([[0.1, 0.1], [1.0, 0.5]])).tolist()
    [True, False]
    >>> round(plate.measure(), 4), round(plate.walls("hole").weights.sum().item(), 4)
    (1.8743, 1.2566)
    """

    part: ClassVar[str] = "shape"

    @property
    @abc.abstractmethod
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""

    @abc.abstractmethod
    def distance(self, points: Places) -> Float[np.ndarray, " n"]:
        """The signed distance from each point to the boundary, negative inside.

        It is exact near the boundary; far from a combined shape it may be too small.
        """

    def inside(self, points, slack: float = 0.0) -> Bool[np.ndarray, " n"]:
        """Which points are inside, or outside by no more than `slack`."""
        return self.distance(self.as_places(points)) <= slack

    def as_places(self, points) -> Places:
        """Points as an array with one column for each coordinate."""
        array, columns = as_numbers("points", points), self.dimension
        if array.ndim != 2 or array.shape[1] != columns:
            raise InputError(
                f"{self.brief()}.inside: points have shape {array.shape}; write (n, {columns})."
            )
        return array

    @abc.abstractmethod
    def bounds(self) -> Bounds:
        """The lower and the upper corner of a box around the shape; infinite where it is unbounded."""

    @abc.abstractmethod
    def leaves(self) -> tuple["AbstractLeaf", ...]:
        """The simple shapes that the shape combines, at their final places."""

    def within(self, lower, upper) -> "AbstractShape":
        """The shape, in which formulas without limits are evaluated between these corners."""
        return self

    # ------------------------------------------------------------------------------- walls

    def brief(self) -> str:
        """The shape as text; a shape of many corners, which would fill pages, is given by its walls."""
        named = f"<{type(self).__name__} with the walls {', '.join(self.wall_names)}>"
        return str(self) if len(str(self)) <= MAX_BRIEF_LENGTH else named

    @property
    def wall_names(self) -> tuple[str, ...]:
        """The names of the walls, which are those of the simple shapes."""
        return tuple(dict.fromkeys(leaf.wall for leaf in self.leaves()))

    @checked
    def walls(
        self,
        name: str | None = None,
        count: Annotated[int, Limits(at_least=1, at_most=MAX_WALL_POINTS)] | None = None,
    ) -> Boundary:
        """Evenly spread points of the boundary, or of the part from the simple shapes of that name."""
        return Boundary.joined(self.wall_parts(name, count))

    @checked
    def wall_parts(
        self,
        name: str | None = None,
        count: Annotated[int, Limits(at_least=1, at_most=MAX_WALL_POINTS)] | None = None,
    ) -> tuple[Boundary, ...]:
        """The points of `walls` by simple shape; in space the first points of each part fill it."""
        from pgt.geometry.walls import parts_of

        if name is not None and name not in self.wall_names:
            raise InputError(no_such_wall(name, self.wall_names))
        return parts_of(self, name, count)

    def measure(self) -> float:
        """The area or volume of the shape, as ∫ x·n / d over the boundary (Gauss)."""
        points, normals, weights = self.walls()
        middle = points.mean(axis=0)
        return float(np.sum(weights * np.sum((points - middle) * normals, axis=1)) / self.dimension)

    # ------------------------------------------------------------------------ put together

    def __sub__(self, other: Shape) -> "Difference":
        from pgt.geometry.set_operations import Difference

        return Difference(self, other)

    def __and__(self, other: Shape) -> "Intersection":
        from pgt.geometry.set_operations import Intersection

        return Intersection(self, other)

    def __or__(self, other: Shape) -> "Union":
        from pgt.geometry.set_operations import Union

        return Union(self, other)

    def __neg__(self) -> "Complement":
        from pgt.geometry.set_operations import Complement

        return Complement(self)

    def moved(self, *by: Plain) -> "Placed":
        """The shape moved by these lengths along the axes."""
        from pgt.geometry.placement import Placed

        return Placed(self, shift=by)

    def rotated(self, degrees: Plain, axis: Several | None = None) -> "Placed":
        """The shape rotated about the origin, or in space about an axis through it."""
        from pgt.geometry.placement import Placed

        return Placed(self, degrees=degrees, axis=axis)

    def scaled(self, factor: Length) -> "Placed":
        """The shape scaled by a factor about the origin."""
        from pgt.geometry.placement import Placed

        return Placed(self, factor=factor)


class AbstractLeaf(AbstractShape):
    """A simple shape, which has one wall and gives points of it.

    The fields of its dataclass are checked by their annotations.
    """

    name: str | None

    def __post_init__(self):
        kind = type(self).__name__
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            for check in metadata_of(hint, Check):
                value = check.function(f"{kind}({name})", getattr(self, name))
                object.__setattr__(self, name, value)
        wall_name(kind, self.name)

    @property
    def is_sought(self) -> bool:
        """Whether the boundary is found by a numerical search, which may miss parts of it."""
        return False

    @property
    def wall(self) -> str:
        """The name of its wall, which is its own name or else that of its class."""
        return self.name or type(self).__name__.lower()

    @abc.abstractmethod
    def boundary(self, count: int) -> Boundary:
        """About `count` points of its boundary.

        In the plane they are in order along it; in space the first of them fill it as evenly as all.
        """

    def leaves(self) -> tuple["AbstractLeaf", ...]:
        """Itself."""
        return (self,)

    def corners(self) -> Places:
        """The corners of its boundary, in the plane."""
        return np.zeros((0, self.dimension))


class AbstractPlane(AbstractLeaf):
    """A simple shape of the plane."""

    @property
    def dimension(self) -> int:
        return 2


class AbstractSolid(AbstractLeaf):
    """A simple shape of space."""

    @property
    def dimension(self) -> int:
        return 3


def along_edges(start, end, count: int) -> Boundary:
    """Points along edges that run counter-clockwise around the inside, in proportion to their lengths."""
    along = end - start
    length = np.linalg.norm(along, axis=1)
    each = np.maximum(np.round(count * length / length.sum()).astype(int), 1)
    edge = np.repeat(np.arange(len(start)), each)
    rank = np.arange(len(edge)) - np.repeat(np.cumsum(each) - each, each)
    share = (rank + 0.5) / each[edge]
    unit = along / length[:, None]
    normals = np.column_stack([unit[:, 1], -unit[:, 0]])
    points = start[edge] + share[:, None] * along[edge]
    return Boundary(points, normals[edge], (length / each)[edge])


def no_such_wall(name: str, known: Sequence[str]) -> str:
    """The message for a wall name that the shape does not have."""
    return f"there is no wall {name!r}; the shape's walls are {', '.join(map(repr, known))}."


# ------------------------------------------------------------------------- checked arguments


def number(where: str, value, *, above: float = -math.inf) -> float:
    """The value as a finite number above `above`; raises otherwise."""
    try:
        finite = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}={value!r}: write a number.") from None
    if not math.isfinite(finite) or finite <= above:
        limit = f" above {above:g}" if above > -math.inf else ""
        raise InputError(f"{where}={finite:g}: write a finite number{limit}.")
    return finite


def numbers(where: str, values, count: int, *, above: float = -math.inf) -> tuple[float, ...]:
    """The values as `count` finite numbers; raises otherwise."""
    try:
        given = tuple(values)
    except TypeError:
        given = ()
    if len(given) != count:
        example = ", ".join("0" for _ in range(count))
        raise InputError(f"{where}={values!r}: write {count} numbers, ({example}).")
    return tuple(number(where, value, above=above) for value in given)


def interval(where: str, values) -> tuple[float, float]:
    """The values as two numbers, the lower first; raises otherwise."""
    low, high = numbers(where, values, 2)
    if low >= high:
        raise InputError(f"{where}=({low:g}, {high:g}): the first number must be below the second.")
    return low, high


def wall_name(where: str, name: str | None) -> str | None:
    """The name of a wall, or None; raises where it is not a word."""
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise InputError(f"{where}(name={name!r}): write a word, such as name='cylinder'.")
    return name


def set_fields(shape: AbstractShape, /, **values) -> None:
    """Set the fields of a shape, which is a frozen dataclass."""
    assert dataclasses.is_dataclass(shape)
    for name, value in values.items():
        object.__setattr__(shape, name, value)
