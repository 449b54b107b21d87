r"""Shapes that move by formulas in t.

At the time t the place X of the shape at rest is at

$$ x = f(t) R(t) X + s(t), $$

scaled, turned about the origin and moved, as in `Placed`; there the wall has the velocity

$$ \dot x = \frac{\dot f}{f} (x - s) + \dot\varphi K (x - s) + \dot s, $$

with K of the axis of the turn by φ. What moves is asked at points (n, k + 1) whose last column is the
time: so each point can have a time of its own, and shapes put together of others ask their parts as ever.
"""

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.parser import parse
from pgt.core.registry import register
from pgt.core.trees import CONSTANTS, WITH_JAX, WITH_NUMPY, evaluate, names_in, unknown_name
from pgt.geometry.placement import Placed, direction, turning
from pgt.geometry.set_operations import several
from pgt.geometry.shape import (
    AbstractCarriedLeaf,
    AbstractLeaf,
    AbstractShape,
    Boundary,
    Bounds,
    Motion,
    Several,
    Shape,
    number,
    set_fields,
)

INSTANTS = 257  # at which a motion is looked at before it is used

Times = Float[np.ndarray, " n"]


class Pose(NamedTuple):
    """By how much a shape is moved, turned (in radians) and scaled, each at many times; or how fast."""

    shift: Any  # n k
    angle: Any  # n
    factor: Any  # n


@register("moving")
@dataclasses.dataclass(frozen=True, init=False)
class Moving(AbstractShape):
    """A shape that is scaled, then turned, then moved by formulas in t; also written .moving.

    Parameters
    ----------
    shape
        The shape at rest, any but one that needs a time itself.
    x, y, z
        By how much it is moved along every axis, as formulas in t.
    degrees, axis
        By how much it is turned about the origin; in space, about which axis.
    factor
        By how much it grows, seen from the origin.

    >>> from pgt.geometry import Disk
    >>> disk = Moving(Disk(radius=0.5), x="0.3*sin(2*pi*t)")
    >>> disk.inside(np.array([[0.7, 0.0, 0.0], [0.7, 0.0, 0.25]])).tolist()  # x, y, t
    [False, True]
    >>> disk.at(0.25).bounds()[1].tolist()
    [0.8, 0.5]
    """

    shape: AbstractShape
    x: str | None
    y: str | None
    z: str | None
    degrees: str | None
    axis: tuple[float, ...] | None
    factor: str | None
    since: float  # the time from which others are counted

    def __init__(
        self,
        shape: Shape,
        x: Motion | None = None,
        y: Motion | None = None,
        z: Motion | None = None,
        degrees: Motion | None = None,
        axis: Several | None = None,
        factor: Motion | None = None,
    ):
        (shape,) = several("Moving", (shape,))
        k = shape.dimension
        if k == 2 and z is not None:
            raise InputError(f"moving(z={z!r}): a shape of the plane moves along x and y.")
        if k == 3 and degrees is not None and axis is None:
            raise InputError("moving(degrees, axis): in space, name the axis, such as (0, 0, 1).")
        given = {"x": x, "y": y, "z": z, "degrees": degrees, "factor": factor}
        texts = {name: _formula(name, value) for name, value in given.items()}
        if not any(texts.values()):
            raise InputError('moving(): say how it moves, such as x="0.3*sin(2*pi*t)".')
        turned = direction(axis) if k == 3 and axis is not None else None
        set_fields(self, shape=shape, axis=turned, since=0.0, **texts)

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    @property
    def moves(self) -> bool:
        return True

    def at(self, t: float) -> AbstractShape:
        t = number("at(t)", t)
        shift, angle, factor = self.pose(np.array([t]))
        if not factor[0] > 0:
            raise InputError(f"{self.brief()}: at t = {t + self.since:g} nothing is left of it.")
        degrees = float(np.degrees(angle[0]))
        return Placed(
            self.shape.at(t), tuple(shift[0].tolist()), degrees, self.axis, float(factor[0])
        )

    def counted_from(self, t: float) -> AbstractShape:
        return self._but(
            shape=self.shape.counted_from(t), since=self.since + number("counted_from(t)", t)
        )

    def within(self, lower, upper) -> "Moving":
        """With all places of a box at all of its times, as they are seen by the shape at rest."""
        times = np.linspace(lower[-1], upper[-1], INSTANTS)
        self._check_motion(times)
        ends = np.stack([np.asarray(lower, float), np.asarray(upper, float)])[:, :-1]
        corners = np.stack(np.meshgrid(*ends.T, indexing="ij"), axis=-1).reshape(-1, ends.shape[1])
        points = np.column_stack([np.repeat(corners, INSTANTS, 0), np.tile(times, len(corners))])
        back = self.back(points)
        return self.of(self.shape.within(back.min(axis=0), back.max(axis=0)))

    def distance(self, points):
        back, factor = self.back(points), self._asked(points).factor
        return factor * self.shape.distance(back)

    def inside(self, points, slack=0.0):
        if not len(points):
            return np.zeros(0, bool)
        return self.shape.inside(self.back(points), slack / self._asked(points).factor.mean())

    def bounds(self) -> Bounds:
        """It has an end at every instant, and none at all times that could come."""
        everywhere = np.full(self.dimension, np.inf)
        return -everywhere, everywhere

    def leaves(self) -> tuple[AbstractLeaf, ...]:
        return tuple(MovingLeaf(leaf, self) for leaf in self.shape.leaves())

    # ---------------------------------------------------------------------------------- motion

    def pose(self, times, operations: Mapping = WITH_NUMPY) -> Pose:
        """Where it is at these times; with JAX's operations as a function that has derivatives."""
        library = np if operations is WITH_NUMPY else jnp
        times = library.asarray(times)

        def value(tree, otherwise: float):
            if tree is None:
                return library.full_like(times, otherwise)
            names = {**CONSTANTS, "t": times + self.since if self.since else times}
            with np.errstate(all="ignore"):
                found = evaluate(tree, names.get, operations)
            return library.broadcast_to(library.asarray(found, times.dtype), times.shape)

        trees = self._trees
        shift = [value(trees[axis], 0.0) for axis in "xyz"[: self.dimension]]
        angle = value(trees["degrees"], 0.0) * (np.pi / 180)
        return Pose(library.stack(shift, axis=-1), angle, value(trees["factor"], 1.0))

    def rates(self, times: Times) -> Pose:
        """How fast it moves, turns and grows."""
        with jax.enable_x64(True):
            at = jnp.asarray(times, float)
            _, found = jax.jvp(lambda t: self.pose(t, WITH_JAX), (at,), (jnp.ones_like(at),))
            return Pose(*(np.asarray(part, float) for part in found))

    @cached_property
    def _trees(self) -> dict[str, Any]:
        texts = {name: getattr(self, name) for name in ("x", "y", "z", "degrees", "factor")}
        return {name: text and parse(text) for name, text in texts.items()}

    def _asked(self, points) -> Pose:
        return self.pose(np.asarray(points, float)[:, self.dimension])

    def turned(self, angle: Times) -> Float[np.ndarray, "n k k"]:
        """The matrices of turns."""
        cross, angle = turning(self.dimension, self.axis), angle[:, None, None]
        return np.eye(len(cross)) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)

    def back(self, points):
        """Points, each at its time, as they are seen by the shape at rest."""
        points, k = np.asarray(points, float), self.dimension
        shift, angle, factor = self._asked(points)
        away = points[:, :k] - shift
        if self.degrees is not None:
            away = np.einsum("ni,nij->nj", away, self.turned(angle))
        back = away / factor[:, None]
        return np.column_stack([back, points[:, k:]]) if self.shape.moves else back

    def of(self, shape: AbstractShape) -> "Moving":
        """Another shape that moves alike."""
        return self._but(shape=shape)

    def _but(self, **changed) -> "Moving":
        other = object.__new__(Moving)
        names = [field.name for field in dataclasses.fields(self)]
        set_fields(other, **({name: getattr(self, name) for name in names} | changed))
        return other

    def _check_motion(self, times: Times) -> None:
        """Raise unless the formulas say where it is at all of these times."""
        shift, angle, factor = self.pose(times)
        columns = dict(zip("xyz", shift.T, strict=False)) | {"degrees": angle, "factor": factor}
        for name, values in columns.items():
            bad = ~np.isfinite(values) | ((name == "factor") & ~(values > 0))
            if bad.any():
                t, found = times[bad][0] + self.since, values[bad][0]
                raise InputError(
                    f"moving({name}={getattr(self, name)!r}): at t = {t:g} it is {found:g}; write a "
                    f"formula that is {'above 0' if name == 'factor' else 'a number'} at all times of "
                    "the domain."
                )


@dataclasses.dataclass(frozen=True)
class MovingLeaf(AbstractCarriedLeaf):
    """A simple shape that moves; `how` says where to."""

    leaf: AbstractLeaf
    how: Moving

    @property
    def moves(self) -> bool:
        return True

    @cached_property
    def whole(self) -> Moving:
        return self.how.of(self.leaf)

    def at(self, t: float) -> AbstractShape:
        return self.whole.at(t)

    def boundary(self, count: int) -> Boundary:
        raise InputError(f"{self.wall!r} moves: it has a boundary at an instant; ask shape.at(t).")

    def carried(self, own: Boundary, times: Times) -> Boundary:
        points, normals, weights = self.leaf.carried(own, times)
        shift, angle, factor = self.how.pose(times)
        turn = self.how.turned(angle)
        return Boundary(
            factor[:, None] * np.einsum("nij,nj->ni", turn, points) + shift,
            np.einsum("nij,nj->ni", turn, normals),
            weights * factor ** (self.dimension - 1),
        )

    def velocity(self, points):
        points, times = np.asarray(points, float), np.asarray(points, float)[:, self.dimension]
        shift, angle, factor = self.how.pose(times)
        rate, own = self.how.rates(times), self.leaf.velocity(self.whole.back(points))
        away = points[:, : self.dimension] - shift
        spin = rate.angle[:, None] * (away @ turning(self.dimension, self.how.axis).T)
        grown = (rate.factor / factor)[:, None] * away
        carried = factor[:, None] * np.einsum("nij,nj->ni", self.how.turned(angle), own)
        return rate.shift + spin + grown + carried


def _formula(name: str, value) -> str | None:
    """A formula in t as text, or None."""
    if value is None:
        return None
    if not isinstance(value, str):
        return repr(number(f"moving({name})", value))
    for found in names_in(parse(value)):
        if found.name not in (*CONSTANTS, "t"):
            raise unknown_name(value, found, ("t",), f"moving({name})")
    return value
