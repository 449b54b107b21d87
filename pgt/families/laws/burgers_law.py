"""Burgers' equation on a ring."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.families.family import Coefficients, Range, centered, extents, field_sizes
from pgt.families.laws.line import AbstractLine, ring_field
from pgt.families.laws.pseudo_spectral import Ring
from pgt.families.laws.solved import Noise, TracedCoefficients
from pgt.nn.scaling import Scaling
from pgt.physics.equations.burgers import Burgers

WAVES = np.arange(1, 65)
# The standard deviations of cosine and sine, whose norm on the ring is 1/√2.
SPREADS = 2**0.5 * 7**2 * ((2 * np.pi * WAVES) ** 2 + 7**2) ** -1.25
TYPICAL_SPREAD = 0.2  # The spread of u in usual draws.


@register("burgers")
class BurgersFamily(AbstractLine):
    r"""Waves on a ring that steepen into fronts, by Burgers' equation.

    The initial state is a Gaussian random field with mean zero,

    $$ u_0 \sim N\!\left(0,\; 7^4\, (-\Delta + 49)^{-2.5}\right), $$

    as in the data of DiffusionPDE (Huang et al. 2024, arXiv:2406.17763, with viscosity 0.01); the draws
    are our own. The solver has 256 nodes and at least 512 steps (pseudo_spectral.py).

    >>> BurgersFamily(viscosity=(0.01, 0.01), nodes=128, times=128).axes["x"].size
    128
    """

    name: ClassVar[str] = "burgers"
    periodic: ClassVar[tuple[str, ...]] = ("x",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, WAVES.size)
    viscosity: Range = eqx.field(static=True, default=(0.005, 0.05))

    @property
    def ring(self) -> Ring:
        """The solver's grid."""
        return Ring(self.nodes, self.times)

    def coarse(self) -> "BurgersFamily":
        return _CoarseBurgersFamily(self.viscosity, nodes=self.nodes, times=self.times)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x t 1"]:
        ring = self.ring
        start = ring_field(noise, SPREADS, ring.fine)
        return ring.evolve(start, lambda k: -coefficients["viscosity"] * k**2, ring.advection)

    def equation(self, **coefficients: Any) -> Burgers:
        return Burgers(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 3"]:
        length, time = extents(scaling)
        spread = coefficients["viscosity"] * time / length**2
        return jnp.stack(
            [
                centered(spread, *self.viscosity),
                *field_sizes(scaling, TYPICAL_SPREAD, length / time),
            ]
        )


class _CoarseBurgersFamily(BurgersFamily):
    """Half of the modes and an eighth of the steps: at viscosity 0.01 an error of 1e-4 of the field in a
    sixteenth of the time."""

    @property
    def ring(self) -> Ring:
        return Ring(self.nodes, self.times, least=128, steps=64)
