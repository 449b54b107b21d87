"""Fields at rest above random sources."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.families.dimensionless import extents
from pgt.families.family import Coefficients, Nodes
from pgt.families.solved import Drawn, Noise
from pgt.families.square import (
    AbstractSquare,
    cosine_modes,
    cosines,
    over,
    sines,
    sines_of_cosines,
    squares,
)
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation

WAVES, SINES = 128, 256
USUAL = 70.0  # the spread of f over that of u


@register("poisson")
class PoissonFamily(AbstractSquare):
    r"""A source f and the field u above it on a square with u = 0 at the edge, by Poisson's equation.

    $$ \nabla^2 u = f, \qquad f \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    without a mean and with 128 cosines along each axis: the law of the data of DiffusionPDE (Huang et al.
    2024, arXiv:2406.17763); the draws are our own. Every cosine is a series of sines in closed form, of
    which u has 256 along each axis.

    >>> PoissonFamily().pde({}).texts
    ('lap(u) = f',)
    """

    name: ClassVar[str] = "poisson"
    fields: ClassVar[tuple[str, ...]] = ("f", "u")
    noise_shape: ClassVar[tuple[int, ...]] = (WAVES, WAVES)
    nodes: Nodes = eqx.field(static=True, default=128)

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x y 2"]:
        return above(cosine_modes(noise), self.axes["x"])

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("lap(u) = f", fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        return source_numbers(scaling, USUAL)


def above(modes: Float[Array, "k k"], places: np.ndarray, square: float | Array = 0.0):
    """f and u of ∇²u + square u = f at all pairs of places, from the cosines of f."""
    f = over(modes, cosines(places, len(modes)))
    sources = over(modes, sines_of_cosines(len(modes), SINES))
    u = over(sources / (square - jnp.asarray(squares(SINES))), sines(places, SINES))
    return jnp.stack([f, u], axis=-1)


def source_numbers(scaling: Scaling, usual: float) -> Float[Array, " 4"]:
    """How a source and a field are scaled against each other, and the form of the domain."""
    length, across = extents(scaling)
    (size_f, size_u), (mean_f, mean_u) = jnp.asarray(scaling.spread), jnp.asarray(scaling.mean)
    unit = usual * size_u / length**2
    return jnp.stack(
        [jnp.log(size_f / unit), mean_f / unit, mean_u / size_u, jnp.log(across / length)]
    )
