"""The systems of the study, drawn once and kept on the device, and how random sensors look at them.

All three families share the shapes of their arrays, and what differs between them (a ring or a line, how
influence travels) is data: one compiled program of each network serves all families and all kinds of Γ.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

import pgt
from pgt.families.family import centered
from pgt.families.sensing import NodeGrid
from pgt.kernels import AdvectionDiffusionKernel, HeatKernel, WaveKernel
from pgt.kernels.kernel import AbstractKernel, NoKernel
from pgt.models.field_model import UnitReadings

LEAST, MOST, NOISE = 12, 256, 0.1  # readings and the largest noise in training
HALF = 0.5  # of the extent of both axes: a unit coordinate in physical units
NUMBERS = 2  # told of a system, at most
TRAIN_KEY, TEST_KEY = 1, 2
FAMILIES = ("heat", "advection_diffusion", "wave")


class Physics(NamedTuple):
    """What kernels need to know of a system."""

    diffusivity: Float[Array, "*s"]
    velocity: Float[Array, "*s"]
    speed: Float[Array, "*s"]


class Systems(NamedTuple):
    """Fields at all nodes, what networks are told, what kernels need."""

    values: Float[Array, "*s n"]
    numbers: Float[Array, "*s k"]
    physics: Physics


class World(NamedTuple):
    """What the systems of a family share: their nodes in unit coordinates, whether x is a ring."""

    points: Float[Array, "n 2"]
    ring: Bool[Array, ""]


class Seen(NamedTuple):
    """A system as a network meets it: readings, what the field is elsewhere, and its spread."""

    readings: UnitReadings
    points: Float[Array, "q 2"]
    truth: Float[Array, "q 1"]  # standardised as the readings are
    size: Float[Array, "1"]


class Guide(NamedTuple):
    """Which Γ, whether its strength is learnt, and where it acts; traced: nothing is compiled anew."""

    kernel: Int[Array, ""]
    learnt: Bool[Array, ""]
    encoder: Bool[Array, ""]
    query: Bool[Array, ""]


# --------------------------------------------------------------------------------- families


def world(name: str) -> World:
    family = pgt.families.get(name)
    return World(
        jnp.asarray(NodeGrid.of(family).points), jnp.asarray("x" in family.domain.periodic)
    )


def training_systems(name: str, count: int) -> Systems:
    family = pgt.families.get(name)
    keys = jax.random.split(jax.random.key(TRAIN_KEY), count)
    return _systems(family, jax.jit(jax.vmap(family.draw))(keys))


def systems_of_test(name: str, count: int, outside: bool) -> Systems:
    return _systems(pgt.families.get(name), drawn_for_test(name, count, outside))


def drawn_for_test(name: str, count: int, outside: bool) -> pgt.families.SampledSystem:
    """Systems that no training saw; outside: the first coefficient half its least or twice its
    greatest."""
    family = pgt.families.get(name)
    keys = jax.random.split(jax.random.key(TEST_KEY), count)
    if not outside:
        return jax.jit(jax.vmap(family.draw))(keys)
    first, (low, high) = next(iter(family.ranges.items()))
    ends = jnp.where(jnp.arange(count) % 2 == 0, low / 2, 2 * high)
    return jax.jit(jax.vmap(lambda key, value: family.draw(key, {first: value})))(keys, ends)


def _systems(family, drawn) -> Systems:
    known, count = drawn.coefficients, len(drawn.values)
    told = [centered(known[name], *bounds) for name, bounds in family.ranges.items()]
    told += [jnp.zeros(count)] * (NUMBERS - len(told))
    return Systems(drawn.values.reshape(count, -1), jnp.stack(told, axis=-1), _physics(known))


def _physics(known: dict[str, Array]) -> Physics:
    """A wave's influence spreads, where only spreading is known, as far as its cone in the whole time."""
    some = next(iter(known.values()))
    speed = known.get("speed", jnp.ones_like(some))
    diffusivity = known.get("diffusivity", speed**2 / 2)
    return Physics(diffusivity, known.get("velocity", jnp.zeros_like(some)), speed)


# ------------------------------------------------------------------------------------ Γ

KERNELS = ("none", "spreading", "flow", "flow symmetric", "cone", "cone symmetric")


def _kernels(physics: Physics) -> list[AbstractKernel]:
    spread, flow = physics.diffusivity, (physics.velocity,)
    return [
        NoKernel(),
        HeatKernel(spread),
        AdvectionDiffusionKernel(flow, spread),
        AdvectionDiffusionKernel(flow, spread, causal=False),
        WaveKernel(physics.speed),
        WaveKernel(physics.speed, causal=False),
    ]


class Influence(eqx.Module):
    """Γ between points in unit coordinates, as `pgt.models.field_model.Gamma` computes it."""

    guide: Guide
    physics: Physics
    ring: Bool[Array, ""]
    resolution: Float[Array, ""]

    def __call__(self, receivers: Float[Array, "r 2"], sources: Float[Array, "s 2"]):
        resolution = jnp.full(2, self.resolution)
        period = jnp.array([jnp.where(self.ring, 2 * HALF, jnp.inf), jnp.inf])

        def of(kernel: AbstractKernel):
            bias = kernel.bias(HALF * receivers, HALF * sources, resolution, period)
            own = kernel.log_influence(jnp.zeros(2), jnp.zeros(2), jnp.full(2, 2 * HALF))
            return bias - own[:, None, None]

        choices = [lambda k=k: of(k) for k in _kernels(self.physics)]
        return jax.lax.switch(self.guide.kernel, choices)


# --------------------------------------------------------------------------------- a look


def look(
    key: Array,
    system: Systems,
    of: World,
    guide: Guide,
    queries: int,
    most: int = MOST,
    exactly: tuple[Int[Array, ""], Float[Array, ""]] | None = None,
) -> Seen:
    """One system, read at random nodes; `exactly`: so many readings with that noise."""
    places, number, level, noise, asked = jax.random.split(key, 5)
    count, sigma = exactly or (_count(number, most), _level(level))
    chosen = jax.random.randint(places, (most,), 0, len(of.points))
    spread = jnp.std(system.values)
    read = system.values[chosen] + sigma * spread * jax.random.normal(noise, (most,))
    mask = jnp.arange(most) < count
    mean = jnp.sum(jnp.where(mask, read, 0.0)) / count
    scale = jnp.sqrt(jnp.sum(jnp.where(mask, (read - mean) ** 2, 0.0)) / count)
    values = jnp.where(mask, (read - mean) / scale, 0.0)[:, None]
    gamma = Influence(guide, system.physics, of.ring, 2 * HALF / jnp.sqrt(count))
    readings = UnitReadings(of.points[chosen], values, mask[:, None], gamma, system.numbers)
    where = jax.random.randint(asked, (queries,), 0, len(of.points))
    truth = ((system.values[where] - mean) / scale)[:, None]
    return Seen(readings, of.points[where], truth, (spread / scale)[None])


def _count(key: Array, most: int) -> Int[Array, ""]:
    low, high = np.log(LEAST), np.log(most + 1)
    return jnp.exp(jax.random.uniform(key, (), minval=low, maxval=high)).astype(int)


def _level(key: Array) -> Float[Array, ""]:
    """None in half of all looks."""
    return jnp.maximum(jax.random.uniform(key, (), minval=-NOISE, maxval=NOISE), 0.0)
