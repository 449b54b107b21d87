"""Nonlinear equations on a line, and ordinary ones, solved with exponential or eighth-order time steps.

All are solved without units: ξ in lengths, τ from 0 to 1, fields of size 1; the truth has them again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import xarray as xr
from jaxtyping import Complex, Float, Inexact
from scipy.integrate import solve_ivp

from pgt.data import Domain
from pgt.physics import Burgers, Equation, Initial
from pgt_bench.generator.draws import Draw, State, line, state, walls
from pgt_bench.generator.problem import Case
from pgt_bench.zoo.spectral import etdrk4, wave_numbers, without_aliases
from pgt_bench.zoo.truth import Solved

POINTS = 256  # of space in a length
TIMES = 101  # of the truth
STEPS = 2000  # of time in a duration, where nothing is known to allow fewer
INSTANTS = 801  # of the truth of an ordinary equation
TOLERANCE = 1e-11  # of the steps of an ordinary equation

Modes = Complex[np.ndarray, "c m"]


@dataclass(frozen=True, eq=False)
class Evolution:
    """v' = linear v + nonlinear(v) for the Fourier modes of c fields along a periodic line.

    Attributes
    ----------
    period : of the line, in lengths; the truth shows one length of it.
    before : how long it ran before the first moment of the truth.
    steps : of time in a duration.
    """

    fields: tuple[str, ...]
    start: Modes
    linear: Inexact[np.ndarray, "c m"]
    nonlinear: Callable[[Modes], Modes]
    period: float
    before: float = 0.0
    steps: int = STEPS

    def at(self, times: Float[np.ndarray, " k"], finer: int = 1) -> Complex[np.ndarray, "k c m"]:
        """The modes at evenly spaced moments, with so many times the steps."""
        begin, steps = self.before + float(times[0]), finer * self.steps
        modes = self.start
        if begin > 0:
            count = int(np.ceil(steps * begin))
            modes = etdrk4(modes, self.linear, self.nonlinear, np.array([0.0, begin]), count)[-1]
        count = int(np.ceil(steps * (times[1] - times[0])))
        return etdrk4(modes, self.linear, self.nonlinear, times, count)


@dataclass(frozen=True, eq=False)
class EvolvedTruth(Solved):
    """An evolution in the units of a draw."""

    evolution: Evolution = field(kw_only=True)
    draw: Draw = field(kw_only=True)
    sizes: tuple[float, ...] = field(kw_only=True)


def _truth(
    draw: Draw, evolution: Evolution, domain: Domain, sizes: tuple[float, ...]
) -> EvolvedTruth:
    def solve() -> xr.Dataset:
        times = np.linspace(0, 1, TIMES)
        values = np.fft.ifft(evolution.at(times)).real
        count = round(values.shape[-1] / evolution.period)  # of a length
        shown = slice(None) if evolution.period == 1 else slice(count + 1)
        place = (np.arange(values.shape[-1])[shown] / count + draw.origin) * draw.length
        every = slice(None, None, 2)  # half as many points judge as were solved with
        found = {
            name: (("t", "x"), size * values[:, column, shown][:, every])
            for column, (name, size) in enumerate(zip(evolution.fields, sizes, strict=True))
        }
        return xr.Dataset(found, {"t": times * draw.duration, "x": place[every]})

    return EvolvedTruth(solve, evolution=evolution, draw=draw, sizes=sizes)


def _line_of(start: State) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, " m"], np.ndarray]:
    """Values of a state on its whole period, wave numbers in 1/length, and the modes to keep."""
    count = round(POINTS * start.period)
    wave = wave_numbers(count, start.period)
    values = start.values(np.arange(count) / count * start.period)
    return values, wave, without_aliases(wave)


def _case(
    draw: Draw,
    start: State,
    about: str,
    pde,
    evolution: Evolution,
    initial=None,
    scale: float = 1.0,
) -> Case:
    """`initial` gives the first field at places in lengths."""
    domain, sizes = line(draw, start), (draw.size * scale,) * len(evolution.fields)
    first = evolution.fields[0]
    known = () if initial is None else (
        Initial(**{first: lambda x: sizes[0] * initial(draw.unit(x))}),
    )  # fmt: skip
    levels = dict.fromkeys(evolution.fields, 0.0)
    return Case(f"{about}, {start.in_words}", pde, domain, _truth(draw, evolution, domain, sizes),
                walls(start, levels), known, tuple(evolution.fields[1:]))  # fmt: skip


def _one(start: State, values, linear, nonlinear) -> Evolution:
    return Evolution(("u",), np.fft.fft(values)[None], linear[None], nonlinear, start.period)


# ------------------------------------------------------------------------------- what is carried


def burgers(draw: Draw) -> Case:
    """Velocities in lengths per duration: fronts form where it is less than 1, and cross."""
    start = state(draw, ("held", "periodic", "open"), modes=20)
    speed, reynolds = draw.between(0.3, 1), draw.decades(8, 60)
    values, wave, keep = _line_of(start)
    viscosity = speed / reynolds

    def nonlinear(v):
        return -0.5j * speed * wave * keep * np.fft.fft(np.fft.ifft(v).real ** 2)

    per = draw.length / draw.duration
    scaled = speed * per / draw.size
    pde = Burgers(viscosity * draw.length * per)
    evolution = _one(start, values, -viscosity * wave**2, nonlinear)
    about = f"a front that steepens (Burgers), Reynolds number {reynolds:.0f}"
    return _case(draw, start, about, pde, evolution, start.at, scaled)


def korteweg(draw: Draw) -> Case:
    start = state(draw, ("periodic", "open"), ("smooth",), modes=3)
    speed, width = draw.between(1, 3), draw.between(0.05, 0.1)
    values, wave, keep = _line_of(start)
    dispersion = speed * width**2 / 12

    def nonlinear(v):
        return -0.5j * speed * wave * keep * np.fft.fft(np.fft.ifft(v).real ** 2)

    per = draw.length / draw.duration
    pde = Equation(
        "u_t + a*u*u_x + b*u_xxx = 0",
        a=speed * per / draw.size,
        b=dispersion * draw.length**2 * per,
    )
    evolution = _one(start, values, 1j * dispersion * wave**3, nonlinear)
    return _case(draw, start, "waves that part (Korteweg and de Vries)", pde, evolution, start.at)


def kuramoto(draw: Draw) -> Case:
    """Chaotic: after 60 units of its own time, of which some pass while it is read."""
    start = state(draw, ("periodic", "held"), ("smooth",))
    across, passing = draw.between(14, 32), draw.between(3, 10)
    values, wave, keep = _line_of(start)
    a, b, d = passing / across, passing / across**2, passing / across**4

    def nonlinear(v):
        return -0.5j * a * wave * keep * np.fft.fft(np.fft.ifft(v).real ** 2)

    linear = keep * (b * wave**2 - d * wave**4)
    evolution = Evolution(("u",), np.fft.fft(values)[None], linear[None], nonlinear, start.period,
                          60 / passing, round(60 * passing))  # fmt: skip
    per = draw.length / draw.duration
    pde = Equation(
        "u_t + a*u*u_x + b*u_xx + d*u_xxxx = 0",
        a=a * per / draw.size, b=b * draw.length * per, d=d * draw.length**3 * per,
    )  # fmt: skip
    return _case(
        draw, start, f"a flame front (Kuramoto and Sivashinsky), {across:.0f} wide", pde, evolution
    )


# ------------------------------------------------------------------------------- what reacts


def fisher(draw: Draw) -> Case:
    start = state(draw, ("insulated", "periodic", "open"))
    growth, spread = draw.between(2, 8), draw.decades(3e-4, 0.01)
    values, wave, keep = _line_of(start)

    def nonlinear(v):
        return -growth * keep * np.fft.fft(np.fft.ifft(v).real ** 2)

    evolution = _one(start, 0.5 + 0.4 * values, growth - spread * wave**2, nonlinear)
    pde = Equation(
        "u_t = D*u_xx + r*u*(1 - u/K)",
        D=spread * draw.length**2 / draw.duration, r=growth / draw.duration, K=draw.size,
    )  # fmt: skip
    about = "a population that spreads (Fisher)"
    return _case(draw, start, about, pde, evolution, lambda place: 0.5 + 0.4 * start.at(place))


def allen_cahn(draw: Draw) -> Case:
    start = state(draw)
    rate, width = draw.between(3, 10), draw.decades(0.03, 0.1)
    values, wave, keep = _line_of(start)
    spread = rate * width**2 / 2

    def nonlinear(v):
        return -rate * keep * np.fft.fft(np.fft.ifft(v).real ** 3)

    evolution = _one(start, 0.9 * values, rate - spread * wave**2, nonlinear)
    pde = Equation(
        "u_t = D*u_xx + r*(u - u^3/K^2)",
        D=spread * draw.length**2 / draw.duration, r=rate / draw.duration, K=draw.size,
    )  # fmt: skip
    about = "two phases (Allen and Cahn)"
    return _case(draw, start, about, pde, evolution, lambda place: 0.9 * start.at(place))


def porous(draw: Draw) -> Case:
    """Diffusion that grows with the field; the steps are exact for the largest diffusivity."""
    start = state(draw, ("insulated", "periodic", "open"))
    power, spread = draw.choice((1, 2)), draw.decades(0.002, 0.03)
    values, wave, keep = _line_of(start)
    most = spread * 1.8**power

    def nonlinear(v):
        raised = np.fft.fft(np.fft.ifft(v).real ** (power + 1)) / (power + 1)
        return keep * (-spread * wave**2 * raised + most * wave**2 * v)

    evolution = _one(start, 1 + 0.8 * values, -most * wave**2, nonlinear)
    diffusivity = spread * draw.length**2 / draw.duration
    pde = Equation(f"u_t = diff(k*(u/K)^{power}*u_x, x)", k=diffusivity, K=draw.size)
    about = "gas in a porous medium"
    return _case(draw, start, about, pde, evolution, lambda place: 1 + 0.8 * start.at(place))


def fitzhugh(draw: Draw) -> Case:
    """An exciter that spreads and an inhibitor that does not, which may be hidden."""
    start = state(draw, ("insulated", "periodic", "open"), ("smooth", "sharp"))
    rate, slow, spread = draw.between(4, 10), draw.between(0.5, 3), draw.decades(5e-4, 0.005)
    values, wave, keep = _line_of(start)

    def nonlinear(v):
        a, b = np.fft.ifft(v).real
        return np.stack([-rate * keep * np.fft.fft(a**3 + b), slow * v[0]])

    begin = np.fft.fft(np.stack([values, np.zeros_like(values)]))
    linear = np.stack([rate - spread * wave**2, np.full_like(wave, -0.5 * slow)])
    evolution = Evolution(("a", "b"), begin, linear, nonlinear, start.period)
    pde = Equation(
        "a_t = D*a_xx + r*(a - a^3/K^2 - b)", "b_t = e*(a - b/2)", fields=("a", "b"),
        D=spread * draw.length**2 / draw.duration, r=rate / draw.duration,
        e=slow / draw.duration, K=draw.size,
    )  # fmt: skip
    case = _case(draw, start, "a nerve (FitzHugh and Nagumo)", pde, evolution, start.at)
    # The inhibitor does not spread, and nothing is told of its ends.
    ends = walls(start, {"a": 0.0})
    return Case(case.about, pde, case.domain, case.truth, ends, case.initial, case.may_hide)


# ------------------------------------------------------------------------------- in time alone


@dataclass(frozen=True, eq=False)
class Trajectory(Solved):
    """A solution of y' = rate(y) in the units of a draw; `solution` gives (c, k) at k moments, without
    units."""

    solution: Callable = field(kw_only=True)
    draw: Draw = field(kw_only=True)
    sizes: tuple[float, ...] = field(kw_only=True)


def _trajectory(draw: Draw, about: str, pde, rate, start, sizes, first=(), may_hide=()) -> Case:
    """`sizes` are the units of the equation's fields, which come first in y; `first` is what else is
    known of the start."""
    fields = pde.fields
    found = solve_ivp(
        lambda t, y: rate(*y), (0, 1), start, "DOP853", dense_output=True, rtol=TOLERANCE, atol=TOLERANCE
    ).sol  # fmt: skip

    def solution(times):
        return found(times)[: len(fields)]

    def solve() -> xr.Dataset:
        times = np.linspace(0, 1, INSTANTS)
        values = np.asarray(sizes)[:, None] * solution(times)
        pairs = zip(fields, values, strict=True)
        return xr.Dataset({n: ("t", v) for n, v in pairs}, {"t": times * draw.duration})

    truth = Trajectory(solve, solution=solution, draw=draw, sizes=tuple(sizes))
    begin = {n: size * y for n, size, y in zip(fields, sizes, start, strict=False)} | dict(first)
    return Case(about, pde, draw.domain(), truth, (), (Initial(**begin),), may_hide)


def prey(draw: Draw) -> Case:
    """Lotka and Volterra, one to three cycles."""
    fast, slow = draw.between(8, 18), draw.between(5, 12)
    start = draw.between(0.4, 2), draw.between(0.4, 1.6)

    def rate(a, b):
        return fast * a * (1 - b), slow * b * (a - 1)

    pde = Equation("a_t = r*a*(1 - b/K)", "b_t = s*b*(a/K - 1)", fields=("a", "b"),
                   r=fast / draw.duration, s=slow / draw.duration, K=draw.size)  # fmt: skip
    sizes = (draw.size,) * 2
    return _trajectory(draw, "prey and predators", pde, rate, start, sizes, may_hide=("b",))


def epidemic(draw: Draw) -> Case:
    """Those who can be infected, and those who are."""
    meet, heal = draw.between(12, 25), draw.between(4, 8)
    start = 0.99, 0.01

    def rate(s, w):
        return -meet * s * w, meet * s * w - heal * w

    pde = Equation("s_t = -m*s*w/K", "w_t = m*s*w/K - h*w", fields=("s", "w"),
                   m=meet / draw.duration, h=heal / draw.duration, K=draw.size)  # fmt: skip
    return _trajectory(draw, "an epidemic", pde, rate, start, (draw.size,) * 2, may_hide=("s",))


def oscillator(draw: Draw) -> Case:
    """Van der Pol's, two to five cycles; its velocity may be hidden."""
    turns, bend = draw.between(12, 30), draw.between(0.3, 3)
    start = draw.between(-2, 2), draw.between(-1, 1)

    def rate(u, v):
        return turns * v, turns * (bend * (1 - u**2) * v - u)

    fast = turns / draw.duration
    pde = Equation("u_t = v", "v_t = c*(1 - u^2/K^2)*v - w^2*u", fields=("u", "v"), c=fast * bend,
                   K=draw.size, w=fast)  # fmt: skip
    sizes = draw.size, draw.size * fast
    about = "an oscillator (Van der Pol)"
    return _trajectory(draw, about, pde, rate, start, sizes, may_hide=("v",))


def pendulum(draw: Draw) -> Case:
    """Damped, swinging far; of second order in time."""
    turns, damping = draw.between(10, 30), draw.between(0.5, 3)

    def rate(u, v):
        return v, -2 * damping * v - turns**2 * np.sin(u)

    start = draw.between(0.5, 2.5), 0.0
    pde = Equation(
        "u_tt + 2*b*u_t + w^2*sin(u) = 0", b=damping / draw.duration, w=turns / draw.duration
    )
    return _trajectory(draw, "a damped pendulum", pde, rate, start, (1.0,), {"u_t": 0.0}.items())


KINDS = {
    "burgers": burgers,
    "korteweg-de-vries": korteweg,
    "kuramoto": kuramoto,
    "fisher": fisher,
    "allen-cahn": allen_cahn,
    "porous": porous,
    "fitzhugh": fitzhugh,
    "prey": prey,
    "epidemic": epidemic,
    "oscillator": oscillator,
    "pendulum": pendulum,
}
