"""Groundwater flow through a random conductivity."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.sparse.linalg import cg
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.families.family import Coefficients, Nodes, Range, extents
from pgt.families.laws.solved import Noise, TracedCoefficients
from pgt.families.laws.square import (
    AbstractSquare,
    cosine_modes,
    cosines,
    sines,
    squares,
    transform,
)
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation

WAVES, SINES, PLACES = 24, 96, 160
MAX_ITERATIONS = (
    25  # of conjugate gradients; the residual is then below rounding in single precision.
)
TYPICAL_SPREAD = 0.03  # The spread of h in usual draws.


@register("darcy")
class DarcyFamily(AbstractSquare):
    r"""The logarithm k of a conductivity, and the head h under uniform recharge with h = 0 at the edge.

    $$ \nabla \cdot (e^k \nabla h) + q = 0, \qquad k \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    with mean zero and 24 cosines along each axis, so that k is smooth; otherwise the log-normal law of
    the data of DiffusionPDE (Huang et al. 2024, arXiv:2406.17763), where q = 1; the draws are our own.
    Galerkin's method with 96 sines along each axis is solved by conjugate gradients.

    >>> DarcyFamily().fields
    ('k', 'h')
    """

    name: ClassVar[str] = "darcy"
    fields: ClassVar[tuple[str, ...]] = ("k", "h")
    noise_shape: ClassVar[tuple[int, ...]] = (WAVES, WAVES)
    recharge: Range = eqx.field(static=True, default=(0.5, 2.0))
    nodes: Nodes = eqx.field(static=True, default=64)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y 2"]:
        modes, places = cosine_modes(noise), self.axes["x"]
        k = transform(modes, cosines(places, WAVES))
        h = coefficients["recharge"] * transform(head(modes), sines(places, SINES))
        return jnp.stack([k, h], axis=-1)

    def equation(self, **coefficients: Any) -> Equation:
        text = "div(exp(k)*grad(h)) + recharge = 0"
        return Equation(text, fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 5"]:
        length, across = extents(scaling)
        (size_k, size_h), (mean_k, mean_h) = jnp.asarray(scaling.spread), jnp.asarray(scaling.mean)
        source = coefficients["recharge"] * length**2 * TYPICAL_SPREAD / (size_h * jnp.exp(mean_k))
        aspect = jnp.log(across / length)
        return jnp.stack([jnp.log(source), jnp.log(size_k / 0.3), mean_k, mean_h / size_h, aspect])


def head(
    modes: Float[Array, "k k"], sine_waves: int = SINES, count: int = PLACES
) -> Float[Array, "{sine_waves} {sine_waves}"]:
    """The sine coefficients of h for q = 1 from the cosine coefficients of k: ∫ eᵏ ∇h·∇φ = ∫ φ for each
    sine φ.

    The integrals use the midpoint rule with `count` cells along each axis. The preconditioner is the
    solution for the constant conductivity 1, for which the sines decouple.
    """
    middles = (np.arange(count) + 0.5) / count
    conductivity = jnp.exp(transform(modes, cosines(middles, len(modes)))) / count**2
    sine = sines(middles, sine_waves)
    slope = cosines(middles, sine_waves + 1)[:, 1:] * (np.pi * jnp.arange(1, sine_waves + 1))

    def stiffness(h):
        along, across = conductivity * (slope @ h @ sine.T), conductivity * (sine @ h @ slope.T)
        return slope.T @ along @ sine + sine.T @ across @ slope

    k = np.arange(1, sine_waves + 1)
    mean = np.where(k % 2 == 1, 2 / (np.pi * k), 0.0)
    inverse = jnp.asarray(4 / squares(sine_waves))
    load = jnp.asarray(np.outer(mean, mean))
    found, _ = cg(
        stiffness, load, inverse * load, tol=1e-6, maxiter=MAX_ITERATIONS, M=lambda r: inverse * r
    )
    return found
