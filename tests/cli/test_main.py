"""The command line: fast help, a demonstration that leaves its files, errors in one line."""

import json

import fresh_python
import numpy as np
import pytest
import xarray as xr
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.demo import interpolation_errors

FIGURES = {"field.png", "compare.png", "convergence.png", "contributions.png"}
NUMBERS = {"field.nc", "metrics.json", "reconstruction.json", "reconstruction.safetensors"}
REPORT = {"report.html"}


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_help_does_not_wait_for_jax():
    code = (
        "import sys\nfrom pgt.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "slow = {'jax', 'numpy', 'xarray', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    found = fresh_python.run("-c", code)
    assert found.returncode == 0, found.stderr
    assert "demo" in found.stdout


def test_version():
    assert invoke("--version").output == f"pgt {pgt.__version__}\n"


@pytest.fixture(scope="module")
def quick_demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "heat"
    command = "from pgt.cli import app; app()"
    return folder, fresh_python.run("-c", command, "demo", "heat", "--quick", "-o", folder)


def test_quick_demo_writes_everything(quick_demo):
    folder, outcome = quick_demo
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr == "", "the progress bar is for terminals only"
    assert {path.name for path in folder.iterdir()} == FIGURES | NUMBERS | REPORT
    assert all((folder / name).read_bytes().startswith(b"\x89PNG") for name in FIGURES)
    for expected in ("5.9e-03", "405,000,000", "scipy RBF", "this run", "100 readings"):
        assert expected in outcome.stdout


def test_quick_demo_numbers_agree_with_the_field(quick_demo):
    folder, _ = quick_demo
    numbers = json.loads((folder / "metrics.json").read_text())
    truth = pgt.datasets.heat()
    with xr.open_dataset(folder / "field.nc", engine="h5netcdf") as field:
        assert pgt.metrics.relative_l2(truth, field)["u"] == pytest.approx(numbers["rel_l2"])
        again = pgt.Reconstruction.load(folder).grid(x=[0.3], t=[0.5])
        kept = field.sel(x=[0.3], t=[0.5], method="nearest")
        np.testing.assert_allclose(again.u, kept.u, rtol=1e-4, atol=1e-6)
    assert numbers["quick"]
    assert numbers["parameters"] > 0
    assert numbers["versions"]["pgt"] == pgt.__version__


def test_a_folder_that_cannot_be_written_is_one_line_and_exit_code_2(tmp_path):
    (tmp_path / "file").write_text("in the way")
    outcome = invoke("demo", "heat", "--quick", "-o", tmp_path / "file" / "heat")
    assert outcome.exit_code == 2
    assert "cannot write to" in outcome.output
    assert "another folder" in outcome.output
    assert "Traceback" not in outcome.output
    assert len(outcome.output.strip().splitlines()) == 1


@pytest.mark.parametrize("arguments", [("demo", "cold"), ("demo", "heat", "--seed", "one"), ("x",)])
def test_mistyped_commands_exit_with_2(arguments):
    assert invoke(*arguments).exit_code == 2


@pytest.mark.parametrize("seed", range(3))
def test_interpolation_is_better_with_boundary_and_initial_values(seed):
    truth = pgt.datasets.heat()
    found = interpolation_errors(pgt.sample(truth, 100, seed=seed), truth)
    assert found["with BC and IC"]["rel_l2"] < found["readings only"]["rel_l2"] < 0.1


def test_every_public_name_is_there_and_listed_for_editors():
    editors = (fresh_python.ROOT / "pgt" / "__init__.py").read_text().split("_FOLDERS")[0]
    for folder in pgt._FOLDERS:
        assert f"    from pgt.{folder} import *" in editors
    assert editors.count("import *") == len(pgt._FOLDERS)
    for name in (*pgt._HERE, *pgt._MODULES, "reconstruct"):
        assert f" as {name}\n" in editors
    for name in pgt.__all__:
        assert hasattr(pgt, name)
    assert len(set(pgt.__all__)) == len(pgt.__all__)
    assert set(pgt.__all__) <= set(dir(pgt))
    with pytest.raises(AttributeError, match="Heet"):
        _ = pgt.Heet


def test_names_are_loaded_when_used():
    code = (
        "import sys, pgt\n"
        "assert 'jax' not in sys.modules\n"
        "assert pgt.InputError and pgt.register\n"
        "assert 'jax' not in sys.modules\n"
        "from pgt import *\n"
        "assert Heat is pgt.Heat and reconstruct is pgt.reconstruct and plots is pgt.plots\n"
    )
    found = fresh_python.run("-c", code)
    assert found.returncode == 0, found.stderr
