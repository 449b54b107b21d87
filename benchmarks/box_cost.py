"""What shapes cost a problem that has none: what is compiled for it, and processor time, before and now.

    python benchmarks/box_cost.py --rounds 8 --out somewhere/
    python benchmarks/box_cost.py --rounds 0      # what is compiled alone: the same on any machine
    python benchmarks/box_cost.py --trees folder/ --out somewhere/  # folder/before, folder/shapes

The commit before shapes, the one that has them and nothing else that is new, and the last one, each in a
process of its own. A PINN of Burgers' equation and a PGT of the heat equation, both in a box.

* programs: of the largest one that is compiled, the step, how many instructions it has after XLA has
  optimised it; and of all programs together. The same programs take as long, whatever a clock says.
* ratios: processor time to compile and per step, one core, nothing compiled before. The commits take
  turns, so that what else the machine does falls on all alike; the median of the ratios of all turns.

Leaves `box-cost.json`.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from pgt.core.provenance import provenance

HERE = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
# Boxes alone; with shapes, nothing else changed; with all that came after them.
COMMITS = {"before": "deb9fa6~1", "shapes": "5679907", "now": "HEAD"}
STEPS = {"pinn": 1000, "pgt": 100}
FEW = 3  # steps, where only what is compiled for them is asked

WORKER = """
import json, os, sys, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # threads that wait for each other cost time, too
time.monotonic = time.process_time  # of this process alone, whatever the others do
import jax, numpy as np, pgt
random = np.random.default_rng(0)
points = random.uniform(size=(60, 2))
readings = pgt.Observations.from_arrays(
    {"x": points[:, 0], "t": points[:, 1]}, {"u": np.sin(3 * points[:, 0]) * np.exp(-points[:, 1])}
)
domain = pgt.Domain(x=(0, 1), t=(0, 1))
scaling = pgt.Scaling.fit(readings, domain)
known = [pgt.Dirichlet("x", side="lower", u=0.0)]
for line in sys.stdin:
    kind, steps = line.split()
    steps = int(steps)
    pde = pgt.Burgers(0.05) if kind == "pinn" else pgt.Heat(0.05)
    model = pgt.PINN(scaling, width=16, layers=3)
    if kind == "pgt":
        model = pgt.PGT(scaling, kernel=pde.kernel(), width=16, decoder_width=16)
    training = pgt.Training(steps=steps, collocation=200, polish=False)
    jax.clear_caches()
    result = pgt.reconstruct(
        readings, pde, domain, known, model=model, training=training, progress=False
    )
    record = result.summary
    first = record["first_step_seconds"]
    print(json.dumps({"compile": first, "step": (record["seconds"] - first) / (steps - 1)}), flush=True)
"""


def started(tree: Path, dumped: Path | None = None) -> subprocess.Popen:
    """A process that fits with the library of one tree whenever it is asked."""
    around = os.environ | {"PYTHONPATH": str(tree), "PGT_NO_CACHE": "1"}
    if dumped is not None:
        around["XLA_FLAGS"] = f"--xla_dump_to={dumped} --xla_dump_hlo_as_text"
    return subprocess.Popen(
        [sys.executable, "-c", WORKER], cwd=tree, env=around, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def measured(worker: subprocess.Popen, kind: str, steps: int) -> dict:
    """One fit."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(f"{kind} {steps}\n")
    worker.stdin.flush()
    return json.loads(worker.stdout.readline())


def programs(tree: Path, kind: str) -> dict[str, int]:
    """What is compiled for a fit of a few steps."""
    with tempfile.TemporaryDirectory() as folder:
        worker = started(tree, Path(folder))
        measured(worker, kind, FEW)
        worker.communicate()  # its input ends, and so does it
        sizes = [
            path.read_text().count(" = ") for path in Path(folder).glob("*after_optimizations.txt")
        ]
    return {"step": max(sizes), "all": sum(sizes), "programs": len(sizes)}


def in_turn(workers: dict[str, subprocess.Popen], kind: str, steps: int, options) -> dict:
    """The times of every tree, and the median of their ratios to that before, turn by turn."""
    began = time.monotonic()
    times: dict[str, list[dict]] = {name: [] for name in workers}
    for number in range(options.rounds):
        if number and time.monotonic() - began > options.budget / len(STEPS):
            break
        for name in list(workers)[:: 1 if number % 2 else -1]:
            times[name].append(measured(workers[name], kind, steps))
            print(kind, name, times[name][-1], flush=True)
    ratios = {
        name: {
            key: statistics.median(
                own[key] / before[key] for own, before in zip(turns, times["before"], strict=True)
            )
            for key in ("compile", "step")
        }
        for name, turns in times.items() if name != "before"
    }  # fmt: skip
    return {"ratios": ratios, "times": times}


@contextmanager
def checked_out(given: Path | None):
    """The trees of the commits: those given and this one, or as git has them."""
    if given is not None:
        yield {"before": given / "before", "shapes": given / "shapes", "now": HERE}
        return
    git = ["git", "-C", str(HERE), "worktree"]
    folder = Path(tempfile.mkdtemp())
    trees = {name: folder / name for name in COMMITS}
    try:
        for name, tree in trees.items():
            subprocess.run([*git, "add", "--detach", str(tree), COMMITS[name]], check=True)
        yield trees
    finally:
        for tree in trees.values():
            subprocess.run([*git, "remove", "--force", str(tree)], check=False)
        folder.rmdir()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds, about")
    parser.add_argument("--trees", type=Path, help="of the commits, where git does not have them")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    record = provenance() | {"commits": COMMITS, "steps": STEPS, "fits": {}}
    options.out.mkdir(parents=True, exist_ok=True)
    with checked_out(options.trees) as trees:
        for kind in STEPS:
            found = {name: programs(tree.resolve(), kind) for name, tree in trees.items()}
            record["fits"][kind] = {"programs": found}
            print(kind, found, flush=True)
            (options.out / "box-cost.json").write_text(json.dumps(record, indent=1) + "\n")
        if not options.rounds:
            return
        workers = {name: started(tree.resolve()) for name, tree in trees.items()}
        for kind, steps in STEPS.items():
            record["fits"][kind] |= in_turn(workers, kind, steps, options)
            print(kind, record["fits"][kind]["ratios"], flush=True)
            (options.out / "box-cost.json").write_text(json.dumps(record, indent=1) + "\n")
        for worker in workers.values():
            worker.communicate()  # its input ends, and so does it


if __name__ == "__main__":
    main()
