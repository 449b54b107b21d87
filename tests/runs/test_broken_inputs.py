"""What goes wrong in practice: every case ends with exit code 2, one message that names the problem,
no traceback, no training, and nothing half-written."""

import errno
import pickle
from pathlib import Path

import fresh_python
import numpy as np
import pytest
import xarray as xr
from broken import altered, csv, refuse, rows, with_observations, write
from typer.testing import CliRunner

from pgt.cli import app


def netcdf(path: Path, **changes) -> None:
    x, t = np.linspace(0, 1, 5), np.linspace(0, 1, 4)
    values = np.random.default_rng(0).normal(size=(4, 5))
    field = xr.Dataset({"u": (("t", "x"), values)}, {"x": x, "t": t})
    for name, unit in changes.get("units", {}).items():
        field[name].attrs["units"] = unit
    if "text" in changes:
        field["u"] = (("t", "x"), np.full((4, 5), "warm", dtype=object))
    field.to_netcdf(path, engine="h5netcdf")
    if "keep" in changes:
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * changes["keep"])])


def npz(path: Path) -> None:
    np.savez(path, x=np.arange(3), t=np.arange(3), u=np.array([{1: 2}, None, 3], dtype=object))


def parquet(path: Path) -> None:
    import pyarrow.parquet

    columns = {"x": [0.1, 0.2], "t": [0.1, 0.2], "u": ["warm", "cold"]}
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


SECOND = rows()[1]
TABLES = {
    "empty": ("", "the file is empty"),
    "only blank lines": ("\n\n \n", "the file is empty"),
    "header only": ("x,t,u\n", "line 1 is the heading, and no row follows"),
    "no header": (csv(heading=rows()[0]), "line 1 holds numbers where the column names"),
    "wrong delimiter": (csv().replace(",", "~"), "there is no column 'x'"),
    "mixed delimiters": (csv(heading="x;t,u"), "semicolons"),
    "semicolons in one row": (csv("0.1;0.2;3"), "line 22 has 1 cell"),
    "text in numbers": (csv("0.1,0.2,warm"), "line 22, column 'u': 'warm' is not a number"),
    "text in coordinates": (csv("left,0.2,1"), "line 22, column 'x': 'left' is not a number"),
    "decimal commas": (csv("0,1,0,2,3,5"), "line 22 has 6 cell(s)"),
    "NaN everywhere": (csv(body=[f"{r[:17]},nan" for r in rows()]), "every value of u is hidden: empty"),
    "no position": (csv("nan,0.2,1"), "coordinate 'x', line 22, is nan"),
    "one row": (csv(body=rows(1)), "1 reading in all"),
    "one measured row": (csv(body=[*rows(1), "0.5,0.5,", "0.6,0.5,"]), "1 reading in all"),
    "duplicate rows": (csv(SECOND), "lines 3 and 22 both measure 'u' at the same point"),
    "huge values": (csv("0.5,0.5,1e308"), "field 'u', line 22: the largest value is 1e+308"),
    "values beyond doubles": (csv("0.5,0.5,1e999"), "field 'u', line 22, is infinite"),
    "infinite values": (csv("0.5,0.5,-inf"), "field 'u', line 22, is infinite"),
    "infinite position": (csv("inf,0.5,1"), "coordinate 'x', line 22, is inf"),
    "tiny values": (csv(body=[f"{r[:17]},1e-40" for r in rows()]), "the largest value is 1e-40"),
    "wrong encoding": (csv("0.5,0.5,1 # Zürich").encode("latin-1"), "column 'u': '1 # Zürich' is not"),
    "UTF-16 cut short": (csv().encode("utf-16")[:-1], "the text is damaged"),
    "binary": (bytes(range(256)) * 9, "sensors.csv"),
    "unknown column": (csv(heading="x,t,temperature"), "there is no column 'u'"),
    "close column": (csv(heading="x,t,U"), "there is no column 'u'"),
    "same heading twice": (csv(heading="x,t,t"), "two columns are named 't'"),
    "a cell missing": (csv("0.5,0.5"), "line 22 has 2 cell(s), the heading in line 1 has 3"),
    "open quotes": (csv('0.5,0.5,"1'), "line 22: the quotation marks"),
    "outside of the domain": (csv("1.5,0.5,1"), "1 reading(s) outside the domain x = (0, 1)"),
    "before the domain": (csv("0.5,-3,1"), "outside the domain t = (0, 1): line 22: t = -3"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "cause"), TABLES.values(), ids=TABLES)
def test_broken_tables(tmp_path, content, cause):
    refuse(tmp_path, "run.toml, line 2, observations.file:", "sensors.csv", cause, data=content)


def test_a_domain_far_from_its_origin(tmp_path):
    far = csv(body=[row.replace(",0.", ",1000000000000.", 1) for row in rows()])
    text = altered(domain={"x": [0, 1], "t": [1000000000000, 1000000000001]})
    refuse(
        tmp_path,
        "run.toml",
        "axis t runs over",
        "Count t from an origin nearer by",
        text=text,
        data=far,
    )


FILES = {
    "truncated NetCDF": ("r.nc", lambda p: netcdf(p, keep=0.5), "could not be read as NetCDF"),
    "a few bytes of NetCDF": ("r.nc", lambda p: netcdf(p, keep=0.0005), "not a NetCDF file"),
    "CSV named NetCDF": ("r.nc", csv(), "this is not a NetCDF file"),
    "empty NetCDF": ("r.nc", b"", "this is not a NetCDF file"),
    "text in NetCDF": ("r.nc", lambda p: netcdf(p, text=True), "'warm' is not a number"),
    "broken MAT": ("r.mat", b"MATLAB 5.0" * 20, "not a MATLAB file"),
    "pickled objects": ("r.npz", npz, "could not be read as NPZ"),
    "a pickle": ("r.npz", pickle.dumps({"x": 1}), "could not be read as NPZ"),
    "broken NPZ": ("r.npz", b"PK\x03\x04" + b"\0" * 50, "could not be read as NPZ"),
    "broken Parquet": ("r.parquet", b"PAR1 and no more", "could not be read as Parquet"),
    "text in Parquet": ("r.parquet", parquet, "is not a number"),
    "broken workbook": ("r.xlsx", b"PK", "could not be read as a workbook"),
    "old workbook": ("r.xls", b"\xd0\xcf", "save it as .xlsx, or as CSV"),
    "unknown ending": ("r.docx", b"PK", "the ending '.docx' is unknown"),
    "no ending": ("readings", csv(), "the name has no ending"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "cause"), FILES.values(), ids=FILES)
def test_broken_files(tmp_path, name, content, cause):
    text = with_observations(file=name)
    refuse(tmp_path, "line 2, observations.file:", name, cause, text=text, name=name, data=content)


def test_units_of_file_and_run_file_must_agree(tmp_path):
    def disagree(of_file, of_run, *expected):
        text = with_observations(file="r.nc", units=of_run)
        data = lambda path: netcdf(path, units=of_file)  # noqa: E731
        refuse(tmp_path, "observations.file", "r.nc", *expected, text=text, name="r.nc", data=data)

    disagree({"x": "s"}, {"x": "m"}, "'x' is in 's' by the file", "'m'", "no multiple")
    disagree({"u": "Pa"}, {"u": "K"}, "'u' is in 'Pa' by the file", "'K'", "no multiple")


def test_no_run_file_and_a_folder_instead(tmp_path):
    for path, cause in ((tmp_path / "no.toml", "there is no run file"), (tmp_path, "is a folder")):
        result = CliRunner().invoke(app, ["fit", str(path), "-o", str(tmp_path / "out")])
        assert result.exit_code == 2
        assert str(path) in result.output.replace("\n", "")
        assert cause in result.output
        assert not (tmp_path / "out").exists()


def test_output_that_is_a_file(tmp_path):
    (tmp_path / "out").write_text("mine")
    refuse(tmp_path, "cannot write to", "out", "-o")


def test_output_that_may_not_be_written(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", denied)
    refuse(tmp_path, "cannot write to", "Permission denied", "-o")


def test_a_full_disk(tmp_path, monkeypatch):
    def full(self, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    refuse(tmp_path, "out/run.toml: No space left on device", "make room")


def test_a_real_process_prints_one_message_and_leaves_nothing(tmp_path):
    write(tmp_path / "run.toml", altered())
    write(tmp_path / "sensors.csv", csv("0.1,0.2,warm"))
    code = "from pgt.cli import app; app()"
    found = fresh_python.run("-c", code, "fit", tmp_path / "run.toml", "-o", tmp_path / "out")
    assert found.returncode == 2
    assert found.stdout == ""
    assert "line 22, column 'u': 'warm' is not a number" in " ".join(found.stderr.split())
    assert "Traceback" not in found.stderr
    assert not list((tmp_path / "out").iterdir())
