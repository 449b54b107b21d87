"""What a flow carries along while it spreads."""

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
from pgt.physics.advection_diffusion import AdvectionDiffusion


@register("advection_diffusion")
class AdvectionDiffusionFamily(AbstractLine):
    r"""Smooth waves on a ring, carried along at one velocity while they spread.

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

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"velocity": self.velocity, "diffusivity": self.diffusivity}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x t 1"]:
        x, t = self.axes.values()
        cosine, sine = amplitudes(noise)
        wavenumbers = 2 * np.pi * MODES
        at_rest, moved = np.outer(x, wavenumbers), np.outer(wavenumbers, t)
        # 2kπ(x - vt) by the theorem of addition: a product of matrices, and not x times t angles.
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
        return jnp.stack([centred(carried, *self.velocity), centred(spread, *self.diffusivity)])
