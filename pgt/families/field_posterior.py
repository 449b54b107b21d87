r"""Gaussian conditioning of standard normals z on linear readings, with an unknown noise level.

$$ d = W z + e, \qquad z \sim N(0, 1), \quad e \sim N(0, R) $$

All linear and linearized answers of families come from here. `NoiseMixture` averages over noise levels s,
where R = s², each weighted by its posterior probability: few readings cannot tell noise from details of
the field that they do not resolve. `noise_by_evidence` is for d ~ N(0, s²(WWᵀ + λ)), where the scale s
is unknown too. Both are JAX programs that can be batched. `on_grid` evaluates an answer on a grid.
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
# The squared noise levels s² of a mixture, in units of the smallest noise variance.
SQUARED_LEVELS = 10.0 ** np.arange(0, 15.1, 0.5)


# ------------------------------------------------------------------------------- a mixture of levels


def compress(rows: Float[Array, "m n"], values: Float[Array, " m"]):
    """At most n equivalent rows with their values, and the squared norm of the values outside their span.

    A QR decomposition replaces m > n rows by n rows of the same normal equations.
    """
    count = rows.shape[1]
    if len(rows) <= count:
        return rows, values, jnp.zeros((), rows.dtype)
    triangle = jnp.linalg.qr(jnp.column_stack([rows, values]), mode="r")
    return triangle[:count, :-1], triangle[:count, -1], triangle[count:, -1] @ triangle[count:, -1]


class NoiseMixture(NamedTuple):
    """The posterior of z for every noise level, in the basis of the eigenvectors V of WWᵀ."""

    rotated: Float[Array, "k n"]  # Vᵀ W
    gains: Float[Array, "l k"]  # 1 / (eigenvalue + s²)
    along: Float[Array, " k"]  # Vᵀ d
    weights: Float[Array, " l"]  # the posterior probabilities of the noise levels
    evidence: Float[Array, ""]  # the log-density of d, up to a constant
    mean: Float[Array, " n"]  # the posterior mean of z at the mean noise level
    square: Float[Array, ""]  # the mean noise level, squared
    excess: Float[Array, ""]  # (|mean|² - its expectation) / its standard deviation

    @staticmethod
    def of(rows: Float[Array, "m n"], values: Float[Array, " m"], count, trust) -> "NoiseMixture":
        """The mixture for `count` readings, with rows and values in units of the least noise.

        The prior of the noise level is proportional to s^(-trust).
        """
        rows, values, rest_square = compress(rows, values)
        eigenvalues, directions = jnp.linalg.eigh(rows @ rows.T)
        eigenvalues, along = jnp.maximum(eigenvalues, 0.0), directions.T @ values
        squares, rotated = jnp.asarray(SQUARED_LEVELS), directions.T @ rows
        total = eigenvalues + squares[:, None]
        chi_square = jnp.sum(along**2 / total, axis=1) + rest_square / squares
        log_determinant = jnp.sum(jnp.log(total), axis=1) + (count - len(rows) + trust) * jnp.log(
            squares
        )
        log_weights = -(chi_square + log_determinant) / 2
        weights = jax.nn.softmax(log_weights)
        square = jnp.exp(weights @ jnp.log(squares))
        shares = eigenvalues / (eigenvalues + square)
        mean = rotated.T @ (along / (eigenvalues + square))
        excess = (mean @ mean - jnp.sum(shares)) / jnp.sqrt(2 * jnp.sum(shares**2) + 1e-12)
        evidence = jax.nn.logsumexp(log_weights)
        return NoiseMixture(rotated, 1 / total, along, weights, evidence, mean, square, excess)

    def moments(self, tangents: Float[Array, "n *grid c"]):
        """The mean and variance of the fields `tangents · z`, over z and over the noise levels."""
        flat = tangents.reshape(len(tangents), -1)
        projected = self.rotated @ flat  # k nodes
        mean_variance = jnp.sum(flat**2, axis=0) - (self.weights @ self.gains) @ projected**2
        means = (self.gains * self.along) @ projected  # l nodes
        mean = self.weights @ means
        variance = jnp.maximum(mean_variance, 0.0) + self.weights @ (means - mean) ** 2
        return mean.reshape(tangents.shape[1:]), variance.reshape(tangents.shape[1:])


# ------------------------------------------------------------------------------- an unknown scale


def noise_by_evidence(
    rows: Float[Array, "k m"],
    values: Float[Array, " k"],
    rest: Float[Array, ""],
    count: Array,
    levels: Float[Array, " l"],
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, " m"]]:
    """The λ among `levels` of greatest evidence, its s, and the posterior mean of z.

    `rows`, `values` and `rest` are those of `count` readings as `compress` returns them. With
    s² = dᵀ (WWᵀ + λ)⁻¹ d / n the log-evidence is -½ (n log s² + log |WWᵀ + λ|). Every λ needs one
    Cholesky factor, which a GPU computes for many systems at once; one singular value decomposition would
    serve all λ, but a GPU computes those for one system after the other.
    """

    def factor(level):
        return jnp.linalg.cholesky(rows @ rows.T + level * jnp.eye(len(rows)))

    def solve(level, lower):
        return jax.scipy.linalg.cho_solve((lower, True), values)

    def cost_and_square(level):
        lower = factor(level)
        square = (values @ solve(level, lower) + rest / level) / count
        log_determinant = 2 * jnp.sum(jnp.log(jnp.diag(lower))) + (count - len(rows)) * jnp.log(
            level
        )
        return count * jnp.log(jnp.maximum(square, 1e-300)) + log_determinant, square

    cost, squares = jax.vmap(cost_and_square)(levels)
    best = jnp.argmin(cost)
    level = levels[best]
    return level, jnp.sqrt(squares[best]), rows.T @ solve(level, factor(level))


AxisRequest = float | Sequence[float] | np.ndarray  # A number of nodes, or a list of positions.


class FieldBand(NamedTuple):
    """The mean and the ends of the band at points; `outside` lists in words why not to trust them."""

    mean: Float[np.ndarray, "m c"]
    low: Float[np.ndarray, "m c"]
    high: Float[np.ndarray, "m c"]
    outside: list[str]


class BatchAnswers(NamedTuple):
    """The fields of k systems at m points and the half-widths `reach` of their bands.

    `outside` lists for each system, in words, what lies outside the range of training.
    """

    mean: Float[np.ndarray, "k m c"]
    reach: Float[np.ndarray, "k m c"]
    outside: list[list[str]]

    def or_else(self, is_valid: Bool[np.ndarray, " k"], other: "BatchAnswers") -> "BatchAnswers":
        """These answers for systems for which they are valid, and `other` answers for the rest."""
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
    """The fields and bands (`u`, `u_low`, `u_high`) on a grid, with 64 nodes along axes not in `axes`."""
    unknown = sorted(set(axes) - set(domain.axes))
    if unknown:
        raise InputError(f"grid({unknown[0]}=...): the axes are {', '.join(domain.axes)}.")
    requests = {name: axes.get(name, 64) for name in domain.axes}
    require_grid(requests, domain, 3 * len(fields))
    positions = {name: _positions(domain, name, request) for name, request in requests.items()}
    mesh = np.meshgrid(*positions.values(), indexing="ij")
    band = at(np.stack([m.ravel() for m in mesh], axis=-1))
    shape, dims = mesh[0].shape, tuple(positions)
    tables = ("", band.mean), ("_low", band.low), ("_high", band.high)
    variables = {
        name + suffix: (dims, table[:, k].reshape(shape))
        for k, name in enumerate(fields)
        for suffix, table in tables
    }
    return xr.Dataset(variables, positions, attributes)


def _positions(domain: Domain, name: str, request: AxisRequest) -> np.ndarray:
    if not is_number(request):
        positions = np.atleast_1d(as_numbers(f"grid({name})", request))
        if positions.ndim != 1 or not positions.size or not np.isfinite(positions).all():
            raise InputError(f"grid({name}=...): give a number of positions or a list of numbers.")
        return positions
    k = domain.axes.index(name)
    ends = domain.lower[k], domain.upper[k]
    return np.linspace(*ends, count_of(name, request), endpoint=name not in domain.periodic)
