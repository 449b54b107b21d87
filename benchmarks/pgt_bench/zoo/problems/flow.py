"""What flows: shocks, and velocities whose pressure nobody reads."""

import jax.numpy as jnp

from pgt import datasets
from pgt.data import Domain
from pgt.physics import Burgers, Dirichlet, Equation, Initial, NavierStokes2D
from pgt_bench.zoo.problem import HELD_BACK, NOISE, TUNED, Readings, ZooProblem
from pgt_bench.zoo.truth import Formula, Solved

CHANNEL = Domain(x=(-1, 1), t=(0, 1))
HIDDEN = ("p",)


def _vortices(x, y, t, viscosity=0.05):
    decay = jnp.exp(-2 * viscosity * t)
    return {
        "u": -jnp.cos(x) * jnp.sin(y) * decay,
        "v": jnp.sin(x) * jnp.cos(y) * decay,
        "p": -(jnp.cos(2 * x) + jnp.cos(2 * y)) * decay**2 / 4,
    }


def _grid_wake(x, y, reynolds=40.0):
    """Behind a grid (Kovasznay 1948)."""
    rate = reynolds / 2 - (reynolds**2 / 4 + 4 * jnp.pi**2) ** 0.5
    swell = jnp.exp(rate * x)
    return {
        "u": 1 - swell * jnp.cos(2 * jnp.pi * y),
        "v": rate / (2 * jnp.pi) * swell * jnp.sin(2 * jnp.pi * y),
        "p": -(swell**2) / 2,
    }


def _beltrami(x, y, z, t, a=jnp.pi / 4, d=jnp.pi / 2):
    """Vorticity along velocity everywhere (Ethier and Steinman 1994)."""
    decay = jnp.exp(-(d**2) * t)
    ex, ey, ez = jnp.exp(a * x), jnp.exp(a * y), jnp.exp(a * z)
    xy, yz, zx = a * x + d * y, a * y + d * z, a * z + d * x
    squares = ex**2 + ey**2 + ez**2
    mixed = 2 * (
        jnp.sin(xy) * jnp.cos(zx) * ey * ez
        + jnp.sin(yz) * jnp.cos(xy) * ez * ex
        + jnp.sin(zx) * jnp.cos(yz) * ex * ey
    )
    return {
        "u": -a * (ex * jnp.sin(yz) + ez * jnp.cos(xy)) * decay,
        "v": -a * (ey * jnp.sin(zx) + ex * jnp.cos(yz)) * decay,
        "w": -a * (ez * jnp.sin(xy) + ey * jnp.cos(zx)) * decay,
        "p": -(a**2) / 2 * (squares + mixed) * decay**2,
    }


def _creeping(x, y):
    """y ∇φ − φ e_y with φ harmonic is free of divergence, under the pressure 2 φ_y."""
    k = 3.0
    wave, across = jnp.sin(k * x), jnp.cos(k * x)
    rise, slope = jnp.cosh(k * y) / jnp.cosh(k), jnp.sinh(k * y) / jnp.cosh(k)
    return {
        "u": y * k * across * rise,
        "v": y * k * wave * slope - wave * rise,
        "p": 2 * k * wave * slope,
    }


PROBLEMS = (
    ZooProblem(
        "burgers-shock", "flow", "a front that steepens, readings only",
        Burgers(0.02), CHANNEL, Solved(lambda: datasets.burgers(0.02, 201, 101)), Readings(200),
        group=TUNED,
    ),
    ZooProblem(
        "burgers-noise", "flow", "a smoother front, its start and its ends known",
        Burgers(0.05), CHANNEL, Solved(lambda: datasets.burgers(0.05, 101, 101)),
        Readings(150, NOISE), group=HELD_BACK,
        conditions=(Initial(u="-sin(pi*x)"), Dirichlet("x", u=0.0)),
    ),
    ZooProblem(
        "vortices", "flow", "decaying vortices, pressure hidden",
        NavierStokes2D(0.05), Domain(x=(0, 5), y=(0, 5), t=(0, 2)),
        Formula(_vortices, (41, 41, 21)), Readings(300, hidden=HIDDEN), group=TUNED,
    ),
    ZooProblem(
        "kovasznay", "flow", "a steady wake behind a grid, pressure hidden",
        Equation(
            "u*u_x + v*u_y = -p_x + n*lap(u)", "u*v_x + v*v_y = -p_y + n*lap(v)", "u_x + v_y = 0",
            n=1 / 40,
        ),
        Domain(x=(-0.5, 1), y=(-0.5, 1.5)), Formula(_grid_wake, (76, 101)),
        Readings(100, hidden=HIDDEN), group=HELD_BACK,
    ),
    ZooProblem(
        "beltrami", "flow", "three dimensions and time, pressure hidden",
        Equation(
            "u_t + u*u_x + v*u_y + w*u_z = -p_x + lap(u)",
            "v_t + u*v_x + v*v_y + w*v_z = -p_y + lap(v)",
            "w_t + u*w_x + v*w_y + w*w_z = -p_z + lap(w)",
            "u_x + v_y + w_z = 0",
        ),
        Domain(x=(-1, 1), y=(-1, 1), z=(-1, 1), t=(0, 1)), Formula(_beltrami, (15, 15, 15, 11)),
        Readings(800, hidden=HIDDEN), group=TUNED,
    ),
    ZooProblem(
        "stokes", "flow", "creeping flow, noisy velocities, pressure hidden",
        Equation("lap(u) = p_x", "lap(v) = p_y", "u_x + v_y = 0", fields=("u", "v", "p")),
        Domain(x=(0, 2), y=(0, 1)), Formula(_creeping, (81, 41)), Readings(200, NOISE, HIDDEN),
        group=HELD_BACK,
    ),
)  # fmt: skip
