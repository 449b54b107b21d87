r"""Gaussian conditioning of standard normals z on linear readings, with an unknown noise level.

$$ d = W z + e, \qquad z \sim N(0, 1), \quad e \sim N(0, R) $$

All linear and linearized answers of families come from here. `NoiseMixture` averages over noise levels
s, R = s², each weighted by its posterior probability: few readings cannot tell noise from what they have
not seen. `noise_by_evidence` is for d ~ N(0, s²(WWᵀ + λ)), where s is unknown too. Both are JAX programs
that can be batched.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Float

from pgt.core.errors import InputError
from pgt.core.number_arrays import as_numbers
from pgt.data.domain import Domain
from pgt.data.query_points import count_of, is_number, require_grid

Vector = Float[np.ndarray, " m"]
# The squared noise levels of a mixture, in units of the least noise.
SQUARED_LEVELS = 10.0 ** np.arange(0, 15.1, 0.5)


# ------------------------------------------------------------------------------- a mixture of levels


def compress(rows: Float[Array, "m n"], values: Float[Array, " m"]):
    """Equivalent rows and values, at most n of them, and the squared rest of the values outside."""
    count = rows.shape[1]
    if len(rows) <= count:
        return rows, values, jnp.zeros((), rows.dtype)
    triangle = jnp.linalg.qr(jnp.column_stack([rows, values]), mode="r")
    return triangle[:count, :-1], triangle[:count, -1], triangle[count:, -1] @ triangle[count:, -1]


class NoiseMixture(NamedTuple):
    """The posterior of z under every level of noise, in the eigenvectors of WWᵀ."""

    rotated: Float[Array, "k n"]
    gains: Float[Array, "l k"]  # 1 / (eigenvalue + s²)
    along: Float[Array, " k"]  # d
    weights: Float[Array, " l"]  # the probabilities of the levels
    evidence: Float[Array, ""]  # log of the density of d, up to a constant
    mean: Float[Array, " n"]  # under the expected level
    square: Float[Array, ""]  # the expected level, squared
    excess: Float[Array, ""]  # of |mean|² over its expectation, in standard deviations

    @staticmethod
    def of(rows: Float[Array, "m n"], values: Float[Array, " m"], count, trust) -> "NoiseMixture":
        """For `count` readings, in units of the least noise; `trust` is the power of a prior against
        higher levels."""
        rows, values, rest = compress(rows, values)
        sizes, directions = jnp.linalg.eigh(rows @ rows.T)
        sizes, along = jnp.maximum(sizes, 0.0), directions.T @ values
        squares, rotated = jnp.asarray(SQUARED_LEVELS), directions.T @ rows
        total = sizes + squares[:, None]
        chi_square = jnp.sum(along**2 / total, axis=1) + rest / squares
        known = jnp.sum(jnp.log(total), axis=1) + (count - len(rows) + trust) * jnp.log(squares)
        logs = -(chi_square + known) / 2
        weights = jax.nn.softmax(logs)
        square = jnp.exp(weights @ jnp.log(squares))
        shares = sizes / (sizes + square)
        mean = rotated.T @ (along / (sizes + square))
        excess = (mean @ mean - jnp.sum(shares)) / jnp.sqrt(2 * jnp.sum(shares**2) + 1e-12)
        evidence = jax.nn.logsumexp(logs)
        return NoiseMixture(rotated, 1 / total, along, weights, evidence, mean, square, excess)

    def moments(self, tangents: Float[Array, "n *grid c"]):
        """Mean and variance of the fields `tangents · z`, over z and over the levels."""
        flat = tangents.reshape(len(tangents), -1)
        seen = self.rotated @ flat  # k nodes
        left = jnp.sum(flat**2, axis=0) - (self.weights @ self.gains) @ seen**2
        means = (self.gains * self.along) @ seen  # l nodes
        mean = self.weights @ means
        variance = jnp.maximum(left, 0.0) + self.weights @ (means - mean) ** 2
        return mean.reshape(tangents.shape[1:]), variance.reshape(tangents.shape[1:])


# ------------------------------------------------------------------------------- an unknown scale


def noise_by_evidence(
    rows: Float[Array, "k m"],
    values: Float[Array, " k"],
    rest: Float[Array, ""],
    count: Array,
    levels: Float[Array, " l"],
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, " m"]]:
    """The λ of greatest evidence, its s, and the mean of z; of `count` compressed readings.

    With s² = dᵀ (WWᵀ + λ)⁻¹ d / n the evidence is -½ (n log s² + log |WWᵀ + λ|). Every λ needs one
    Cholesky factor, which a GPU computes for many systems at once; singular values would serve all λ, but
    a GPU computes them for one system after the other.
    """

    def factor(level):
        return jnp.linalg.cholesky(rows @ rows.T + level * jnp.eye(len(rows)))

    def solve(level, lower):
        return jax.scipy.linalg.cho_solve((lower, True), values)

    def of(level):
        lower = factor(level)
        square = (values @ solve(level, lower) + rest / level) / count
        known = 2 * jnp.sum(jnp.log(jnp.diag(lower))) + (count - len(rows)) * jnp.log(level)
        return count * jnp.log(jnp.maximum(square, 1e-300)) + known, square

    cost, squares = jax.vmap(of)(levels)
    best = jnp.argmin(cost)
    level = levels[best]
    return level, jnp.sqrt(squares[best]), rows.T @ solve(level, factor(level))


AxisRequest = float | Sequence[float] | np.ndarray  # A number of nodes, or a list of positions.


class FieldBand(NamedTuple):
    """Mean and ends of the band at points, (m, c), and sentences on what is wrong with the question."""

    mean: Float[np.ndarray, "m c"]
    low: Float[np.ndarray, "m c"]
    high: Float[np.ndarray, "m c"]
    outside: list[str]


class BatchAnswers(NamedTuple):
    """Fields of k systems at m points, the half-widths of their bands, and for each system sentences on
    what lies outside the range of training."""

    mean: Float[np.ndarray, "k m c"]
    reach: Float[np.ndarray, "k m c"]
    outside: list[list[str]]

    def or_else(self, is_valid: Bool[np.ndarray, " k"], other: "BatchAnswers") -> "BatchAnswers":
        """These answers where they are valid, others elsewhere."""
        outside = [
            one if valid else one + two
            for valid, one, two in zip(is_valid, self.outside, other.outside, strict=True)
        ]
        valid = is_valid[:, None, None]
        mean = np.where(valid, self.mean, other.mean)
        return BatchAnswers(mean, np.where(valid, self.reach, other.reach), outside)


def on_grid(
    at: Callable[[np.ndarray], FieldBand],
    domain: Domain,
    fields: Sequence[str],
    axes: Mapping[str, AxisRequest],
    attributes: dict,
) -> xr.Dataset:
    """Fields and bands (`u`, `u_low`, `u_high`) on a grid, with 64 nodes along axes without a request."""
    unknown = sorted(set(axes) - set(domain.axes))
    if unknown:
        raise InputError(f"grid({unknown[0]}=...): the axes are {', '.join(domain.axes)}.")
    wanted = {name: axes.get(name, 64) for name in domain.axes}
    require_grid(wanted, domain, 3 * len(fields))
    positions = {name: _positions(domain, name, asked) for name, asked in wanted.items()}
    mesh = np.meshgrid(*positions.values(), indexing="ij")
    band = at(np.stack([m.ravel() for m in mesh], axis=-1))
    shape, dims = mesh[0].shape, tuple(positions)
    tables = ("", band.mean), ("_low", band.low), ("_high", band.high)
    found = {
        name + suffix: (dims, table[:, k].reshape(shape))
        for k, name in enumerate(fields)
        for suffix, table in tables
    }
    return xr.Dataset(found, positions, attributes)


def _positions(domain: Domain, name: str, asked: AxisRequest) -> np.ndarray:
    if not is_number(asked):
        positions = np.atleast_1d(as_numbers(f"grid({name})", asked))
        if positions.ndim != 1 or not positions.size or not np.isfinite(positions).all():
            raise InputError(f"grid({name}=...): give a number of positions or a list of numbers.")
        return positions
    k = domain.axes.index(name)
    ends = domain.lower[k], domain.upper[k]
    return np.linspace(*ends, count_of(name, asked), endpoint=name not in domain.periodic)
