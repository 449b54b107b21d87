"""What sensors see of a system, drawn anew whenever it is looked at: how many, where, how noisy."""

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pgt.families.family import AbstractFamily
from pgt.families.system import System
from pgt.ground.arguments import Count, Share
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.kernels.base import AbstractKernel
from pgt.kernels.combine import NoKernel
from pgt.models.frame import Gamma
from pgt.models.network import UnitReadings
from pgt.nn.scaling import Scaling

STATIONS = (3, 24)  # sensors that stand still and read again and again


@checked
@dataclass(frozen=True)
class Sensing:
    """How systems are looked at.

    Parameters
    ----------
    least, most
        Readings, drawn log-uniformly between these.
    noise
        The largest σ of the readings, relative to the spread of their field: half of the systems have
        none, the others any up to this.
    stations
        The share of systems that are read at a few places again and again, where there is a time.
    hidden
        The share of systems in which a field, chosen at random, is not read at all, where there are
        several.
    every
        The share of systems that are read at places which stand still, all of them at every instant.
    reads
        The fields that are read at all, such as ("u", "v") where nobody measures a pressure; all of
        them where none is named.

    >>> Sensing(most=64).least
    12
    """

    least: Count = 12
    most: Count = 256
    noise: Share = 0.1
    stations: Share = 0.3
    hidden: Share = 0.3
    every: Share = 0.0
    reads: tuple[str, ...] = ()


class Seen(NamedTuple):
    """A system as a network meets it: readings, and what the field is at points nobody read."""

    readings: UnitReadings
    points: Float[Array, "q d"]
    truth: Float[Array, "q c"]  # standardised as the readings are
    size: Float[Array, " c"]  # spread of the true fields, standardised alike
    coefficients: dict[str, Array]
    scaling: Scaling


class Nodes(eqx.Module):
    """The nodes of a family's grid in unit coordinates, and how many there are of each instant."""

    points: Float[Array | np.ndarray, "n d"]
    instants: int = eqx.field(static=True)  # 1 where there is no time

    @staticmethod
    def of(family: AbstractFamily) -> "Nodes":
        axes, domain = family.axes, family.domain
        mesh = np.meshgrid(*axes.values(), indexing="ij")
        points = np.stack([m.ravel() for m in mesh], axis=-1)
        middle, half = (domain.lower + domain.upper) / 2, domain.extent / 2
        unit = ((points - middle) / half).astype(np.float32)
        last = list(axes)[-1]
        return Nodes(unit, len(axes["t"]) if last == "t" else 1)


def look(
    key: Array,
    system: System,
    family: AbstractFamily,
    nodes: Nodes,
    sensing: Sensing,
    queries: int,
    kernel: "Guide",
    exactly: tuple[Int[Array, ""], Float[Array, ""]] | None = None,
) -> Seen:
    """One system, sensed at random; `exactly`: so many readings with that noise."""
    keys = jax.random.split(key, 6)
    values = system.values.reshape(-1, system.values.shape[-1])  # n c
    chosen = _places(keys[0], nodes, sensing)
    count, level = exactly or (_count(keys[1], sensing), _noise(keys[3], sensing))
    mask = _mask(keys[2], count, values.shape[-1], sensing) & _may_be_read(family, sensing)
    noise = level * jnp.std(values, axis=0)
    read = values[chosen] + noise * jax.random.normal(keys[4], (len(chosen), values.shape[-1]))
    asked = jax.random.randint(keys[5], (queries,), 0, len(values))
    scaling = scaling_of(family, read, mask)
    readings = unit_readings(
        family, system.coefficients, scaling, jnp.asarray(nodes.points)[chosen], read, mask, kernel
    )
    truth = jnp.asarray(scaling.standardise(values[asked]))
    size = jnp.std(values, axis=0) / jnp.asarray(scaling.spread)
    points = jnp.asarray(nodes.points)[asked]
    return Seen(readings, points, truth, size, dict(system.coefficients), scaling)


def unit_readings(
    family: AbstractFamily,
    coefficients: dict[str, Array],
    scaling: Scaling,
    points: Float[Array, "n d"],
    read: Float[Array, "n c"],
    mask: Bool[Array, "n c"],
    kernel: "Guide",
) -> UnitReadings:
    """Readings at unit points in the frame of their system."""
    values = jnp.where(mask, scaling.standardise(read), 0.0)
    gamma = Gamma(kernel(family, coefficients), scaling)
    return UnitReadings(points, values, mask, gamma, family.numbers(coefficients, scaling))


def scaling_of(
    family: AbstractFamily, read: Float[Array, "n c"], mask: Bool[Array, "n c"]
) -> Scaling:
    """What `Scaling.fit` does, of arrays that JAX traces. A field that nobody reads has the family's
    usual spread, as it is near that of the others."""
    domain = family.domain
    counts = jnp.maximum(jnp.sum(mask, axis=0), 1)
    mean = jnp.sum(jnp.where(mask, read, 0.0), axis=0) / counts
    spread = jnp.sqrt(jnp.sum(jnp.where(mask, (read - mean) ** 2, 0.0), axis=0) / counts)
    seen = jnp.any(mask, axis=0)
    usual = jnp.sqrt(jnp.sum(jnp.where(seen, spread**2, 0.0)) / jnp.maximum(jnp.sum(seen), 1))
    spread = jnp.where(seen, spread, usual)
    number = jnp.maximum(jnp.sum(jnp.any(mask, axis=-1)), 2)
    extent = jnp.asarray(domain.extent, jnp.float32)
    return Scaling(
        middle=jnp.asarray((domain.lower + domain.upper) / 2, jnp.float32),
        half_extent=extent / 2,
        mean=jnp.where(seen, mean, 0.0),
        spread=jnp.where(spread > 0, spread, 1.0),
        resolution=extent / number ** (1 / domain.dimension),
        periodic=tuple(axis in domain.periodic for axis in domain.axes),
    )


class Guide(eqx.Module):
    """Which Γ a family's encoder is guided by: "none", or "equation", the kernel of the equation."""

    name: str = eqx.field(static=True, default="none")

    def __call__(self, family: AbstractFamily, coefficients: dict[str, Array]) -> AbstractKernel:
        return NoKernel() if self.name == "none" else family.pde(coefficients).kernel()


# ------------------------------------------------------------------------------- draws


def _count(key: Array, sensing: Sensing) -> Int[Array, ""]:
    low, high = np.log(sensing.least), np.log(sensing.most + 1)
    return jnp.exp(jax.random.uniform(key, (), minval=low, maxval=high)).astype(int)


def _noise(key: Array, sensing: Sensing) -> Float[Array, ""]:
    level = jax.random.uniform(key, (), minval=-sensing.noise, maxval=sensing.noise)
    return jnp.maximum(level, 0.0)


def _mask(key: Array, count: Int[Array, ""], fields: int, sensing: Sensing) -> Bool[Array, "n c"]:
    """The first `count` are read; now and then a field is not."""
    read = jnp.arange(sensing.most)[:, None] < count
    if fields == 1:
        return read
    first, second = jax.random.split(key)
    hides = jax.random.uniform(first) < sensing.hidden
    which = jax.random.randint(second, (), 0, fields)
    return read & ~(hides & (jnp.arange(fields) == which))


def _may_be_read(family: AbstractFamily, sensing: Sensing) -> Bool[np.ndarray, " c"]:
    for name in sensing.reads:
        if name not in family.fields:
            known = ", ".join(family.fields)
            raise InputError(
                f"Sensing(reads=...): {family.name} has no field {name!r}, but {known}."
            )
    return np.array([not sensing.reads or name in sensing.reads for name in family.fields])


def _places(key: Array, nodes: Nodes, sensing: Sensing) -> Int[Array, " n"]:
    """Nodes anywhere, or those of a few stations at any time, or of many at every time."""
    total, most = len(nodes.points), sensing.most
    anywhere, which, where, when, number = jax.random.split(key, 5)
    scattered = jax.random.randint(anywhere, (most,), 0, total)
    if nodes.instants == 1:
        return scattered
    low, high = np.log(STATIONS[0]), np.log(STATIONS[1] + 1)
    count = jnp.exp(jax.random.uniform(number, (), minval=low, maxval=high)).astype(int)
    stations = jax.random.randint(where, (STATIONS[1],), 0, total // nodes.instants)
    at, instant = jax.random.split(when)
    station = stations[jax.random.randint(at, (most,), 0, count)]
    still = station * nodes.instants + jax.random.randint(instant, (most,), 0, nodes.instants)
    chance = jax.random.uniform(which)
    found = jnp.where(chance < sensing.stations, still, scattered)
    many = jax.random.fold_in(where, 1)
    return jnp.where(chance >= 1 - sensing.every, _at_every_instant(many, nodes, most), found)


def _at_every_instant(key: Array, nodes: Nodes, most: int) -> Int[Array, " n"]:
    """One place after the other, each at all instants."""
    row, total = np.arange(most), len(nodes.points)
    stations = jax.random.randint(key, (most,), 0, total // nodes.instants)
    return stations[row // nodes.instants] * nodes.instants + row % nodes.instants
