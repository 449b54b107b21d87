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

import jax.numpy as jnp
import numpy as np

import pgt
from pgt.ground.provenance import provenance

RESULTS = Path(__file__).parent / "results"
INNER, RADIUS, VISCOSITY = 0.3, 0.5, 0.1
SIZE = {"width": 14, "layers": 3}


class BetweenCircles(pgt.PINN):
    """u = 0 on the outer circle, 1 on the inner one."""

    def decode(self, context, z):
        square = z[0] ** 2 + z[1] ** 2
        outer, inner = (1 - square) / 2, (square - INNER**2) / (2 * INNER)
        away = outer * inner / jnp.sqrt(outer**2 + inner**2)
        own = self.network.decode(context, self._unit(z))
        return outer / (outer + inner) + away * jnp.asarray(self.scaling.spread) * own


class Resting(pgt.PINN):
    """The velocity times 1 − (R/r)²."""

    def decode(self, context, z):
        found = super().decode(context, z)
        held = 1 - RADIUS**2 / (z[0] ** 2 + z[1] ** 2)
        return jnp.concatenate([held * found[:2], found[2:]])


class Case(NamedTuple):
    """A field that is known, what it obeys, and the network in which the walls are built."""

    domain: pgt.Domain
    pde: pgt.AbstractPDE
    conditions: list
    field: object
    lifted: type
    readings: int
    steps: int


def ring() -> Case:
    def field(x, y):
        return {"u": np.log(np.hypot(x, y)) / np.log(INNER)}

    shape = pgt.Disk(name="rim") - pgt.Disk(radius=INNER, name="hole")
    held = [pgt.Dirichlet(wall="rim", u=0.0), pgt.Dirichlet(wall="hole", u=1.0)]
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=shape)
    return Case(domain, pgt.Laplace(), held, field, BetweenCircles, 60, 150)


def cylinder() -> Case:
    def field(x, y):
        r2 = x**2 + y**2
        log, ratio = np.log(r2 / RADIUS**2) / 2, RADIUS**2 / r2
        along, around = log - 0.5 + 0.5 * ratio, log + 0.5 - 0.5 * ratio
        return {"u": (along * x**2 + around * y**2) / r2, "v": (along - around) * x * y / r2}

    shape = -pgt.Disk(radius=RADIUS, name="cylinder")
    domain = pgt.Domain(x=(-2, 2), y=(-1.5, 1.5), shape=shape)
    resting = [pgt.NoSlip(wall="cylinder")]
    return Case(domain, pgt.Stokes(VISCOSITY), resting, field, Resting, 80, 300)


CASES = {"ring": ring, "cylinder": cylinder}


def measured(case: Case, seed: int, *, lifted: bool) -> dict:
    """One fit."""
    points = case.domain.even(case.readings, seed=seed + 1)
    where = dict(zip("xy", points.T, strict=True))
    readings = pgt.Observations.from_arrays(where, case.field(*points.T))
    scaling = pgt.Scaling.fit(readings.aligned(case.pde.fields), case.domain)
    network = case.lifted if lifted else pgt.PINN
    steps = pgt.Polish(iterations=case.steps, patience=case.steps, fresh=0.7, evidence=False)
    result = pgt.reconstruct(
        readings, case.pde, case.domain, [] if lifted else case.conditions, seed=seed,
        model=network(scaling, seed=seed, **SIZE), progress=False,
        training=pgt.Training(steps=0, polish=steps),
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
