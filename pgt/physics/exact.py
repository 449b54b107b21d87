"""Exact solutions: every equation of the zoo with a field on which its residual is zero.

Adding an equation means adding a line to `ALL_PDES`; the tests of all equations then apply to it.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.ground.types import Point
from pgt.physics.advection_diffusion import AdvectionDiffusion
from pgt.physics.allen_cahn import AllenCahn
from pgt.physics.burgers import Burgers
from pgt.physics.equation import Equation
from pgt.physics.heat import Heat
from pgt.physics.navier_stokes import NavierStokes2D
from pgt.physics.pde import AbstractPDE
from pgt.physics.poisson import Laplace, Poisson
from pgt.physics.wave import Wave

Solution = Callable[[Point], Float[Array, " c"]]


class ExactCase(NamedTuple):
    """An equation, a field that solves it, and the box where that holds."""

    name: str
    pde: AbstractPDE
    solution: Solution
    bounds: dict[str, tuple[float, float]]


def heat_mode(diffusivity: float, dimension: int) -> Solution:
    """Π sin(kᵢ π xᵢ) · exp(-α π² Σ kᵢ² t) with k = 1, 2, 3 along x, y, z."""

    def solution(z):
        k = jnp.arange(1, dimension + 1) * jnp.pi
        decay = jnp.exp(-diffusivity * jnp.sum(k**2) * z[-1])
        return jnp.prod(jnp.sin(k * z[:-1]))[None] * decay

    return solution


def burgers_shock(viscosity: float, speed: float, strength: float) -> Solution:
    """c - a tanh(a (x - c t) / 2ν): a front of height 2a that travels at speed c."""

    def solution(z):
        phase = strength * (z[0] - speed * z[1]) / (2 * viscosity)
        return (speed - strength * jnp.tanh(phase))[None]

    return solution


def advected_gaussian(velocity: tuple[float, ...], diffusivity: float) -> Solution:
    """exp(-|x - v t|² / 4D(t + 1)) / (t + 1)^(d/2): a puff released one time unit before t = 0."""

    def solution(z):
        age = z[-1] + 1
        distance = z[:-1] - jnp.asarray(velocity) * z[-1]
        size = age ** (-len(velocity) / 2)
        return (size * jnp.exp(-jnp.sum(distance**2) / (4 * diffusivity * age)))[None]

    return solution


def travelling_wave(speed: float, dimension: int) -> Solution:
    """sin(k·x - c|k| t) + Π cos(xᵢ) · cos(c √d t): one travelling and one standing wave."""

    def solution(z):
        k = jnp.arange(1, dimension + 1) * 1.0
        travelling = jnp.sin(k @ z[:-1] - speed * jnp.sqrt(jnp.sum(k**2)) * z[-1])
        standing = jnp.prod(jnp.cos(z[:-1])) * jnp.cos(speed * dimension**0.5 * z[-1])
        return (travelling + standing)[None]

    return solution


def allen_cahn_front(diffusivity: float, reaction: float) -> Solution:
    """½ - ½ tanh((√(r/D) x - 3rt/√2) / 2√2): the phase u = 1 invading the unstable u = 0."""

    def solution(z):
        phase = jnp.sqrt(reaction / diffusivity) * z[0] - 3 * reaction * z[1] / jnp.sqrt(2.0)
        return (0.5 - 0.5 * jnp.tanh(phase / jnp.sqrt(8.0)))[None]

    return solution


def taylor_green(viscosity: float, drift: tuple[float, float] = (0.0, 0.0)) -> Solution:
    """Decaying vortices, carried by a uniform flow (a, b); ξ = x - a t, η = y - b t.

    u = a - cos ξ sin η e^(-2νt),  v = b + sin ξ cos η e^(-2νt),
    p = -¼ (cos 2ξ + cos 2η) e^(-4νt).
    """

    def solution(z):
        a, b = drift
        xi, eta, decay = z[0] - a * z[2], z[1] - b * z[2], jnp.exp(-2 * viscosity * z[2])
        u = a - jnp.cos(xi) * jnp.sin(eta) * decay
        v = b + jnp.sin(xi) * jnp.cos(eta) * decay
        p = -0.25 * (jnp.cos(2 * xi) + jnp.cos(2 * eta)) * decay**2
        return jnp.stack([u, v, p])

    return solution


def _sine(z):
    """Π sin(π xᵢ), with ∇²u = -d π² u."""
    return jnp.prod(jnp.sin(jnp.pi * z))[None]


def _decaying_sine(z):
    return (jnp.sin(jnp.pi * z[0]) * jnp.exp(-z[1]))[None]


def _harmonic(z):
    """x² - y², and + xyz in space."""
    return (z[0] ** 2 - z[1] ** 2 + (jnp.prod(z) if z.size == 3 else 0.0))[None]


def _box(*axes: str, **bounds: tuple[float, float]) -> dict[str, tuple[float, float]]:
    """Unit intervals along `axes`, then others as given."""
    return dict.fromkeys(axes, (0.0, 1.0)) | bounds


_XYZ = ("x", "y", "z")

ALL_PDES = (
    *(
        ExactCase(f"heat_{n}d", Heat(0.1, n), heat_mode(0.1, n), _box(*_XYZ[:n], "t"))
        for n in (1, 2, 3)
    ),
    ExactCase(
        "heat_with_source",
        Heat(0.1, source="(0.1*pi^2 - 1)*sin(pi*x)*exp(-t)"),
        _decaying_sine,
        _box("x", "t"),
    ),
    ExactCase("burgers", Burgers(0.1), burgers_shock(0.1, 0.5, 0.8), _box("t", x=(-1.0, 1.0))),
    ExactCase(
        "advection_diffusion_1d",
        AdvectionDiffusion(0.7, 0.1),
        advected_gaussian((0.7,), 0.1),
        _box("x", "t"),
    ),
    ExactCase(
        "advection_diffusion_2d",
        AdvectionDiffusion((0.7, -0.4), 0.1, dimension=2),
        advected_gaussian((0.7, -0.4), 0.1),
        _box("x", "y", "t"),
    ),
    *(
        ExactCase(f"wave_{n}d", Wave(1.5, n), travelling_wave(1.5, n), _box(*_XYZ[:n], "t"))
        for n in (1, 2, 3)
    ),
    ExactCase("poisson_1d", Poisson("-pi^2*sin(pi*x)", 1), _sine, _box("x")),
    ExactCase("poisson_2d", Poisson("-2*pi^2*sin(pi*x)*sin(pi*y)"), _sine, _box("x", "y")),
    ExactCase("laplace_2d", Laplace(), _harmonic, _box("x", "y")),
    ExactCase("laplace_3d", Laplace(3), _harmonic, _box("x", "y", "z")),
    ExactCase(
        "allen_cahn", AllenCahn(0.01, 2.0), allen_cahn_front(0.01, 2.0), _box("t", x=(-1.0, 1.0))
    ),
    ExactCase("taylor_green", NavierStokes2D(0.05), taylor_green(0.05), _box("x", "y", "t")),
    ExactCase(
        "drifting_taylor_green",
        NavierStokes2D(0.05),
        taylor_green(0.05, (0.6, -0.3)),
        _box("x", "y", "t"),
    ),
    ExactCase(
        "equation_burgers",
        Equation("u_t + u*u_x = nu*u_xx", nu=0.1),
        burgers_shock(0.1, 0.5, 0.8),
        _box("t", x=(-1.0, 1.0)),
    ),
    ExactCase(
        "equation_navier_stokes",
        Equation(
            "u_t + u*u_x + v*u_y = -p_x + nu*lap(u)",
            "v_t + u*v_x + v*v_y = -p_y + nu*lap(v)",
            "u_x + v_y = 0",
            nu=0.05,
        ),
        taylor_green(0.05, (0.6, -0.3)),
        _box("x", "y", "t"),
    ),
)
