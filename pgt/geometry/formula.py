"""Shapes that are given by a formula that is negative inside.

The boundary is found as a level set on a grid, by contour lines in the plane and marching tetrahedra in
space, and improved by Newton steps.
"""

import dataclasses
import itertools
from collections.abc import Callable
from functools import cached_property

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.expression_trees import CONSTANTS, WITH_NUMPY, evaluate, names_in, unknown_name
from pgt.core.parser import parse
from pgt.core.registry import register
from pgt.geometry.shape import (
    AbstractLeaf,
    Boundary,
    Bounds,
    Pair,
    Word,
    along_edges,
    interval,
    set_fields,
    wall_name,
)
from pgt.geometry.surface import Surface
from pgt.geometry.walls import MIN_STRAIGHT_COSINE

# The number of cells along each axis of the grid on which the boundary is searched. Parts finer than a
# cell are missed; more cells take longer.
GRID_SIDES = {2: 512, 3: 72}
# The step of finite differences in units of the size.
SLOPE_STEP = 1e-6
# A corner between two pieces of a line is at most this many of their lengths away.
MAX_CORNER_DISTANCE = 3.0


@register("formula")
@dataclasses.dataclass(frozen=True, init=False)
class Formula(AbstractLeaf):
    """The points where a formula in x, y (and z) is negative.

    The best formula is the signed distance from the boundary; any other smooth one works, too.

    Parameters
    ----------
    text
        A formula as in a condition: + - * / ^, sqrt, sin, cos, exp, atan2(y, x), min, max, ...
    x, y, z
        The limits between which it is evaluated; by default those of the domain.
    name
        The name of its wall.

    >>> disk = Formula("sqrt(x**2 + y**2) - 1", x=(-2, 2), y=(-2, 2))
    >>> round(disk.measure() / np.pi, 3)
    1.0
    """

    text: str
    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    z: tuple[float, float] | None = None
    name: str | None = None

    def __init__(
        self,
        text: Word,
        x: Pair | None = None,
        y: Pair | None = None,
        z: Pair | None = None,
        name: Word | None = None,
    ):
        if not isinstance(text, str):
            raise InputError(f"Formula(text={text!r}): write it as text, 'x**2 + y**2 - 1'.")
        names = [found.name for found in names_in(parse(text)) if found.name not in CONSTANTS]
        for found in names_in(parse(text)):
            if found.name not in (*CONSTANTS, "x", "y", "z"):
                raise unknown_name(text, found, ("x", "y", "z"), "Formula")
        if not names:
            raise InputError(
                f"Formula({text!r}): it names neither x nor y; write 'x**2 + y**2 - 1'."
            )
        limits = {axis: None if pair is None else interval(f"Formula({axis})", pair)
                  for axis, pair in (("x", x), ("y", y), ("z", z))}  # fmt: skip
        set_fields(self, text=text, name=wall_name("Formula", name), **limits)

    @property
    def dimension(self) -> int:
        names = [found.name for found in names_in(parse(self.text))]
        return 3 if "z" in names or self.z is not None else 2

    @property
    def is_sought(self) -> bool:
        return True

    def within(self, lower, upper) -> "Formula":
        """The shape, evaluated between these corners along axes without limits of their own."""
        axes = ("x", "y", "z")[: self.dimension]
        pairs = {a: (float(p), float(q)) for a, p, q in zip(axes, lower, upper, strict=True)}
        given = {axis: getattr(self, axis) for axis in axes if getattr(self, axis) is not None}
        return Formula(self.text, name=self.name, **(pairs | given))

    def distance(self, points):
        points = np.asarray(points, float)
        slope = np.linalg.norm(self._slope(points), axis=1)
        return self._value(points) / np.maximum(slope, 1e-12)

    def _value(self, points):
        columns = dict(zip("xyz", points.T, strict=False))
        lookup = {**CONSTANTS, **columns}
        with np.errstate(all="ignore"):
            found = evaluate(parse(self.text), lookup.get, WITH_NUMPY)
        return np.where(np.isnan(found), np.inf, np.broadcast_to(found, len(points)))

    def _slope(self, points) -> Float[np.ndarray, "n k"]:
        step = SLOPE_STEP * self._size
        columns = []
        for axis in range(self.dimension):
            shift = np.zeros(self.dimension)
            shift[axis] = step
            with np.errstate(invalid="ignore"):
                rise = self._value(points + shift) - self._value(points - shift)
            columns.append(np.nan_to_num(rise / (2 * step), posinf=0.0, neginf=0.0))
        return np.stack(columns, axis=1)

    @cached_property
    def _size(self) -> float:
        lower, upper = self.bounds()
        return float(np.linalg.norm(upper - lower)) if np.isfinite(lower).all() else 1.0

    def inside(self, points, slack=0.0):
        points = self.as_places(points)
        return (self.distance(points) <= slack) if slack else self._value(points) <= 0

    def bounds(self) -> Bounds:
        pairs = [self.x, self.y, self.z][: self.dimension]
        lower, upper = np.array([pair or (-np.inf, np.inf) for pair in pairs]).T
        return lower, upper

    def boundary(self, count: int) -> Boundary:
        lower, upper = self.bounds()
        if not np.isfinite([lower, upper]).all():
            raise InputError(
                f"Formula({self.text!r}): between which numbers is it to be looked at? Give x=(-1, 1) "
                "and y=(-1, 1), or make it the shape of a domain."
            )
        found = self._lines(count) if self.dimension == 2 else self._surface.boundary(count)
        # A chord between corners leaves the boundary by more than the tolerance of walls.
        return self._outward(found._replace(points=self._onto(found.points)))

    def _lines(self, count: int) -> Boundary:
        lines = level_lines(self._value, *self.bounds(), GRID_SIDES[2])
        lines = [self._with_corners(self._onto(line)) for line in lines]
        if not lines:
            raise InputError(self._nowhere())
        start = np.concatenate([line[:-1] for line in lines])
        end = np.concatenate([line[1:] for line in lines])
        apart = np.linalg.norm(end - start, axis=1) > 0
        return along_edges(start[apart], end[apart], count)

    def _with_corners(self, line):
        """The line with the corners that it cuts off inserted."""
        rows, corners = self._cut_off(line)
        return np.insert(line, rows + 1, corners, axis=0)

    def corners(self):
        """The corners of its boundary, in the plane; none where the formula has no limits."""
        if self.dimension == 3 or not np.isfinite(self.bounds()).all():
            return super().corners()
        lines = level_lines(self._value, *self.bounds(), GRID_SIDES[2])
        found = np.concatenate(
            [np.zeros((0, 2)), *(self._cut_off(self._onto(line))[1] for line in lines)]
        )
        # A corner that is a place of the line is found from both sides, so duplicates are removed.
        _, first = np.unique(np.round(found / (SLOPE_STEP * self._size)), axis=0, return_index=True)
        return found[np.sort(first)]

    def _cut_off(self, line):
        """The places of a line after which its direction jumps, and the corners that it cuts off there.

        Corners come from min, max and abs. A corner is where the tangents of both sides meet, if that is
        close.
        """
        slope = self._slope(line)
        normals = slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-300)
        (ax, ay), (bx, by) = normals[:-1].T, normals[1:].T
        turn, straight = ax * by - ay * bx, ax * bx + ay * by
        step = np.diff(line, axis=0)
        with np.errstate(all="ignore"):
            along = np.sum(normals[1:] * step, axis=1) / turn
        corners = line[:-1] + along[:, None] * np.column_stack([-ay, ax])
        near = np.linalg.norm(corners - line[:-1], axis=1) < MAX_CORNER_DISTANCE * np.linalg.norm(
            step, axis=1
        )
        rows = np.flatnonzero((straight < MIN_STRAIGHT_COSINE) & near)
        return rows, corners[rows]

    def _outward(self, found: Boundary) -> Boundary:
        """The boundary with normals along the gradient of the formula; unchanged where it is zero."""
        slope = self._slope(found.points)
        steep = np.linalg.norm(slope, axis=1, keepdims=True)
        rises = steep > 1e-9 * steep.max(initial=0.0)
        return found._replace(
            normals=np.where(rises, slope / np.where(rises, steep, 1.0), found.normals)
        )

    @cached_property
    def _surface(self) -> Surface:
        corners, triangles = level_surface(self._value, *self.bounds(), GRID_SIDES[3])
        if not len(triangles):
            raise InputError(self._nowhere())
        surface = object.__new__(Surface)  # it may be cut open by the box, which others close
        set_fields(surface, corners=self._onto(corners), triangles=triangles, name=self.name)
        return surface

    def _onto(self, points):
        """The points moved to zeros of the formula by Newton steps."""
        cell = self._size / GRID_SIDES[self.dimension]
        for _ in range(3):
            slope = self._slope(points)
            steep = np.maximum(np.sum(slope**2, axis=1, keepdims=True), 1e-300)
            step = self._value(points)[:, None] * slope / steep
            points = points - np.clip(np.nan_to_num(step), -cell, cell)
        return points

    def _nowhere(self) -> str:
        lower, upper = self.bounds()
        return (
            f"Formula({self.text!r}): it changes its sign nowhere between {lower.tolist()} and "
            f"{upper.tolist()}; the shape is empty there, or all there is."
        )


def level_lines(value: Callable, lower, upper, side: int) -> list[np.ndarray]:
    """The lines (n, 2) along which the function is zero, from contours on a grid.

    >>> lines = level_lines(lambda p: p[:, 0] - 0.25, [0, 0], [1, 1], 8)
    >>> len(lines), bool(np.allclose(lines[0][:, 0], 0.25))
    (1, True)
    """
    from contourpy import contour_generator  # comes with matplotlib

    x, y = (np.linspace(a, b, side + 1) for a, b in zip(lower, upper, strict=True))
    grid = np.stack(np.meshgrid(x, y), axis=-1)
    heights = value(grid.reshape(-1, 2)).reshape(side + 1, side + 1)
    lines = (np.asarray(line) for line in contour_generator(x, y, heights).lines(0.0))
    return [line for line in lines if len(line) > 1]


def level_surface(value: Callable, lower, upper, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The corners and triangles of the zero surface of a function, with normals towards larger values.

    Every cell of a grid is divided into six tetrahedra, and the surface crosses each in one triangle or
    two (marching tetrahedra).
    """
    axes = [np.linspace(a, b, side + 1) for a, b in zip(lower, upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    heights = value(grid)
    heights = np.where(heights == 0, 1e-300, heights)
    tetrahedra = _tetrahedra(side)
    below = heights[tetrahedra] < 0
    crossed = below.any(axis=1) & ~below.all(axis=1)
    tetrahedra, below = tetrahedra[crossed], below[crossed]
    order = np.argsort(~below, axis=1, kind="stable")  # those below zero first
    sorted_, count = np.take_along_axis(tetrahedra, order, axis=1), below.sum(axis=1)
    edges = np.concatenate(
        [sorted_[count == n][:, picks].reshape(-1, 3, 2) for n, picks in _CASES.items()]
    )
    return _oriented(grid, heights, edges)


# The crossed edges of a tetrahedron of whose corners the first 1, 2 or 3 are below zero.
_CASES = {
    1: [0, 1, 0, 2, 0, 3],
    2: [0, 2, 0, 3, 1, 2, 1, 2, 0, 3, 1, 3],
    3: [0, 3, 1, 3, 2, 3],
}


def _tetrahedra(side: int):
    """The (6 cells, 4) corners of tetrahedra as numbers of grid points.

    Each follows a path across its cell along the axes, in one of the six orders.
    """
    strides = np.array([(side + 1) ** 2, side + 1, 1])
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    base = cells @ strides
    paths = [np.cumsum([0, *strides[list(order)]]) for order in itertools.permutations(range(3))]
    return np.concatenate([base[:, None] + path for path in paths])


def _oriented(grid, heights, edges):
    keys = edges.reshape(-1, 2)
    unique, which = np.unique(np.sort(keys, axis=1), axis=0, return_inverse=True)
    a, b = unique.T
    share = heights[a] / (heights[a] - heights[b])
    corners = grid[a] + share[:, None] * (grid[b] - grid[a])
    triangles = which.reshape(-1, 3)
    # The lower ends of the edges have negative values, and the upper ends have positive ones.
    low, high = grid[edges[:, :, 0]].mean(axis=1), grid[edges[:, :, 1]].mean(axis=1)
    p, q, r = np.moveaxis(corners[triangles], 1, 0)
    turned = np.sum(np.cross(q - p, r - p) * (high - low), axis=1) < 0
    triangles[turned] = triangles[turned][:, ::-1]
    return corners, triangles[_neighbours(corners[triangles])]


def _neighbours(faces):
    """An order that keeps close triangles of similar orientation together (Morton 1966).

    Evenly drawn points along this order are evenly spread over the surface.
    """
    a, b, c = np.moveaxis(faces, 1, 0)
    looks = (np.cross(b - a, c - a) > 0) @ np.array([1, 2, 4])
    lower, upper = faces.min(axis=(0, 1)), faces.max(axis=(0, 1))
    cells = ((a - lower) / np.maximum(upper - lower, 1e-300) * 1023).astype(np.int64)
    bits = (cells[:, :, None] >> np.arange(10)) & 1  # of every coordinate, in turn
    place = bits @ (1 << (3 * np.arange(10))) @ np.array([1, 2, 4])
    return np.lexsort([place, looks])
