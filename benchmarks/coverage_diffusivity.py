"""How often the interval of a learnt diffusivity holds the true one, over draws of noisy readings.

    python benchmarks/coverage_diffusivity.py --processes 2
    python benchmarks/coverage_diffusivity.py --model pgt --draws 6 --out somewhere/

u_t = ν u_xx on the unit square with ν = 0.01, of which 100 readings with 2 % noise are known, and
neither boundary nor initial values. Every draw has its own places, noise and initial weights, and
starts from ν = 0.05. Draws count from 100 on: settings were tried on lower ones. Leaves
`diffusivity-coverage.json`, or `-pgt.json`.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path

from core import in_processes

import pgt
from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))
TRUE, START, READINGS, NOISE, LEVEL = 0.01, 0.05, 100, 0.02, 0.9
FIRST = 100
SIREN = {"width": 12, "layers": 3, "frequency": 6.0}
# Nothing is held out: the evidence tells the noise. More residual points than weights.
TRAINING = {
    "siren": pgt.Training(
        steps=150, collocation=200, hold_out=0.0,
        polish=pgt.Polish(iterations=120, points=400, evidence=True),
    ),
    "pgt": pgt.Training(
        steps=150, collocation=200, hold_out=0.0,
        polish=pgt.Polish(iterations=120, points=1600, evidence=True),
    ),
}  # fmt: skip


def draw(seed: int, model: str) -> dict:
    """One set of readings, fitted: the estimate, its interval, and the error of the field."""
    truth = pgt.datasets.heat(diffusivity=TRUE)
    readings = pgt.sample(truth, READINGS, noise=NOISE, seed=seed)
    pde = pgt.Heat(pgt.Unknown(START, positive=True))
    scaling = pgt.Scaling.fit(readings, SQUARE)
    network = (
        pgt.SIREN(scaling, seed=seed, **SIREN)
        if model == "siren"
        else pgt.PGT.for_problem(readings, pde, SQUARE, seed=seed)
    )
    began = time.monotonic()
    result = pgt.reconstruct(
        readings,
        pde,
        SQUARE,
        model=network,
        training=TRAINING[model],
        error_bars=pgt.Posterior(),
        seed=seed,
        progress=False,
    )
    found = result.intervals(LEVEL)["diffusivity"]
    return {
        "seed": seed,
        **found._asdict(),
        "inside": found.lower <= TRUE <= found.upper,
        "posterior": result.summary["members"],
        "rel_l2": pgt.metrics.relative_l2(truth, result.grid(x=101, t=101))["u"],
        "seconds": time.monotonic() - began,
    }


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", choices=TRAINING, default="siren")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    runs = []
    seeds = range(FIRST, FIRST + arguments.draws)
    for run in in_processes(partial(draw, model=arguments.model), seeds, arguments.processes):
        runs.append(run)
        print(json.dumps(run), flush=True)
    name = "diffusivity-coverage" + ("" if arguments.model == "siren" else "-pgt")
    result = {
        "case": name,
        **provenance(),
        "model": {"SIREN": SIREN} if arguments.model == "siren" else "PGT, the default",
        "training": TRAINING[arguments.model].describe(),
        "true": TRUE,
        "start": START,
        "readings": READINGS,
        "noise": NOISE,
        "level": LEVEL,
        "runs": runs,
        "inside": sum(run["inside"] for run in runs),
        "draws": len(runs),
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"{result['inside']} of {result['draws']} intervals hold the true diffusivity")


if __name__ == "__main__":
    main()
