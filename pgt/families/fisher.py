"""What grows and spreads."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.families.dimensionless import centred, extents, sizes
from pgt.families.family import Coefficients, Range
from pgt.families.line import AbstractLine
from pgt.families.ring import Ring
from pgt.families.solved import Drawn, Noise
from pgt.families.states import MODES, smooth_period
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation


@register("fisher")
class FisherFamily(AbstractLine):
    r"""Populations on a ring that grow where they are and spread, by Fisher's equation.

    $$ \partial_t u = D\, \partial_{xx} u + r\, u\,(1 - u) $$

    At the start u = 1 / (1 + exp(1 - w)), between 0 and 1, with w the sum of the waves 1 to 8 with
    amplitudes, of cosine and sine, from N(0, 1) / (1 + (k/3)²). Computed by 256 nodes and at least 512
    steps (etdrk4.py).

    >>> FisherFamily().pde({"diffusivity": 0.01, "reaction": 5.0}).fields
    ('u',)
    """

    name: ClassVar[str] = "fisher"
    periodic: ClassVar[tuple[str, ...]] = ("x",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    diffusivity: Range = eqx.field(static=True, default=(0.001, 0.01))
    reaction: Range = eqx.field(static=True, default=(1.0, 10.0))

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"diffusivity": self.diffusivity, "reaction": self.reaction}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x t 1"]:
        ring = Ring(self.nodes, self.times)
        waves = smooth_period(noise, np.arange(ring.fine) / ring.fine)
        return evolve(ring, jax.nn.sigmoid(waves - 1), **coefficients)

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("u_t = diffusivity*u_xx + reaction*u*(1 - u)", **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        spread = centred(coefficients["diffusivity"] * time / length**2, *self.diffusivity)
        grown = centred(coefficients["reaction"] * time, *self.reaction)
        return jnp.stack([spread, grown, *sizes(scaling, 0.5)])


def evolve(ring: Ring, start: Float[Array, " n"], diffusivity, reaction) -> Float[Array, "x t 1"]:
    """The population from a state at the nodes inside."""
    law = ring.pointwise(lambda u: reaction * u * (1 - u))
    return ring.evolve(start, lambda k: -diffusivity * k**2, law)
