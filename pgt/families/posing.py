"""Readings of one system or of many as a family's solver sees them, where all coefficients are known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.data.observations import Observations
from pgt.families.asking import Asking, asked, grid_for
from pgt.families.beyond import smooth_fields
from pgt.families.conditioning import Errors
from pgt.families.rigs import Rigs
from pgt.families.solved import AbstractSolved
from pgt.families.stencil import Stencil
from pgt.families.weighing import LEAST

TRUST = 4.0  # power by which levels above a σ that is given are less probable
# Nodes along space and time where readings lie between them (asking.py): to 1e-4 of the spread.
LEAST_NODES = {(1, True): (128, 129), (2, True): (64, 33), (2, False): (128, 1)}


class Posed(eqx.Module):
    """Readings as the solver sees them: what they are of, what was read, and how noisy that is."""

    asking: Asking
    values: Float[Array | np.ndarray, "*k m"]
    base: Float[Array | np.ndarray, "*k m"]  # σ, as it is given or taken for granted
    unit: Float[Array | np.ndarray, "*k m"]  # the spread of the field that is read
    is_real: Bool[Array | np.ndarray, "*k m"]  # others fill the arrays up
    trust: Float[Array | np.ndarray, ""]  # in the σ that is given: against levels above it


def posed(family: AbstractSolved, readings: Observations, known: dict[str, float]) -> Posed:
    """Readings of one system, with all coefficients known; within `precisely()`."""
    return as_posed(*asked(family, readings, known, LEAST_NODES))


def as_posed(asking: Asking, values: Float[np.ndarray, " m"], errors: Errors) -> Posed:
    """What was asked and read, filled up."""
    rows, more = len(asking.columns), len(asking.columns) - len(values)
    unit = np.pad(errors.unit, (0, more), constant_values=1.0)
    base = np.pad(_granted(errors), (0, more), constant_values=1.0)
    trust = np.asarray(TRUST if (errors.known > 0).any() else 0.0)
    real = np.arange(rows) < len(values)
    return Posed(asking, np.pad(values, (0, more)), base, unit, real, trust)


def _granted(errors: Errors) -> Float[np.ndarray, " m"]:
    """The σ that is given; readings without one are as noisy as those that have it."""
    given = errors.known > 0
    usual = float(np.median(errors.known[given] / errors.unit[given])) if given.any() else LEAST
    return np.where(given, errors.known, usual * errors.unit)


def posed_many(family: AbstractSolved, rigs: Rigs) -> Posed:
    """Readings of many systems, none of whose noise is known; within `precisely()`."""
    systems, fields = len(rigs.mask), rigs.mask.shape[-1]
    mask = rigs.mask.reshape(systems, -1)
    most = int(mask.sum(axis=1).max())
    order = np.argsort(~mask, axis=1, kind="stable")[:, :most]  # readings first
    real = np.take_along_axis(mask, order, axis=1)
    places = np.take_along_axis(rigs.points, order[..., None] // fields, axis=1)
    places = np.where(real[..., None], places, places[:, :1])
    flat = places.reshape(-1, places.shape[-1])
    fine = grid_for(family, flat, LEAST_NODES)
    stencil = jax.tree.map(
        lambda table: table.reshape(systems, most, -1), Stencil.of(flat, fine.axes, fine.domain)
    )
    asking = Asking(
        fine, stencil, np.ones(1), order % fields, rigs.coefficients, tuple(range(fields))
    )
    values = np.take_along_axis(rigs.values.reshape(systems, -1), order, axis=1)
    values = np.where(real, values, 0.0)
    unit = _units(values, order % fields, real)
    return Posed(asking, values, np.where(real, LEAST * unit, 1.0), unit, real, np.zeros(()))


def _units(values, columns, real) -> Float[np.ndarray, "k m"]:
    """Of the readings of each field of each system, the root of their mean square."""
    found = np.ones_like(values)
    for column in np.unique(columns):
        of = real & (columns == column)
        size = np.sqrt((np.where(of, values, 0.0) ** 2).sum(1) / np.maximum(of.sum(1), 1))
        found = np.where(of, np.where(size > 0, size, 1.0)[:, None], found)
    return found


def smooth_in(question: Posed) -> Float[Array, "q *grid c"]:
    """Smooth fields, of each that is read, as large as its readings."""
    asking = question.asking
    waves = jnp.asarray(smooth_fields(asking.family.domain, asking.family.axes))
    found = []
    for column, field in enumerate(asking.read_fields):
        of = (jnp.asarray(asking.columns) == column) & jnp.asarray(question.is_real)
        size = jnp.max(jnp.where(of, question.unit, 0.0))
        place = jnp.zeros(len(asking.family.fields)).at[field].set(size)
        found.append(waves[..., None] * place)
    return jnp.concatenate(found)
