"""`pgt fit`: the fit of a run file, and a folder with the fit, field, figures, numbers and report."""

import dataclasses
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import xarray as xr

from pgt import io, plots
from pgt._reconstruct import run_plan
from pgt.config import RunFile
from pgt.config.parts import Parts
from pgt.core.attempts import Attempts
from pgt.core.doubt import Verdict
from pgt.core.files import in_one_piece
from pgt.core.folder_lock import lock_folder
from pgt.core.manifest import NAME as CHECKSUMS
from pgt.core.manifest import changed_since, file_stamps, write_manifest
from pgt.core.provenance import provenance
from pgt.core.stage import Stage
from pgt.io.readers import describe_files
from pgt.problem.assembly import Task
from pgt.problem.checkpoint import identity_of
from pgt.reconstruction.cross_validation import CrossValidation, cross_validate
from pgt.reconstruction.estimates import known_intervals
from pgt.reconstruction.result import Reconstruction
from pgt.report import Tables, write_report
from pgt.runs.check import prepare
from pgt.runs.folder import (
    CHECKPOINT,
    FOLDS,
    METRICS,
    REPORT,
    RUN_FILE,
    check_folder,
    claim,
    sign,
    work_files,
)
from pgt.runs.report import MAX_SUSPICIOUS, UNJUDGED, report_data, with_origins
from pgt.uncertainty.misfits import far_readings, with_sensor_names

Say = Callable[[str], None]
CONVERGENCE_FIGURE = "convergence.png"


class Finished(NamedTuple):
    """The results of a finished run, its cross-validation if any, and a sentence per failed output."""

    result: Reconstruction
    verdict: Verdict
    folds: CrossValidation | None
    failures: list[str]


def fit(
    run: RunFile,
    folder: Path,
    *,
    resume: bool,
    seconds: float | None,
    say: Say,
    folds: int | None = None,
    overwrite: bool = False,
) -> Finished:
    """Fit as the run file says and write everything to `folder`; with `folds`, cross-validate first.

    Nothing in the folder changes before it is certain that the folder is free or belongs to this run.
    """
    check_folder(folder, resume, folds, overwrite)
    parts, plan = prepare(run, seconds)
    with lock_folder(folder):
        check_folder(folder, resume, folds, overwrite)  # it may have had another owner meanwhile
        identity = identity_of(plan.first) | {"folds": folds}
        claim(folder, identity, resume=resume, overwrite=overwrite)
        before = file_stamps(folder)
        with in_one_piece(folder / RUN_FILE) as path:
            path.write_text(run_file_text(run), encoding="utf-8")
        if not resume:
            sign(folder, identity)
        found = _cross_validated(run, parts, plan.first, folds, folder, say)
        say(_about_readings(run, parts))
        result, attempts = run_plan(plan, checkpoint=folder / CHECKPOINT), Attempts()
        origins = partial(with_origins, result, parts.columns)
        if run.observations is not None:
            result = attempts("the lines of suspicious readings", origins, result)
        result.save(folder)  # first: nothing that fails below can lose it
        verdict = write_results(run, parts, result, found, folder, attempts)
        names = changed_since(folder, before)
        covered = [*names, *work_files(folder)]
        attempts(
            CHECKSUMS, lambda: write_manifest(folder, covered)
        )  # last: of all that was written
    say(f"written to {folder}: {', '.join(names)}")
    return Finished(result, verdict, found, attempts.failures)


def _about_readings(run: RunFile, parts: Parts) -> str:
    """A message about the readings: their files, how they were understood, and their number."""
    if run.observations is None:
        return "no readings; solving the equation (the first run also compiles)"
    name = describe_files(run.observations_paths).name
    how = ", ".join(parts.columns.notes) or "columns by name"
    return (
        f"{name}: {how}\n{len(parts.observations)} readings; training (the first run also compiles)"
    )


def _cross_validated(
    run: RunFile, parts: Parts, task: Task, folds: int | None, folder: Path, say: Say
) -> CrossValidation | None:
    """The cross-validation, which is saved; None if it is not requested."""
    if folds is None:
        return None
    found = cross_validate(
        parts.observations, parts.pde, parts.domain, parts.conditions, folds=folds,
        model=task.model, training=task.training, seed=run.seed, checkpoint=folder / FOLDS, say=say,
    )  # fmt: skip
    found.save(folder)
    return found


def run_file_text(run: RunFile) -> str:
    """The text of the run file with the overrides and the folder in which its paths start."""
    lines = [f"# {run.path.name}; the readings' path starts in {run.path.parent.resolve()}"]
    lines += [f"# --set {override}" for override in run.overrides]
    return "\n".join([*lines, run.text])


# ------------------------------------------------------------------------------- outputs


def write_results(
    run: RunFile,
    parts: Parts,
    result: Reconstruction,
    folds: CrossValidation | None,
    folder: Path,
    attempts: Attempts,
) -> Verdict:
    """Write the field in the requested formats, figures, numbers and report; return the verdict.

    Each is written independently, and failures are recorded in `attempts`.
    """
    axes: dict[str, Any] = dict(run.output.grid)
    field = attempts("the field", lambda: result.grid(parts.quantities, **axes))
    shown = None
    if field is not None:
        shown = attempts(
            REPORT, lambda: report_data(result, field, run_file_text(run), folds, attempts)
        )
        for kind in run.output.formats:
            _write_field(kind, field, result, folder, attempts)
    if "png" in run.output.formats and (result.history.sizes["step"] or result.stages):
        attempts(CONVERGENCE_FIGURE, lambda: _draw_course(result, folder / CONVERGENCE_FIGURE))
    verdict = None if shown is None else shown.verdict
    verdict = verdict or attempts("the verdict", lambda: result.verdict(folds), UNJUDGED)
    tables = Tables() if shown is None else shown.tables
    attempts(METRICS, lambda: _write_numbers(numbers(result, verdict, tables, folds), folder))
    if shown is not None:
        attempts(REPORT, lambda: write_report(shown, folder / REPORT, attempts))
    return verdict


def _write_field(
    kind: str, field: xr.Dataset, result: Reconstruction, folder: Path, attempts: Attempts
) -> None:
    path = folder / f"field.{'vtr' if kind == 'vtk' else kind}"
    write = _draw_field if kind == "png" else _export_field
    attempts(path.name, lambda: write(field, result, path))


def _export_field(field: xr.Dataset, result: Reconstruction, path: Path) -> None:
    io.write_field(field, path)


def _draw_field(field: xr.Dataset, result: Reconstruction, path: Path) -> None:
    suspects = far_readings(result.misfits()).head(MAX_SUSPICIOUS)
    figure = plots.field(
        _drawable(field), sensors=result.observations, domain=result.domain,
        held_out=result.held_out, suspects=with_sensor_names(suspects, result.record.get("origins", ())),
    )  # fmt: skip
    plots.save(figure, path)


def _draw_course(result: Reconstruction, path: Path) -> None:
    plots.save(plots.convergence(result.history, stages=result.stages), path)


def _write_numbers(found: dict, folder: Path) -> None:
    with in_one_piece(folder / METRICS) as path:
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def numbers(
    result: Reconstruction, verdict: Verdict, tables: Tables, folds: CrossValidation | None
) -> dict:
    """The contents of `metrics.json`."""
    kept = (
        "model", "plan", "seconds", "polish_seconds", "first_step_seconds", "stopped", "seed",
        "parameter_count",
    )  # fmt: skip
    return {
        "expected_error": result.summary.get("expected_error"),
        "field_error": {name: dataclasses.asdict(e) for name, e in verdict.field_error.items()},
        "held_out": {name: dataclasses.asdict(found) for name, found in verdict.held_out.items()},
        "cross_validation": folds and _of_folds(folds),
        "converged": verdict.converged is not False,
        "reason": verdict.reason,
        "exit_code": verdict.exit_code,
        "doubts": [doubt.sentence for doubt in verdict.doubts],
        "doubt_kinds": list(verdict.kinds),
        "coefficients": result.parameters,
        "noise": dict(tables.noise or {}),
        **_of_error_bars(result, tables.coverage),
        **{name: result.summary[name] for name in kept},
        "stages": [_of_stage(stage) for stage in result.stages],
        **provenance(),
    }


def _of_stage(stage: Stage) -> dict:
    """A stage as plain data, with only its first and last costs."""
    ends = {"first_cost": stage.costs[0], "last_cost": stage.costs[-1]}
    return stage.plain | {"iterations": stage.iterations, "costs": ends}


def _of_error_bars(result: Reconstruction, coverage: xr.Dataset | None) -> dict:
    """The 90 % intervals of coefficients, and the coverage of bands at held-out readings."""
    intervals = {name: found._asdict() for name, found in known_intervals(result).items()}
    if result.members is None:
        return {"intervals": intervals} if intervals else {}
    return {"intervals": intervals, "coverage": None if coverage is None else coverage.to_dict()}


def _of_folds(found: CrossValidation) -> dict:
    """The errors of every fold, relative to the size of all readings, and their standard deviation."""
    errors = {
        name: {"by_fold": list(error.by_fold), "spread": error.spread}
        for name, error in found.errors.items()
    }
    return {"folds": found.folds, "by": found.by, "fields": errors}


def _drawable(field: xr.Dataset) -> xr.Dataset:
    """The field over two axes, or over space for planes; further axes are held in the middle."""
    if {"x", "y", "z"} <= set(field.dims):
        return field
    spare = [axis for axis in ("t", "z", "y") if axis in field.dims][: max(len(field.dims) - 2, 0)]
    return field.isel({axis: field.sizes[axis] // 2 for axis in spare})
