"""What every demonstration leaves in its folder."""

import json
from pathlib import Path

import xarray as xr

from pgt import io, plots
from pgt.core import manifest
from pgt.core.files import in_one_piece
from pgt.data import Observations
from pgt.reconstruction.result import Reconstruction
from pgt.report import write_report
from pgt.runs.report import report_data


def write_files(
    folder: Path,
    result: Reconstruction,
    truth: xr.Dataset,
    field: xr.Dataset,
    readings: Observations,
    numbers: dict,
) -> None:
    """Field, figures, report, the fit itself, `metrics.json` and the checksums of all; truth and field on
    one grid."""
    (folder / manifest.NAME).unlink(missing_ok=True)  # files change from here on
    before, history = manifest.stamps(folder), result.history
    plots.save(plots.field(field, sensors=readings), folder / "field.png")
    plots.save(plots.compare(truth, field), folder / "compare.png")
    if history.sizes["step"]:  # second-order steps from the start leave none
        plots.save(plots.convergence(history), folder / "convergence.png")
        plots.save(plots.loss_contributions(history), folder / "contributions.png")
    io.write_field(field, folder / "field.nc")
    write_report(report_data(result, field), folder / "report.html")
    result.save(folder)
    with in_one_piece(folder / "metrics.json") as path:
        path.write_text(json.dumps(numbers, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    manifest.write_manifest(folder, manifest.changed_since(folder, before))
