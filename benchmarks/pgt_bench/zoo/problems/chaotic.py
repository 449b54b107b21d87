"""What forgets its past: chaos in space and time, and in time alone."""

import numpy as np
import xarray as xr
from scipy.integrate import solve_ivp

from pgt.data import Domain
from pgt.physics import Equation
from pgt_bench.zoo.problem import HELD_BACK, NOISE, TUNED, Readings, ZooProblem
from pgt_bench.zoo.spectral import etdrk4, wave_numbers, without_aliases
from pgt_bench.zoo.truth import Solved

FLAME, LORENZ = Domain(x=(0, 32), t=(0, 15), periodic=("x",)), Domain(t=(0, 3))
TURBULENT = Domain(x=(0, 30), t=(0, 8), periodic=("x",))


def kuramoto(steps: int = 10) -> xr.Dataset:
    """From a smooth start, after 60 time units in which it turns chaotic."""
    grid = np.linspace(0, 32, 128, endpoint=False)
    wave = wave_numbers(128, 32.0)
    keep = without_aliases(wave)
    start = np.cos(np.pi * grid / 16) * (1 + np.sin(np.pi * grid / 16))

    def nonlinear(v):
        return -0.5j * wave * keep * np.fft.fft(np.fft.ifft(v).real ** 2)

    linear = wave**2 - wave**4
    before = etdrk4(np.fft.fft(start), linear, nonlinear, np.linspace(0, 60, 301), steps)
    times = np.linspace(0, 15, 101)
    u = np.fft.ifft(etdrk4(before[-1], linear, nonlinear, times, steps)).real
    return xr.Dataset({"u": (("t", "x"), u)}, {"t": times, "x": grid})


def lorenz() -> xr.Dataset:
    """On the attractor, three time units."""

    def rate(t, state):
        a, b, c = state
        return 10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c

    times = np.linspace(0, 3, 601)
    start = (-7.5, -3.5, 29.0)
    found = solve_ivp(rate, (0, 3), start, "DOP853", times, rtol=1e-11, atol=1e-11)
    return xr.Dataset({n: ("t", v) for n, v in zip("abc", found.y, strict=True)}, {"t": times})


def ginzburg_landau(steps: int = 8) -> xr.Dataset:
    """A_t = A + (1 + 2i) A_xx − (1 − i) |A|² A from four waves, after 20 time units."""
    grid = np.linspace(0, 30, 96, endpoint=False)
    wave = wave_numbers(96, 30.0)
    keep = without_aliases(wave)
    angle = 2 * np.pi * grid / 30
    start = 0.6 * np.exp(1j * angle) + 0.4 * np.exp(-2j * angle) + 0.3 * np.cos(3 * angle)

    def nonlinear(v):
        field = np.fft.ifft(v)
        return -(1 - 1j) * keep * np.fft.fft(np.abs(field) ** 2 * field)

    linear = 1 - (1 + 2j) * wave**2
    before = etdrk4(np.fft.fft(start), linear, nonlinear, np.linspace(0, 20, 201), steps)
    times = np.linspace(0, 8, 101)
    field = np.fft.ifft(etdrk4(before[-1], linear, nonlinear, times, steps))
    parts = {"a": field.real, "b": field.imag}
    return xr.Dataset({n: (("t", "x"), v) for n, v in parts.items()}, {"t": times, "x": grid})


PROBLEMS = (
    ZooProblem(
        "kuramoto", "chaotic", "a flame front: the equation of Kuramoto and Sivashinsky, periodic",
        Equation("u_t + u*u_x + u_xx + u_xxxx = 0"), FLAME, Solved(kuramoto), Readings(1000),
        group=TUNED,
    ),
    ZooProblem(
        "lorenz", "chaotic", "an ordinary equation: two of Lorenz's variables read, one hidden",
        Equation("a_t = 10*(b - a)", "b_t = a*(28 - c) - b", "c_t = a*b - 8/3*c"), LORENZ,
        Solved(lorenz), Readings(60, hidden=("c",)), group=HELD_BACK,
    ),
    ZooProblem(
        "ginzburg-landau", "chaotic", "a complex amplitude, periodic, noisy readings of both parts",
        Equation(
            "a_t = a + a_xx - 2*b_xx - (a^2 + b^2)*(a + b)",
            "b_t = b + b_xx + 2*a_xx - (a^2 + b^2)*(b - a)",
        ),
        TURBULENT, Solved(ginzburg_landau), Readings(1500, NOISE), group=TUNED,
    ),
)  # fmt: skip
