"""From a run file to a folder with the fit, the field, figures, numbers and a report."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import xarray as xr

from pgt import io, plots
from pgt._errors import InputError
from pgt._files import in_one_piece, require_writable
from pgt._provenance import provenance
from pgt._reconstruct import reconstruct
from pgt._serialise import exists
from pgt.config import RunFile
from pgt.reconstruction import Reconstruction
from pgt.report import ReportData, write_report
from pgt.runs.check import Prepared, prepare
from pgt.runs.trust import Trust, judge

RUN_FILE, CHECKPOINT, METRICS, REPORT = "run.toml", "checkpoint", "metrics.json", "report.html"
Say = Callable[[str], None]


def fit(
    run: RunFile, folder: Path, *, resume: bool, seconds: float | None, say: Say
) -> tuple[Reconstruction, Trust]:
    """Train as the run file says and leave everything in `folder`."""
    check_folder(folder, resume)
    prepared = prepare(run)
    training = prepared.training
    if seconds is not None:
        training = dataclasses.replace(training, seconds=seconds)
    say(f"{len(prepared.observations)} readings; training (the first run also compiles)")
    with in_one_piece(folder / RUN_FILE) as path:
        path.write_text(written_down(run), encoding="utf-8")
    result = reconstruct(
        prepared.observations, prepared.pde, prepared.domain, prepared.conditions,
        model=prepared.model, training=training, seed=run.seed, checkpoint=folder / CHECKPOINT,
    )  # fmt: skip
    trust = judge(result)
    result.save(folder)
    write_results(run, prepared, result, trust, folder, say)
    return result, trust


def written_down(run: RunFile) -> str:
    """The run file as it was, with what was laid over it, and where its paths start."""
    lines = [f"# {run.path.name}; the readings' path starts in {run.path.parent.resolve()}"]
    lines += [f"# --set {override}" for override in run.overrides]
    return "\n".join([*lines, run.text])


def check_folder(folder: Path, resume: bool) -> None:
    """Before the training, not after it."""
    begun = folder.is_dir() and exists(folder / CHECKPOINT, "checkpoint")
    if begun and not resume:
        raise InputError(
            f"{folder} holds a run already; continue it with --resume, or name another folder with -o."
        )
    if resume and not begun:
        raise InputError(f"{folder} holds no run to resume; leave out --resume.")
    require_writable(folder)


# ------------------------------------------------------------------------------- what is left


def write_results(
    run: RunFile, prepared: Prepared, result: Reconstruction, trust: Trust, folder: Path, say: Say
) -> None:
    field = result.grid(run.build_quantities(), **run.output.grid)
    for kind in run.output.formats:
        if kind == "png":
            plots.save(
                plots.field(_drawable(field), sensors=result.observations), folder / "field.png"
            )
            history = result.history
            plots.save(plots.convergence(history, _losses(history)), folder / "convergence.png")
        else:
            io.write_field(field, folder / f"field.{'vtr' if kind == 'vtk' else kind}")
    with in_one_piece(folder / METRICS) as path:
        path.write_text(json.dumps(numbers(result, trust), indent=1) + "\n", encoding="utf-8")
    write_report(
        report_data(result, trust, field, (folder / RUN_FILE).read_text("utf-8")), folder / REPORT
    )
    say(
        f"written to {folder}: {', '.join(sorted(p.name for p in folder.iterdir() if p.is_file()))}"
    )


def numbers(result: Reconstruction, trust: Trust) -> dict:
    """What `metrics.json` holds."""
    kept = ("seconds", "polish_seconds", "first_step_seconds", "stopped", "seed", "parameter_count")
    return {
        "held_out": {name: dataclasses.asdict(found) for name, found in trust.fields.items()},
        "converged": trust.converged,
        "doubts": list(trust.doubts),
        "coefficients": result.parameters,
        **{name: result.summary[name] for name in kept},
        **provenance(),
    }


def report_data(result: Reconstruction, trust: Trust, field: xr.Dataset, text: str) -> ReportData:
    """All that the HTML page shows."""
    axes = {str(axis): field[axis].to_numpy() for axis in field.dims}
    return ReportData(
        field=field,
        observations=result.observations,
        held_out=result.held_out,
        predictions=trust.predictions,
        history=result.history,
        summary=result.summary,
        residual=result.residual(**axes),
        coefficients={name: (value, None) for name, value in result.parameters.items()},
        run_file=text,
        warnings=trust.doubts,
    )


def _drawable(field: xr.Dataset) -> xr.Dataset:
    """A figure shows two axes at most: of further ones the middle."""
    spare = [axis for axis in ("t", "z", "y") if axis in field.dims][: max(len(field.dims) - 2, 0)]
    return field.isel({axis: field.sizes[axis] // 2 for axis in spare})


def _losses(history: xr.Dataset) -> list[str]:
    besides = ("weight_", "unknown_")
    return [str(name) for name in history.data_vars if not str(name).startswith(besides)]
