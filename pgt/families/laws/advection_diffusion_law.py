"""Advection and diffusion on a ring."""

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
from pgt.physics.equations.advection_diffusion import AdvectionDiffusion


@register("advection_diffusion")
class AdvectionDiffusionFamily(AbstractLine):
    r"""Smooth waves on a ring under advection at one velocity and diffusion.

    $$ u = \sum_{k=1}^{8} \left(a_k \cos \varphi_k + b_k \sin \varphi_k\right) e^{-4 D k^2 \pi^2 t},
       \quad \varphi_k = 2 k \pi (x - v t), \quad a_k, b_k \sim N(0, 1) / (1 + (k/3)^2) $$

    >>> AdvectionDiffusionFamily().domain
    Domain(x=(0, 1), t=(0, 1), periodic=('x',))
    """

    name: ClassVar[str] = "advection_diffusion"
    periodic: ClassVar[tuple[str, ...]] = ("x",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    velocity: Range = eqx.field(static=True, default=(0.2, 2.0))
    diffusivity: Range = eqx.field(static=True, default=(0.002, 0.05))

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x t 1"]:
        x, t = self.axes.values()
        cosine, sine = amplitudes(noise)
        wavenumbers = 2 * np.pi * MODES
        at_rest, moved = np.outer(x, wavenumbers), np.outer(wavenumbers, t)
        # The angle addition theorem needs a product of matrices instead of x times t angles.
        shift = coefficients["velocity"] * moved
        even = cosine[:, None] * jnp.cos(shift) - sine[:, None] * jnp.sin(shift)
        odd = cosine[:, None] * jnp.sin(shift) + sine[:, None] * jnp.cos(shift)
        decay = jnp.exp(-coefficients["diffusivity"] * np.outer(wavenumbers**2, t))
        values = jnp.asarray(np.cos(at_rest)) @ (even * decay)
        return (values + jnp.asarray(np.sin(at_rest)) @ (odd * decay))[..., None]

    def equation(self, **coefficients: Any) -> AdvectionDiffusion:
        return AdvectionDiffusion(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 2"]:
        length, time = extents(scaling)
        carried = coefficients["velocity"] * time / length
        spread = coefficients["diffusivity"] * time / length**2
        return jnp.stack([centered(carried, *self.velocity), centered(spread, *self.diffusivity)])
