"""Two phases that separate."""

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
from pgt.families.states import MODES, smooth_period
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.allen_cahn import AllenCahn


@register("allen_cahn")
class AllenCahnFamily(AbstractLine):
    r"""Two phases on a ring that separate behind fronts, by the Allen–Cahn equation.

    The state at the start is half the sum of the waves 1 to 8 with amplitudes, of cosine and sine, from
    N(0, 1) / (1 + (k/3)²). Computed by 256 nodes and at least 512 steps (etdrk4.py).

    >>> sorted(AllenCahnFamily().ranges)
    ['diffusivity', 'reaction']
    """

    name: ClassVar[str] = "allen_cahn"
    periodic: ClassVar[tuple[str, ...]] = ("x",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    diffusivity: Range = eqx.field(static=True, default=(0.002, 0.02))
    reaction: Range = eqx.field(static=True, default=(1.0, 8.0))

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"diffusivity": self.diffusivity, "reaction": self.reaction}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x t 1"]:
        ring = Ring(self.nodes, self.times, degree=3)
        start = smooth_period(noise, np.arange(ring.fine) / ring.fine) / 2
        return evolve(ring, start, **coefficients)

    def equation(self, **coefficients: Any) -> AllenCahn:
        return AllenCahn(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        spread = centred(coefficients["diffusivity"] * time / length**2, *self.diffusivity)
        grown = centred(coefficients["reaction"] * time, *self.reaction)
        return jnp.stack([spread, grown, *sizes(scaling, 1.0)])


def evolve(ring: Ring, start: Float[Array, " n"], diffusivity, reaction) -> Float[Array, "x t 1"]:
    """The phases from a state at the nodes inside."""
    law = ring.pointwise(lambda u: reaction * (u - u**3))
    return ring.evolve(start, lambda k: -diffusivity * k**2, law)
