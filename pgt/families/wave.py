"""Strings that swing."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.families.dimensionless import centred, extents
from pgt.families.family import Coefficients, Range
from pgt.families.line import AbstractLine
from pgt.families.solved import Drawn, Noise
from pgt.families.states import MODES, amplitudes
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.wave import Wave


@register("wave")
class WaveFamily(AbstractLine):
    r"""Strings held at both ends that begin with a random displacement and velocity.

    $$ u = \sum_{k=1}^{8} \sin(k \pi x) \left(a_k \cos k \pi c t + b_k \sin k \pi c t\right),
       \qquad a_k, b_k \sim N(0, 1) / (1 + (k/3)^2) $$

    >>> WaveFamily().ranges
    {'speed': (0.5, 2.0)}
    """

    name: ClassVar[str] = "wave"
    periodic: ClassVar[tuple[str, ...]] = ()
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    speed: Range = eqx.field(static=True, default=(0.5, 2.0))

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"speed": self.speed}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x t 1"]:
        x, t = self.axes.values()
        displacement, velocity = amplitudes(noise)
        wavenumbers = MODES * np.pi
        angle = coefficients["speed"] * np.outer(wavenumbers, t)
        swing = displacement[:, None] * jnp.cos(angle) + velocity[:, None] * jnp.sin(angle)
        return (jnp.asarray(np.sin(np.outer(x, wavenumbers))) @ swing)[..., None]

    def equation(self, **coefficients: Any) -> Wave:
        return Wave(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 1"]:
        length, time = extents(scaling)
        return centred(coefficients["speed"] * time / length, *self.speed)[None]
