"""The parts that a run file describes."""

import re

import equinox as eqx
import pytest
from run_files import HEAT, build_all, loader, readings

import pgt
from pgt import InputError
from pgt.config.parts import Parts
from pgt.config.template import template
from pgt.training.default_model import suited_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def load(folder):
    return loader(folder)


def test_readings_are_found_beside_the_run_file(load, folder, monkeypatch):
    asked, found = {}, readings(load(HEAT))

    def read_observations(path, **options):
        asked.update(options, path=path)
        return found

    monkeypatch.setattr("pgt.config.parts.read_observations", read_observations)
    assert Parts(load(HEAT)).observations is found
    assert asked["path"] == folder / "sensors.csv"
    assert asked["columns"] == {"x": "X [m]"}
    assert asked["noise"] == {"u": 0.01}

    def refuse(path, **options):
        raise InputError("sensors.csv has no column 'X [m]'.")

    monkeypatch.setattr("pgt.config.parts.read_observations", refuse)
    with pytest.raises(
        InputError, match=r"run.toml, line 4, observations.file: sensors.csv has no"
    ):
        _ = Parts(load(HEAT)).observations


def test_the_model_is_left_to_the_library(load):
    short = re.sub(r"\[model\].*?(?=\[training\])", "", HEAT, flags=re.DOTALL)
    left, named = build_all(load(short)), build_all(load(short + '[model]\nname = "pgt"'))
    suited = suited_model(*_problem(left), left.error_bars, seed=3)
    assert eqx.tree_equal(left.model(3), suited)
    assert left.named_model is None
    assert left.kernel is None
    assert eqx.tree_equal(named.model(3), pgt.default_model(*_problem(named), seed=3))
    assert named.named_model == named.model
    assert named.kernel == named.pde.kernel()
    narrow = build_all(load(short + '[model]\nname = "pgt"\nwidth = 8\nheads = 2'))
    sized = pgt.default_model(*_problem(narrow), seed=3, width=8, heads=2)
    assert eqx.tree_equal(narrow.model(3), sized)


def _problem(parts):
    return parts.observations, parts.pde, parts.domain


def test_the_dimension_follows_the_domain(load):
    text = template("heat").replace('["x", "t"]', '["x", "y", "t"]')
    text = text.replace("[domain]", "[domain]\ny = [0, 1]")
    assert build_all(load(text)).pde.coords == ("x", "y", "t")
    with pytest.raises(
        InputError, match=r"run.toml, line 20, pde: the equation has the coordinates x"
    ):
        build_all(load(text.replace('name = "heat"', 'name = "heat"\ndimension = 1')))


def test_the_field_of_an_equation_bears_the_name_of_its_readings(load):
    text = template("heat").replace('fields = ["u"]', 'fields = ["T"]')
    named = text.replace('name = "heat"', 'name = "heat"\nfields = ["T"]')
    assert build_all(load(named)).pde.fields == ("T",)
    with pytest.raises(InputError, match=r'has no field \'T\'.*fields = \["T"\] in \[pde\]'):
        build_all(load(text))
