"""The Kuramoto–Sivashinsky equation on a ring."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.data.domain import Domain
from pgt.families.family import Coefficients, Nodes, Range, centered, extents, field_sizes, nodes_of
from pgt.families.laws.line import MODES, smooth_state
from pgt.families.laws.pseudo_spectral import Ring
from pgt.families.laws.solved import AbstractSolved, Noise, TracedCoefficients
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation

LENGTH, DURATION = 32.0, 10.0
BURN_IN = 60.0  # The time from the initial waves to the start of the domain.
TYPICAL_SPREAD = 1.2  # The spread of u in usual draws.


@register("kuramoto_sivashinsky")
class KuramotoSivashinskyFamily(AbstractSolved):
    r"""Chaos on a ring of length 32 over 10 units of time, by the Kuramoto–Sivashinsky equation.

    $$ \partial_t u + u\, \partial_x u + \partial_{xx} u + \nu\, \partial_{xxxx} u = 0 $$

    The domain begins after a burn-in of 60 units of time from a sum of the waves 1 to 8. By then chaos
    has erased the initial state, so that no reading determines it and only a network can answer.
    The solver has 128 nodes and at least 640 steps (pseudo_spectral.py).

    >>> KuramotoSivashinskyFamily().domain
    Domain(x=(0, 32), t=(0, 10), periodic=('x',))
    """

    name: ClassVar[str] = "kuramoto_sivashinsky"
    fields: ClassVar[tuple[str, ...]] = ("u",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    unidentifiable: ClassVar[str] = (
        f"chaos erases the initial state during a burn-in of {BURN_IN:g} units of time"
    )
    hyperviscosity: Range = eqx.field(static=True, default=(0.7, 1.4))
    nodes: Nodes = eqx.field(static=True, default=64)
    times: Nodes = eqx.field(static=True, default=65)

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, LENGTH), t=(0, DURATION), periodic=("x",))

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, t=self.times)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x t 1"]:
        ring = Ring(self.nodes, self.times, length=LENGTH, duration=DURATION, least=128, steps=640)
        burn_in = Ring(ring.fine, 2, length=LENGTH, duration=BURN_IN, least=128, steps=600)
        waves = smooth_state(noise, np.arange(ring.fine) / ring.fine)
        start = evolve(burn_in, waves, **coefficients)[:, -1, 0]
        return evolve(ring, start, **coefficients)

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("u_t + u*u_x + u_xx + hyperviscosity*u_xxxx = 0", **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        growth = jnp.log(time / DURATION * (LENGTH / length) ** 2)
        damping = centered(
            coefficients["hyperviscosity"] * time / DURATION * (LENGTH / length) ** 4,
            *self.hyperviscosity,
        )
        return jnp.stack(
            [
                growth,
                damping,
                *field_sizes(scaling, TYPICAL_SPREAD * DURATION / LENGTH, length / time),
            ]
        )


def evolve(ring: Ring, start: Float[Array, " n"], hyperviscosity) -> Float[Array, "x t 1"]:
    """The field from a state at the solver's nodes."""
    return ring.evolve(start, lambda k: k**2 - hyperviscosity * k**4, ring.advection)
