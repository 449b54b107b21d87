"""Directions from optax, step length from a schedule over the share of the budget that is spent."""

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from pgt.training.soap import scale_by_soap

WARM_UP, HOLD, LAST = 0.02, 0.4, 1e-3


def direction(name: str) -> optax.GradientTransformation:
    """The update before it is multiplied by the learning rate."""
    if name == "adam":
        return optax.scale_by_adam()
    # Sides beyond 512 are not rotated: their QR would cost more than the step itself.
    return scale_by_soap(max_dimension=512)


def schedule(progress: Float[Array, ""]) -> Float[Array, ""]:
    """Share of the learning rate: up over 2 %, constant to 40 %, cosine down to 0.1 % at the end."""
    rise = jnp.clip(progress / WARM_UP, 0.0, 1.0)
    fall = jnp.clip((progress - HOLD) / (1 - HOLD), 0.0, 1.0)
    return rise * (LAST + (1 - LAST) * 0.5 * (1 + jnp.cos(jnp.pi * fall)))
