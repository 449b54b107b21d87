"""What `pgt fit` costs with all defaults: seconds of processor time, its own and the system's.

    python benchmarks/fit_cost.py                  # writes benchmarks/results/fit-cost.json
    python benchmarks/fit_cost.py rod wave --out somewhere/
    python benchmarks/fit_cost.py wall --times 10  # ten times as many readings

Each fit runs from a run file in a process of its own, from its start to the files it leaves. Processor
time counts the work of all cores, and hardly depends on what else the machine does meanwhile.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import erfc

from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
FIT = "from pgt.cli import start; start()"


class Problem(NamedTuple):
    """A table of readings, whose columns are coordinates, then fields; the domain; and the rest of the
    run file."""

    columns: dict[str, np.ndarray]
    bounds: dict[str, tuple[float, float]]
    text: str


Random = np.random.Generator


def rod(random: Random, times: int = 1) -> Problem:
    """8 thermocouples on a cooling rod, each read 30 times, with an error of 1 %."""
    x, t = _sensors(np.linspace(0.05, 0.95, 8), np.linspace(0, 1, 30 * times))
    u = _cooling(x, t) + _noise(random, x, 0.01)
    return Problem({"x": x, "t": t, "u": u}, {"x": (0, 1), "t": (0, 1)}, _heat(0.05))


def wells(random: Random, times: int = 1) -> Problem:
    """The level of ground water in 40 wells, with an error of 2 %, and error bars asked for."""
    x, y = random.uniform(0, 1, (2, 40 * times))
    u = _harmonic(x, y) + _noise(random, x, 0.02)
    text = '[pde]\nname = "laplace"\n\n[error_bars]\nname = "posterior"\n'
    return Problem({"x": x, "y": y, "u": u}, {"x": (0, 1), "y": (0, 1)}, text)


def burgers(random: Random, times: int = 1) -> Problem:
    """150 readings of a front that runs through the domain."""
    x, t = random.uniform(-1, 1, 150 * times), random.uniform(0, 1, 150 * times)
    u = 0.5 - 0.5 * np.tanh((x + 0.3 - 0.5 * t) / (4 * 0.05))
    text = '[pde]\nname = "burgers"\nviscosity = 0.05\n'
    return Problem({"x": x, "t": t, "u": u}, {"x": (-1, 1), "t": (0, 1)}, text)


def wave(random: Random, times: int = 1) -> Problem:
    """100 readings of two modes of a string."""
    x, t = random.uniform(0, 1, (2, 100 * times))
    u = sum(a * np.sin(n * np.pi * x) * np.cos(n * np.pi * t) for n, a in ((1, 1.0), (2, 0.5)))
    text = '[pde]\nname = "wave"\nspeed = 1.0\n'
    return Problem({"x": x, "t": t, "u": u}, {"x": (0, 1), "t": (0, 1)}, text)


def wall(random: Random, times: int = 1) -> Problem:
    """8 thermocouples in a wall, read 217 times in three days of a daily and a half-daily cycle, with an
    error of 0.05 K; the diffusivity is guessed 2.5 times too large."""
    x, t = _sensors(np.linspace(0.0, 0.3, 8), np.linspace(0, 72, 217 * times))  # m, h
    u = 15 + sum(_damped(x, t, 0.002, *cycle) for cycle in ((8.0, 24.0), (3.0, 12.0)))
    bounds = {"x": (0, 0.3), "t": (0, 72)}
    return Problem({"x": x, "t": t, "u": u + _noise(random, x, 0.05)}, bounds, _heat(_guess(0.005)))


def beam(random: Random, times: int = 1) -> Problem:
    """The deflection of a vibrating beam at 6 places, read 101 times, with an error of 1 %; its stiffness
    is guessed twice too large."""
    x, t = _sensors(np.linspace(0.1, 0.9, 6), np.linspace(0, 1, 101 * times))
    modes = ((1, 1.0), (2, 0.4))
    w = sum(a * np.sin(n * np.pi * x) * np.cos(0.3 * (n * np.pi) ** 2 * t) for n, a in modes)
    text = _text("w_tt = -s*w_xxxx", s=0.18)
    columns = {"x": x, "t": t, "w": w + _noise(random, x, 0.01)}
    return Problem(columns, {"x": (0, 1), "t": (0, 1)}, text)


def outliers(random: Random, times: int = 1) -> Problem:
    """12 thermocouples on a cooling rod, each read 61 times, with an error of 1 %; one reading in twenty
    is plainly wrong, and the diffusivity is guessed twice too large."""
    x, t = _sensors(np.linspace(0.03, 0.97, 12), np.linspace(0, 1, 61 * times))
    is_wrong = random.uniform(size=len(x)) < 0.05
    u = _cooling(x, t) + _noise(random, x, 0.01) + is_wrong * random.normal(0, 1.0, len(x))
    return Problem({"x": x, "t": t, "u": u}, {"x": (0, 1), "t": (0, 1)}, _heat(_guess(0.1)))


def outliers_student(random: Random, times: int = 1) -> Problem:
    """The same with the likelihood that expects outliers."""
    found = outliers(random, times)
    return found._replace(text=found.text + '\n[training]\nlikelihood = "student"\n')


def heated_rod(random: Random, times: int = 1) -> Problem:
    """8 thermocouples on a rod whose end is heated, each read 49 times, with an error of 0.5 %; its
    diffusivity and its loss to the air are not known."""
    x, t = _sensors(np.linspace(0, 1, 8), np.linspace(0, 2, 49 * times))
    waves, root = (np.arange(1, 60) - 0.5) * np.pi, np.sqrt(0.5 / 0.3)
    decay = np.exp(-np.outer(t + 0.02, 0.3 * waves**2 + 0.5))
    transient = (decay * np.sin(np.outer(x, waves))) @ (2 * waves / (waves**2 + root**2))
    u = np.cosh(root * (1 - x)) / np.cosh(root) - transient + _noise(random, x, 0.005)
    text = _text("u_t = D*u_xx - h*u", D=0.1, h=1.0)
    return Problem({"x": x, "t": t, "u": u}, {"x": (0, 1), "t": (0, 2)}, text)


def polygon(random: Random, times: int = 1) -> Problem:
    """The level of ground water in 40 wells within a polygon, with an error of 1 %."""
    corners = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]]
    x, y = random.uniform(0, 2, (2, 120 * times))
    kept = np.flatnonzero((x < 1) | (y < 1))[: 40 * times]
    x, y = x[kept], y[kept]
    u = _harmonic(x, y) + _noise(random, x, 0.01)
    shape = f'[domain.shape]\nkind = "polygon"\ncorners = {corners}\n\n'
    bounds = {"x": (0, 2), "y": (0, 2)}
    return Problem({"x": x, "y": y, "u": u}, bounds, shape + '[pde]\nname = "laplace"\n')


def column(random: Random, times: int = 1) -> Problem:
    """Five breakthrough curves of a tracer in a column, each of 40 readings with an error of 1 %;
    velocity and dispersion are not known."""
    x, t = _sensors(np.linspace(0.2, 1.0, 5), np.linspace(0.02, 2, 40 * times))
    width = 2 * np.sqrt(0.02 * t)
    later = np.exp(x / 0.02) * erfc(
        np.minimum((x + t) / width, 26.0)
    )  # velocity 1, dispersion 0.02
    c = 0.5 * (erfc((x - t) / width) + later) + _noise(random, x, 0.01)
    text = _text("c_t = D*c_xx - v*c_x", D=0.05, v=0.5)
    return Problem({"x": x, "t": t, "c": c}, {"x": (0.2, 1), "t": (0, 2)}, text)


def piv(random: Random, times: int = 1) -> Problem:
    """Two components of a steady velocity at 144 places, with an error of 1 %; pressure is hidden."""
    x, y = random.uniform(-0.5, 1, 144 * times), random.uniform(-0.5, 1.5, 144 * times)
    rate = 20 - np.sqrt(400 + 4 * np.pi**2)
    u = 1 - np.exp(rate * x) * np.cos(2 * np.pi * y) + _noise(random, x, 0.01)
    v = rate / (2 * np.pi) * np.exp(rate * x) * np.sin(2 * np.pi * y) + _noise(random, x, 0.01)
    momentum = "u*{0}_x + v*{0}_y + p_{1} = nu*lap({0})"
    equations = [momentum.format("u", "x"), momentum.format("v", "y"), "u_x + v_y = 0"]
    text = f"[pde]\nequations = {json.dumps(equations)}\nnu = 0.025\n"
    return Problem({"x": x, "y": y, "u": u, "v": v}, {"x": (-0.5, 1), "y": (-0.5, 1.5)}, text)


def epidemic(random: Random, times: int = 1) -> Problem:
    """The susceptible and the infected of an epidemic on 60 days, with an error of 1 %; both rates are
    guessed too large."""
    t = np.linspace(0, 60, 60 * times)

    def rates(_, state):
        new = 0.4 * state[0] * state[1]
        return [-new, new - 0.1 * state[1]]

    s, i = solve_ivp(rates, (0, 60), [0.99, 0.01], t_eval=t, rtol=1e-9, atol=1e-12).y
    s, i = s + _noise(random, t, 0.01), i + _noise(random, t, 0.01)
    equations = ["s_t = -b*s*i", "i_t = b*s*i - g*i"]
    text = f"[pde]\nequations = {json.dumps(equations)}\nb = {_guess(0.6)}\ng = {_guess(0.2)}\n"
    return Problem({"t": t, "s": s, "i": i}, {"t": (0, 60)}, text)


def dose(random: Random, times: int = 1) -> Problem:
    """A drug in two compartments, read 24 times in the first of them, with an error of 1 %; three rates
    are not known."""
    t = np.linspace(0, 12, 24 * times)
    rates = np.array([[-(0.6 + 0.3), 0.2], [0.3, -0.2]])
    values, vectors = np.linalg.eig(rates)
    a = (vectors @ (np.linalg.solve(vectors, [1.0, 0.0])[:, None] * np.exp(np.outer(values, t))))[0]
    equations = ["a_t = -(e + k)*a + r*b", "b_t = k*a - r*b"]
    guesses = "\n".join(f"{name} = {_guess(0.4)}" for name in "ekr")
    text = f"[pde]\nequations = {json.dumps(equations)}\n{guesses}\n"
    return Problem({"t": t, "a": a + _noise(random, t, 0.01)}, {"t": (0, 12)}, text)


PROBLEMS: dict[str, Callable[..., Problem]] = {
    problem.__name__: problem
    for problem in (
        rod, wells, burgers, wave, wall, beam, outliers, outliers_student, heated_rod, polygon, column,
        piv, epidemic, dose,
    )
}  # fmt: skip


def _sensors(places: np.ndarray, instants: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and time of every reading of sensors that stand still."""
    x, t = np.meshgrid(places, instants)
    return x.ravel(), t.ravel()


def _noise(random: Random, like: np.ndarray, size: float) -> np.ndarray:
    return size * random.standard_normal(len(like))


def _cooling(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Three modes of a rod with cold ends, of diffusivity 0.05."""
    modes = {1: 1.0, 2: -0.4, 3: 0.3}
    decay = {n: np.exp(-0.05 * (n * np.pi) ** 2 * t) for n in modes}
    return np.sum([a * decay[n] * np.sin(n * np.pi * x) for n, a in modes.items()], axis=0)


def _damped(x: np.ndarray, t: np.ndarray, diffusivity: float, size: float, period: float):
    """A thermal wave that a periodic surface temperature sends into a wall."""
    rate = 2 * np.pi / period
    depth = np.sqrt(2 * diffusivity / rate)
    return size * np.exp(-x / depth) * np.cos(rate * t - x / depth)


def _harmonic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.exp(x) * np.sin(y) + 0.5 * (x**2 - y**2)


def _guess(initial: float) -> str:
    return f"{{ unknown = true, initial = {initial}, positive = true }}"


def _heat(diffusivity: float | str) -> str:
    return f'[pde]\nname = "heat"\ndiffusivity = {diffusivity}\n'


def _text(equation: str, **guesses: float) -> str:
    unknown = "".join(f"{name} = {_guess(initial)}\n" for name, initial in guesses.items())
    return f"[pde]\nequations = [{json.dumps(equation)}]\n{unknown}"


def prepare(name: str, folder: Path, times: int = 1) -> Path:
    """The run file of a problem, beside its readings."""
    problem = PROBLEMS[name](np.random.default_rng(0), times)
    table = np.column_stack([*problem.columns.values()])
    header = ",".join(problem.columns)
    np.savetxt(folder / "readings.csv", table, "%.8g", ",", header=header, comments="")
    fields = [column for column in problem.columns if column not in problem.bounds]
    lines = [
        "[observations]", 'file = "readings.csv"', f"coords = {json.dumps(list(problem.bounds))}",
        f"fields = {json.dumps(fields)}", "", "[domain]",
        *(f"{axis} = {list(ends)}" for axis, ends in problem.bounds.items()), "",
    ]  # fmt: skip
    path = folder / "run.toml"
    path.write_text("\n".join(lines) + "\n" + problem.text, encoding="utf-8")
    return path


def cost(name: str, times: int = 1) -> dict:
    """Seconds of processor time and by the clock of one fit, and what it says of itself."""
    with tempfile.TemporaryDirectory() as place:
        run = prepare(name, Path(place), times)
        before, began = _children(), time.monotonic()
        words = [sys.executable, "-c", FIT, "fit", str(run), "-o", f"{place}/out"]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
        seconds, after = time.monotonic() - began, _children()
        summary = json.loads((Path(place) / "out" / "metrics.json").read_text(encoding="utf-8"))
    return {
        "cpu_seconds": after - before, "seconds": seconds, "exit_code": done.returncode,
        **{key: summary.get(key) for key in ("model", "expected_error", "coefficients")},
    }  # fmt: skip


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=[], help=f"some of {', '.join(PROBLEMS)}")
    parser.add_argument("--times", type=int, default=1, help="so many times the readings")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    about, rows = provenance(), {}
    for name in arguments.problems or PROBLEMS:
        rows[name] = {"about": PROBLEMS[name].__doc__} | cost(name, arguments.times)
        print(name, rows[name], flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    case = "fit-cost" if arguments.times == 1 else f"fit-cost-{arguments.times}"
    result = {"case": case, **about, "rows": rows}
    (arguments.out / f"{case}.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
