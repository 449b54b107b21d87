"""The Helmholtz equation with random sources."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.families.family import Coefficients, Nodes, Range, centered, extents
from pgt.families.laws.poisson_law import TYPICAL_RATIO, WAVES, source_and_field, source_numbers
from pgt.families.laws.solved import Noise, TracedCoefficients
from pgt.families.laws.square import AbstractSquare, cosine_modes
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation

RESONANCE = 2**0.5 * np.pi  # The lowest resonant wavenumber of the square.


@register("helmholtz")
class HelmholtzFamily(AbstractSquare):
    r"""A source f and its wave u with u = 0 at the edge of a square, by the Helmholtz equation.

    $$ \nabla^2 u + k^2 u = f, \qquad f \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    with f and its solution as in the family "poisson", and k = 1 unless a range below the first
    resonance, √2 π, is given. The law is that of the data of DiffusionPDE (Huang et al. 2024,
    arXiv:2406.17763), which set f to zero at the nodes on the edge; the draws are our own.

    >>> HelmholtzFamily().ranges
    {'wavenumber': (1.0, 1.0)}
    """

    name: ClassVar[str] = "helmholtz"
    fields: ClassVar[tuple[str, ...]] = ("f", "u")
    noise_shape: ClassVar[tuple[int, ...]] = (WAVES, WAVES)
    wavenumber: Range = eqx.field(static=True, default=(1.0, 1.0))
    nodes: Nodes = eqx.field(static=True, default=128)

    def __check_init__(self):
        if self.wavenumber[1] > 0.95 * RESONANCE:
            raise InputError(
                f"HelmholtzFamily(wavenumber={self.wavenumber}): the square resonates at "
                f"{RESONANCE:.3f}; stay 5 % below it."
            )

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y 2"]:
        return source_and_field(
            cosine_modes(noise), self.axes["x"], coefficients["wavenumber"] ** 2
        )

    def equation(self, **coefficients: Any) -> Equation:
        text = "lap(u) + wavenumber^2*u = f"
        return Equation(text, fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 5"]:
        number = centered(coefficients["wavenumber"] * extents(scaling)[0], *self.wavenumber)
        return jnp.concatenate([number[None], source_numbers(scaling, TYPICAL_RATIO)])
