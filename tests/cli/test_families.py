"""`pgt pretrain`."""

import shutil

import jax
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli.main import app


def run(*arguments):
    return CliRunner().invoke(app, ["pretrain", *map(str, arguments)])


@pytest.fixture
def quick(monkeypatch):
    from pgt import families

    seen = {}

    def train(family, training, **more):
        seen.update(family=family.name, training=training, **more)
        return families.shipped("heat")

    monkeypatch.setattr(families, "pretrain", train)
    return seen


def test_it_leaves_a_file_that_loads(quick, tmp_path):
    found = run("heat", "-o", tmp_path / "mine.safetensors", "--steps", 5, "--seed", 3)
    assert found.exit_code == 0, found.output
    assert "unseen systems" in found.output
    assert quick["training"].steps == 5
    assert quick["seed"] == 3
    assert pgt.families.Pretrained.load(tmp_path / "mine.safetensors").card.family == "heat"
    assert not (tmp_path / "mine.progress").exists()
    assert (tmp_path / "mine.png").stat().st_size > 10_000


def test_unfinished_work_is_not_lost(quick, tmp_path):
    (tmp_path / "mine.progress").mkdir()
    found = run("heat", "-o", tmp_path / "mine.safetensors")
    assert found.exit_code == 2
    assert "--resume" in found.output


def test_an_unknown_family_is_named(tmp_path):
    found = run("heart", "-o", tmp_path / "mine.safetensors")
    assert found.exit_code == 2
    assert "heat" in found.output


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    family = pgt.families.get("heat", nodes=9, times=8)
    for i in range(3):
        system = family.dataset(family.draw(jax.random.key(i)))
        pgt.io.write_field(system, folder / f"{i}.nc")
    return folder


@pytest.fixture
def simulations(drawn, tmp_path):
    return shutil.copytree(drawn, tmp_path / "rods")


@pytest.mark.parametrize("equation", ["heat", "u_t = diffusivity*u_xx"])
def test_a_folder_of_simulations_is_a_family(quick, simulations, equation):
    options = ["--equation", equation, "--coefficients", "diffusivity", "--crop", "t=5"]
    found = run(simulations, "-o", simulations / "mine.safetensors", *options)
    assert found.exit_code == 0, found.output
    assert quick["family"] == "simulations"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--equation heat"),
        (["--equation", "heta"], "Did you mean 'heat'"),
        (["--equation", "heat", "--crop", "t"], "as in t=20"),
        (["--equation", "heat", "--coefficients", "speed"], "speed"),
    ],
)
def test_what_is_missing_of_a_folder_is_said(quick, simulations, options, said):
    found = run(simulations, "-o", simulations / "mine.safetensors", *options)
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "say which equation they solve"),
        (["--equation", "heta"], "Did you mean 'heat'"),
        (["--equation", "heat", "--coefficients", "speed"], "speed"),
        (["--equation", "heat", "--crop", "20"], "write an axis and its number of nodes"),
    ],
)
def test_what_does_not_fit_a_folder_is_one_message(simulations, options, words):
    found = run(simulations, *options)
    assert (found.exit_code, words in " ".join(found.output.split())) == (2, True), found.output
