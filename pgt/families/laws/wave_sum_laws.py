"""Linear laws whose solutions are finite sums of waves in closed form: heat, advection–diffusion, waves.

The amplitudes are independent normals with decreasing standard deviations, so that fields are smooth.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.data.domain import Domain
from pgt.families.family import Coefficients, Nodes, Range, centered, extents, nodes_of
from pgt.families.laws.solved import (
    MODES,
    AbstractLine,
    AbstractSolved,
    Noise,
    TracedCoefficients,
    amplitudes,
)
from pgt.nn.scaling import Scaling
from pgt.physics.equations.advection_diffusion import AdvectionDiffusion
from pgt.physics.equations.heat import Heat
from pgt.physics.equations.wave import Wave


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


MODES_2D = np.arange(1, 6)
SQUARES_2D = MODES_2D[:, None] ** 2 + MODES_2D**2


@register("wave")
class WaveFamily(AbstractLine):
    r"""Strings with fixed ends, a random initial displacement and a random initial velocity.

    $$ u = \sum_{k=1}^{8} \sin(k \pi x) \left(a_k \cos k \pi c t + b_k \sin k \pi c t\right),
       \qquad a_k, b_k \sim N(0, 1) / (1 + (k/3)^2) $$

    >>> WaveFamily().ranges
    {'speed': (0.5, 2.0)}
    """

    name: ClassVar[str] = "wave"
    periodic: ClassVar[tuple[str, ...]] = ()
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    speed: Range = eqx.field(static=True, default=(0.5, 2.0))

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x t 1"]:
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
        return centered(coefficients["speed"] * time / length, *self.speed)[None]


@register("wave_2d")
class Wave2DFamily(AbstractSolved):
    r"""Square membranes with fixed edges, a random initial displacement and a random initial velocity.

    $$ u = \sum_{j,k=1}^{5} \sin(j \pi x) \sin(k \pi y)
           \left(a_{jk} \cos \omega_{jk} t + b_{jk} \sin \omega_{jk} t\right), \qquad
       \omega_{jk} = \pi c \sqrt{j^2 + k^2} $$

    with a and b from N(0, 1) / (1 + (j² + k²)/9).

    >>> Wave2DFamily().domain.axes
    ('x', 'y', 't')
    """

    name: ClassVar[str] = "wave_2d"
    fields: ClassVar[tuple[str, ...]] = ("u",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, *SQUARES_2D.shape)
    speed: Range = eqx.field(static=True, default=(0.3, 1.2))
    nodes: Nodes = eqx.field(static=True, default=32)
    times: Nodes = eqx.field(static=True, default=33)

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, 1), y=(0, 1), t=(0, 1))

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, y=self.nodes, t=self.times)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y t 1"]:
        x, _, t = self.axes.values()
        drawn = noise / jnp.asarray(1 + SQUARES_2D / 9)
        displacement, velocity = drawn[..., None]
        angle = coefficients["speed"] * (np.pi * np.sqrt(SQUARES_2D)[..., None] * t)
        swing = displacement * jnp.cos(angle) + velocity * jnp.sin(angle)
        modes = jnp.asarray(np.sin(np.pi * np.outer(x, MODES_2D)))
        return jnp.einsum("xj,yk,jkt->xyt", modes, modes, swing)[..., None]

    def equation(self, **coefficients: Any) -> Wave:
        return Wave(**coefficients, dimension=2)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 2"]:
        *lengths, time = extents(scaling)
        return jnp.stack(
            [centered(coefficients["speed"] * time / length, *self.speed) for length in lengths]
        )
