"""Waves that steepen."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.families.dimensionless import centred, extents, sizes
from pgt.families.family import Coefficients, Range
from pgt.families.line import AbstractLine
from pgt.families.ring import Ring
from pgt.families.solved import Drawn, Noise
from pgt.families.states import ring_field
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.burgers import Burgers

WAVES = np.arange(1, 65)
# Of cosine and sine, whose length over the ring is 1/√2.
SPREADS = 2**0.5 * 7**2 * ((2 * np.pi * WAVES) ** 2 + 7**2) ** -1.25
USUAL = 0.2  # the spread of u


@register("burgers")
class BurgersFamily(AbstractLine):
    r"""Waves on a ring that steepen into fronts, by Burgers' equation.

    The state at the start is a Gaussian random field without a mean,

    $$ u_0 \sim N\!\left(0,\; 7^4\, (-\Delta + 49)^{-2.5}\right), $$

    the law of the data of DiffusionPDE (Huang et al. 2024, arXiv:2406.17763, whose viscosity is 0.01);
    the draws are our own. Computed by 256 Fourier modes and at least 512 steps (etdrk4.py).

    >>> BurgersFamily(viscosity=(0.01, 0.01), nodes=128, times=128).axes["x"].size
    128
    """

    name: ClassVar[str] = "burgers"
    periodic: ClassVar[tuple[str, ...]] = ("x",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, WAVES.size)
    viscosity: Range = eqx.field(static=True, default=(0.005, 0.05))

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"viscosity": self.viscosity}

    @property
    def ring(self) -> Ring:
        """What it is computed on."""
        return Ring(self.nodes, self.times)

    def rough(self) -> "BurgersFamily":
        return _Rough(self.viscosity, nodes=self.nodes, times=self.times)

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x t 1"]:
        ring = self.ring
        start = ring_field(noise, SPREADS, ring.fine)
        return ring.evolve(start, lambda k: -coefficients["viscosity"] * k**2, ring.advection)

    def equation(self, **coefficients: Any) -> Burgers:
        return Burgers(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 3"]:
        length, time = extents(scaling)
        spread = coefficients["viscosity"] * time / length**2
        return jnp.stack([centred(spread, *self.viscosity), *sizes(scaling, USUAL, length / time)])


class _Rough(BurgersFamily):
    """With half of the modes and an eighth of the steps: off by 1e-4 of the field where viscosity is
    0.01, in a sixteenth of the time."""

    @property
    def ring(self) -> Ring:
        return Ring(self.nodes, self.times, least=128, steps=64)
