"""The kernel of diffusion in a mean flow."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Point
from pgt.kernels.heat_kernel import log_heat_kernel
from pgt.kernels.kernel import (
    AbstractKernel,
    Coefficient,
    Number,
    PositiveCoefficient,
    displacement_and_lag,
    floored_lag,
    has_begun,
    nearest_image,
    require_positive,
    visible_where,
)


@register("advection_diffusion")
class AdvectionDiffusionKernel(AbstractKernel):
    """The drifting heat kernel: the Green's function of u_t + v·∇u = α ∇²u with constant velocity v.

    Γ = −|Δx − vΔt|² / (4αΔt) − d/2 · log(4παΔt),   Δt = t_receiver − t_source.

    Only the width uses a Δt of at least the time resolution τ; the drift v·Δt uses the actual lag.
    Otherwise the peak of a point's influence would be at a distance |v|τ from the point itself. For the
    same reason a future source (`causal=False`) is traced backwards along the flow, with Δt < 0 in the
    drift. On a periodic axis the flow may have gone around, so the image of a source is the one whose
    drifted position is nearest.

    >>> import jax.numpy as jnp
    >>> kernel = AdvectionDiffusionKernel(velocity=(1.0, 0.0), diffusivity=0.1)
    >>> downstream, source = jnp.array([0.5, 0.0, 0.5]), jnp.array([0.0, 0.0, 0.0])
    >>> round(kernel.log_influence(downstream, source, jnp.full(3, 0.01)).item(), 3)
    0.465
    """

    velocity: tuple[Coefficient, ...]
    diffusivity: PositiveCoefficient
    causal: bool = eqx.field(default=True, static=True)

    def __check_init__(self):
        require_positive(self, "diffusivity")
        if not isinstance(self.velocity, tuple):
            raise InputError(
                f"AdvectionDiffusionKernel(velocity={self.velocity}): write a tuple with one "
                "number per spatial axis, such as (1.0,) or (1.0, 0.0)."
            )

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        displacement, lag = displacement_and_lag(receiver, source)
        if len(self.velocity) != displacement.size:
            raise InputError(
                f"AdvectionDiffusionKernel(velocity={self.velocity}): {len(self.velocity)} "
                f"components for points with {displacement.size} spatial axes; give one per axis."
            )
        drifted = displacement - self._drift(lag)
        elapsed = floored_lag(lag, resolution, self.causal)
        log_gaussian = log_heat_kernel(drifted, elapsed, self.diffusivity)
        return visible_where(has_begun(lag, resolution) | (not self.causal), log_gaussian)

    def image(self, receiver: Point, source: Point, period: Point) -> Point:
        drift = jnp.append(self._drift(receiver[-1] - source[-1]), 0.0)
        return nearest_image(receiver, source + drift, period) - drift

    def _drift(self, lag: Number) -> Float[Array, " s"]:
        return jnp.stack([jnp.asarray(v) * lag for v in self.velocity])
