r"""The most probable standard normals behind readings, by Gauss–Newton.

Readings y = G(z) + e of independent standard normals z, with errors e of variance R, make

$$ \tfrac12 |z|^2 + \tfrac12 (y - G(z))^T R^{-1} (y - G(z)) $$

smallest where z is most probable. A step solves this with G linearised: exactly, in one step, where G is
linear. The system has as many rows as there are readings or unknowns, whichever are fewer.

Where the noise is not known, its size is that under which the readings are the most probable.
While G is not yet followed by its linearisation, what this leaves counts as noise, too: far from the
answer, steps trust the readings less.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

from pgt.training import dense

LEAST = 1e-4  # of the spread: the noise of readings that are said to have none
LEVELS = LEAST * 10 ** np.arange(0, 4.1, 0.25)  # of noise that are tried
SETTLED = 0.02  # of the noise: how well the linearised readings must be met
HALVINGS = 6
CHUNK = 32  # rows of the Jacobian that are computed together

Vector = Float[np.ndarray, " m"]
Table = Array | np.ndarray
Readings = Callable[[Float[Array, " n"]], Float[Array, " m"]]


class Errors(NamedTuple):
    """How far readings may be off: σ as it is known, 0 where it is not, and the spread of their field."""

    known: Vector
    unit: Vector

    def variance(self, level: float, everywhere: bool) -> Vector:
        """With noise of `level` times the spread where none is known, or `everywhere`."""
        share = np.where((self.known == 0) | everywhere, level, 0.0)
        return self.known**2 + (share * self.unit) ** 2


class Linear(eqx.Module):
    """A Gaussian posterior: readings d = J z + e, with e of variance R."""

    rows: Float[Array | np.ndarray, "m n"]
    factor: Float[Array | np.ndarray, "k k"]
    variance: Vector
    mean: Float[np.ndarray, " n"]
    surprise: float  # dᵀ (JJᵀ + R)⁻¹ d: about the number of readings
    evidence: float  # -2 log of the density of d, up to a constant

    def drawn(self, seed: int, count: int) -> Float[np.ndarray, "{count} n"]:
        """Draws from it, without its mean."""
        draw = np.random.default_rng(seed)
        m, n = self.rows.shape
        noise = draw.standard_normal((count, n))
        if not _is_dual(m, n):
            return scipy.linalg.solve_triangular(np.asarray(self.factor).T, noise.T, lower=False).T
        read = noise @ np.asarray(self.rows).T
        read += np.sqrt(self.variance) * draw.standard_normal((count, m))
        weights = scipy.linalg.cho_solve((np.asarray(self.factor), True), read.T)
        return noise - np.asarray(self.rows.T @ dense.local(weights)).T


class Conditioned(NamedTuple):
    """The most probable z, the Gaussian around it, and the noise found, in units of the spread.

    `missed` says how far the last step's linearisation was from the readings, in units of their noise.
    """

    mean: Float[np.ndarray, " n"]
    linear: Linear
    level: float
    missed: float
    steps: int


def _is_dual(readings: int, unknowns: int) -> bool:
    return readings < unknowns


def with_rows(
    read: Readings, z: Float[Array, " n"], count: int
) -> tuple[Float[Array, " m"], Float[Array, "m n"]]:
    """`count` readings and their derivatives, along the unknowns or, where fewer, the readings."""
    is_forward = z.size <= 2 * count
    # Not folded into the solver's constants, which takes the compiler minutes.
    units = jax.lax.optimization_barrier(jnp.eye(z.size if is_forward else count, dtype=z.dtype))
    if is_forward:
        here, push = jax.linearize(read, z)
        return here, jax.lax.map(push, units, batch_size=CHUNK).T
    here, pull = jax.vjp(read, z)
    return here, jax.lax.map(lambda unit: pull(unit)[0], units, batch_size=CHUNK)


def posterior(
    rows: Float[Array | np.ndarray, "m n"],
    gram: Float[Array | np.ndarray, "m m"] | None,
    values: Vector,
    variance: Vector,
) -> Linear | None:
    """Of z ~ N(0, 1) given values = rows z + e; `gram` is JJᵀ where readings are fewer than unknowns.

    None where the matrix is not positive in rounded numbers.
    """
    if gram is not None:
        factor = dense.factorised(gram, variance)
        if factor is None:
            return None
        weights = np.asarray(dense.solved(factor, dense.local(values)))
        mean = np.asarray(rows.T @ dense.local(weights))
        return _linear(rows, factor, variance, mean, float(values @ weights), 0.0)
    scaled = np.asarray(rows) / np.sqrt(variance)[:, None]
    whitened = values / np.sqrt(variance)
    factor = dense.factorised(dense.local(scaled.T @ scaled), np.ones(rows.shape[1]))
    if factor is None:
        return None
    mean = np.asarray(dense.solved(factor, dense.local(scaled.T @ whitened)))
    surprise = float(whitened @ (whitened - scaled @ mean))
    return _linear(rows, factor, variance, mean, surprise, float(np.log(variance).sum()))


def _linear(rows, factor, variance, mean, surprise: float, known: float) -> Linear:
    evidence = surprise + known + 2 * float(np.log(np.diag(np.asarray(factor))).sum())
    return Linear(rows, factor, variance, mean, surprise, evidence)


def most_likely(
    rows, gram, values: Vector, errors: Errors, everywhere: bool
) -> tuple[Linear, float]:
    """The posterior under the level of noise at which the readings have the most evidence."""
    is_open = everywhere or bool((errors.known == 0).any())
    tried = [
        (posterior(rows, gram, values, errors.variance(level, everywhere)), float(level))
        for level in (LEVELS if is_open else LEVELS[:1])
    ]
    found = [(linear, level) for linear, level in tried if linear is not None]
    return min(found, key=lambda pair: pair[0].evidence)


def condition(
    read: Callable[[np.ndarray], Table],
    linearised: Callable[[np.ndarray], tuple[Table, Table]],
    values: Vector,
    errors: Errors,
    start: Float[np.ndarray, " n"],
    most: int,
) -> Conditioned:
    """The most probable z for these values, from `start`, in at most so many steps.

    `read(z)` are the readings, `linearised(z)` those with their derivatives.
    """
    cautions = (True, False) if bool((errors.known > 0).any()) else (True,)
    z, step = start, 0
    while True:
        here, rows = linearised(z)
        here, rows = np.asarray(here), dense.local(rows)
        # The linearised readings are origin + J z.
        origin = here - np.asarray(rows @ dense.local(z))
        gram = dense.gram(rows, dual=True) if _is_dual(*rows.shape) else None
        step += 1
        for (
            everywhere
        ) in cautions:  # what is known of the noise is believed where the step is a good one
            linear, level = most_likely(rows, gram, values - origin, errors, everywhere)
            found, reached = _descended(read, values, here, z, linear)
            expected = origin + np.asarray(rows @ dense.local(found))
            missed = _rms((reached - expected) / np.sqrt(linear.variance))
            is_settled = missed < SETTLED and found is linear.mean
            if not is_settled:
                break
        z = found
        if is_settled or step >= most:
            return Conditioned(z, linear, level, missed, step)


def _descended(read, values: Vector, here: Vector, z, linear: Linear):
    """Where the linear answer lies, or as far towards it as things get better; and the readings there."""

    def cost(z, here) -> float:
        return float(z @ z + np.sum((values - here) ** 2 / linear.variance))

    before, share = cost(z, here), 1.0
    for _ in range(HALVINGS):
        found = linear.mean if share == 1 else z + share * (linear.mean - z)
        reached = np.asarray(read(found))
        if cost(found, reached) <= before * (1 + 1e-9):
            return found, reached
        share /= 2
    return found, reached


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
