"""Dirichlet conditions that hold by construction, u = g + d N, beside soft ones: what that is worth.

    python benchmarks/lift.py --seeds 2                        # some minutes of one processor

d vanishes on the walls and is smooth elsewhere, g has the values on them. Networks of the same size from
the same seed make as many second-order steps on the same readings; lifted, there is nothing left of the
conditions to fit.

* ring: conduction between two circles held at 0 and 1, 60 readings. d is a smooth distance from both, g
  goes from one to the other.
* cylinder: Stokes flow past a cylinder at which the fluid rests, 80 readings of u and v; d = 1 − (R/r)².

Both have exact solutions. Errors are relative L2, the drag's that of the integral over the wall. Leaves
`lift.json`.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pgt
from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
INNER, RADIUS, VISCOSITY = 0.3, 0.5, 0.1
SIZE = {"width": 14, "layers": 3}
OUTER, INSIDE = (
    "(1 - x^2 - y^2)/2",
    f"(x^2 + y^2 - {INNER**2})/{2 * INNER}",
)  # distances near the circles
BETWEEN = f"({OUTER})*({INSIDE})/sqrt(({OUTER})^2 + ({INSIDE})^2)"
SHARE = f"({OUTER})/({OUTER} + {INSIDE})"  # 0 on the outer circle, 1 on the inner one
RESTING = f"1 - {RADIUS**2}/(x^2 + y^2)"


class Case(NamedTuple):
    """A field that is known, what it obeys, and how a network is lifted."""

    domain: pgt.Domain
    pde: pgt.extend.AbstractPDE
    conditions: list
    field: object
    away: str
    held: dict
    readings: int
    steps: int


def ring() -> Case:
    def field(x, y):
        return {"u": np.log(np.hypot(x, y)) / np.log(INNER)}

    shape = pgt.shapes.Disk(name="rim") - pgt.shapes.Disk(radius=INNER, name="hole")
    held = [pgt.Dirichlet(wall="rim", u=0.0), pgt.Dirichlet(wall="hole", u=1.0)]
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=shape)
    return Case(domain, pgt.Laplace(), held, field, BETWEEN, {"u": SHARE}, 60, 150)


def cylinder() -> Case:
    def field(x, y):
        r2 = x**2 + y**2
        log, ratio = np.log(r2 / RADIUS**2) / 2, RADIUS**2 / r2
        along, around = log - 0.5 + 0.5 * ratio, log + 0.5 - 0.5 * ratio
        return {"u": (along * x**2 + around * y**2) / r2, "v": (along - around) * x * y / r2}

    shape = -pgt.shapes.Disk(radius=RADIUS, name="cylinder")
    domain = pgt.Domain(x=(-2, 2), y=(-1.5, 1.5), shape=shape)
    resting = [pgt.NoSlip(wall="cylinder")]
    return Case(domain, pgt.Stokes(VISCOSITY), resting, field, RESTING, {"u": 0, "v": 0}, 80, 300)


CASES = {"ring": ring, "cylinder": cylinder}


def measured(case: Case, seed: int, *, lifted: bool) -> dict:
    """One fit."""
    points = case.domain.even(case.readings, seed=seed + 1)
    where = dict(zip("xy", points.T, strict=True))
    readings = pgt.Observations.from_arrays(where, case.field(*points.T))
    scaling = pgt.Scaling.fit(readings.aligned(case.pde.fields), case.domain)
    model = pgt.PINN(scaling, seed=seed, **SIZE)
    if lifted:
        model = pgt.Lifted(model, case.domain, case.pde.fields, case.away, **case.held)
    steps = pgt.Polish(iterations=case.steps, patience=case.steps, fresh=0.7, evidence=False)
    result = pgt.reconstruct(
        readings, case.pde, case.domain, [] if lifted else case.conditions, seed=seed,
        model=model, training=pgt.Training(steps=0, polish=steps), progress=False,
    )  # fmt: skip
    asked = case.domain.even(2000, seed=99)
    found, true = result.at(asked), case.field(*asked.T)
    errors = {
        name: float(np.linalg.norm(found[name] - true[name]) / np.linalg.norm(true[name]))
        for name in true
    }
    if "v" in true:
        drag = result.integrals.force("cylinder").fx.item()
        errors["drag"] = abs(drag / (4 * np.pi * VISCOSITY) - 1)
    return errors | {"seconds": result.record["polish_seconds"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    record = provenance() | {"fits": []}
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seeds):
        for name in options.case or CASES:
            for lifted in (False, True):
                found = measured(CASES[name](), seed, lifted=lifted)
                kind = "lifted" if lifted else "soft"
                record["fits"].append({"case": name, "seed": seed, "walls": kind} | found)
                print(json.dumps(record["fits"][-1]), flush=True)
                (options.out / "lift.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
