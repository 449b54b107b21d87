"""Kernels of elliptic equations, whose influence depends on the distance alone, not on time."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.core.types import Point
from pgt.kernels.kernel import (
    AbstractKernel,
    Number,
    PositiveCoefficient,
    require_dimension,
    require_positive,
    visible_where,
)

_NODES = 96  # Quadrature nodes; the relative error is at most 1e-12 for all z above 1e-8.


def log_bessel_k0(z: Number) -> Number:
    """log K₀(z) = log(2 e^{−z} ∫ exp(−2z sinh²u) du) for z > 0."""
    nodes, step = _midpoints(z)
    integral = step * jnp.sum(jnp.exp(-2 * z * jnp.sinh(nodes) ** 2))
    return math.log(2) - z + jnp.log(integral)


def log_hankel_modulus(z: Number) -> Number:
    """log |H₀(z)| = log(4/π · |∫ exp(−2z sinh²u) cosh u / √(1 + i sinh²u) du|) for z > 0."""
    nodes, step = _midpoints(z)
    q = jnp.sinh(nodes) ** 2
    modulus = jnp.hypot(1.0, q)
    weight = step * jnp.cosh(nodes) / modulus * jnp.exp(-2 * z * q)
    real = jnp.sum(weight * jnp.sqrt((modulus + 1) / 2))
    imaginary = jnp.sum(weight * q / jnp.sqrt(2 * (modulus + 1)))
    return math.log(4 / math.pi) + jnp.log(real**2 + imaginary**2) / 2


def _midpoints(z: Number) -> tuple[Float[Array, " nodes"], Number]:
    """Midpoint nodes up to where exp(−2z sinh²u) = e⁻⁴⁰, and their step; both without gradient."""
    step = jnp.arcsinh(jnp.sqrt(20 / jax.lax.stop_gradient(z))) / _NODES
    return step * (jnp.arange(_NODES) + 0.5), step


# ------------------------------------------------------------------------------- elliptic


@register("poisson")
class PoissonKernel(AbstractKernel):
    """The Green's function of −∇²u = f that vanishes at distance R = `radius` and beyond.

    1D  G = (R − r) / 2,    2D  G = log(R/r) / 2π,    3D  G = (1/r − 1/R) / 4π.

    The distance r is at least the smallest spatial resolution. With `has_time=True` the last axis is
    time and is ignored, because the equation holds at each instant.

    >>> import jax.numpy as jnp
    >>> kernel = PoissonKernel(radius=1.0)
    >>> round(kernel.log_influence(jnp.array([0.0]), jnp.array([0.5]), jnp.array([0.01])).item(), 3)
    -1.386
    """

    radius: PositiveCoefficient
    has_time: bool = eqx.field(default=False, static=True, kw_only=True)

    def __check_init__(self):
        require_positive(self, "radius")

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        space = _space(self, receiver, source)
        # With a radius below the resolution, a point must still see itself.
        floor = jnp.minimum(_min_resolution(self, resolution), self.radius / 2)
        distance = _floored_length(space, floor)
        inside = distance < self.radius
        gap = jnp.where(inside, self.radius - distance, 1.0)
        # Each form is written with the gap R − r, so that it stays positive until r = R.
        if space.size == 1:
            influence = gap / 2
        elif space.size == 2:
            influence = jnp.log1p(gap / distance) / (2 * math.pi)
        else:
            influence = gap / (4 * math.pi * self.radius * distance)
        return visible_where(inside, jnp.log(influence))


@register("screened_poisson")
class ScreenedPoissonKernel(AbstractKernel):
    """The Green's function of −∇²u + u/l² = f (modified Helmholtz), which decays over l = `length`.

    1D  G = l/2 · e^{−r/l},    2D  G = K₀(r/l) / 2π,    3D  G = e^{−r/l} / 4πr.

    The least distance and `has_time` are those of `PoissonKernel`.

    >>> import jax.numpy as jnp
    >>> kernel = ScreenedPoissonKernel(length=0.5)
    >>> round(kernel.log_influence(jnp.array([0.0]), jnp.array([0.5]), jnp.array([0.01])).item(), 3)
    -2.386
    """

    length: PositiveCoefficient
    has_time: bool = eqx.field(default=False, static=True, kw_only=True)

    def __check_init__(self):
        require_positive(self, "length")

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        space = _space(self, receiver, source)
        distance = _floored_length(space, _min_resolution(self, resolution))
        decay = distance / self.length
        if space.size == 1:
            log_influence = jnp.log(self.length / 2) - decay
        elif space.size == 2:
            log_influence = log_bessel_k0(decay) - math.log(2 * math.pi)
        else:
            log_influence = -decay - jnp.log(4 * math.pi * distance)
        return log_influence[None]


@register("helmholtz")
class HelmholtzKernel(AbstractKernel):
    """The modulus of the outgoing Green's function of −∇²u − k²u = f with k = `wavenumber`.

    1D  |G| = 1 / 2k,    2D  |G| = |H₀⁽¹⁾(kr)| / 4,    3D  |G| = 1 / 4πr.

    An attention weight cannot contain the phase e^{ikr}; the modulus is the strength of the influence.
    The least distance and `has_time` are those of `PoissonKernel`.

    >>> import jax.numpy as jnp
    >>> kernel = HelmholtzKernel(wavenumber=2.0)
    >>> round(kernel.log_influence(jnp.array([0.0]), jnp.array([0.5]), jnp.array([0.01])).item(), 3)
    -1.386
    """

    wavenumber: PositiveCoefficient
    has_time: bool = eqx.field(default=False, static=True, kw_only=True)

    def __check_init__(self):
        require_positive(self, "wavenumber")

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        space = _space(self, receiver, source)
        distance = _floored_length(space, _min_resolution(self, resolution))
        if space.size == 1:
            log_influence = -jnp.log(2 * self.wavenumber) * jnp.ones_like(distance)
        elif space.size == 2:
            log_influence = log_hankel_modulus(self.wavenumber * distance) - math.log(4)
        else:
            log_influence = -jnp.log(4 * math.pi * distance)
        return log_influence[None]


def _space(kernel, receiver: Point, source: Point) -> Float[Array, " s"]:
    """The spatial displacement, without the time axis."""
    difference = jnp.asarray(receiver) - jnp.asarray(source)
    space = difference[:-1] if kernel.has_time else difference
    require_dimension(kernel, space.size, "x, (x, y) or (x, y, z), has_time=True if t follows them")
    return space


def _min_resolution(kernel, resolution: Point) -> Number:
    return jnp.min(resolution[:-1] if kernel.has_time else resolution)


def _floored_length(space: Float[Array, " s"], floor: Number) -> Number:
    return jnp.sqrt(jnp.maximum(jnp.sum(space**2), floor**2))
