"""How noisy readings are: as the encoder tells, or as the readings themselves say.

A readout trusts its readings so far as they are not noisy. The encoder's guess serves where its functions
do not quite fit. Where they do, as waves with the right rates, clean readings deserve to be believed to
many digits, which the encoder cannot know. Then the noise is that under which they are most probable:

    y ~ N(0, s² (BBᵀ + λ)),  s² = yᵀ (BBᵀ + λ)⁻¹ y / n:  the λ of least  n log s² + log |BBᵀ + λ|

Which of both is better is found on systems held out, and stands in the card. Small λ need float64. All λ
are tried by triangular factors, which a graphics card makes for many systems at once; singular values,
which would serve all λ, it finds one system after the other.
"""

import contextlib
from collections.abc import Iterator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.models.network import UnitReadings
from pgt.models.writer import Writer
from pgt.models.written import Written
from pgt.nn.precision import cast

NOISES = ("told", "evidence")
LEVELS = 10.0 ** np.arange(-8, 3.1, 0.5)  # of λ, in units of what is told


@contextlib.contextmanager
def precision(noise: str) -> Iterator[None]:
    """That in which readouts are solved, and asked."""
    double = jax.enable_x64(True) if noise == "evidence" else contextlib.nullcontext()
    with double, jax.default_matmul_precision("highest"):
        yield


def written(
    writer: Writer, told: Float[Array, " w"], readings: UnitReadings, noise: str
) -> Written:
    """The field of a system of which the encoder has told; within `precision(noise)`."""
    if noise == "told":
        return writer.read_out(readings, told)
    basis = writer.gaussian(readings, told)
    network, directions, middle, first = cast(basis, jnp.float64)
    points, mask = cast(readings.points, jnp.float64), readings.mask
    features = jax.vmap(network.features)(points)
    misses = jnp.where(mask, readings.values - features @ middle.T, 0.0).reshape(-1)
    rows = jnp.einsum("nb,cbm->ncm", features, directions)
    rows = jnp.where(mask[..., None], rows, 0.0).reshape(misses.size, -1)
    shown = shortened(rows, misses)
    level, scale = most_probable(*shown, jnp.sum(mask), first**2 * LEVELS)
    amounts = shown[0].T @ _solved(_factor(shown[0], level), shown[1])
    normal = rows.T @ rows + level * jnp.eye(rows.shape[-1])
    doubt = writer.doubts(told)
    return Written(
        network.with_readout(middle + directions @ amounts), jnp.linalg.cholesky(normal), directions,
        scale * jnp.sqrt(level), doubt,
    )  # fmt: skip


def shortened(rows: Float[Array, "n m"], misses: Float[Array, " n"]):
    """No more rows than columns that say the same of them, and what the readings miss beyond all."""
    count = rows.shape[1]
    if len(rows) <= count:
        return rows, misses, jnp.zeros((), rows.dtype)
    triangle = jnp.linalg.qr(jnp.column_stack([rows, misses]), mode="r")
    return triangle[:count, :-1], triangle[:count, -1], triangle[count:, -1] @ triangle[count:, -1]


def most_probable(
    rows: Float[Array, "k m"],
    misses: Float[Array, " k"],
    rest: Float[Array, ""],
    count: Array,
    levels: Float[Array, " l"],
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """λ and s by evidence, of so many readings."""

    def of(level):
        factor = _factor(rows, level)
        square = (misses @ _solved(factor, misses) + rest / level) / count
        known = 2 * jnp.sum(jnp.log(jnp.diag(factor))) + (count - len(rows)) * jnp.log(level)
        return count * jnp.log(jnp.maximum(square, 1e-300)) + known, square

    evidence, squares = jax.vmap(of)(levels)
    best = jnp.argmin(evidence)
    return levels[best], jnp.sqrt(squares[best])


def _factor(rows: Float[Array, "k m"], level: Float[Array, ""]) -> Float[Array, "k k"]:
    """The triangular factor of BBᵀ + λ."""
    return jnp.linalg.cholesky(rows @ rows.T + level * jnp.eye(len(rows)))


def _solved(factor: Float[Array, "k k"], right: Float[Array, " k"]) -> Float[Array, " k"]:
    return jax.scipy.linalg.cho_solve((factor, True), right)


@eqx.filter_jit
def tell(writer: Writer, readings: UnitReadings) -> Float[Array, "*k w"]:
    """What the encoder makes of readings, of one system or of many."""
    if readings.points.ndim == 2:
        return writer.told(readings)
    return jax.vmap(writer.told)(readings)
