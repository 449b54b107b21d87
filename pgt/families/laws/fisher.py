"""Fisher's equation on a ring."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.families.family import Coefficients, Range, centered, extents, field_sizes
from pgt.families.laws.line import MODES, AbstractLine, smooth_state
from pgt.families.laws.pseudo_spectral import Ring
from pgt.families.laws.solved import Noise, TracedCoefficients
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation


@register("fisher")
class FisherFamily(AbstractLine):
    r"""Populations on a ring that grow and diffuse, by Fisher's equation.

    $$ \partial_t u = D\, \partial_{xx} u + r\, u\,(1 - u) $$

    The initial state is u = 1 / (1 + exp(1 - w)), where w is the sum of the waves 1 to 8; the amplitudes
    of cosine and sine are from N(0, 1) / (1 + (k/3)²). The solver has 256 nodes and at least 512 steps
    (pseudo_spectral.py).

    >>> FisherFamily().pde({"diffusivity": 0.01, "reaction": 5.0}).fields
    ('u',)
    """

    name: ClassVar[str] = "fisher"
    periodic: ClassVar[tuple[str, ...]] = ("x",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    diffusivity: Range = eqx.field(static=True, default=(0.001, 0.01))
    reaction: Range = eqx.field(static=True, default=(1.0, 10.0))

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x t 1"]:
        ring = Ring(self.nodes, self.times)
        waves = smooth_state(noise, np.arange(ring.fine) / ring.fine)
        return evolve(ring, jax.nn.sigmoid(waves - 1), **coefficients)

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("u_t = diffusivity*u_xx + reaction*u*(1 - u)", **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        spread = centered(coefficients["diffusivity"] * time / length**2, *self.diffusivity)
        growth = centered(coefficients["reaction"] * time, *self.reaction)
        return jnp.stack([spread, growth, *field_sizes(scaling, 0.5)])


def evolve(ring: Ring, start: Float[Array, " n"], diffusivity, reaction) -> Float[Array, "x t 1"]:
    """The field from a state at the solver's nodes."""
    source = ring.pointwise(lambda u: reaction * u * (1 - u))
    return ring.evolve(start, lambda k: -diffusivity * k**2, source)
