"""What a demonstration leaves in its folder, whole or not at all."""

import json

import pytest
import verdict_cases as verdicts
from report_cases import heat as heat_report
from report_cases import history

from pgt.core.manifest import changed_files, read_manifest
from pgt.demo import output_files
from pgt.reconstruction.result import Reconstruction


@pytest.fixture
def result(monkeypatch):
    """A fit in name only: what it saves and what its report shows are made by hand."""
    made = object.__new__(Reconstruction)
    monkeypatch.setattr(Reconstruction, "history", history("data", "heat"))
    monkeypatch.setattr(Reconstruction, "save", lambda self, folder: (folder / "saved").touch())
    monkeypatch.setattr(output_files, "report_data", lambda result, field: heat_report())
    return made


def written(folder, result, numbers):
    field = verdicts.heat_field().isel(x=slice(None, None, 5), t=slice(None, None, 5))
    fitted, _ = verdicts.readings_of(field, ("u",), 20)
    output_files.write_files(folder, result, field, 1.01 * field, fitted, numbers)
    return {path.name for path in folder.iterdir()}


def test_field_figures_report_fit_and_numbers_are_left(tmp_path, result):
    assert written(tmp_path, result, {"rel_l2": 0.01}) == {
        "field.png", "compare.png", "convergence.png", "contributions.png", "field.nc",
        "report.html", "saved", "metrics.json", "checksums.sha256",
    }  # fmt: skip
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"rel_l2": 0.01}


def test_every_file_is_covered_by_a_checksum(tmp_path, result):
    (tmp_path / "mine.txt").write_text("not of this run")
    names = written(tmp_path, result, {})
    assert set(read_manifest(tmp_path)) == names - {"checksums.sha256", "mine.txt"}
    assert changed_files(tmp_path) == []
    for name in ("field.nc", "report.html"):
        content = bytearray((tmp_path / name).read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / name).write_bytes(content)
    assert changed_files(tmp_path) == ["field.nc", "report.html"]
    written(tmp_path, result, {})  # over it
    assert changed_files(tmp_path) == []


def test_numbers_that_json_does_not_know_are_refused_and_leave_no_file(
    tmp_path, result, monkeypatch
):
    monkeypatch.setattr(output_files.plots, "save", lambda *_: None)
    monkeypatch.setattr(output_files, "write_report", lambda *_: None)
    with pytest.raises(ValueError, match="JSON"):
        written(tmp_path, result, {"rel_l2": float("nan")})
    assert not list(tmp_path.glob("*.json*"))


def test_without_a_history_there_are_no_figures_of_it(tmp_path, result, monkeypatch):
    monkeypatch.setattr(Reconstruction, "history", history("data").isel(step=slice(0)))
    assert {"convergence.png", "contributions.png"}.isdisjoint(written(tmp_path, result, {}))
