"""Exact solutions of equations of waves in several fields: sound and light."""

import jax
import jax.numpy as jnp

from exact_solutions.case import XYZ, ExactCase, Solution, box
from exact_solutions.scalar import travelling_wave
from pgt.physics.equations.acoustics import Acoustics
from pgt.physics.equations.maxwell import Maxwell


def sound(speed: float, density: float, dimension: int) -> Solution:
    """Of the potential ψ, a travelling and a standing wave: u = ∇ψ, p = -ρ ψ_t."""
    potential = travelling_wave(speed, dimension)

    def solution(z):
        slope = jax.grad(lambda z: potential(z)[0])(z)
        return slope.at[-1].multiply(-density)

    return solution


def cavity_mode(permittivity: float, permeability: float, conductivity: float) -> Solution:
    """A standing wave between conducting walls that a conducting medium damps.

    With S = sin kx sin ly, K² = k² + l² and G = e^(-at) sin ωt:
    Ez = S G',  Hx = -S_y G/μ,  Hy = S_x G/μ,  a = σ/2ε,  ω² = K²/εμ - a².
    """
    k, m = jnp.pi, 2 * jnp.pi
    damping = conductivity / (2 * permittivity)
    frequency = ((k**2 + m**2) / (permittivity * permeability) - damping**2) ** 0.5

    def solution(z):
        x, y, t = z
        fading = jnp.exp(-damping * t)
        swing = fading * jnp.sin(frequency * t)
        rate = fading * frequency * jnp.cos(frequency * t) - damping * swing
        hx = -m * jnp.sin(k * x) * jnp.cos(m * y) * swing / permeability
        hy = k * jnp.cos(k * x) * jnp.sin(m * y) * swing / permeability
        return jnp.stack([jnp.sin(k * x) * jnp.sin(m * y) * rate, hx, hy])

    return solution


CASES: tuple[ExactCase, ...] = (
    *(
        ExactCase(f"acoustics_{n}d", Acoustics(1.5, 1.2, n), sound(1.5, 1.2, n), box(*XYZ[:n], "t"))
        for n in (1, 3)
    ),
    ExactCase(
        "maxwell_in_a_conductor",
        Maxwell(2.0, 1.5, 0.8),
        cavity_mode(2.0, 1.5, 0.8),
        box("x", "y", "t"),
    ),
)
