"""The memory `pgt predict` needs for ten million points: on a grid, and at the points of a CSV file.

    python benchmarks/memory.py                    # writes benchmarks/results/predict-memory.json
    python benchmarks/memory.py --points 1000000 --out somewhere/

Each command runs in a process of its own, whose peak is what Linux says it held at most.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import pgt
from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
PREDICT = r"""
import re, sys, time
from pathlib import Path
from pgt.cli import app
began = time.monotonic()
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
# Of this program alone: what getrusage tells begins with the peak of the process that started it.
peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]
print("measured", 1024 * int(peak), time.monotonic() - began)
"""


def stored_run(folder: Path) -> None:
    """A fit of a few steps: what it says is worth little, what it costs to ask is the same."""
    readings = pgt.sample(pgt.datasets.heat(), 100)
    training = pgt.Training(steps=2, collocation=16, polish=False)
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    pde = pgt.Heat(0.01)
    network = pgt.PGT.for_problem(readings, pde, domain)
    pgt.reconstruct(readings, pde, domain, model=network, training=training).save(folder)


def points_file(path: Path, count: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write("x,t\n")
        for start in range(0, count, 100_000):
            rows = rng.uniform(0, 1, (min(100_000, count - start), 2))
            np.savetxt(file, rows, fmt="%.8f", delimiter=",")


def measure(*arguments) -> dict:
    """Peak bytes and seconds of `pgt predict ARGUMENTS`."""
    words = [sys.executable, "-c", PREDICT, "predict", *map(str, arguments)]
    found = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    _, peak, seconds = found.stdout.splitlines()[-1].split()
    return {"peak_bytes": int(peak), "seconds": float(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=10**7)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    side = round(arguments.points**0.5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stored_run(folder / "run")
        points_file(folder / "points.csv", arguments.points)
        grid = ("--grid", f"x={side},t={arguments.points // side}")
        rows = {
            "grid to NetCDF": measure(folder / "run", *grid, "-o", folder / "field.nc"),
            "grid to CSV": measure(folder / "run", *grid, "-o", folder / "field.csv"),
            "points to CSV": measure(
                folder / "run", "--points", folder / "points.csv", "-o", folder / "values.csv"
            ),
        }
    result = {"case": "predict-memory", "points": arguments.points, "rows": rows, **provenance()}
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "predict-memory.json"
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name, row in rows.items():
        print(f"{name}: {row['peak_bytes'] / 2**20:.0f} MiB, {row['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
