"""What a network sees of a point in unit coordinates."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class Embedding(eqx.Module):
    """Unit coordinates as they are; a periodic axis as a point on a circle.

    >>> Embedding((False, True))(jnp.array([0.5, 1.0])).round(3).tolist()
    [0.5, -1.0, -0.0]
    """

    periodic: tuple[bool, ...] = eqx.field(static=True)

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " e"]:
        if not any(self.periodic):
            return z
        parts = []
        for axis, wraps in enumerate(self.periodic):
            angle = jnp.pi * z[axis]
            parts += [jnp.cos(angle), jnp.sin(angle)] if wraps else [z[axis]]
        return jnp.stack(parts)

    @property
    def size(self) -> int:
        """How many numbers that are."""
        return len(self.periodic) + sum(self.periodic)


class MovingEmbedding(Embedding):
    """The same, seen by somebody who moves along: what is carried by a flow stands still for them.

    >>> moving = MovingEmbedding((True, False), drift=jnp.array([0.5, 0.0]))
    >>> bool(jnp.allclose(moving(jnp.array([0.5, 1.0])), moving(jnp.array([0.0, 0.0])).at[2].set(1.0)))
    True
    """

    drift: Float[Array, " d"]  # along each axis while the last one goes by 1; 0 along the last

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " e"]:
        return super().__call__(self.moved(z))

    def moved(self, z: Float[Array, " d"]) -> Float[Array, " d"]:
        """Where z is for somebody who drifts."""
        return z - self.drift * z[-1]
