"""Exact solutions of equations of one field: heat, fronts, waves, and fields at rest."""

import jax.numpy as jnp

from exact_solutions.case import XYZ, ExactCase, Solution, box
from pgt.physics.equations.advection_diffusion import AdvectionDiffusion
from pgt.physics.equations.allen_cahn import AllenCahn
from pgt.physics.equations.burgers import Burgers
from pgt.physics.equations.heat import Heat
from pgt.physics.equations.helmholtz import Helmholtz
from pgt.physics.equations.poisson import Laplace, Poisson
from pgt.physics.equations.wave import Wave


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


def plane_waves(wavenumber: float, dimension: int) -> Solution:
    """sin(k·x) + cos(q·x) with two directions of one wavenumber."""

    def solution(z):
        k, q = jnp.arange(1.0, dimension + 1), jnp.arange(dimension, 0.0, -1)
        scale = wavenumber / jnp.sqrt(jnp.sum(k**2))
        return (jnp.sin(scale * k @ z) + jnp.cos(scale * q @ z))[None]

    return solution


def _sine(z):
    """Π sin(π xᵢ), with ∇²u = -d π² u."""
    return jnp.prod(jnp.sin(jnp.pi * z))[None]


def _decaying_sine(z):
    return (jnp.sin(jnp.pi * z[0]) * jnp.exp(-z[1]))[None]


def _harmonic(z):
    """x² - y², and + xyz in space."""
    return (z[0] ** 2 - z[1] ** 2 + (jnp.prod(z) if z.size == 3 else 0.0))[None]


CASES: tuple[ExactCase, ...] = (
    *(
        ExactCase(f"heat_{n}d", Heat(0.1, n), heat_mode(0.1, n), box(*XYZ[:n], "t"))
        for n in (1, 2, 3)
    ),
    ExactCase(
        "heat_with_source",
        Heat(0.1, source="(0.1*pi^2 - 1)*sin(pi*x)*exp(-t)"),
        _decaying_sine,
        box("x", "t"),
    ),
    ExactCase("burgers", Burgers(0.1), burgers_shock(0.1, 0.5, 0.8), box("t", x=(-1.0, 1.0))),
    ExactCase(
        "advection_diffusion_1d",
        AdvectionDiffusion(0.7, 0.1),
        advected_gaussian((0.7,), 0.1),
        box("x", "t"),
    ),
    ExactCase(
        "advection_diffusion_2d",
        AdvectionDiffusion((0.7, -0.4), 0.1, dimension=2),
        advected_gaussian((0.7, -0.4), 0.1),
        box("x", "y", "t"),
    ),
    *(
        ExactCase(f"wave_{n}d", Wave(1.5, n), travelling_wave(1.5, n), box(*XYZ[:n], "t"))
        for n in (1, 2, 3)
    ),
    ExactCase("poisson_2d", Poisson("-2*pi^2*sin(pi*x)*sin(pi*y)"), _sine, box("x", "y")),
    ExactCase("laplace_3d", Laplace(3), _harmonic, box("x", "y", "z")),
    ExactCase("helmholtz_3d", Helmholtz(2.5, 3), plane_waves(2.5, 3), box("x", "y", "z")),
    ExactCase(
        "allen_cahn", AllenCahn(0.01, 2.0), allen_cahn_front(0.01, 2.0), box("t", x=(-1.0, 1.0))
    ),
)
