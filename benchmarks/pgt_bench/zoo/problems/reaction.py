"""What reacts while it spreads: fronts, patterns and pulses."""

import jax.numpy as jnp
import numpy as np
import xarray as xr

from pgt.data import Domain
from pgt.physics import AllenCahn, Equation
from pgt_bench.zoo.problem import HELD_BACK, NOISE, TUNED, Readings, ZooProblem
from pgt_bench.zoo.spectral import etdrk4, wave_numbers, without_aliases
from pgt_bench.zoo.truth import Formula, Solved

RING = Domain(x=(-1, 1), t=(0, 1), periodic=("x",))
TORUS = Domain(x=(0, 1), y=(0, 1), t=(0, 1), periodic=("x", "y"))
NERVE = Domain(x=(0, 60), t=(0, 60), periodic=("x",))
REACTOR = Domain(x=(0, 1), t=(0, 8), periodic=("x",))


def _invasion(x, t, diffusivity=0.002, rate=4.0):
    """The front of Ablowitz and Zeppetella (1979)."""
    phase = x * (rate / diffusivity) ** 0.5 - 5 / 6**0.5 * rate * t - 4.0
    return {"u": (1 + jnp.exp(phase / 6**0.5)) ** -2}


def phases(steps: int = 10) -> xr.Dataset:
    """u_t = 0.01 u_xx + 5 (u − u³)."""
    grid, times = np.linspace(-1, 1, 128, endpoint=False), np.linspace(0, 1, 101)
    wave = wave_numbers(128, 2.0)
    keep = without_aliases(wave)
    start = 0.6 * np.sin(np.pi * grid) + 0.4 * np.cos(3 * np.pi * grid) + 0.1

    def nonlinear(v):
        return -5 * keep * np.fft.fft(np.fft.ifft(v).real ** 3)

    modes = etdrk4(np.fft.fft(start), 5 - 0.01 * wave**2, nonlinear, times, steps)
    return xr.Dataset({"u": (("t", "x"), np.fft.ifft(modes).real)}, {"t": times, "x": grid})


def domains(steps: int = 5) -> xr.Dataset:
    """The same in the plane: u_t = 0.006 ∇²u + 4 (u − u³)."""
    grid, times = np.linspace(0, 1, 64, endpoint=False), np.linspace(0, 1, 26)
    wave = wave_numbers(64, 1.0)
    keep = np.multiply.outer(without_aliases(wave), without_aliases(wave))
    x, y = 2 * np.pi * np.stack(np.meshgrid(grid, grid, indexing="ij"))
    start = 0.5 * np.sin(x) * np.cos(y) + 0.4 * np.cos(x + 2 * y) + 0.1 * np.sin(2 * x)

    def nonlinear(v):
        return -4 * keep * np.fft.fft2(np.fft.ifft2(v).real ** 3)

    linear = 4 - 0.006 * np.add.outer(wave**2, wave**2)
    modes = etdrk4(np.fft.fft2(start), linear, nonlinear, times, steps)
    return xr.Dataset(
        {"u": (("t", "x", "y"), np.fft.ifft2(modes).real)}, {"t": times, "x": grid, "y": grid}
    )


def nerve(steps: int = 4) -> xr.Dataset:
    """FitzHugh and Nagumo: two pulses of v that run into each other, w recovering behind them."""
    grid, times = np.linspace(0, 60, 192, endpoint=False), np.linspace(0, 60, 161)
    wave = wave_numbers(192, 60.0)
    start = np.stack([np.exp(-(((grid - 20) / 4) ** 2)), np.zeros_like(grid)])
    linear = np.stack([-(wave**2) - 0.1, np.full_like(wave, -0.005)])

    def nonlinear(modes):
        v = np.fft.ifft(modes[0]).real
        return np.stack([np.fft.fft(1.1 * v**2 - v**3) - modes[1], 0.01 * modes[0]])

    found = np.fft.ifft(etdrk4(np.fft.fft(start), linear, nonlinear, times, steps)).real
    return xr.Dataset(
        {"v": (("t", "x"), found[:, 0]), "w": (("t", "x"), found[:, 1])}, {"t": times, "x": grid}
    )


def brusselator(steps: int = 10) -> xr.Dataset:
    """Oscillating chemistry that spreads slowly, from an uneven start."""
    grid, times = np.linspace(0, 1, 96, endpoint=False), np.linspace(0, 8, 161)
    wave = wave_numbers(96, 1.0)
    keep = without_aliases(wave)
    angle = 2 * np.pi * grid
    start = np.stack([1 + 0.5 * np.sin(angle), 2 + 0.4 * np.cos(2 * angle)])
    linear = np.stack([-0.002 * wave**2 - 3.2, -0.001 * wave**2])

    def nonlinear(modes):
        a, b = np.fft.ifft(modes).real
        burnt = keep * np.fft.fft(a**2 * b)
        fed = len(grid) * (np.arange(len(grid)) == 0)
        return np.stack([fed + burnt, 2.2 * modes[0] - burnt])

    found = np.fft.ifft(etdrk4(np.fft.fft(start), linear, nonlinear, times, steps)).real
    return xr.Dataset(
        {"a": (("t", "x"), found[:, 0]), "b": (("t", "x"), found[:, 1])}, {"t": times, "x": grid}
    )


PROBLEMS = (
    ZooProblem(
        "fisher", "reaction", "a front that invades empty ground",
        Equation("u_t = 0.002*u_xx + 4*u*(1 - u)"), Domain(x=(0, 1), t=(0, 2)),
        Formula(_invasion, (101, 101)), Readings(60), group=TUNED,
    ),
    ZooProblem(
        "allen-cahn", "reaction", "two phases that part, periodic",
        AllenCahn(0.01, 5.0), RING, Solved(phases), Readings(200), group=HELD_BACK,
    ),
    ZooProblem(
        "allen-cahn-2d", "reaction", "two phases that part in the plane, periodic",
        Equation("u_t = 0.006*lap(u) + 4*(u - u^3)", coords=("x", "y")), TORUS, Solved(domains),
        Readings(1000, NOISE), group=TUNED,
    ),
    ZooProblem(
        "fitzhugh", "reaction", "pulses in a nerve, their recovery hidden",
        Equation("v_t = v_xx + v*(1 - v)*(v - 0.1) - w", "w_t = 0.01*v - 0.005*w"), NERVE,
        Solved(nerve), Readings(500, hidden=("w",)), group=HELD_BACK,
    ),
    ZooProblem(
        "brusselator", "reaction", "an oscillating reaction, both species read",
        Equation(
            "a_t = 0.002*a_xx + 1 - 3.2*a + a^2*b", "b_t = 0.001*b_xx + 2.2*a - a^2*b"
        ),
        REACTOR, Solved(brusselator), Readings(300), group=TUNED,
    ),
)  # fmt: skip
