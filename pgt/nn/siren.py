"""Layers of a sinusoidal representation network (Sitzmann et al. 2020)."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt._types import Key


def first_weights(inputs: int, width: int, frequency: float, *, key: Key) -> Float[Array, "w i"]:
    """First layer, U(±ω0/inputs): ω0 is folded into the weights, so sin(Wz + b) is the layer.

    ω0 = 30 suits images; on fields scaled to [-1, 1] with a PDE residual 6–10 works better.
    """
    bound = frequency / inputs
    return jax.random.uniform(key, (width, inputs), minval=-bound, maxval=bound)


def hidden_weights(inputs: int, width: int, *, key: Key) -> Float[Array, "w i"]:
    """Hidden layer, U(±√(6/inputs)): pre-activations keep unit variance from layer to layer."""
    bound = math.sqrt(6 / inputs)
    return jax.random.uniform(key, (width, inputs), minval=-bound, maxval=bound)


def phases(width: int, *, key: Key) -> Float[Array, " w"]:
    """Biases U(±π): every phase of the wave is present from the start."""
    return jax.random.uniform(key, (width,), minval=-jnp.pi, maxval=jnp.pi)
