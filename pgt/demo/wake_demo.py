"""The paper's second experiment at a size for two cores: the wake of a cylinder, p measured or not."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import xarray as xr

from pgt import metrics
from pgt._reconstruct import reconstruct
from pgt.core.files import require_writable
from pgt.core.provenance import provenance
from pgt.data import Domain, sample
from pgt.datasets import cylinder_wake
from pgt.demo.output_files import write_files
from pgt.models.pgt import PGT
from pgt.physics import NavierStokes2D
from pgt.reconstruction.result import Reconstruction
from pgt.training.settings import Training

READINGS, VISCOSITY = 1500, 0.01
BOX = Domain(x=(1, 8), y=(-2, 2), t=(0, 19.9))
SIZES: dict[str, Any] = {"width": 32, "anchors": 48, "decoder_width": 64}
TRAINING = Training(collocation=600, batch=500, polish=False)
EVERY, QUICK_EVERY = 8, 40  # of the 200 snapshots one is compared, drawn and kept

Say = Callable[[str], None]


def run_wake_demo(
    folder: Path,
    *,
    pressure: bool = True,
    seconds: float = 150.0,
    quick: bool = False,
    seed: int = 0,
    say: Say,
    progress: bool | None = None,
) -> dict:
    """Reconstruct u, v and p behind a cylinder from 1500 samples, and leave all in `folder`.

    Without `pressure`, p is never shown to the model: the equations alone say what it is, up to a
    function of time. The mean over each snapshot is then taken off both pressures before they are
    compared. `quick` spends a few steps only. Returns what `metrics.json` holds.
    """
    require_writable(folder)
    truth = cylinder_wake()
    readings = sample(truth, READINGS, fields=None if pressure else ("u", "v"), seed=seed)
    shown = "u, v and p" if pressure else "u and v, never of p"
    say(f"{READINGS} samples of {shown} in the wake of a cylinder, viscosity {VISCOSITY}")
    say("training (the first run also compiles)")
    pde = NavierStokes2D(VISCOSITY)
    training = replace(TRAINING, steps=4) if quick else replace(TRAINING, seconds=seconds)
    began = time.monotonic()
    result = reconstruct(
        readings,
        pde,
        BOX,
        model=PGT.for_problem(readings, pde, BOX, seed=seed, **SIZES),
        training=training,
        seed=seed,
        progress=progress,
    )
    spent = time.monotonic() - began
    say("comparing with the truth, drawing, writing")
    truth = truth.isel(t=slice(0, None, QUICK_EVERY if quick else EVERY))
    field = result.grid(x=truth.x.values, y=truth.y.values, t=truth.t.values)
    if not pressure:
        truth, field = (data.assign(p=metrics.remove_mean(data.p)) for data in (truth, field))
    numbers = _numbers(result, truth, field, spent, quick, pressure)
    write_files(folder, result, truth, field, readings, numbers)
    say(f"written to {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return numbers


def _numbers(
    result: Reconstruction,
    truth: xr.Dataset,
    field: xr.Dataset,
    seconds: float,
    quick: bool,
    pressure: bool,
) -> dict:
    summary = result.summary
    kept = ("held_out_error", "first_step_seconds", "stopped", "seed", "training")
    return {
        "case": "wake" if pressure else "pressure",
        "quick": quick,
        "errors": metrics.compare(truth, field),
        "pressure": "as measured" if pressure else "less its mean over each snapshot",
        "snapshots": truth.sizes["t"],
        "readings": READINGS,
        "measured": ["u", "v", "p"] if pressure else ["u", "v"],
        "seconds": seconds,
        "steps": int(result.history.step.to_numpy().max(initial=0)),
        "parameters": summary["parameter_count"],
        **{name: summary[name] for name in kept},
        **provenance(),
    }
