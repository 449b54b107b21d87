"""Flow past a cylinder that stands in the domain: u, v, p and forces from 500 readings of u and v.

    python benchmarks/cylinder.py --data near.npz --seconds 150                      # a GPU
    python benchmarks/cylinder.py --data near.npz --model resting --case wall        # see below

The data are what generate_wake.py writes as --near: Re = 100, the window [-2, 8] × [-2, 2], T = 6, on a
grid that is NaN in the cylinder, with drag and lift over time, integrated on its wall where they were
computed. Two fits see the same readings: one knows that the fluid rests at the wall, the other believes
in a box. With a "resting" network, a SIREN whose velocity is multiplied by what vanishes on the circle,
the fluid rests there by construction. All are compared outside the cylinder only; p is hidden, and
compared less its mean at every instant. Forces are the integrals of the traction on the circle, whatever
the fit knows of it. Leaves `cylinder.json`, or `cylinder-resting.json`.
"""

import argparse
import dataclasses
import json
import time
from pathlib import Path

import numpy as np
import xarray as xr

import pgt
from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
VISCOSITY, SAMPLES, FIELDS = 0.01, 500, ("u", "v", "p")
RADIUS = 0.5
WINDOW = {"x": (-2, 8), "y": (-2, 2), "t": (0, 6)}
BOX = pgt.Domain(**WINDOW)
AROUND = pgt.Domain(**WINDOW, shape=-pgt.shapes.Disk(radius=RADIUS, name="cylinder"))
RESTING = f"1 - {RADIUS**2}/(x^2 + y^2)"  # zero on the circle, one far away


def resting(network):
    """The network with the velocity held at zero on the circle."""
    return pgt.Lifted(network, AROUND, FIELDS, RESTING, "cylinder", u=0, v=0)


MODELS = {
    "resting": lambda scaling, seed: resting(MODELS["siren"](scaling, seed)),
    "tiny-resting": lambda scaling, seed: resting(MODELS["tiny"](scaling, seed)),
    "siren": lambda scaling, seed: pgt.SIREN(
        scaling, width=256, layers=5, frequency=8.0, seed=seed
    ),
    "pinn": lambda scaling, seed: pgt.PINN(scaling, width=40, layers=3, seed=seed),
    "tiny": lambda scaling, seed: pgt.SIREN(scaling, width=8, layers=2, seed=seed),
}
CASES = {"wall": (AROUND, [pgt.NoSlip(wall="cylinder")]), "box": (BOX, [])}
SAMPLERS = {"graded": pgt.training.Graded(), "uniform": pgt.training.Uniform()}  # alike in a box


def read(path: Path) -> xr.Dataset:
    """The data, without the mean of p at every instant."""
    with np.load(path) as file:
        fields = {name: (("t", "y", "x"), file[name]) for name in FIELDS}
        forces = {name: ("t", file[name]) for name in ("drag", "lift")}
        truth = xr.Dataset(fields | forces, {name: file[name] for name in ("t", "y", "x")})
    return truth.assign(p=truth.p - truth.p.mean(("x", "y")))


def fit(readings, domain, conditions, options):
    """The result, and the seconds it took."""
    pde = pgt.NavierStokes2D(VISCOSITY)
    scaling = pgt.Scaling.fit(readings.aligned(pde.fields), domain)
    polish = None if options.model == "pinn" else False
    training = pgt.Training(
        seconds=options.seconds, collocation=options.collocation, condition_points=512,
        hold_out=0.0, polish=polish, sampler=SAMPLERS[options.sampler],
    )  # fmt: skip
    known = [] if "resting" in options.model else conditions  # which holds as it is
    began = time.monotonic()
    result = pgt.reconstruct(
        readings, pde, domain, known, training=training, seed=options.seed, progress=False,
        model=lambda seed: MODELS[options.model](scaling, seed),
    )  # fmt: skip
    return result, time.monotonic() - began


def errors(result, truth: xr.Dataset) -> dict[str, float]:
    """Relative L2 of every field outside the cylinder."""
    found = result.grid(x=truth.x.values, y=truth.y.values, t=truth.t.values)
    found = found[list(FIELDS)].where(np.isfinite(truth.u))
    found = found.assign(p=found.p - found.p.mean(("x", "y")))
    return {name: relative(found[name], truth[name]) for name in FIELDS}


def forces(result, truth: xr.Dataset) -> dict[str, float | list[float]]:
    """Relative L2 of drag and lift over time, and what was found."""
    around = dataclasses.replace(result, domain=AROUND)  # a box has no wall to integrate on
    found = around.integrals.force("cylinder", t=truth.t.values)
    return {
        "drag": relative(found.fx, truth.drag),
        "lift": relative(found.fy, truth.lift),
        "drag_found": found.fx.to_numpy().tolist(),
        "lift_found": found.fy.to_numpy().tolist(),
    }


def relative(found: xr.DataArray, true: xr.DataArray) -> float:
    """‖found − true‖ / ‖true‖ where both are known."""
    found, true = xr.align(found, true, join="override")
    return float(np.sqrt(((found - true) ** 2).sum() / (true**2).sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=150.0, help="of each fit")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--collocation", type=int, default=4000)
    parser.add_argument("--model", choices=MODELS, default="siren")
    parser.add_argument("--sampler", choices=SAMPLERS, default="graded")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", choices=CASES, action="append", help="default: both")
    parser.add_argument("--every", type=int, default=1, help="compare every so many instants")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    truth = read(options.data)
    readings = pgt.sample(truth[["u", "v"]], options.samples, seed=options.seed)
    truth = truth.isel(t=slice(None, None, options.every))
    about = ("seconds", "samples", "collocation", "model", "sampler", "seed")
    record = provenance() | {"settings": {name: getattr(options, name) for name in about}}
    for name in options.case or CASES:
        result, seconds = fit(readings, *CASES[name], options)
        found = errors(result, truth) | forces(result, truth)
        record[name] = found | {
            "seconds": seconds,
            "steps": int(result.history.step.to_numpy().max(initial=0)),
            "parameter_count": result.summary["parameter_count"],
        }
        shown = "  ".join(f"{key} {found[key]:.1e}" for key in (*FIELDS, "drag", "lift"))
        print(f"{name}: {shown}  ({seconds:.0f} s)", flush=True)
        options.out.mkdir(parents=True, exist_ok=True)
        file = "cylinder.json" if options.model == "siren" else f"cylinder-{options.model}.json"
        (options.out / file).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
