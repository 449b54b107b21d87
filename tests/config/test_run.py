"""Run files: what is right builds, and checking it takes no JAX."""

import subprocess
import sys

import pytest
from pydantic import ValidationError
from run_files import HEAT, build_all, loader

import pgt
from pgt.config.run import (
    DomainSection,
    ObservationsSection,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def load(folder):
    return loader(folder)


def test_everything_is_built(load):
    run = load(HEAT)
    parts = build_all(run)
    pde, model = parts.pde, parts.model(0)
    assert isinstance(pde, pgt.Heat)
    assert isinstance(pde.diffusivity, pgt.Unknown)
    assert pde.diffusivity.positive  # heat flows one way, said or not
    assert isinstance(model, pgt.SIREN)
    domain, training = parts.domain, parts.training
    assert domain == pgt.Domain(x=(0, 1), t=(0, 1), units={"x": "m"})
    assert training.polish == pgt.Polish(iterations=5)
    assert (training.steps, training.batch) == (10, pgt.Training().batch)
    assert isinstance(training.weighting, pgt.training.Fixed)
    assert isinstance(training.sampler, pgt.training.Sobol)
    initial, wall = parts.conditions
    assert isinstance(initial, pgt.Initial)
    assert isinstance(wall, pgt.Dirichlet)
    assert wall.side == "lower"
    assert (run.seed, run.path.name, run.text) == (3, "run.toml", HEAT)
    assert run.output.grid == {"x": 11, "t": (0.5,)}


def test_a_run_file_is_checked_without_jax(folder):
    (folder / "quick.toml").write_text(HEAT)
    program = (
        "import sys, time\n"
        "began = time.process_time()\n"
        "from pgt.config import load_run\n"
        f"load_run({str(folder / 'quick.toml')!r})\n"
        "assert not {'jax', 'numpy', 'pandas'} & set(sys.modules)\n"
        "print(time.process_time() - began)\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.3


def test_how_strongly_a_wall_is_cooled_may_be_unknown(load):
    given = """kind = "dirichlet"
axis = "x"
side = "lower"
u = {at = [0, 1], values = [0, 2]}"""
    cooled = """kind = "robin"
axis = "x"
coefficient = {unknown = true, initial = 5.0, positive = true}
relative = true
u = 20"""
    assert given in HEAT
    _, wall = build_all(load(HEAT.replace(given, cooled))).conditions
    assert isinstance(wall, pgt.Robin)
    assert isinstance(wall.coefficient, pgt.Unknown)
    assert wall.coefficient.positive
    assert wall.relative


READINGS = {"file": "a.csv", "coords": ["x", "t"], "fields": ["u", "v"]}


def test_a_domain_without_axes_is_refused():
    with pytest.raises(ValidationError, match="no axis has bounds"):
        DomainSection.model_validate({})


def test_noise_is_a_number_or_the_name_of_a_column():
    noise = {"u": 0.5, "v": "sigma"}
    assert ObservationsSection.model_validate(READINGS | {"noise": noise}).noise == noise
    with pytest.raises(ValidationError, match="'x' is not a field"):
        ObservationsSection.model_validate(READINGS | {"noise": {"x": 0.5}})
