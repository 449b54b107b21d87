"""What shapes cost a problem that has none: processor time to compile and per step, before and now.

    python benchmarks/box_cost.py --rounds 5 --out somewhere/

The commit before shapes and the working tree take turns, each fit in a process of its own, so that what
else the machine does falls on both alike; only ratios of medians mean anything. A PINN of Burgers'
equation and a PGT of the heat equation, both in a box. Leaves `box-cost.json`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from pgt.ground.provenance import provenance

HERE = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
BEFORE = "deb9fa6~1"  # the last commit whose domains are boxes
STEPS = 400

WORKER = """
import json, sys, time
time.monotonic = time.process_time  # of this process alone, on all cores, whatever the others do
import numpy as np, pgt
kind, steps = sys.argv[1], int(sys.argv[2])
random = np.random.default_rng(0)
points = random.uniform(size=(60, 2))
readings = pgt.Observations.from_arrays(
    {"x": points[:, 0], "t": points[:, 1]}, {"u": np.sin(3 * points[:, 0]) * np.exp(-points[:, 1])}
)
domain = pgt.Domain(x=(0, 1), t=(0, 1))
scaling = pgt.Scaling.fit(readings, domain)
pde = pgt.Burgers(0.05) if kind == "pinn" else pgt.Heat(0.05)
known = [pgt.Dirichlet("x", side="lower", u=0.0)]
model = pgt.PINN(scaling, width=16, layers=3)
if kind == "pgt":
    model = pgt.PGT(scaling, kernel=pde.kernel(), width=16, decoder_width=16)
training = pgt.Training(steps=steps, collocation=200, polish=False)
result = pgt.reconstruct(
    readings, pde, domain, known, model=model, training=training, progress=False
)
record = result.summary
first = record["first_step_seconds"]
print(json.dumps({"compile": first, "step": (record["seconds"] - first) / (steps - 1)}))
"""


def measured(tree: Path, kind: str, steps: int) -> dict:
    """One fit with the library of one tree."""
    around = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(
        [sys.executable, "-c", WORKER, kind, str(steps)],
        cwd=tree, env=around, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def in_turn(trees: dict[str, Path], kind: str, rounds: int, steps: int) -> dict:
    """The times of every tree, and the ratio of their medians: now to before."""
    times: dict[str, list[dict]] = {name: [] for name in trees}
    for number in range(rounds):
        for name in list(trees)[:: 1 if number % 2 else -1]:
            times[name].append(measured(trees[name], kind, steps))
            print(kind, name, times[name][-1], flush=True)
    medians = {
        name: {key: statistics.median(t[key] for t in own) for key in ("compile", "step")}
        for name, own in times.items()
    }
    ratios = {key: medians["now"][key] / medians["before"][key] for key in ("compile", "step")}
    return {"ratios": ratios, "times": times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--before", default=BEFORE)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    record = provenance() | {"before": options.before, "steps": options.steps, "fits": {}}
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        git = ["git", "-C", str(HERE), "worktree"]
        subprocess.run([*git, "add", "--detach", str(before), options.before], check=True)
        try:
            for kind in ("pinn", "pgt"):
                trees = {"before": before, "now": HERE}
                record["fits"][kind] = in_turn(trees, kind, options.rounds, options.steps)
                print(kind, record["fits"][kind]["ratios"], flush=True)
        finally:
            subprocess.run([*git, "remove", "--force", str(before)], check=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "box-cost.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
