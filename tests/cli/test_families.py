"""`pgt pretrain`."""

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
    assert pgt.Pretrained.load(tmp_path / "mine.safetensors").card.family == "heat"
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
