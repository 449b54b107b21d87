"""Seconds to the same error: a network, the law of its family, and a reconstruction from nothing.

    python benchmarks/refined.py --systems 20 [--family burgers] [--out FOLDER] [--seconds 300]

For every network that comes with the library, on systems that it has not seen, 64 clean readings of each:
the answer of the network; that of the law and the solver of its family (`pgt.families.assimilate`); and
`pgt.reconstruct` with all defaults and a limit in seconds, which knows the equation and what holds at
the edge, but not the law; where the equation is not linear, also with the network's answer to start from.
One system before the others compiles. Errors are relative to the spread of the field. Leaves
`refined.json`; families that are not run keep their rows.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

import pgt
from pgt.core.provenance import provenance
from pgt.families import assimilate, shipped, shipped_names

RESULTS = Path(__file__).parent / "results"
COUNT = 64
LINEAR = ("advection_diffusion", "heat", "wave")  # which sines solve at once
LABELS = ("at once", "from the law", "from nothing", "from the network")
FIRST_KEY = 3 * 10**6  # far from the seeds of training, cards and other benchmarks


def on_family(name: str, systems: int, limit: float, budget: float) -> dict:
    began, rows = time.perf_counter(), []
    for k in range(-1, systems):
        if time.perf_counter() - began > budget and len(rows) > 1:
            break
        rows.append(on_system(name, k, limit))
        print(name, k, json.dumps(rows[-1]), flush=True)
    return summary(rows[1:])


def on_system(name: str, k: int, limit: float) -> dict:
    network = shipped(name)
    family = network.family
    system = family.draw(jax.random.key(FIRST_KEY + k))
    truth = family.dataset(system)
    readings = pgt.sample(truth, n=COUNT, seed=k + 1)
    known = {coefficient: float(value) for coefficient, value in system.coefficients.items()}
    conditions = [pgt.Dirichlet("x", u=0.0)] if name in ("heat", "wave") else []
    asked: dict[str, Callable] = {
        "at once": lambda: network(readings, known, law=False).grid(**family.axes),
        "from the law": lambda: assimilate(family, readings, known).grid(),
        "from nothing": lambda: pgt.reconstruct(
            readings, family.equation(**known), family.domain, conditions,
            training=pgt.Training(seconds=limit), progress=False,
        ).grid(**family.axes),
    }  # fmt: skip
    if name not in LINEAR:
        asked["from the network"] = lambda: pgt.reconstruct(
            readings, family.equation(**known), family.domain, start=network,
            training=pgt.Training(seconds=limit), progress=False,
        ).grid(**family.axes)  # fmt: skip
    return {label: timed(ask, truth.u) for label, ask in asked.items()}


def timed(ask: Callable, true) -> tuple[float, float]:
    """The relative error, and seconds."""
    began = time.perf_counter()
    field = ask().u.transpose(*true.dims)
    took = time.perf_counter() - began
    return float(np.sqrt(((field.values - true.values) ** 2).mean()) / true.values.std()), took


def summary(rows: list[dict]) -> dict:
    found: dict = {"systems": len(rows)}
    for label in rows[0]:
        errors, seconds = np.array([row[label] for row in rows]).T
        found[label] = {
            "median": float(np.median(errors)), "tenth": float(np.quantile(errors, 0.9)),
            "seconds": float(np.median(seconds)),
        }  # fmt: skip
    return found


def main() -> None:
    asked = _arguments()
    folder = Path(asked.out)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "refined.json"
    record = json.loads(file.read_text()) if file.exists() else {"families": {}}
    for name in asked.family or shipped_names():
        found = on_family(name, asked.systems, asked.limit, asked.seconds)
        record["families"][name] = found | provenance()
        record["readings"] = COUNT
        file.write_text(json.dumps(record, indent=1) + "\n")
        for label in [label for label in LABELS if label in found]:
            row = found[label]
            print(
                f"{name:20} {label:13} {row['median']:.1e} {row['tenth']:.1e} {row['seconds']:.2f} s"
            )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of a reconstruction")
    parser.add_argument("--seconds", type=float, default=300.0, help="for each family, at the most")
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--out", default=str(RESULTS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
