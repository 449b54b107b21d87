r"""What readings say of a law's unknowns, under every level of noise.

With rows W and misses d in units of the noise that is taken for granted, a level s of noise makes the
readings

$$ d \sim N(0,\; W W^T + s^2), \qquad s \ge 1 . $$

Few readings cannot tell noise from what they have not seen: spreads count all levels, each as far as it
is probable.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.families.readout import shortened

LEAST = 3e-7  # of the spread: the noise of readings that are said to have none, in single precision
SQUARES = 10.0 ** np.arange(0, 15.1, 0.5)  # of the levels of noise that are tried


class Weighed(NamedTuple):
    """What readings say in directions of their own, under every level of noise."""

    turned: Float[Array, "k n"]
    kept: Float[Array, "l k"]  # of each direction, 1 / (its size + the noise)
    along: Float[Array, " k"]
    weights: Float[Array, " l"]  # of the levels
    evidence: Float[Array, ""]  # log of the density of the readings, up to a constant


def weighed(rows: Float[Array, "m n"], misses: Float[Array, " m"], count, trust):
    """The mean under the noise that is to be expected, the square of that, how much larger the mean is
    than the law has it, and what is left open."""
    rows, misses, rest = shortened(rows, misses)
    sizes, directions = jnp.linalg.eigh(rows @ rows.T)
    sizes, along = jnp.maximum(sizes, 0.0), directions.T @ misses
    squares, turned = jnp.asarray(SQUARES), directions.T @ rows
    total = sizes + squares[:, None]
    surprise = jnp.sum(along**2 / total, axis=1) + rest / squares
    known = jnp.sum(jnp.log(total), axis=1) + (count - len(rows) + trust) * jnp.log(squares)
    logs = -(surprise + known) / 2
    weights = jax.nn.softmax(logs)
    square = jnp.exp(weights @ jnp.log(squares))
    shares = sizes / (sizes + square)
    mean = turned.T @ (along / (sizes + square))
    excess = (mean @ mean - jnp.sum(shares)) / jnp.sqrt(2 * jnp.sum(shares**2) + 1e-12)
    said = Weighed(turned, 1 / total, along, weights, jax.nn.logsumexp(logs))
    return mean, square, excess, said


def fields_of(said: Weighed, tangents: Float[Array, "n *grid c"]):
    """Mean and variance of the fields: what the law has less what the readings know, and how far the
    levels of noise that are possible lead apart."""
    flat = tangents.reshape(len(tangents), -1)
    seen = said.turned @ flat  # k nodes
    left = jnp.sum(flat**2, axis=0) - (said.weights @ said.kept) @ seen**2
    means = (said.kept * said.along) @ seen  # l nodes
    mean = said.weights @ means
    variance = jnp.maximum(left, 0.0) + said.weights @ (means - mean) ** 2
    return mean.reshape(tangents.shape[1:]), variance.reshape(tangents.shape[1:])
