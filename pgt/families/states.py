"""Random states to begin with: sums of a few waves, their amplitudes made of standard normals."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

MODES = np.arange(1, 9)  # the finest has eight nodes of a usual grid to a wave


def amplitudes(noise: Float[Array, "*several 8"]) -> Float[Array, "*several 8"]:
    """Of the modes 1 to 8, with standard deviation 1 / (1 + (k/3)²)."""
    return noise / jnp.asarray(1 + (MODES / 3) ** 2)


def smooth_period(noise: Float[Array, "2 8"], x: np.ndarray) -> Float[Array, " n"]:
    """A state of period 1 at the places x, of mean zero over them."""
    cosine, sine = amplitudes(noise)
    angle = 2 * np.pi * np.outer(x, MODES)
    return jnp.asarray(np.cos(angle)) @ cosine + jnp.asarray(np.sin(angle)) @ sine


def ring_field(
    noise: Float[Array, "2 k"], spreads: np.ndarray, nodes: int
) -> Float[Array, " {nodes}"]:
    """A Gaussian random field of period 1: waves k = 1, 2, ... with these standard deviations, of cosine
    and sine alike."""
    angle = 2 * np.pi * np.outer(np.arange(nodes) / nodes, np.arange(1, spreads.size + 1))
    # Said in so many words: JAX remembers the precision in which it first met an array that stays.
    cosine, sine = noise * jnp.asarray(spreads, noise.dtype)
    return jnp.asarray(np.cos(angle)) @ cosine + jnp.asarray(np.sin(angle)) @ sine
