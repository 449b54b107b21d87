"""What spreads: heat and tracers."""

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pgt.data import Domain
from pgt.physics import AdvectionDiffusion, Dirichlet, Equation, Heat
from pgt_bench.zoo.problem import HELD_BACK, NOISE, TUNED, Readings, ZooProblem
from pgt_bench.zoo.spectral import chebyshev
from pgt_bench.zoo.truth import Formula, Solved

SQUARE = Domain(x=(0, 1), t=(0, 1))
DIFFUSIVITY = 0.01


def _rod(modes: dict[int, float]):
    def field(x, t):
        parts = (
            a * jnp.exp(-DIFFUSIVITY * (n * jnp.pi) ** 2 * t) * jnp.sin(n * jnp.pi * x)
            for n, a in modes.items()
        )
        return {"u": sum(parts)}

    return field


def _pulse(x, t, velocity=0.5, diffusivity=0.005, width=0.05):
    variance = width**2 + 2 * diffusivity * t
    distance = x - 0.25 - velocity * t
    return {"u": width / jnp.sqrt(variance) * jnp.exp(-(distance**2) / (2 * variance))}


PLATE = {(1, 1): 1.0, (2, 1): -0.7, (1, 3): 0.5}


def _plate(x, y, t, diffusivity=0.02):
    parts = (
        a
        * jnp.exp(-diffusivity * (m**2 + n**2) * jnp.pi**2 * t)
        * jnp.sin(m * jnp.pi * x)
        * jnp.sin(n * jnp.pi * y)
        for (m, n), a in PLATE.items()
    )
    return {"u": sum(parts)}


def _graded_rod() -> xr.Dataset:
    """Modes of (k(x) φ')' = −λ φ with k = 0.02 (1 + 4x²), by Chebyshev collocation."""
    nodes, slope = chebyshev(48)
    x, slope = (nodes + 1) / 2, 2 * slope
    operator = slope @ np.diag(0.02 * (1 + 4 * x**2)) @ slope
    rates, shapes = np.linalg.eig(operator[1:-1, 1:-1])
    order = np.argsort(-np.real(rates))[:4]
    grid, times = np.linspace(0, 1, 101), np.linspace(0, 1, 101)
    u = np.zeros((len(grid), len(times)))
    for index, amplitude in zip(order, (1.0, -0.8, 0.6, 0.5), strict=True):
        values = np.concatenate([[0], np.real(shapes[:, index]), [0]])
        values = amplitude * values / np.abs(values).max() * np.sign(values[-2])
        on_grid = np.polynomial.Chebyshev.fit(nodes, values, 48, domain=[-1, 1])(2 * grid - 1)
        u += np.outer(on_grid, np.exp(np.real(rates[index]) * times))
    return xr.Dataset({"u": (("x", "t"), u)}, {"x": grid, "t": times})


PUFFS = ((0.4, 0.4, 0.12, 1.0), (0.8, 0.7, 0.08, 0.7))  # place, width and height at the start


def _plume(x, y, t, velocity=(0.8, -0.2), diffusivity=0.01):
    total = 0.0
    for a, b, width, height in PUFFS:
        variance = width**2 + 2 * diffusivity * t
        square = (x - a - velocity[0] * t) ** 2 + (y - b - velocity[1] * t) ** 2
        total = total + height * width**2 / variance * jnp.exp(-square / (2 * variance))
    return {"u": total}


PROBLEMS = (
    ZooProblem(
        "heat-modes", "parabolic", "three modes in a rod, readings only",
        Heat(DIFFUSIVITY), SQUARE, Formula(_rod({1: 0.5, 3: 0.7, 5: -0.6}), (101, 101)),
        Readings(100), group=TUNED,
    ),
    ZooProblem(
        "heat-noise", "parabolic", "three modes in a rod with cold ends",
        Heat(DIFFUSIVITY), SQUARE, Formula(_rod({1: 0.8, 2: -0.5, 4: 0.4}), (101, 101)),
        Readings(150, NOISE), group=HELD_BACK, conditions=(Dirichlet("x", u=0.0),),
    ),
    ZooProblem(
        "pulse", "parabolic", "a narrow pulse carried along",
        AdvectionDiffusion(0.5, 0.005), SQUARE, Formula(_pulse, (101, 101)),
        Readings(80), group=TUNED,
    ),
    ZooProblem(
        "heat-2d", "parabolic", "a cooling plate with cold edges",
        Heat(0.02, 2), Domain(x=(0, 1), y=(0, 1), t=(0, 1)), Formula(_plate, (41, 41, 21)),
        Readings(150), group=HELD_BACK, conditions=(Dirichlet(u=0.0),),
    ),
    ZooProblem(
        "graded-rod", "parabolic", "a rod whose conductivity grows five-fold along it",
        Equation("u_t = k*(1 + 4*x^2)*u_xx + 8*k*x*u_x", k=0.02), SQUARE, Solved(_graded_rod),
        Readings(80), group=TUNED,
    ),
    ZooProblem(
        "plume", "parabolic", "two puffs that drift and mix, many noisy readings",
        AdvectionDiffusion((0.8, -0.2), 0.01, 2), Domain(x=(0, 2), y=(0, 1), t=(0, 1)),
        Formula(_plume, (61, 31, 31)), Readings(5000, NOISE), group=HELD_BACK,
    ),
)  # fmt: skip
