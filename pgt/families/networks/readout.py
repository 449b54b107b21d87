"""Evaluation of a trained network: from the readings of one system, or of many, to fields.

The readout is a least-squares fit whose weights depend on the noise level of the readings. The noise
level comes from one of two sources. The encoder predicts one, which is better where the network's basis
does not quite represent the field. The level of greatest evidence is better where the basis fits to many
digits, as waves with the right rates do; it needs float64. The card of a network says which source has
the smaller error on held-out systems.
"""

import contextlib
from collections.abc import Iterator
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.families.field_posterior import compress, noise_by_evidence
from pgt.families.sensing import scaling_of, unit_readings
from pgt.models.family_pgt import FamilyPGT, SeenReadings
from pgt.models.field_model import UnitReadings
from pgt.models.hypernetwork import FieldPosterior, HyperSiren
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast

FamilyNetwork = HyperSiren | FamilyPGT
LEVELS = 10.0 ** np.arange(-8, 3.1, 0.5)  # Noise levels λ in units of the encoder's.


@contextlib.contextmanager
def readout_precision(source: str) -> Iterator[None]:
    """A context with the precision in which readouts are solved and evaluated."""
    double = jax.enable_x64(True) if source == "evidence" else contextlib.nullcontext()
    with double, jax.default_matmul_precision("highest"):
        yield


def field_posterior(
    network: FamilyNetwork, summary: Float[Array, " w"], readings: UnitReadings, source: str
) -> FieldPosterior | SeenReadings:
    """The field of a system from the encoder's summary; call it within `readout_precision(source)`."""
    if source == "encoder" or not isinstance(network, HyperSiren):
        return network.solve_readout(readings, summary)
    siren, directions, mean, first = cast(network.prior(readings, summary), jnp.float64)
    points, mask = cast(readings.points, jnp.float64), readings.mask
    features = jax.vmap(siren.features)(points)
    misses = jnp.where(mask, readings.values - features @ mean.T, 0.0).reshape(-1)
    rows = jnp.einsum("nb,cbm->ncm", features, directions)
    rows = jnp.where(mask[..., None], rows, 0.0).reshape(misses.size, -1)
    level, scale, weights = noise_by_evidence(
        *compress(rows, misses), jnp.sum(mask), first**2 * LEVELS
    )
    normal = rows.T @ rows + level * jnp.eye(rows.shape[-1])
    return FieldPosterior(
        siren.with_readout(mean + directions @ weights), jnp.linalg.cholesky(normal), directions,
        scale * jnp.sqrt(level), network.spread_correction(summary),
    )  # fmt: skip


def mean_and_spread_at(network: FamilyNetwork, field, points: Float[Array, "m d"]):
    """The mean and the standard deviation of a field at points in unit coordinates."""
    mean = jax.vmap(partial(network.decode, field))(points)
    return mean, jax.vmap(partial(network.spread, field))(points)


def misfit(network: FamilyNetwork, field, readings) -> Float[Array, ""]:
    """The root mean square distance of a field from its readings, in units of their spread."""
    misses = jax.vmap(partial(network.decode, field))(readings.points) - readings.values
    misses = jnp.where(readings.mask, misses, 0.0)
    return jnp.sqrt(jnp.sum(misses**2) / jnp.maximum(jnp.sum(readings.mask), 1))


@eqx.filter_jit
def summarize(network: FamilyNetwork, readings: UnitReadings) -> Float[Array, "*k w"]:
    """The encoder's summary of the readings of one system or of many."""
    if readings.points.ndim == 2:
        return network.summarize(readings)
    return jax.vmap(network.summarize)(readings)


# ------------------------------------------------------------------------------- one system


class NetworkField(eqx.Module):
    """The network's field of one system, in physical units."""

    network: FamilyNetwork
    field: FieldPosterior | SeenReadings
    scaling: Scaling
    domain: Domain
    fields: tuple[str, ...] = eqx.field(static=True)
    noise_source: str = eqx.field(static=True)

    def mean_and_spread(self, points: Float[np.ndarray, "m d"]):
        """The fields and their standard deviations at points, one point per row."""
        points = self.scaling.origin.local(points, self.domain.axes)
        with readout_precision(self.noise_source):
            evaluated = _evaluate(self.network, self.field, self.scaling, points)
        mean, spread = (np.asarray(part, float) for part in evaluated)
        shift = self.scaling.origin.along(self.fields)
        return np.asarray(self.scaling.to_physical(mean)) + shift, spread * self.scaling.spread


def with_hidden_spread(scaling: Scaling, readings: Observations) -> Scaling:
    """The scaling in which a field without readings has the spread of the others, as in training."""
    is_measured = np.any(np.asarray(readings.mask), axis=0)
    typical = (
        np.sqrt(np.mean(np.asarray(scaling.spread)[is_measured] ** 2)) if is_measured.any() else 1.0
    )
    spread = np.where(is_measured, scaling.spread, typical).astype(np.float32)
    return eqx.tree_at(lambda s: s.spread, scaling, spread)


def padded(*arrays) -> tuple[np.ndarray, ...]:
    """The arrays with zero rows up to a power of two, so that one more reading needs no compilation."""
    count = len(arrays[0])
    n_rows = 2 ** max(int(np.ceil(np.log2(max(count, 1)))), 4) - count
    return tuple(np.pad(np.asarray(a), ((0, n_rows), (0, 0))) for a in arrays)


@eqx.filter_jit
def encode(network, family, guide, coefficients, numbers, scaling, points, values, mask):
    """The readings in unit coordinates, and the encoder's summary of them."""
    unit = jnp.asarray(scaling.to_unit(points), jnp.float32)
    values = jnp.where(mask, values, 0.0).astype(jnp.float32)
    readings = unit_readings(family, coefficients, scaling, unit, values, mask, guide)
    readings = eqx.tree_at(lambda r: r.numbers, readings, numbers)
    return readings, network.summarize(readings)


@eqx.filter_jit
def solve_field(network, summary, readings, source: str):
    """The field of a system and its misfit."""
    field = field_posterior(network, summary, readings, source)
    return field, misfit(network, field, readings)


@eqx.filter_jit
def _evaluate(network: FamilyNetwork, field, scaling: Scaling, points):
    kind = jnp.result_type(*jax.tree.leaves(eqx.filter(field, eqx.is_inexact_array)))
    unit = jnp.asarray(scaling.to_unit(points), kind)
    return mean_and_spread_at(network, field, unit)


# ------------------------------------------------------------------------------- many systems


@eqx.filter_jit
def encode_many(network, family, guide, coefficients, points, values, mask):
    """The readings of many systems in unit coordinates, the encoder's summaries, and the scalings."""

    def encode_one(coefficients, points, values, mask):
        scaling = scaling_of(family, values, mask)
        unit = jnp.asarray(scaling.to_unit(points))
        readings = unit_readings(family, coefficients, scaling, unit, values, mask, guide)
        return readings, network.summarize(readings), scaling

    return jax.vmap(encode_one)(coefficients, points, values, mask)


@eqx.filter_jit
def solve_many(network, summaries, readings, scaling, at, source: str):
    """The means and standard deviations at points, and the misfits, of many systems."""

    def solve_one(summary, readings, scaling):
        field = field_posterior(network, summary, readings, source)
        mean, spread = mean_and_spread_at(network, field, jnp.asarray(scaling.to_unit(at)))
        return (
            scaling.to_physical(mean),
            spread * scaling.spread,
            misfit(network, field, readings),
        )

    return jax.vmap(solve_one)(summaries, readings, scaling)
