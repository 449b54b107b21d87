"""Local basis functions that move with the parts of a moving shape.

A hole or a corner keeps its singular functions while it moves. They belong to its position at one
instant, and are evaluated at the place that the point has in the frame of the moving part.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.trees import WITH_JAX
from pgt.data.domain import Domain
from pgt.data.moving_domain import Passage
from pgt.data.shaped_domain import Body
from pgt.geometry.moving import Moving, MovingLeaf
from pgt.geometry.placement import Placed, PlacedLeaf, turning
from pgt.geometry.plane import Disk
from pgt.geometry.shape import AbstractLeaf, AbstractShape
from pgt.geometry.solid import Ball
from pgt.geometry.wall_features import holes_of
from pgt.nn.trees import Frozen

# Instants, in shares of the time span. The one with the most visible holes is the reference instant.
INSTANTS = 0.5, 0.0, 1.0, 0.25, 0.75


class Carry(Frozen):
    """Maps a place at some time to its place at the reference instant; the last motion comes first."""

    motions: tuple[Placed | Moving, ...] = eqx.field(static=True)
    turn: Float[Array | np.ndarray, "k k"]
    shift: Float[Array | np.ndarray, " k"]
    clock: Float[Array | np.ndarray, " 2"]  # the middle and half the length of the time span

    def __call__(self, place: Float[Array, "*n k"], unit: Float[Array, "*n"]):
        middle, half = jnp.asarray(self.clock)
        for how in self.motions:
            place = _back(how, place, middle + half * unit)
        return place @ jnp.asarray(self.turn).T + jnp.asarray(self.shift)


def _back(how: Placed | Moving, place, time):
    """A place in the frame of the shape before its motion."""
    if isinstance(how, Placed):
        return (place - np.array(how.shift)) @ how.matrix / how.factor
    shift, angle, factor = how.pose(time, WITH_JAX)
    cross, away = turning(how.dimension, how.axis), place - shift
    once = away @ cross.T
    turned = away - jnp.sin(angle)[..., None] * once
    turned = turned + (1 - jnp.cos(angle))[..., None] * (once @ cross.T)
    return turned / factor[..., None]


class Group(NamedTuple):
    """Simple shapes with one common motion: the whole shape at the reference instant, its parts that
    belong to the group (None: all), and their motion (None: at rest)."""

    solid: AbstractShape
    leaves: tuple[AbstractLeaf, ...] | None = None
    carry: Carry | None = None


def groups(domain: Domain) -> list[Group]:
    """The parts of a domain's shape grouped by their motion; one group where nothing moves.

    >>> from pgt.geometry import Disk
    >>> hole = Disk((0.5, 0), 0.1)
    >>> ring = Disk() - hole.moving(y="0.2*t") - hole.moved(-1, 0)
    >>> found = groups(Domain(x=(-1, 1), y=(-1, 1), t=(0, 1), shape=ring))
    >>> [group.carry is None for group in found]
    [True, False]
    """
    assert domain.shape is not None
    if not domain.moves:
        return [Group(Body(domain.box, domain.shape).solid)]
    passage = Passage(domain.box, domain.shape)
    low, high = domain.bounds("t")
    instants = {t: passage.at(t).solid for t in (low + (high - low) * s for s in INSTANTS)}
    best = max(instants, key=lambda t: len(holes_of(instants[t], 1).radii))
    found: dict[tuple[Placed | Moving, ...], list[AbstractLeaf]] = {}
    for moving, still in zip(passage.solid.leaves(), instants[best].leaves(), strict=True):
        found.setdefault(_motions(moving), []).append(still)
    clock = np.array([low + high, high - low]) / 2
    return [
        Group(
            instants[best], tuple(leaves),
            Carry(motions, *_forth(motions, best), clock) if motions else None,
        )
        for motions, leaves in found.items()
    ]  # fmt: skip


def _motions(leaf: AbstractLeaf) -> tuple[Placed | Moving, ...]:
    """The motions of a simple shape, the last one first; empty for a shape at rest."""
    found = []
    while leaf.moves and isinstance(leaf, PlacedLeaf | MovingLeaf):
        found.append(
            leaf.how.of(Disk() if leaf.dimension == 2 else Ball())
        )  # the motion without its shape
        leaf = leaf.leaf
    return tuple(found)


def _forth(motions: tuple[Placed | Moving, ...], t: float):
    """The matrix and the shift that map a place at rest to its place at time t."""
    k = motions[0].dimension
    places = np.concatenate([np.eye(k), np.zeros((1, k))])
    for how in reversed(motions):
        placed = how.at(t)
        assert isinstance(placed, Placed)
        places = placed.forth(places)
    return (places[:k] - places[k]).T, places[k]
