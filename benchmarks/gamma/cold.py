"""A SIREN from nothing, with the equation and Gauss–Newton steps, on some of the same systems.

    python benchmarks/gamma/cold.py benchmarks/results/gamma --systems 3

64 clean readings by the sensors of the study; the equation is known, and nothing of the initial state or
the ends. Leaves errors, and the seconds of one processor with compiling.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from closed import asked_of
from run import TEST_SENSORS
from systems import FAMILIES, drawn_for_test, systems_of_test, world

import pgt
from pgt.core.provenance import provenance

READINGS, TEST = 64, 128  # as in the study
TRAINING = pgt.Training(steps=1, polish=pgt.Polish(iterations=60))


def fitted(family, coefficients: dict[str, float], asked) -> tuple[float, float]:
    """Relative error and seconds. The equations are linear: standardised readings obey them."""
    x, t = (asked.read.T + 1) / 2
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": asked.values})
    domain, began = family.domain, time.process_time()
    model = pgt.SIREN(pgt.Scaling.fit(readings, domain), width=32, layers=3, frequency=6.0)
    result = pgt.reconstruct(
        readings, family.equation(**coefficients), domain, model=model, training=TRAINING,
        progress=False,
    )  # fmt: skip
    seconds = time.process_time() - began
    return asked.error(result.at((asked.points + 1) / 2).u.to_numpy()), seconds


def fits(name: str, count: int) -> Iterator[tuple[float, float]]:
    family = pgt.families.get(name)
    drawn = drawn_for_test(name, TEST, False).coefficients
    systems = asked_of(TEST_SENSORS, systems_of_test(name, TEST, False), world(name), READINGS, 0.0)
    for k in range(count):
        coefficients = {key: float(value[k]) for key, value in drawn.items()}
        yield fitted(family, coefficients, systems[k])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--systems", type=int, default=3)
    parser.add_argument("--family", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    asked = parser.parse_args()
    made = provenance()
    for name in asked.family:
        rows = []
        for row in fits(name, asked.systems):
            rows.append(row)
            errors, seconds = np.array(rows).T.tolist()
            record = {"family": name, "errors": errors, "seconds": seconds, "readings": READINGS}
            text = json.dumps(record | made, indent=1)
            (asked.out / f"cold-{name}.json").write_text(text + "\n")
            print(name, row, flush=True)


if __name__ == "__main__":
    main()
