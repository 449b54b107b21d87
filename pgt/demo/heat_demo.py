"""The paper's first experiment: the heat equation from 100 readings, beside interpolation."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr
from scipy.interpolate import RBFInterpolator

from pgt import metrics
from pgt._reconstruct import reconstruct
from pgt.core.files import require_writable
from pgt.core.provenance import provenance
from pgt.data import Domain, Observations, sample
from pgt.datasets import heat
from pgt.demo.output_files import write_files
from pgt.inference.gaussian_process import predict_by_process
from pgt.models.pgt import PGT
from pgt.physics import Dirichlet, Heat, Initial
from pgt.reconstruction.result import Reconstruction
from pgt.training.settings import Training

READINGS, DIFFUSIVITY = 100, 0.01
SQUARE = Domain(x=(0, 1), t=(0, 1))
QUICK = Training(steps=4, collocation=500, polish=False)
# Without the polish, which alone takes longer than all the rest of the demonstration.
BESIDE = Training(steps=300, collocation=500, polish=False)

# Table 1 of the paper at M = 100: relative L2 error, seconds of training, parameters.
PAPER = {
    "PGT, paper": (5.9e-3, 9.5 * 60, 405_000_000),
    "PINN, paper": (0.226, 65.0, 66_500),
    "SIREN, paper": (0.54, 126.0, 26_419),
}
SHOWN = {"Features": "sum of sines"}  # a model's name, in words
SPLINES = ("linear", "thin_plate_spline", "cubic", "quintic")
BUMPS = tuple((kernel, width) for kernel in ("gaussian", "multiquadric") for width in (2, 4, 8))

Say = Callable[[str], None]


def run_heat_demo(
    folder: Path, *, quick: bool = False, seed: int = 0, say: Say, progress: bool | None = None
) -> dict:
    """Reconstruct u_t = 0.01 u_xx, u(x, 0) = sin 4πx from 100 readings, and leave all in `folder`.

    With default settings; a PGT trained for a few seconds stands beside. `quick` spends a few steps of a
    PGT only: it shows that everything works, not how well. Returns what `metrics.json` holds.
    """
    require_writable(folder)
    truth = heat(diffusivity=DIFFUSIVITY)
    readings = sample(truth, READINGS, seed=seed)
    say(f"{READINGS} readings of u_t = {DIFFUSIVITY} u_xx, with u(x, 0) and u at both ends known")
    interpolation = interpolation_errors(readings, truth) | process_errors(readings, truth)
    say("interpolated without physics; reconstructing (the first run also compiles)")
    result, seconds = _reconstructed(readings, seed, QUICK if quick else None, progress)
    field = result.grid(x=truth.x.values, t=truth.t.values)
    numbers = _numbers(result, metrics.compare(truth, field), seconds, interpolation, quick)
    if not quick:
        say("the same once more with a PGT, for comparison")
        numbers["transformer"] = transformer_errors(readings, truth, seed, progress)
    write_files(folder, result, truth, field, readings, numbers)
    say(f"written to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return numbers


def _reconstructed(
    readings: Observations, seed: int, training: Training | None, progress: bool | None
) -> tuple[Reconstruction, float]:
    """The field and the seconds it took: by the defaults alone, or of a PGT with this training."""
    pde, conditions = Heat(DIFFUSIVITY), [Dirichlet("x", u=0.0), Initial(u="sin(4*pi*x)")]
    model = None if training is None else PGT.for_problem(readings, pde, SQUARE, seed=seed)
    began = time.monotonic()
    result = reconstruct(
        readings, pde, SQUARE, conditions,
        model=model, training=training, seed=seed, progress=progress,
    )  # fmt: skip
    return result, time.monotonic() - began


def transformer_errors(
    readings: Observations, truth: xr.Dataset, seed: int = 0, progress: bool | None = None
) -> dict:
    """A PGT on the same readings and known values, trained for a few seconds."""
    result, seconds = _reconstructed(readings, seed, BESIDE, progress)
    error = metrics.relative_l2(truth, result.grid(x=truth.x.values, t=truth.t.values))["u"]
    count = result.summary["parameter_count"]
    method = f"PGT, {BESIDE.steps} steps, not polished"
    return {"method": method, "rel_l2": error, "seconds": seconds, "parameters": count}


def table(numbers: dict) -> list[tuple[str, float, float | None, int | None]]:
    """(what, relative L2 error, seconds, parameters) of ours, the paper's and interpolation."""
    name = f"this run ({SHOWN.get(numbers['model'], numbers['model'])})"
    ours = (name, numbers["rel_l2"], numbers["seconds"], numbers["parameters"])
    found = numbers.get("transformer")
    transformer = [] if found is None else [tuple(found[k] for k in ("method", *_COLUMNS))]
    paper = [(name, *row) for name, row in PAPER.items()]
    return [ours, *transformer, *paper] + [
        (f"{found['method']}, {found.get('sees', what)}", found["rel_l2"], found["seconds"], None)
        for what, found in numbers["interpolation"].items()
    ]


# ------------------------------------------------------------------------------- interpolation


def interpolation_errors(readings: Observations, truth: xr.Dataset) -> dict[str, dict]:
    """What needs no physics: scipy's RBF interpolation, best kernel chosen with the truth at hand.

    Once from the readings alone, once with the boundary and initial values given as readings too.
    """
    points, values = np.asarray(readings.points), np.asarray(readings.values)
    where = np.linspace(0, 1, 51)
    side, start = np.zeros_like(where), np.sin(4 * np.pi * where)
    known = np.concatenate(
        [
            np.stack([where, side], -1),
            np.stack([side, where], -1)[1:],
            np.stack([side + 1, where], -1)[1:],
        ]
    )
    known_values = np.concatenate([start, np.zeros(len(known) - len(start))])[:, None]
    # A reading on the boundary would stand twice in the list, which no interpolant can fit.
    inside = ~((points[:, 0] == 0) | (points[:, 0] == 1) | (points[:, 1] == 0))
    return {
        "readings only": _best_interpolation(points, values, truth),
        "with BC and IC": _best_interpolation(
            np.concatenate([points[inside], known]),
            np.concatenate([values[inside], known_values]),
            truth,
        ),
    }


def _best_interpolation(points: np.ndarray, values: np.ndarray, truth: xr.Dataset) -> dict:
    t, x = np.meshgrid(truth.t.values, truth.x.values, indexing="ij")
    wanted = np.stack([x.ravel(), t.ravel()], -1)

    def attempt(kernel: str, width: float) -> dict | None:
        began = time.monotonic()
        try:
            guess = RBFInterpolator(points, values, kernel=kernel, epsilon=width)(wanted)
        except np.linalg.LinAlgError:  # wide bumps on close points: the system is singular
            return None
        seconds = time.monotonic() - began
        estimate = truth.copy(data={"u": guess.reshape(t.shape)})
        error = metrics.relative_l2(truth, estimate)["u"]
        return {"kernel": kernel, "epsilon": width, "rel_l2": error, "seconds": seconds}

    tried = [attempt(kernel, 1) for kernel in SPLINES] + [attempt(*bump) for bump in BUMPS]
    best = min((found for found in tried if found), key=lambda found: found["rel_l2"])
    return best | {"method": f"scipy RBF ({best['kernel']})", "kernels_tried": len(tried)}


def process_errors(readings: Observations, truth: xr.Dataset) -> dict[str, dict]:
    """A Gaussian process, from the readings alone."""
    began = time.monotonic()
    t, x = np.meshgrid(truth.t.values, truth.x.values, indexing="ij")
    found = predict_by_process(readings, SQUARE, np.stack([x.ravel(), t.ravel()], -1))
    seconds = time.monotonic() - began
    estimate = truth.copy(data={"u": found.reshape(t.shape)})
    error = metrics.relative_l2(truth, estimate)["u"]
    process = {"method": "Gaussian process", "rel_l2": error, "seconds": seconds}
    return {"gaussian process": process | {"sees": "readings only"}}


# ------------------------------------------------------------------------------- numbers and files


def _numbers(
    result: Reconstruction, errors: dict, seconds: float, interpolation: dict, quick: bool
) -> dict:
    summary = result.summary
    return {
        "case": "heat",
        "quick": quick,
        "model": summary["model"],
        "expected_error": summary["expected_error"],
        "rel_l2": errors["relative_l2"]["u"],
        "rmse": errors["rmse"]["u"],
        "max_error": errors["max_error"]["u"],
        "held_out_error": summary["held_out_error"],
        "seconds": seconds,
        "first_step_seconds": summary["first_step_seconds"],
        "train_seconds": summary["seconds"],
        "polish_seconds": summary["polish_seconds"],
        "stopped": summary["stopped"],
        "parameters": summary["parameter_count"],
        "readings": READINGS,
        "seed": summary["seed"],
        "training": summary["training"],
        "interpolation": interpolation,
        "paper": {name: dict(zip(_COLUMNS, row, strict=True)) for name, row in PAPER.items()},
        **provenance(),
    }


_COLUMNS = ("rel_l2", "seconds", "parameters")
