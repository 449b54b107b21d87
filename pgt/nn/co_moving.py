"""How fast a pattern goes round, told by the numbers of its equation."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class Pace(eqx.Module):
    """The drift along periodic axes while the last axis goes by 1; at first none.

    A speed is among the dimensionless numbers by its logarithm, a mean flow as it is: so

        drift = gain · exp(rate · numbers) + slope · numbers,

    of which training finds the parts. Where nothing goes round, or the last axis does, there is none.

    >>> Pace((True, False), numbers=2)(jnp.ones(2)).tolist()
    [0.0, 0.0]
    """

    moves: tuple[bool, ...] = eqx.field(static=True)
    gain: Float[Array, " p"]
    rate: Float[Array, "p k"]
    slope: Float[Array, "p k"]

    def __init__(self, periodic: tuple[bool, ...], numbers: int):
        self.moves = tuple(wraps and not periodic[-1] for wraps in periodic)
        count = sum(self.moves)
        self.gain = jnp.zeros(count)
        self.rate = jnp.zeros((count, numbers))
        self.slope = jnp.zeros((count, numbers))

    def __call__(self, numbers: Float[Array, " k"]) -> Float[Array, " d"]:
        drift = jnp.zeros(len(self.moves))
        if not any(self.moves):
            return drift
        numbers = jnp.asarray(numbers)
        found = self.gain * jnp.exp(self.rate @ numbers) + self.slope @ numbers
        return drift.at[np.flatnonzero(self.moves)].set(found)
