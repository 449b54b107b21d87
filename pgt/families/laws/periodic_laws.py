"""Nonlinear laws on periodic domains (a ring or a torus), solved with Fourier modes (pseudo_spectral.py).

Every law draws a smooth random initial state from standard normals and evolves it with its equation.
"""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from pgt.core.arguments import Positive
from pgt.core.registry import register
from pgt.data.domain import Domain
from pgt.families.family import Coefficients, Nodes, Range, centered, extents, field_sizes, nodes_of
from pgt.families.laws.pseudo_spectral import Ring, Torus, torus_field
from pgt.families.laws.solved import (
    MODES,
    AbstractLine,
    AbstractSolved,
    Noise,
    TracedCoefficients,
    ring_field,
    smooth_state,
)
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation
from pgt.physics.equations.allen_cahn import AllenCahn
from pgt.physics.equations.burgers import Burgers
from pgt.physics.equations.navier_stokes import NavierStokes2D

WAVES = np.arange(1, 65)
# The standard deviations of cosine and sine, whose norm on the ring is 1/√2.
SPREADS = 2**0.5 * 7**2 * ((2 * np.pi * WAVES) ** 2 + 7**2) ** -1.25
BURGERS_SPREAD = 0.2  # The spread of u in usual draws.


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
                *field_sizes(scaling, BURGERS_SPREAD, length / time),
            ]
        )


class _CoarseBurgersFamily(BurgersFamily):
    """The same law with half of the modes and an eighth of the steps.

    At viscosity 0.01 its error is 1e-4 of the field, in a sixteenth of the time.
    """

    @property
    def ring(self) -> Ring:
        return Ring(self.nodes, self.times, least=128, steps=64)


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
        return evolve_allen_cahn(ring, start, **coefficients)

    def equation(self, **coefficients: Any) -> AllenCahn:
        return AllenCahn(**coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        spread = centered(coefficients["diffusivity"] * time / length**2, *self.diffusivity)
        growth = centered(coefficients["reaction"] * time, *self.reaction)
        return jnp.stack([spread, growth, *field_sizes(scaling, 1.0)])


def evolve_allen_cahn(
    ring: Ring, start: Float[Array, " n"], diffusivity, reaction
) -> Float[Array, "x t 1"]:
    """The field that evolves from a state at the solver's nodes."""
    source = ring.pointwise(lambda u: reaction * (u - u**3))
    return ring.evolve(start, lambda k: -diffusivity * k**2, source)


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
        return evolve_fisher(ring, jax.nn.sigmoid(waves - 1), **coefficients)

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("u_t = diffusivity*u_xx + reaction*u*(1 - u)", **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        length, time = extents(scaling)
        spread = centered(coefficients["diffusivity"] * time / length**2, *self.diffusivity)
        growth = centered(coefficients["reaction"] * time, *self.reaction)
        return jnp.stack([spread, growth, *field_sizes(scaling, 0.5)])


def evolve_fisher(
    ring: Ring, start: Float[Array, " n"], diffusivity, reaction
) -> Float[Array, "x t 1"]:
    """The field that evolves from a state at the solver's nodes."""
    source = ring.pointwise(lambda u: reaction * u * (1 - u))
    return ring.evolve(start, lambda k: -diffusivity * k**2, source)


LENGTH, DURATION = 32.0, 10.0
BURN_IN = 60.0  # The time from the initial waves to the start of the domain.
CHAOTIC_SPREAD = 1.2  # The spread of u in usual draws.


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
        start = evolve_kuramoto_sivashinsky(burn_in, waves, **coefficients)[:, -1, 0]
        return evolve_kuramoto_sivashinsky(ring, start, **coefficients)

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
                *field_sizes(scaling, CHAOTIC_SPREAD * DURATION / LENGTH, length / time),
            ]
        )


def evolve_kuramoto_sivashinsky(
    ring: Ring, start: Float[Array, " n"], hyperviscosity
) -> Float[Array, "x t 1"]:
    """The field that evolves from a state at the solver's nodes."""
    return ring.evolve(start, lambda k: k**2 - hyperviscosity * k**4, ring.advection)


POWER, SHIFT = 2.5, 7.0
# The strength of the published generator when both parts of its complex noise have variance 1.
STRENGTH = 2**0.5 * SHIFT**1.5
STEPS_PER_TIME = 10
VELOCITY_SPREAD = 0.026  # The spread of the velocity in usual draws.
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
        """The diffusion and advection lengths relative to the domain along x and y, and the size of p."""
        *lengths, time = extents(scaling)
        spread, mean = jnp.asarray(scaling.spread), jnp.asarray(scaling.mean)
        span = self.duration
        viscous = [
            centered(coefficients["viscosity"] * time / length**2 / span, *self.viscosity)
            for length in lengths
        ]
        sizes = [
            jnp.log(s * time / n / VELOCITY_SPREAD / span)
            for s, n in zip(spread, lengths, strict=False)
        ]
        means = [m * time / n / VELOCITY_SPREAD / span for m, n in zip(mean, lengths, strict=False)]
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
