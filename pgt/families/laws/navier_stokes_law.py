"""The Navier–Stokes equations on a torus."""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from pgt.core.arguments import Positive
from pgt.core.registry import register
from pgt.data.domain import Domain
from pgt.families.family import Coefficients, Nodes, Range, centered, extents, nodes_of
from pgt.families.laws.pseudo_spectral import Torus, torus_field
from pgt.families.laws.solved import AbstractSolved, Noise, TracedCoefficients
from pgt.nn.scaling import Scaling
from pgt.physics.equations.navier_stokes import NavierStokes2D

POWER, SHIFT = 2.5, 7.0
# The strength of the published generator when both parts of its complex noise have variance 1.
STRENGTH = 2**0.5 * SHIFT**1.5
STEPS_PER_TIME = 10
TYPICAL_SPREAD = 0.026  # The spread of the velocity in usual draws.
# The forces (f, -f) whose curl is 0.1 (sin 2π(x + y) + cos 2π(x + y)).
FORCE = "0.1/(4*pi)*(cos(2*pi*(x + y)) - sin(2*pi*(x + y)))"


@register("navier_stokes_2d")
class NavierStokesFamily(AbstractSolved):
    r"""Flows on a torus under a steady force, by the Navier–Stokes equations.

    The initial vorticity is a Gaussian random field with mean zero, and the curl of the force is q:

    $$ \omega_0 \sim N\!\left(0,\; 2 \cdot 7^3\, (-\Delta + 49)^{-2.5}\right), \qquad
       q = 0.1\, (\sin 2\pi(x + y) + \cos 2\pi(x + y)), $$

    the law of the data of DiffusionPDE (Huang et al. 2024, arXiv:2406.17763; there ν = 0.001, on 128²
    nodes over one unit of time, and the field is the vorticity); the draws are our own, with waves up
    to 42. The fields are the velocity and the pressure, which has mean zero. The flow crosses a fortieth
    of the square in one unit of time. The solver has at least 128² nodes and 10 steps per unit of time
    (pseudo_spectral.py).

    >>> NavierStokesFamily(viscosity=(1e-3, 1e-3), nodes=128).fields
    ('u', 'v', 'p')
    """

    name: ClassVar[str] = "navier_stokes_2d"
    fields: ClassVar[tuple[str, ...]] = ("u", "v", "p")
    noise_shape: ClassVar[tuple[int, ...]] = (128, 128)
    viscosity: Range = eqx.field(static=True, default=(5e-4, 5e-3))
    nodes: Nodes = eqx.field(static=True, default=64)
    times: Nodes = eqx.field(static=True, default=11)
    duration: Positive = eqx.field(static=True, default=1.0)

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, 1), y=(0, 1), t=(0, self.duration), periodic=("x", "y"))

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, y=self.nodes, t=self.times)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y t 3"]:
        return Torus(self.nodes).flow(self._evolved(noise, coefficients))

    def _evolved(self, noise: Noise, coefficients: Coefficients) -> Complex[Array, "t k l"]:
        torus, steps = Torus(self.nodes), math.ceil(STEPS_PER_TIME * self.duration)
        start, nu = vorticity(noise, torus), jnp.asarray(coefficients["viscosity"])
        return torus.evolve(start, nu, torque(torus), self.times, self.duration, steps)

    def equation(self, **coefficients: Any) -> NavierStokes2D:
        return NavierStokes2D(**coefficients, source=(FORCE, "-" + FORCE))

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " k"]:
        """Diffusion and advection lengths relative to the domain along x and y, and the size of p."""
        *lengths, time = extents(scaling)
        spread, mean = jnp.asarray(scaling.spread), jnp.asarray(scaling.mean)
        span = self.duration
        viscous = [
            centered(coefficients["viscosity"] * time / length**2 / span, *self.viscosity)
            for length in lengths
        ]
        sizes = [
            jnp.log(s * time / n / TYPICAL_SPREAD / span)
            for s, n in zip(spread, lengths, strict=False)
        ]
        means = [m * time / n / TYPICAL_SPREAD / span for m, n in zip(mean, lengths, strict=False)]
        pressure = jnp.log(spread[2] / (spread[0] ** 2 + spread[1] ** 2))
        return jnp.stack([*viscous, *sizes, *means, pressure])


def vorticity(noise: Noise, torus: Torus) -> Float[Array, "n n"]:
    """The initial vorticity at the solver's nodes."""
    return STRENGTH * torus_field(noise, torus, POWER, SHIFT)


def torque(torus: Torus) -> Float[np.ndarray, "n n"]:
    """The curl of the forces at the solver's nodes."""
    places = 2 * np.pi * np.arange(torus.fine) / torus.fine
    angle = places[:, None] + places
    return 0.1 * (np.sin(angle) + np.cos(angle))
