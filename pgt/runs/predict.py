"""`pgt predict`, `pgt info` and `pgt report`: evaluation of a stored run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pgt import io
from pgt.core.attempts import Attempts
from pgt.core.errors import InputError
from pgt.core.folder_lock import lock_folder
from pgt.core.manifest import changed_files, require_unchanged, update_manifest
from pgt.data.dates import is_date
from pgt.data.query_points import require_points, with_fixed
from pgt.models.linearised import network_of
from pgt.physics.unknown_conditions import bare
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.reconstruction.display import coefficient_texts, seconds_of, write
from pgt.reconstruction.result import Reconstruction
from pgt.report import write_report
from pgt.runs.folder import METRICS, REPORT, RUN_FILE
from pgt.runs.report import report_data


def load(folder: Path) -> Reconstruction:
    """The reconstruction in a folder that `pgt fit` wrote; raises where a file is damaged."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; give one that `pgt fit` wrote.")
    require_unchanged(folder, editable=(RUN_FILE,))
    return Reconstruction.load(folder)


def parse_axes(text: str, known: tuple[str, ...]) -> dict[str, Any]:
    """The axes of a grid: "x=101,t=0:1:5" is 101 positions along x, and five from 0 to 1 along t."""
    return {name: _positions(text, asked) for name, asked in _by_axis("--grid", text, known)}


def parse_fixed(text: str, known: tuple[str, ...]) -> dict[str, Any]:
    """The axes that are held at one position: "t=0.5", or a date."""
    fixed: dict[str, Any] = {}
    for name, position in _by_axis("--at", text, known):
        try:
            fixed[name] = position if is_date(position) else float(position)
        except ValueError:
            raise InputError(
                f"--at {text}: {position!r} is neither a number nor a date; write --at {name}=0.5."
            ) from None
    return fixed


def _by_axis(option: str, text: str, known: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for part in filter(None, text.split(",")):
        name, _, asked = (piece.strip() for piece in part.partition("="))
        if name not in known:
            raise InputError(
                f"{option} {text}: {name!r} is not an axis; the axes are {', '.join(known)}."
            )
        yield name, asked


def _positions(text: str, positions: str) -> int | list[float]:
    pieces = positions.split(":")
    try:
        if len(pieces) == 3 and int(pieces[2]) > 0:
            require_points(int(pieces[2]), f"--grid {text}")
            return np.linspace(float(pieces[0]), float(pieces[1]), int(pieces[2])).tolist()
        if len(pieces) == 1 and int(positions) >= 2:
            return int(positions)
    except InputError:
        raise
    except ValueError:
        pass
    raise InputError(
        f"--grid {text}: {positions!r} is neither a number of positions (101) nor a range with a number "
        "(0:1:11); one position, or a date, is written --at t=0.5."
    )


def predict(
    folder: Path,
    output: Path,
    grid: str | None,
    points: Path | None,
    quantities: tuple[str, ...],
    at: str | None = None,
) -> str:
    """Evaluate on a grid or at the points of a file, and write the values; the message says where."""
    if (grid is None and at is None) == (points is None):
        raise InputError("give either --grid x=101 with --at t=0.5, or --points points.csv.")
    result = load(folder)
    asked = quantities or None
    if points is None:
        axes = parse_axes(grid or "", result.domain.axes)
        fixed = parse_fixed(at or "", result.domain.axes)
        axes = with_fixed(axes, fixed, result.domain)
        with update_manifest(output.parent):
            written, sizes = write(result, output, None, (asked, None), None, axes)
        counts = " × ".join(f"{sizes[axis]} of {axis}" for axis in result.domain.axes)
        return f"{written}: a grid of {counts}"
    known = dict(result.observations.units) | result.domain.units
    units = {axis: known[axis] for axis in result.domain.axes if axis in known}
    wanted = io.read_points(points, result.domain.axes, units=units)
    values = result.at(wanted, asked)
    with update_manifest(output.parent):
        written = io.write_values(values, output)
    return f"{written}: {len(wanted)} points"


def rewrite_report(folder: Path, attempts: Attempts) -> Path:
    """Write the report of a stored run again; `attempts` records failures."""
    result = load(folder)
    text = folder / RUN_FILE
    shown = text.read_text(encoding="utf-8") if text.is_file() else ""
    if RUN_FILE in changed_files(folder):
        shown = f"# edited since the fit\n{shown}"
    folds = CrossValidation.load(folder)
    with lock_folder(folder), update_manifest(folder):
        data = report_data(result, result.grid(), shown, folds, attempts)
        return write_report(data, folder / REPORT, attempts)


def info(folder: Path) -> list[tuple[str, str]]:
    """A description of a stored run."""
    result = load(folder)
    summary, found = result.summary, _metrics(folder / METRICS)
    kind = type(network_of(result.model)).__name__
    rows = [
        ("equation", f"{type(bare(result.pde)).__name__} in {', '.join(result.pde.coords)}"),
        ("fields", ", ".join(result.pde.fields)),
        ("readings", f"{len(result.observations)} fitted, {len(result.held_out)} held out"),
        ("model", f"{kind}, {summary['parameter_count']:,} parameters"),
        ("training", f"{seconds_of(summary):.1f} s, {summary['stopped']}"),
        ("seed, version", f"{summary['seed']}, pgt {summary['version']}, jax {summary['jax']}"),
    ]
    rows += [(name, f"learnt: {value}") for name, value in coefficient_texts(result).items()]
    rows += _of_metrics(found, folder / METRICS)
    if RUN_FILE in changed_files(folder):
        rows.append(
            ("note", f"{RUN_FILE} was edited since the fit, which is that of the file before")
        )
    return rows


def _metrics(path: Path) -> dict:
    """The metrics that `pgt fit` wrote; empty where the file was deleted."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _not_metrics(path, error) from None
    if not isinstance(found, dict):
        raise _not_metrics(path, "no table")
    return found


def _not_metrics(path: Path, error: object) -> InputError:
    return InputError(
        f"{path}: damaged ({error}); use another copy, or delete the file to go on without it."
    )


def _of_metrics(found: dict, path: Path) -> list[tuple[str, str]]:
    """The rows that describe the fit by its metrics."""
    rows = []
    try:
        if crossed := found.get("cross_validation"):
            rows.append(("cross-validation", f"{crossed['folds']} folds by {crossed['by']}"))
        for name, error in found.get("held_out", {}).items():
            relative, rms = error["relative"], f"{error['rmse']:.2e} rms"
            shown = rms if relative is None else f"{relative:.2e} relative, {rms}"
            rows.append((f"held-out error of {name}", shown))
        return rows + [("doubt", str(text)) for text in found.get("doubts", [])]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _not_metrics(path, f"{type(error).__name__}: {error}") from None
