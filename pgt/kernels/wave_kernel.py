"""The kernel of waves, whose influence travels at a finite speed."""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from pgt.core.registry import register
from pgt.core.types import Point
from pgt.kernels.kernel import (
    AbstractKernel,
    Number,
    PositiveCoefficient,
    displacement_and_lag,
    floored_lag,
    has_begun,
    length,
    require_dimension,
    require_positive,
    visible_where,
)


@register("wave")
class WaveKernel(AbstractKernel):
    """The retarded Green's function of u_tt = c² ∇²u, which is zero outside the cone r ≤ cΔt.

    1D  G = 1 / 2c
    2D  G = 1 / (2πc √(c²Δt² − r²)), where the root is at least cτ
    3D  G = f(cΔt − r) / (4πc r),    f(s) = 35/(32cτ) · (1 − (s/cτ − 1)²)³ on 0 < s < 2cτ

    In 3D the exact f is a Dirac pulse. Any f(cΔt − r)/r solves the wave equation, so the pulse has the
    width that the readings resolve, and lies just behind the front so that nothing is faster than c.
    Δt is at least the time resolution τ, so that a point sees itself and its simultaneous neighbours
    within cτ; r in 1/r is at least the spatial resolution. `causal=False` adds the future cone.

    >>> import jax.numpy as jnp
    >>> kernel, resolution = WaveKernel(speed=1.0), jnp.array([0.01, 0.01])
    >>> receivers, sources = jnp.array([[0.0, 1.0]]), jnp.array([[0.9, 0.0], [1.1, 0.0]])
    >>> kernel.bias(receivers, sources, resolution).round(3)
    Array([[[-0.693,   -inf]]], dtype=float32)
    """

    speed: PositiveCoefficient
    causal: bool = eqx.field(default=True, static=True)

    def __check_init__(self):
        require_positive(self, "speed")

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        displacement, lag = displacement_and_lag(receiver, source)
        require_dimension(self, displacement.size, "(x, t), (x, y, t) or (x, y, z, t)")
        reach = self.speed * floored_lag(lag, resolution, self.causal)
        pulse = self.speed * jnp.asarray(resolution[-1])
        if displacement.size == 1:
            inside, log_profile = _profile_1d(displacement, reach)
        elif displacement.size == 2:
            inside, log_profile = _profile_2d(displacement, reach, pulse)
        else:
            inside, log_profile = _profile_3d(displacement, reach, pulse, jnp.min(resolution[:-1]))
        visible = inside & (has_begun(lag, resolution) | (not self.causal))
        return visible_where(visible, log_profile - jnp.log(self.speed))


def _profile_1d(displacement: Float[Array, "1"], reach: Number) -> tuple[Bool[Array, ""], Number]:
    """Whether the receiver is inside the cone, and log(cG) there."""
    return jnp.abs(displacement[0]) <= reach, -math.log(2) * jnp.ones_like(reach)


def _profile_2d(
    displacement: Float[Array, "2"], reach: Number, pulse: Number
) -> tuple[Bool[Array, ""], Number]:
    root_squared = reach**2 - jnp.sum(displacement**2)
    log_root = jnp.log(jnp.maximum(root_squared, pulse**2)) / 2
    return root_squared >= 0, -math.log(2 * math.pi) - log_root


def _profile_3d(
    displacement: Float[Array, "3"], reach: Number, pulse: Number, smallest: Number
) -> tuple[Bool[Array, ""], Number]:
    radius = length(displacement)
    behind_front = (reach - radius) / pulse
    # 1 − (s − 1)² is written as the product s (2 − s), which cannot round to zero inside the pulse.
    inside = (behind_front > 0) & (behind_front < 2)
    safe = jnp.where(inside, behind_front, 1.0)
    log_pulse = math.log(35 / 32) - jnp.log(pulse) + 3 * (jnp.log(safe) + jnp.log(2 - safe))
    return inside, log_pulse - math.log(4 * math.pi) - jnp.log(jnp.maximum(radius, smallest))
