"""The Allen–Cahn equation on a ring."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.families.family import Coefficients, Range, centered, extents, field_sizes
from pgt.families.laws.line import MODES, AbstractLine, smooth_state
from pgt.families.laws.pseudo_spectral import Ring
from pgt.families.laws.solved import Noise, TracedCoefficients
from pgt.nn.scaling import Scaling
from pgt.physics.equations.allen_cahn import AllenCahn


@register("allen_cahn")
class AllenCahnFamily(AbstractLine):
    r"""Two phases on a ring that separate into regions with fronts, by the Allen–Cahn equation.

    The initial state is half the sum of the waves 1 to 8; the amplitudes of cosine and sine are from
    N(0, 1) / (1 + (k/3)²). The solver has 256 nodes and at least 512 steps (pseudo_spectral.py).

    >>> sorted(AllenCahnFamily().ranges)
    ['diffusivity', 'reaction']
    """

    name: ClassVar[str] = "allen_cahn"
    periodic: ClassVar[tuple[str, ...]] = ("x",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    diffusivity: Range = eqx.field(static=True, default=(0.002, 0.02))
    reaction: Range = eqx.field(static=True, default=(1.0, 8.0))

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x t 1"]:
        ring = Ring(self.nodes, self.times, degree=3)
        start = smooth_state(noise, np.arange(ring.fine) / ring.fine) / 2
        return evolve(ring, start, **coefficients)

    def equation(self, **coefficients: Any) -> AllenCahn:
        return AllenCahn(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        spread = centered(coefficients["diffusivity"] * time / length**2, *self.diffusivity)
        growth = centered(coefficients["reaction"] * time, *self.reaction)
        return jnp.stack([spread, growth, *field_sizes(scaling, 1.0)])


def evolve(ring: Ring, start: Float[Array, " n"], diffusivity, reaction) -> Float[Array, "x t 1"]:
    """The field from a state at the solver's nodes."""
    source = ring.pointwise(lambda u: reaction * (u - u**3))
    return ring.evolve(start, lambda k: -diffusivity * k**2, source)
