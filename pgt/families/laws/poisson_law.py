"""Poisson's equation with random sources."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.families.family import Coefficients, Nodes, extents
from pgt.families.laws.solved import Noise, TracedCoefficients
from pgt.families.laws.square import (
    AbstractSquare,
    cosine_modes,
    cosines,
    sines,
    sines_of_cosines,
    squares,
    transform,
)
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation

WAVES, SINES = 128, 256
TYPICAL_RATIO = 70.0  # The spread of f divided by that of u in usual draws.


@register("poisson")
class PoissonFamily(AbstractSquare):
    r"""A source f and its field u on a square with u = 0 at the edge, by Poisson's equation.

    $$ \nabla^2 u = f, \qquad f \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    with mean zero and 128 cosines along each axis: the law of the data of DiffusionPDE (Huang et al.
    2024, arXiv:2406.17763); the draws are our own. Every cosine is a series of sines in closed form; u
    has 256 of them along each axis.

    >>> PoissonFamily().pde({}).texts
    ('lap(u) = f',)
    """

    name: ClassVar[str] = "poisson"
    fields: ClassVar[tuple[str, ...]] = ("f", "u")
    noise_shape: ClassVar[tuple[int, ...]] = (WAVES, WAVES)
    nodes: Nodes = eqx.field(static=True, default=128)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y 2"]:
        return source_and_field(cosine_modes(noise), self.axes["x"])

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("lap(u) = f", fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        return source_numbers(scaling, TYPICAL_RATIO)


def source_and_field(modes: Float[Array, "k k"], places: np.ndarray, square: float | Array = 0.0):
    """f and u of ∇²u + square u = f at all pairs of places, from the cosine coefficients of f."""
    f = transform(modes, cosines(places, len(modes)))
    sources = transform(modes, sines_of_cosines(len(modes), SINES))
    u = transform(sources / (square - jnp.asarray(squares(SINES))), sines(places, SINES))
    return jnp.stack([f, u], axis=-1)


def source_numbers(scaling: Scaling, typical: float) -> Float[Array, " 4"]:
    """The scales of a source and its field relative to each other, and the aspect ratio of the domain."""
    length, across = extents(scaling)
    (size_f, size_u), (mean_f, mean_u) = jnp.asarray(scaling.spread), jnp.asarray(scaling.mean)
    unit = typical * size_u / length**2
    return jnp.stack(
        [jnp.log(size_f / unit), mean_f / unit, mean_u / size_u, jnp.log(across / length)]
    )
