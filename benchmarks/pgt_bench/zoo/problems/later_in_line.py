"""Problems added later: along a line, or in time alone."""

import jax.numpy as jnp
import numpy as np
import xarray as xr
from scipy.integrate import solve_ivp
from scipy.optimize import root_scalar

from pgt.data import Domain
from pgt.physics import Dirichlet, Equation, Heat, Neumann, Robin, Wave
from pgt_bench.zoo.problem import LATER, NOISE, Readings, ZooProblem
from pgt_bench.zoo.spectral import etdrk4, method_of_lines, slope, wave_numbers, without_aliases
from pgt_bench.zoo.truth import Formula, Solved

ROD, BAR = Domain(x=(0, 5), t=(0, 20)), Domain(x=(0, 0.5), t=(0, 3600))
WALL = Domain(x=(0, 2), t=(0, 3600))
COOLING, AROUND, SPREAD = 6.0, 300.0, 2e-5  # of the bar: exchange, temperature beyond, diffusivity
DAMPING = 0.6


# ------------------------------------------------------------------------------- heat


def _hot_rod() -> xr.Dataset:
    """Insulated ends are mirrors: periodic over twice the length."""
    whole, times = np.linspace(0, 10, 160, endpoint=False), np.linspace(0, 20, 101)
    angle = np.pi * whole / 5
    start = 300 + 25 * np.cos(angle) - 15 * np.cos(2 * angle) + 10 * np.cos(4 * angle)

    def rate(values):
        return 0.02 * slope((1 + 0.01 * (values - 300)) * slope(values, 10.0), 10.0)

    found = method_of_lines(rate, start[None], times)[:, 0, :81]
    return xr.Dataset({"T": (("t", "x"), found)}, {"t": times, "x": whole[:81]})


def _rates(count: int) -> list[float]:
    """Wave numbers of the modes of a bar that both of its ends exchange heat."""

    def condition(b):
        return (b**2 - COOLING**2) * np.sin(b / 2) - 2 * b * COOLING * np.cos(b / 2)

    ends = 2 * np.pi * np.arange(count + 1)
    pairs = zip(ends[:-1] + 1e-9, ends[1:], strict=True)
    return [root_scalar(condition, bracket=pair, xtol=1e-14).root for pair in pairs]


def _bar(x, t):
    total = AROUND
    for b, amplitude in zip(_rates(3), (30.0, -12.0, 8.0), strict=True):
        shape = jnp.cos(b * x) + COOLING / b * jnp.sin(b * x)
        total = total + amplitude * shape * jnp.exp(-SPREAD * b**2 * t)
    return {"T": total}


def _wall(x, t):
    total = 320.0
    for n, amplitude in ((1, 25.0), (2, -15.0), (3, 8.0)):
        b = n * jnp.pi / 2
        total = total + amplitude * jnp.cos(b * x) * jnp.exp(-1.1e-4 * b**2 * t)
    return {"T": total}


# ------------------------------------------------------------------------------- waves


def _breather(x, t, a=1.0, b=0.6):
    """Of the modified equation of Korteweg and de Vries (Wadati 1973)."""
    p, q = a * (x - 12 + (a**2 - 3 * b**2) * t), b * (x - 12 + (3 * a**2 - b**2) * t)
    above = a * jnp.cos(p) * jnp.cosh(q) - b * jnp.sin(p) * jnp.sinh(q)
    return {"u": 2 * a * b * above / (a**2 * jnp.cosh(q) ** 2 + b**2 * jnp.sin(p) ** 2)}


def _long_waves() -> xr.Dataset:
    """(1 − ∂²/∂x²) u_t = −(u + u²/2)_x: a hump that falls apart into solitary waves."""
    grid, times = np.linspace(0, 60, 192, endpoint=False), np.linspace(0, 20, 101)
    wave = wave_numbers(192, 60.0)
    inverse = -1j * wave * without_aliases(wave) / (1 + wave**2)
    start = 2.0 * np.exp(-(((grid - 15) / 5) ** 2))

    def rate(u):
        return np.fft.ifft(inverse * np.fft.fft(u + u**2 / 2)).real

    found = method_of_lines(rate, start[None], times)[:, 0]
    return xr.Dataset({"u": (("t", "x"), found)}, {"t": times, "x": grid})


def _flood() -> xr.Dataset:
    """Shallow water two metres deep, waves running both ways and steepening."""
    grid, times = np.linspace(0, 100, 128, endpoint=False), np.linspace(0, 10, 101)
    angle = 2 * np.pi * grid / 100
    start = np.stack([2 + 0.2 * np.cos(angle) + 0.1 * np.sin(2 * angle), 0.3 * np.sin(angle)])

    def rate(state):
        h, u = state
        return np.stack([-slope(h * u, 100.0), -slope(u**2 / 2 + 9.81 * h, 100.0)])

    found = method_of_lines(rate, start, times)
    return xr.Dataset(
        {"h": (("t", "x"), found[:, 0]), "u": (("t", "x"), found[:, 1])}, {"t": times, "x": grid}
    )


def _carried(x, t):
    """Constant along x + 1 = s e^(0.3 t)."""
    s = (1 + x) * jnp.exp(-0.3 * t)
    return {"c": 3 * jnp.exp(-(((s - 2.5) / 0.5) ** 2)) + 2 * jnp.exp(-(((s - 4) / 0.4) ** 2))}


def _coherent(x, t, away=2.0):
    """A packet that swings in a well without spreading."""
    size = jnp.pi**-0.25 * jnp.exp(-((x - away * jnp.cos(t)) ** 2) / 2)
    phase = -t / 2 - away * x * jnp.sin(t) + away**2 * jnp.sin(2 * t) / 4
    return {"a": size * jnp.cos(phase), "b": size * jnp.sin(phase)}


def _beam(x, t):
    total = 0.0
    for n, amplitude in ((1, 4.0), (2, -2.5), (3, 1.0)):
        b = n * jnp.pi / 3
        frequency = jnp.sqrt(b**4 - DAMPING**2 / 4)
        swing = jnp.cos(frequency * t) + DAMPING / (2 * frequency) * jnp.sin(frequency * t)
        total = total + amplitude * jnp.sin(b * x) * jnp.exp(-DAMPING * t / 2) * swing
    return {"w": total}


def _string(x, t, speed=1.3):
    total = 0.0
    for n, amplitude, phase in ((1, 1.0, 0.4), (2, 0.6, 1.3), (3, -0.5, 0.0), (5, 0.2, 2.0)):
        b = n * jnp.pi / 4
        total = total + amplitude * jnp.sin(b * x) * jnp.cos(speed * b * t + phase)
    return {"u": total}


# ------------------------------------------------------------------------------- patterns


def stripes(steps: int = 10) -> xr.Dataset:
    """Swift and Hohenberg: u_t = 0.4 u − (1 + ∂²/∂x²)² u − u³."""
    grid, times = np.linspace(0, 40, 128, endpoint=False), np.linspace(0, 20, 101)
    wave = wave_numbers(128, 40.0)
    keep = without_aliases(wave)
    angle = 2 * np.pi * grid / 40
    start = 0.3 * np.cos(2 * angle) + 0.2 * np.sin(5 * angle) + 0.1 * np.cos(7 * angle + 1)

    def nonlinear(v):
        return -keep * np.fft.fft(np.fft.ifft(v).real ** 3)

    modes = etdrk4(np.fft.fft(start), 0.4 - (1 - wave**2) ** 2, nonlinear, times, steps)
    return xr.Dataset({"u": (("t", "x"), np.fft.ifft(modes).real)}, {"t": times, "x": grid})


def alloy(steps: int = 20) -> xr.Dataset:
    """Cahn and Hilliard: u_t = 0.05 (u³ − u − 0.04 u_xx)_xx."""
    grid, times = np.linspace(0, 6, 128, endpoint=False), np.linspace(0, 10, 101)
    wave = wave_numbers(128, 6.0)
    keep = without_aliases(wave)
    angle = 2 * np.pi * grid / 6
    start = 0.1 + 0.2 * np.cos(angle) + 0.15 * np.sin(2 * angle) + 0.1 * np.cos(4 * angle)

    def nonlinear(v):
        return -0.05 * wave**2 * keep * np.fft.fft(np.fft.ifft(v).real ** 3)

    linear = 0.05 * (wave**2 - 0.04 * wave**4)
    modes = etdrk4(np.fft.fft(start), linear, nonlinear, times, steps)
    return xr.Dataset({"u": (("t", "x"), np.fft.ifft(modes).real)}, {"t": times, "x": grid})


def pulses(steps: int = 4) -> xr.Dataset:
    """Gray and Scott: a spot of the catalyst b that parts in two, from the hundredth second on."""
    grid, times = np.linspace(0, 100, 160, endpoint=False), np.linspace(0, 200, 101)
    wave = wave_numbers(160, 100.0)
    spot = np.exp(-(((grid - 45) / 6) ** 2))
    start = np.fft.fft(np.stack([1 - 0.5 * spot, 0.25 * spot]))
    linear = np.stack([-0.5 * wave**2 - 0.035, -0.25 * wave**2 - 0.095])
    fed = 0.035 * len(grid) * (np.arange(len(grid)) == 0)

    def nonlinear(modes):
        a, b = np.fft.ifft(modes).real
        eaten = np.fft.fft(a * b**2)
        return np.stack([fed - eaten, eaten])

    before = etdrk4(start, linear, nonlinear, np.linspace(0, 100, 51), steps)
    found = np.fft.ifft(etdrk4(before[-1], linear, nonlinear, times, steps)).real
    return xr.Dataset(
        {"a": (("t", "x"), found[:, 0]), "b": (("t", "x"), found[:, 1])}, {"t": times, "x": grid}
    )


def _hares() -> xr.Dataset:
    """Lotka and Volterra, two cycles."""

    def rate(t, state):
        a, b = state
        return a * (1.1 - 0.4 * b), b * (0.1 * a - 0.4)

    times = np.linspace(0, 20, 1001)
    found = solve_ivp(rate, (0, 20), (8.0, 2.0), "DOP853", times, rtol=1e-11, atol=1e-11)
    return xr.Dataset({n: ("t", v) for n, v in zip("ab", found.y, strict=True)}, {"t": times})


PROBLEMS = (
    ZooProblem(
        "hot-rod", "parabolic", "a rod that conducts better where it is hotter, ends insulated",
        Equation("T_t = 0.02*diff((1 + 0.01*(T - 300))*T_x, x)"), ROD, Solved(_hot_rod),
        Readings(150), group=LATER, conditions=(Neumann("x", T=0.0),),
    ),
    ZooProblem(
        "cooled-bar", "parabolic", "a bar that loses heat through both ends",
        Heat(SPREAD, fields="T"), BAR, Formula(_bar, (101, 121)), Readings(120, NOISE), group=LATER,
        conditions=(Robin("x", coefficient=COOLING, relative=True, T=AROUND),),
    ),
    ZooProblem(
        "thermocouples", "parabolic", "six thermocouples in a wall, nothing known of its faces",
        Heat(1.1e-4, fields="T"), WALL, Formula(_wall, (101, 121)),
        Readings(240, 0.01, stations=6), group=LATER,
    ),
    ZooProblem(
        "mkdv", "dispersive", "a breather of the modified equation of Korteweg and de Vries",
        Equation("u_t + 6*u^2*u_x + u_xxx = 0"), Domain(x=(0, 16), t=(0, 4)),
        Formula(_breather, (161, 81)), Readings(250), group=LATER,
    ),
    ZooProblem(
        "long-waves", "dispersive", "a hump that parts into waves (Benjamin, Bona and Mahony)",
        Equation("u_t + u_x + u*u_x - u_xxt = 0"), Domain(x=(0, 60), t=(0, 20), periodic=("x",)),
        Solved(_long_waves), Readings(400, NOISE), group=LATER,
    ),
    ZooProblem(
        "well", "dispersive", "a quantum packet that swings in a harmonic well",
        Equation("a_t = -0.5*b_xx + 0.5*x^2*b", "b_t = 0.5*a_xx - 0.5*x^2*a"),
        Domain(x=(-6, 6), t=(0, 6)), Formula(_coherent, (121, 121)), Readings(300), group=LATER,
    ),
    ZooProblem(
        "flood", "hyperbolic", "waves on shallow water, depth read and velocity hidden",
        Equation("h_t + diff(h*u, x) = 0", "u_t + u*u_x + 9.81*h_x = 0"),
        Domain(x=(0, 100), t=(0, 10), periodic=("x",)), Solved(_flood),
        Readings(200, hidden=("u",)), group=LATER,
    ),
    ZooProblem(
        "stretched", "hyperbolic", "two clouds carried ever faster and drawn out",
        Equation("c_t + 0.3*(1 + x)*c_x = 0"), Domain(x=(0, 5), t=(0, 4)),
        Formula(_carried, (121, 101)), Readings(200), group=LATER,
    ),
    ZooProblem(
        "ringing-beam", "hyperbolic", "a beam that rings and dies down, its ends held",
        Equation("w_tt + c*w_t + w_xxxx = 0", c=DAMPING), Domain(x=(0, 3), t=(0, 4)),
        Formula(_beam, (81, 121)), Readings(200, NOISE), group=LATER,
        conditions=(Dirichlet("x", w=0.0),),
    ),
    ZooProblem(
        "half-string", "hyperbolic", "a string held at both ends, read on its left third only",
        Wave(1.3), Domain(x=(0, 4), t=(0, 6)), Formula(_string, (121, 121)),
        Readings(150, within={"x": (0.0, 1.4)}), group=LATER, conditions=(Dirichlet("x", u=0.0),),
    ),
    ZooProblem(
        "stripes", "chaotic", "stripes that form (Swift and Hohenberg), fourth order, periodic",
        Equation("u_t = -0.6*u - 2*u_xx - u_xxxx - u^3"),
        Domain(x=(0, 40), t=(0, 20), periodic=("x",)), Solved(stripes), Readings(400), group=LATER,
    ),
    ZooProblem(
        "alloy", "reaction", "an alloy that separates (Cahn and Hilliard), fourth order, periodic",
        Equation("u_t = 0.05*diff(diff(u^3 - u - 0.04*u_xx, x), x)"),
        Domain(x=(0, 6), t=(0, 10), periodic=("x",)), Solved(alloy), Readings(500, NOISE),
        group=LATER,
    ),
    ZooProblem(
        "gray-scott", "reaction", "a spot that parts in two, the catalyst read and its food hidden",
        Equation(
            "a_t = 0.5*a_xx - a*b^2 + 0.035*(1 - a)", "b_t = 0.25*b_xx + a*b^2 - 0.095*b"
        ),
        Domain(x=(0, 100), t=(0, 200), periodic=("x",)), Solved(pulses),
        Readings(600, hidden=("a",)), group=LATER,
    ),
    ZooProblem(
        "hares", "reaction", "hares counted with errors, the lynxes that eat them unseen",
        Equation("a_t = a*(1.1 - 0.4*b)", "b_t = b*(0.1*a - 0.4)"), Domain(t=(0, 20)),
        Solved(_hares), Readings(60, NOISE, hidden=("b",)), group=LATER,
    ),
)  # fmt: skip
