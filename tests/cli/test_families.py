"""`pgt pretrain`."""

import shutil

import jax
import numpy as np
import pytest
from typer.testing import CliRunner

import pgt
from pgt.cli.families import _example
from pgt.cli.main import app
from pgt.families.networks.card import HELD_OUT, SYSTEMS


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


def test_names_may_be_listed_with_blanks(quick, simulations):
    options = ["--equation", "u_t = diffusivity*u_xx", "--coefficients", " diffusivity, "]
    found = run(simulations, "-o", simulations / "mine.safetensors", *options)
    assert found.exit_code == 0, found.output


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


def test_options_of_a_folder_need_one(tmp_path):
    found = run("heat", "-o", tmp_path / "mine.safetensors", "--equation", "heat")
    assert found.exit_code == 2
    assert "for simulations in a folder" in " ".join(found.output.split())


def test_the_figure_shows_other_systems_than_those_of_the_card():
    trained = pgt.families.shipped("heat")
    truth, answer, readings = _example(trained)
    assert truth.u.dims == answer.u.dims
    assert len(readings) == 64
    assert float(((truth.u - answer.u) ** 2).mean() ** 0.5 / truth.u.std()) < 0.3
    keys = jax.random.split(jax.random.key(trained.card.seed + HELD_OUT), SYSTEMS)
    held_out = jax.jit(jax.vmap(trained.family.draw))(keys[:64]).values
    apart = np.abs(np.asarray(held_out)[..., 0] - truth.u.to_numpy()).max(axis=(1, 2))
    assert apart.min() > 1e-3


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
