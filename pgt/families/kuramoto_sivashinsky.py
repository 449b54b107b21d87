"""Flames that never rest."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.families.dimensionless import centred, extents, sizes
from pgt.families.family import Coefficients, Nodes, Range, nodes_of
from pgt.families.ring import Ring
from pgt.families.solved import AbstractSolved, Drawn, Noise
from pgt.families.states import MODES, smooth_period
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation

LENGTH, DURATION = 32.0, 10.0
BEFORE = 60.0  # how long it runs before it is looked at
USUAL = 1.2  # the spread of u


@register("kuramoto_sivashinsky")
class KuramotoSivashinskyFamily(AbstractSolved):
    r"""Chaos on a ring of length 32 over 10 units of time, by the Kuramoto–Sivashinsky equation.

    $$ \partial_t u + u\, \partial_x u + \partial_{xx} u + \nu\, \partial_{xxxx} u = 0 $$

    It is looked at after 60 units of time from a sum of the waves 1 to 8, by when it has forgotten it:
    no reading leads back to these waves, and a network answers without the law.
    Computed by 128 nodes and at least 640 steps (etdrk4.py).

    >>> KuramotoSivashinskyFamily().domain
    Domain(x=(0, 32), t=(0, 10), periodic=('x',))
    """

    name: ClassVar[str] = "kuramoto_sivashinsky"
    fields: ClassVar[tuple[str, ...]] = ("u",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, MODES.size)
    forgets: ClassVar[str] = (
        f"it is looked at after {BEFORE:g} units of time, by when chaos has forgotten how it began"
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

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"hyperviscosity": self.hyperviscosity}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x t 1"]:
        ring = Ring(self.nodes, self.times, length=LENGTH, duration=DURATION, least=128, steps=640)
        before = Ring(ring.fine, 2, length=LENGTH, duration=BEFORE, least=128, steps=600)
        waves = smooth_period(noise, np.arange(ring.fine) / ring.fine)
        start = evolve(before, waves, **coefficients)[:, -1, 0]
        return evolve(ring, start, **coefficients)

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("u_t + u*u_x + u_xx + hyperviscosity*u_xxxx = 0", **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        fed = jnp.log(time / DURATION * (LENGTH / length) ** 2)
        ended = centred(
            coefficients["hyperviscosity"] * time / DURATION * (LENGTH / length) ** 4,
            *self.hyperviscosity,
        )
        return jnp.stack([fed, ended, *sizes(scaling, USUAL * DURATION / LENGTH, length / time)])


def evolve(ring: Ring, start: Float[Array, " n"], hyperviscosity) -> Float[Array, "x t 1"]:
    """The flame from a state at the nodes inside."""
    return ring.evolve(start, lambda k: k**2 - hyperviscosity * k**4, ring.advection)
