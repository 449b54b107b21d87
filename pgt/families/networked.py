"""What a trained network computes: readings in, its field out, for one system or for many."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.families.card import misfit
from pgt.families.readout import precision, written
from pgt.families.sensing import scaling_of, unit_readings
from pgt.models.writer import Writer
from pgt.models.written import Written
from pgt.nn.scaling import Scaling


class ByNetwork(eqx.Module):
    """A field as the network wrote it."""

    writer: Writer
    written: Written
    scaling: Scaling
    domain: Domain
    fields: tuple[str, ...] = eqx.field(static=True)
    noise: str = eqx.field(static=True)

    def at(self, points: Float[np.ndarray, "m d"]):
        """Fields and standard deviations at points, in physical units, counted from zero."""
        points = self.scaling.origin.local(points, self.domain.axes)
        with precision(self.noise):
            asked = ask(self.writer, self.written, self.scaling, points)
        mean, spread = (np.asarray(part, float) for part in asked)
        shift = self.scaling.origin.along(self.fields)
        return np.asarray(self.scaling.to_physical(mean)) + shift, spread * self.scaling.spread


def with_hidden(scaling: Scaling, readings: Observations) -> Scaling:
    """A field that nobody read has the spread of the others, as in training."""
    seen = np.any(np.asarray(readings.mask), axis=0)
    usual = np.sqrt(np.mean(np.asarray(scaling.spread)[seen] ** 2)) if seen.any() else 1.0
    spread = np.where(seen, scaling.spread, usual).astype(np.float32)
    return eqx.tree_at(lambda s: s.spread, scaling, spread)


def padded(*arrays) -> tuple[np.ndarray, ...]:
    """Rows of nothing up to a power of two, so that one reading more compiles nothing."""
    count = len(arrays[0])
    more = 2 ** max(int(np.ceil(np.log2(max(count, 1)))), 4) - count
    return tuple(np.pad(np.asarray(a), ((0, more), (0, 0))) for a in arrays)


@eqx.filter_jit
def encode(writer, family, guide, coefficients, told, scaling, points, values, mask):
    """The readings in the frame of their system, and what the encoder makes of them."""
    unit = jnp.asarray(scaling.to_unit(points), jnp.float32)
    values = jnp.where(mask, values, 0.0).astype(jnp.float32)
    readings = unit_readings(family, coefficients, scaling, unit, values, mask, guide)
    readings = eqx.tree_at(lambda r: r.numbers, readings, told)
    return readings, writer.told(readings)


@eqx.filter_jit
def write(writer, learnt, readings, noise: str):
    """The system's field, and its misfit at the readings."""
    found = written(writer, learnt, readings, noise)
    return found, misfit(writer, found, readings)


@eqx.filter_jit
def ask(writer: Writer, field: Written, scaling: Scaling, points):
    unit = jnp.asarray(scaling.to_unit(points), field.factor.dtype)
    mean = jax.vmap(partial(writer.decode, field))(unit)
    return mean, jax.vmap(partial(writer.spread, field))(unit)


@eqx.filter_jit
def encode_many(writer, family, guide, coefficients, points, values, mask):
    def one(coefficients, points, values, mask):
        scaling = scaling_of(family, values, mask)
        unit = jnp.asarray(scaling.to_unit(points))
        readings = unit_readings(family, coefficients, scaling, unit, values, mask, guide)
        return readings, writer.told(readings), scaling

    return jax.vmap(one)(coefficients, points, values, mask)


@eqx.filter_jit
def write_many(writer, learnt, readings, scaling, at, noise: str):
    def one(learnt, readings, scaling):
        found, asked = written(writer, learnt, readings, noise), jnp.asarray(scaling.to_unit(at))
        mean = jax.vmap(partial(writer.decode, found))(asked)
        spread = jax.vmap(partial(writer.spread, found))(asked)
        off = misfit(writer, found, readings)
        return scaling.to_physical(mean), spread * scaling.spread, off

    return jax.vmap(one)(learnt, readings, scaling)
