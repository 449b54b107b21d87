"""The networks that come with the library, on systems that they have not seen.

    python benchmarks/pretrained.py --systems 128

For every family: 64 scattered readings of each system, clean and with 5 % noise. The error of the field
(median, worst tenth), which the family's law answers where it can, beside that of the network alone and
of a Gaussian process without the equation; the share of the field that bands of 90 % hold; coefficients
twice outside the range; the time of one answer on a grid of 64 × 64.
Leaves `pretrained.json`; families that are not run keep their rows.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np

import pgt
from pgt.core.provenance import provenance
from pgt.families import shipped, shipped_names
from pgt_bench.interpolation import gaussian_process

RESULTS = Path(__file__).parent / "results"
COUNT, NOISE = 64, 0.05
FIRST_KEY = 10**6  # far from the seeds of training and cards


def main() -> None:
    asked = _arguments()
    file = RESULTS / "pretrained.json"
    record = json.loads(file.read_text()) if file.exists() else {"families": {}}
    for name in asked.family or shipped_names():
        record["families"][name] = of_family(name, asked.systems) | provenance()
        record |= {"systems": asked.systems, "readings": COUNT}
        file.write_text(json.dumps(record, indent=1) + "\n")


def of_family(name: str, systems: int) -> dict:
    network = shipped(name)
    family = network.family
    found = {}
    for label, noise in (("clean", 0.0), ("noise", NOISE)):
        rows = [on_system(network, k, noise) for k in range(systems)]
        found[label] = summary(rows)
    outside = {}
    for coefficient, (low, high) in family.ranges.items():
        for label, value in (("half", low / 2), ("twice", 2 * high)):
            rows = [on_system(network, k, 0.0, {coefficient: value}) for k in range(systems // 4)]
            outside[f"{coefficient}, {label}"] = summary(rows)
    print(name, json.dumps(found), flush=True)
    return found | {"outside": outside, "milliseconds": milliseconds(network)}


def on_system(network, k: int, noise: float, coefficients: dict | None = None) -> dict:
    """Errors of one system, relative to its spread."""
    family = network.family
    system = family.draw(jax.random.key(FIRST_KEY + k), coefficients)
    truth = family.dataset(system)
    readings = pgt.sample(truth, n=COUNT, seed=k, noise=noise)
    numbers = {name: float(value) for name, value in system.coefficients.items()}
    answer = network(readings, numbers)
    field = answer.grid(**family.axes)
    true = truth.u.transpose(*field.u.dims)
    alone = network(readings, numbers, law=False).grid(**family.axes)
    others = {"network": _error(alone.u, true)}
    others["network inside"] = float(((alone.u_low <= true) & (true <= alone.u_high)).mean())
    if coefficients is None:
        mesh = np.meshgrid(*family.axes.values(), indexing="ij")
        places = np.stack([m.ravel() for m in mesh], axis=-1)
        said = gaussian_process(readings, family.domain, places, noise=noise > 0)
        others["gp"] = _error(said.predictions[:, 0].reshape(true.shape), true)
    return others | {
        "error": _error(field.u, true),
        "stated": answer.expected_error,
        "inside": float(((field.u_low <= true) & (true <= field.u_high)).mean()),
        "said": bool(answer.outside),
    }


def _error(field, true) -> float:
    return float(np.sqrt(((field - true) ** 2).mean()) / true.std())


def summary(rows: list[dict]) -> dict:
    errors = [row["error"] for row in rows]
    found = {"median": float(np.median(errors)), "tenth": float(np.quantile(errors, 0.9))}
    means = ("inside", "said", "network inside")
    found |= {key: float(np.mean([row[key] for row in rows])) for key in means}
    for other in ("gp", "network"):
        if other in rows[0]:
            found[other] = float(np.median([row[other] for row in rows]))
    return found


def milliseconds(network) -> float:
    """Of one answer with its band, everything compiled: readings in, 64 × 64 values out."""
    family = network.family
    system = family.draw(jax.random.key(0))
    readings = pgt.sample(family.dataset(system), n=COUNT)
    numbers = {name: float(value) for name, value in system.coefficients.items()}
    took = []
    for _ in range(12):
        began = time.perf_counter()
        network(readings, numbers).grid(x=64, t=64)
        took.append(time.perf_counter() - began)
    return 1e3 * float(np.median(took[2:]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=128)
    parser.add_argument("--family", action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
