"""Waves of one frequency above random sources."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.families.dimensionless import centred, extents
from pgt.families.family import Coefficients, Nodes, Range
from pgt.families.poisson import USUAL, WAVES, above, source_numbers
from pgt.families.solved import Drawn, Noise
from pgt.families.square import AbstractSquare, cosine_modes
from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation

RESONANCE = 2**0.5 * np.pi  # where the square swings by itself


@register("helmholtz")
class HelmholtzFamily(AbstractSquare):
    r"""A source f and the wave u above it, with u = 0 at the edge of a square, by the Helmholtz equation.

    $$ \nabla^2 u + k^2 u = f, \qquad f \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    with f and its solution as in the family "poisson", and k = 1 unless a range below the first
    resonance, √2 π, is given: the law of the data of DiffusionPDE (Huang et al. 2024, arXiv:2406.17763),
    which sets f to zero at the nodes on the edge; the draws are our own.

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

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"wavenumber": self.wavenumber}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x y 2"]:
        return above(cosine_modes(noise), self.axes["x"], coefficients["wavenumber"] ** 2)

    def equation(self, **coefficients: Any) -> Equation:
        text = "lap(u) + wavenumber^2*u = f"
        return Equation(text, fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 5"]:
        number = centred(coefficients["wavenumber"] * extents(scaling)[0], *self.wavenumber)
        return jnp.concatenate([number[None], source_numbers(scaling, USUAL)])
