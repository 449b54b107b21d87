"""What `pgt fit` costs with all defaults: seconds of processor time, its own and the system's.

    python benchmarks/fit_cost.py                  # writes benchmarks/results/fit-cost.json
    python benchmarks/fit_cost.py rod wave --out somewhere/

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

import numpy as np

from pgt.ground.provenance import provenance

RESULTS = Path(__file__).parent / "results"
FIT = "from pgt.cli import start; start()"
RUN = '[observations]\nfile = "readings.csv"\ncoords = {coords}\nfields = ["u"]\n\n'
Columns = dict[str, np.ndarray]


def rod(random: np.random.Generator) -> tuple[Columns, str]:
    """8 thermocouples on a cooling rod, each read 30 times, with an error of 1 %."""
    x, t = (a.ravel() for a in np.meshgrid(np.linspace(0.05, 0.95, 8), np.linspace(0, 1, 30)))
    modes = {1: 1.0, 2: -0.4, 3: 0.3}
    u = sum(
        a * np.exp(-0.05 * (n * np.pi) ** 2 * t) * np.sin(n * np.pi * x) for n, a in modes.items()
    )
    u = u + 0.01 * random.standard_normal(len(x))
    text = '[domain]\nx = [0, 1]\nt = [0, 1]\n\n[pde]\nname = "heat"\ndiffusivity = 0.05\n'
    return {"x": x, "t": t, "u": u}, text


def wells(random: np.random.Generator) -> tuple[Columns, str]:
    """The level of ground water in 40 wells, with an error of 2 %, and error bars asked for."""
    x, y = random.uniform(0, 1, (2, 40))
    u = np.exp(x) * np.sin(y) + 0.5 * (x**2 - y**2) + 0.02 * random.standard_normal(40)
    text = '[domain]\nx = [0, 1]\ny = [0, 1]\n\n[pde]\nname = "laplace"\n\n'
    return {"x": x, "y": y, "u": u}, text + '[error_bars]\nname = "posterior"\n'


def burgers(random: np.random.Generator) -> tuple[Columns, str]:
    """150 readings of a front that runs through the domain."""
    x, t = random.uniform(-1, 1, 150), random.uniform(0, 1, 150)
    u = 0.5 - 0.5 * np.tanh((x + 0.3 - 0.5 * t) / (4 * 0.05))
    text = '[domain]\nx = [-1, 1]\nt = [0, 1]\n\n[pde]\nname = "burgers"\nviscosity = 0.05\n'
    return {"x": x, "t": t, "u": u}, text


def wave(random: np.random.Generator) -> tuple[Columns, str]:
    """100 readings of two modes of a string."""
    x, t = random.uniform(0, 1, (2, 100))
    u = sum(a * np.sin(n * np.pi * x) * np.cos(n * np.pi * t) for n, a in ((1, 1.0), (2, 0.5)))
    text = '[domain]\nx = [0, 1]\nt = [0, 1]\n\n[pde]\nname = "wave"\nspeed = 1.0\n'
    return {"x": x, "t": t, "u": u}, text


PROBLEMS: dict[str, Callable[[np.random.Generator], tuple[Columns, str]]] = {
    problem.__name__: problem for problem in (rod, wells, burgers, wave)
}


def prepare(name: str, folder: Path) -> Path:
    """The run file of a problem, beside its readings."""
    columns, text = PROBLEMS[name](np.random.default_rng(0))
    table = np.column_stack([*columns.values()])
    np.savetxt(folder / "readings.csv", table, "%.8g", ",", header=",".join(columns), comments="")
    path = folder / "run.toml"
    coords = json.dumps([axis for axis in columns if axis != "u"])
    path.write_text(RUN.format(coords=coords) + text, encoding="utf-8")
    return path


def cost(name: str) -> dict:
    """Seconds of processor time and by the clock of one fit, and what it says of itself."""
    with tempfile.TemporaryDirectory() as place:
        run = prepare(name, Path(place))
        before, began = _children(), time.monotonic()
        words = [sys.executable, "-c", FIT, "fit", str(run), "-o", f"{place}/out"]
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        seconds, after = time.monotonic() - began, _children()
        summary = json.loads((Path(place) / "out" / "metrics.json").read_text(encoding="utf-8"))
    return {"cpu_seconds": after - before, "seconds": seconds, "model": summary.get("model")}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
