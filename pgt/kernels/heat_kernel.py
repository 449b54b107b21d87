"""The kernel of diffusion."""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.core.types import Point
from pgt.kernels.kernel import (
    AbstractKernel,
    Coefficient,
    Number,
    PositiveCoefficient,
    displacement_and_lag,
    floored_lag,
    has_begun,
    require_positive,
    visible_where,
)


@register("heat")
class HeatKernel(AbstractKernel):
    """The Gaussian heat kernel: the Green's function of u_t = α ∇²u in any dimension d.

    Γ = −|Δx|² / (4αΔt) − d/2 · log(4παΔt),   Δt = t_receiver − t_source,

    with Δt at least the time resolution τ, which also makes simultaneous points (and the point itself)
    visible. Future sources have no influence; `causal=False` replaces Δt by |Δt| instead, to smooth
    with future data.

    >>> import jax.numpy as jnp
    >>> here, earlier = jnp.array([0.0, 1.0]), jnp.array([0.2, 0.5])
    >>> kernel = HeatKernel(diffusivity=0.1)
    >>> round(kernel.log_influence(here, earlier, jnp.array([0.01, 0.01])).item(), 3)
    0.032
    """

    diffusivity: PositiveCoefficient
    causal: bool = eqx.field(default=True, static=True)

    def __check_init__(self):
        require_positive(self, "diffusivity")

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        displacement, lag = displacement_and_lag(receiver, source)
        elapsed = floored_lag(lag, resolution, self.causal)
        log_gaussian = log_heat_kernel(displacement, elapsed, self.diffusivity)
        return visible_where(has_begun(lag, resolution) | (not self.causal), log_gaussian)


def log_heat_kernel(
    displacement: Float[Array, " s"], elapsed: Number, diffusivity: Coefficient
) -> Number:
    """The logarithm of the heat kernel, −|Δx|² / (4αΔt) − d/2 · log(4παΔt)."""
    spread = 4 * diffusivity * elapsed
    exponent = jnp.sum(displacement**2) / spread
    return -exponent - displacement.size / 2 * jnp.log(math.pi * spread)
