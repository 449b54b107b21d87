"""What `pgt fit` costs with all defaults: processor time, its own and the system's, and memory.

    python benchmarks/fit_cost.py                  # writes benchmarks/results/fit-cost.json
    python benchmarks/fit_cost.py rod wave --out somewhere/

Each fit runs from a run file in a process of its own, from its start to the files it leaves. Processor
time counts the work of all cores, and hardly depends on what else the machine does meanwhile.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

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


def rod(random: Random) -> Problem:
    """8 thermocouples on a cooling rod, each read 30 times, with an error of 1 %."""
    x, t = _sensors(np.linspace(0.05, 0.95, 8), np.linspace(0, 1, 30))
    u = _cooling(x, t) + _noise(random, x, 0.01)
    return Problem({"x": x, "t": t, "u": u}, {"x": (0, 1), "t": (0, 1)}, _heat(0.05))


def wells(random: Random) -> Problem:
    """The level of ground water in 40 wells, with an error of 2 %, and error bars asked for."""
    x, y = random.uniform(0, 1, (2, 40))
    u = _harmonic(x, y) + _noise(random, x, 0.02)
    text = '[pde]\nname = "laplace"\n\n[error_bars]\nname = "posterior"\n'
    return Problem({"x": x, "y": y, "u": u}, {"x": (0, 1), "y": (0, 1)}, text)


def burgers(random: Random) -> Problem:
    """150 readings of a front that runs through the domain."""
    x, t = random.uniform(-1, 1, 150), random.uniform(0, 1, 150)
    u = 0.5 - 0.5 * np.tanh((x + 0.3 - 0.5 * t) / (4 * 0.05))
    text = '[pde]\nname = "burgers"\nviscosity = 0.05\n'
    return Problem({"x": x, "t": t, "u": u}, {"x": (-1, 1), "t": (0, 1)}, text)


def wall(random: Random) -> Problem:
    """8 thermocouples in a wall, read 217 times in three days of a daily and a half-daily cycle, with an
    error of 0.05 K; the diffusivity is guessed 2.5 times too large."""
    x, t = _sensors(np.linspace(0.0, 0.3, 8), np.linspace(0, 72, 217))  # m, h
    u = 15 + sum(_damped(x, t, 0.002, *cycle) for cycle in ((8.0, 24.0), (3.0, 12.0)))
    bounds = {"x": (0, 0.3), "t": (0, 72)}
    return Problem({"x": x, "t": t, "u": u + _noise(random, x, 0.05)}, bounds, _heat(_guess(0.005)))


def beam(random: Random) -> Problem:
    """The deflection of a vibrating beam at 6 places, read 101 times, with an error of 1 %; its stiffness
    is guessed twice too large."""
    x, t = _sensors(np.linspace(0.1, 0.9, 6), np.linspace(0, 1, 101))
    modes = ((1, 1.0), (2, 0.4))
    w = sum(a * np.sin(n * np.pi * x) * np.cos(0.3 * (n * np.pi) ** 2 * t) for n, a in modes)
    text = _text("w_tt = -s*w_xxxx", s=0.18)
    columns = {"x": x, "t": t, "w": w + _noise(random, x, 0.01)}
    return Problem(columns, {"x": (0, 1), "t": (0, 1)}, text)


def piv(random: Random) -> Problem:
    """Two components of a steady velocity at 144 places, with an error of 1 %; pressure is hidden."""
    x, y = random.uniform(-0.5, 1, 144), random.uniform(-0.5, 1.5, 144)
    rate = 20 - np.sqrt(400 + 4 * np.pi**2)
    u = 1 - np.exp(rate * x) * np.cos(2 * np.pi * y) + _noise(random, x, 0.01)
    v = rate / (2 * np.pi) * np.exp(rate * x) * np.sin(2 * np.pi * y) + _noise(random, x, 0.01)
    momentum = "u*{0}_x + v*{0}_y + p_{1} = nu*lap({0})"
    equations = [momentum.format("u", "x"), momentum.format("v", "y"), "u_x + v_y = 0"]
    text = f"[pde]\nequations = {json.dumps(equations)}\nnu = 0.025\n"
    return Problem({"x": x, "y": y, "u": u, "v": v}, {"x": (-0.5, 1), "y": (-0.5, 1.5)}, text)


def dose(random: Random) -> Problem:
    """A drug in two compartments, read 24 times in the first of them, with an error of 1 %; three rates
    are not known."""
    t = np.linspace(0, 12, 24)
    rates = np.array([[-(0.6 + 0.3), 0.2], [0.3, -0.2]])
    values, vectors = np.linalg.eig(rates)
    a = (vectors @ (np.linalg.solve(vectors, [1.0, 0.0])[:, None] * np.exp(np.outer(values, t))))[0]
    equations = ["a_t = -(e + k)*a + r*b", "b_t = k*a - r*b"]
    guesses = "\n".join(f"{name} = {_guess(0.4)}" for name in "ekr")
    text = f"[pde]\nequations = {json.dumps(equations)}\n{guesses}\n"
    return Problem({"t": t, "a": a + _noise(random, t, 0.01)}, {"t": (0, 12)}, text)


PROBLEMS: dict[str, Callable[..., Problem]] = {
    problem.__name__: problem
    for problem in (rod, wells, burgers, wall, beam, piv, dose)
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


def prepare(name: str, folder: Path) -> Path:
    """The run file of a problem, beside its readings."""
    problem = PROBLEMS[name](np.random.default_rng(0))
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


def cost(name: str) -> dict:
    """Seconds of processor time and by the clock of one fit, and what it says of itself."""
    with tempfile.TemporaryDirectory() as place:
        run = prepare(name, Path(place))
        began = time.monotonic()
        words = [sys.executable, "-c", FIT, "fit", str(run), "-o", f"{place}/out"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        summary = json.loads((Path(place) / "out" / "metrics.json").read_text(encoding="utf-8"))
    return {
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "seconds": seconds,
        "peak_bytes": 1024 * used.ru_maxrss,  # Linux counts in kilobytes
        "exit_code": os.waitstatus_to_exitcode(status),
        **{key: summary.get(key) for key in ("model", "expected_error", "coefficients")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=[], help=f"some of {', '.join(PROBLEMS)}")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    about, rows = provenance(), {}
    for name in arguments.problems or PROBLEMS:
        rows[name] = {"about": PROBLEMS[name].__doc__} | cost(name)
        print(name, rows[name], flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    result = {"case": "fit-cost", **about, "rows": rows}
    (arguments.out / "fit-cost.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
