"""Second-order steps on a million weights: seconds and memory of a step.

    python benchmarks/million.py                        # writes benchmarks/results/million.json
    python benchmarks/million.py --out somewhere/ --budget 60
    python benchmarks/million.py --width 24 --samples 40 --points 30    # tiny

A tanh network on the cylinder wake, all of its weights tuned at once in float64. With fewer rows than
weights the step comes from JJᵀ, and J, of 24 GB for 3000 rows, is made in strips of its columns that fit
the memory allowed.
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import jax

import pgt
from pgt.core.provenance import provenance
from pgt.methods.second_order.gauss_newton import polish
from pgt.nn.trees import count_parameters
from pgt.problem.assembly import assemble

RESULTS = Path(__file__).parent / "results"
WAKE = pgt.Domain(x=(1, 8), y=(-2, 2), t=(0, 19.9))


def task_of(width: int, samples: int):
    """The wake from so many samples; nothing is held out."""
    readings, pde = pgt.sample(pgt.datasets.cylinder_wake(), samples), pgt.NavierStokes2D(0.01)
    network = pgt.PINN(pgt.Scaling.fit(readings, WAKE), width=width, layers=5)
    training = pgt.Training(hold_out=0.0, steps=1, polish=False)
    return assemble(readings, pde, WAKE, model=network, training=training)


def measured(task, points: int, memory: float | None, seconds: float) -> dict:
    """Some steps with so much memory for J, in gigabytes; None: as much as the library takes."""
    settings = pgt.Polish(
        iterations=1000, seconds=seconds, points=points, evidence=False, weights="all", fresh=0.0,
        memory=memory,
    )  # fmt: skip
    began, marks = time.monotonic(), []
    _, _, stages = polish(
        task.model, task.pde, task.problem, settings, task.held_out,
        lambda iteration, cost: marks.append(time.monotonic() - began),
    )  # fmt: skip
    steps = [late - early for early, late in itertools.pairwise(marks)]
    stats = jax.devices()[0].memory_stats() or {}
    return {
        "memory": memory,
        "first_step_seconds": marks[0],
        "seconds_per_step": sum(steps) / len(steps) if steps else None,
        "steps": len(marks),
        "costs": [stages[0].costs[0], stages[0].costs[-1]],
        "peak_bytes": stats.get("peak_bytes_in_use"),  # of the process so far
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="second-order steps on a million weights")
    parser.add_argument("--width", type=int, default=500)
    parser.add_argument("--samples", type=int, default=500, help="of u, v and p each")
    parser.add_argument("--points", type=int, default=500, help="where three equations hold")
    parser.add_argument("--memory", type=float, nargs="+", default=[4.0, 0.0], help="0: as usual")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    began, task = time.monotonic(), task_of(asked.width, asked.samples)
    result = {
        "case": "million",
        "weights": count_parameters(task.model),
        "rows": 3 * (asked.samples + asked.points),
        **provenance(),
        "runs": [],
    }
    asked.out.mkdir(parents=True, exist_ok=True)
    for number, memory in enumerate(asked.memory):
        left = (asked.budget - (time.monotonic() - began)) / (len(asked.memory) - number)
        run = measured(task, asked.points, memory or None, max(left - 5.0, 1.0))
        result["runs"].append(run)
        (asked.out / "million.json").write_text(json.dumps(result, indent=1) + "\n")
        print(result["weights"], "weights,", result["rows"], "rows:", json.dumps(run), flush=True)


if __name__ == "__main__":
    main()
