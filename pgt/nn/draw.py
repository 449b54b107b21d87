"""Random starting weights, drawn on the host: nothing to compile before the first step."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


class Draw:
    """Draws arrays one after the other from one seed."""

    def __init__(self, seed: int):
        self._random = np.random.default_rng(seed)

    def normal(self, shape: tuple[int, ...], scale: float) -> Float[Array, "..."]:
        return jnp.asarray(np.float32(scale * self._random.standard_normal(shape)))

    def uniform(self, shape: tuple[int, ...], bound: float) -> Float[Array, "..."]:
        return jnp.asarray(np.float32(self._random.uniform(-bound, bound, shape)))


def zeros(*shape: int) -> Float[Array, "..."]:
    return jnp.asarray(np.zeros(shape, np.float32))
