"""The heat equation on a rod."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.families.family import Coefficients, Range, centered, extents
from pgt.families.laws.line import MODES, AbstractLine, amplitudes
from pgt.families.laws.solved import Noise, TracedCoefficients
from pgt.nn.scaling import Scaling
from pgt.physics.equations.heat import Heat


@register("heat")
class HeatFamily(AbstractLine):
    r"""Rods with cold ends, by the heat equation.

    $$ u = \sum_{k=1}^{8} a_k \sin(k \pi x)\, e^{-\nu k^2 \pi^2 t}, \qquad
       a_k \sim N(0, 1) / (1 + (k/3)^2) $$

    >>> HeatFamily().pde({"diffusivity": 0.01}).diffusivity
    0.01
    """

    name: ClassVar[str] = "heat"
    periodic: ClassVar[tuple[str, ...]] = ()
    noise_shape: ClassVar[tuple[int, ...]] = (MODES.size,)
    diffusivity: Range = eqx.field(static=True, default=(0.003, 0.1))

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x t 1"]:
        x, t = self.axes.values()
        wavenumbers = MODES * np.pi
        modes = jnp.asarray(np.sin(np.outer(x, wavenumbers)))
        decay = jnp.exp(-coefficients["diffusivity"] * np.outer(wavenumbers**2, t))
        return (modes @ (amplitudes(noise)[:, None] * decay))[..., None]

    def equation(self, **coefficients: Any) -> Heat:
        return Heat(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 1"]:
        length, time = extents(scaling)
        return centered(coefficients["diffusivity"] * time / length**2, *self.diffusivity)[None]
