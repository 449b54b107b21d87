"""Seconds to the first step, cold: a fresh process, nothing kept that was compiled before.

    python benchmarks/first_step.py                     # writes benchmarks/results/first-step.json
    python benchmarks/first_step.py --out somewhere/ --cases burgers

Counted from the call: assembling, compiling and one step. What Python takes to import is said beside it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
CASES = {
    "pgt": "the wake, PGT with exact attention, one step of SOAP",
    "anchors": "the wake, PGT through anchors, one step of SOAP",
    "burgers": "Burgers, all defaults, one second-order step on all weights",
    "heat": "heat, all defaults: the whole answer, a sum of sines in closed form",
}
WAKE_MODEL = {"width": 64, "blocks": 2, "decoder_width": 256, "decoder_layers": 4}


def child(case: str) -> None:
    """Print the seconds of one case."""
    began = time.monotonic()
    import jax

    import pgt
    from pgt.core.provenance import provenance

    jax.devices()
    imported = time.monotonic() - began
    seconds = {"burgers": burgers, "heat": heat}.get(case, wake)(pgt, case)
    print("measured", json.dumps({"seconds": seconds, "import_seconds": imported, **provenance()}))


def wake(pgt, case: str) -> float:
    """To the first step of a network of the size that the tables have."""
    pde, domain = pgt.NavierStokes2D(0.01), pgt.Domain(x=(1, 8), y=(-2, 2), t=(0, 19.9))
    readings = pgt.sample(pgt.datasets.cylinder_wake(), 1500)
    began = time.monotonic()
    network = pgt.PGT(
        pgt.Scaling.fit(readings, domain), pde.kernel(),
        anchors=128 if case == "anchors" else 0, **WAKE_MODEL,
    )  # fmt: skip
    training = pgt.Training(steps=1, collocation=2000, hold_out=0.0, polish=False)
    from pgt.core.progress import ProgressBar
    from pgt.methods.first_order.training_loop import train
    from pgt.problem.assembly import assemble

    task = assemble(readings, pde, domain, model=network, training=training)
    train(task, checkpoint=None, progress=ProgressBar(False))
    return time.monotonic() - began


def burgers(pgt, case: str) -> float:
    """To the first second-order step of the network that suits the problem."""
    from pgt.methods.second_order.gauss_newton import polish

    readings = pgt.sample(pgt.datasets.burgers(0.05), 150)
    marks, began = [], time.monotonic()
    task = choose(readings, pgt.Burgers(0.05), pgt.Domain(x=(-1, 1), t=(0, 1))).first
    settings = pgt.Polish(iterations=1)
    polish(
        task.model, task.pde, task.problem, settings, task.held_out,
        lambda iteration, cost: marks.append(time.monotonic() - began),
    )  # fmt: skip
    return marks[0]


def heat(pgt, case: str) -> float:
    """To the answer."""
    readings = pgt.sample(pgt.datasets.heat(), 100)
    began = time.monotonic()
    pgt.reconstruct(readings, pgt.Heat(0.01), pgt.Domain(x=(0, 1), t=(0, 1)), progress=False)
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="seconds to the first step, cold")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child)
        return
    asked.out.mkdir(parents=True, exist_ok=True)
    result: dict = {"case": "first-step", "rows": {}}
    environment = os.environ | {"PGT_NO_CACHE": "1", "PYTHONPATH": str(ROOT)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    for case in asked.cases:
        words = [sys.executable, __file__, "--child", case]
        told = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads(told.stdout.split("measured ")[-1])
        row = {name: found.pop(name) for name in ("seconds", "import_seconds")}
        result = {**found, **result, "rows": result["rows"] | {case: {"about": CASES[case], **row}}}
        (asked.out / "first-step.json").write_text(json.dumps(result, indent=1) + "\n")
        print(f"{CASES[case]}: {row['seconds']:.1f} s (import {row['import_seconds']:.1f} s)")


if __name__ == "__main__":
    main()
