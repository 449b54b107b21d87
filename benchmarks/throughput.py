"""How many reconstructions a second the networks that come with the library make.

    python benchmarks/throughput.py --out results

64 readings of each system in, fields and bands at 64 × 64 points out, as arrays of the host:
`Pretrained.answers` with so many systems a call, everything compiled; as it is asked, which is by the law
of the family where it can, and by the networks alone. Leaves `throughput.json`.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np

from pgt.core.provenance import provenance
from pgt.families import Pretrained, shipped, shipped_names

RESULTS = Path(__file__).parent / "results"
READINGS, ACROSS = 64, 64
BATCHES = (256,)


def main() -> None:
    asked = _arguments()
    asked.out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + asked.budget
    record = {"readings": READINGS, "across": ACROSS, "families": {}, "networks": {}}
    for name in asked.family or shipped_names():
        network = shipped(name)
        if len(network.family.axes) != 2 or time.monotonic() > end:
            continue
        for kind, law in (("families", True), ("networks", False)):
            record[kind][name] = {str(n): rate(network, n, law) for n in asked.batch}
            print(name, kind, json.dumps(record[kind][name]), flush=True)
        text = json.dumps(record | provenance(), indent=1) + "\n"
        (asked.out / "throughput.json").write_text(text)


def rate(network: Pretrained, systems: int, law: bool, calls: int = 3) -> float:
    """Systems a second, the median of a few calls after one that compiles."""
    family, seconds = network.family, []
    draw = jax.jit(jax.vmap(family.draw))
    drawn = draw(jax.random.split(jax.random.key(0), systems))
    values = np.asarray(drawn.values).reshape(systems, -1, len(family.fields))
    nodes = _points(family.axes.values())
    chosen = np.random.default_rng(0).integers(0, len(nodes), (systems, READINGS))
    read = np.take_along_axis(values, chosen[..., None], axis=1)
    coefficients = {name: np.asarray(value) for name, value in drawn.coefficients.items()}
    at = _points(np.linspace(*family.domain.bounds(axis), ACROSS) for axis in family.domain.axes)
    for _ in range(calls + 1):
        began = time.perf_counter()
        network.answers(nodes[chosen], read, coefficients, at, law=law)
        seconds.append(time.perf_counter() - began)
    return systems / float(np.median(seconds[1:]))


def _points(lines) -> np.ndarray:
    return np.stack([m.ravel() for m in np.meshgrid(*lines, indexing="ij")], axis=-1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds")
    parser.add_argument("--batch", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--family", nargs="+", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
