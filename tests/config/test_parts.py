"""The parts that a run file describes."""

import re

import equinox as eqx
import numpy as np
import pytest
from run_files import HEAT, build_all, loader

import pgt
from pgt import InputError
from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.config.template import template
from pgt.io import Columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def load(folder):
    return loader(folder)


def test_readings_are_found_beside_the_run_file(load, folder, monkeypatch):
    asked, columns = {}, Columns({"x": np.zeros(1), "t": np.zeros(1), "u": np.ones(1)})

    def read_columns(paths, **options):
        asked.update(options, paths=paths)
        return columns

    monkeypatch.setattr("pgt.config.parts.read_columns", read_columns)
    parts = Parts(load(HEAT))
    assert parts.columns is columns
    assert parts.observations.values.tolist() == [[1.0]]
    assert asked["paths"] == (folder / "sensors.csv",)
    assert asked["columns"] == {"x": "X [m]"}
    assert asked["noise"] == {"u": 0.01}
    assert (asked["sensors"], asked["dialect"]) == (None, None)

    def refuse(paths, **options):
        raise InputError("sensors.csv has no column 'X [m]'.")

    monkeypatch.setattr("pgt.config.parts.read_columns", refuse)
    with pytest.raises(
        InputError, match=r"run.toml, line 4, observations.file: sensors.csv has no"
    ):
        _ = Parts(load(HEAT)).observations


def test_the_model_is_left_to_the_library(load):
    short = re.sub(r"\[model\].*?(?=\[training\])", "", HEAT, flags=re.DOTALL)
    left, named = build_all(load(short)), build_all(load(short + '[model]\nname = "pgt"'))
    assert left.named_model is None
    assert left.kernel is None
    assert eqx.tree_equal(named.model(3), pgt.PGT.for_problem(*_problem(named), seed=3))
    assert named.named_model == named.model
    assert named.kernel == named.pde.kernel()
    narrow = build_all(load(short + '[model]\nname = "pgt"\nwidth = 8\nheads = 2'))
    sized = pgt.PGT.for_problem(*_problem(narrow), seed=3, width=8, heads=2)
    assert eqx.tree_equal(narrow.model(3), sized)


def _problem(parts):
    return parts.observations, parts.pde, parts.domain


def test_without_time_a_flow_is_steady(load):
    flow = template("navier_stokes")
    assert build_all(load(flow)).pde.coords == ("x", "y", "t")
    steady = flow.replace('["x", "y", "t"]', '["x", "y"]').replace("t = [0, 20]\n", "")
    steady = steady.replace(", t = 50}", "}")
    assert build_all(load(steady)).pde.coords == ("x", "y")
    with pytest.raises(InputError, match="has the coordinates x, y, but"):
        build_all(load(flow.replace("viscosity = 0.01", "viscosity = 0.01\nsteady = true")))


def test_the_dimension_follows_the_domain(load):
    text = template("heat").replace('["x", "t"]', '["x", "y", "t"]')
    text = text.replace("[domain]", "[domain]\ny = [0, 1]")
    assert build_all(load(text)).pde.coords == ("x", "y", "t")
    with pytest.raises(
        InputError, match=r"run.toml, line 21, pde: the equation has the coordinates x"
    ):
        build_all(load(text.replace('name = "heat"', 'name = "heat"\ndimension = 1')))


def test_the_field_of_an_equation_bears_the_name_of_its_readings(load):
    text = template("heat").replace('fields = ["u"]', 'fields = ["T"]')
    named = text.replace('name = "heat"', 'name = "heat"\nfields = ["T"]')
    assert build_all(load(named)).pde.fields == ("T",)
    with pytest.raises(InputError, match=r'has no field \'T\'.*fields = \["T"\] in \[pde\]'):
        build_all(load(text))


SHAPED = """
[observations]
file = "sensors.csv"
coords = ["x", "y"]
fields = ["u"]
[domain]
x = [-1, 1]
y = [-1, 1]
[domain.shape]
kind = "difference"
whole = {kind = "disk", name = "outer"}
holes = [HOLE]
[pde]
name = "laplace"
[[conditions]]
kind = "dirichlet"
wall = "WALL"
u = 0
"""
HOLE = '{kind = "disk", radius = 0.3, name = "inner"}'


def shaped(folder, hole=HOLE, wall="inner", reading="0.5,0.5,1"):
    (folder / "sensors.csv").write_text(f"x,y,u\n{reading}\n0.1,0.6,2\n")
    (folder / "run.toml").write_text(SHAPED.replace("HOLE", hole).replace("WALL", wall))
    return Parts(load_run(folder / "run.toml"))


def test_a_shape_and_conditions_on_its_walls(tmp_path):
    parts = shaped(tmp_path)
    assert parts.domain.shape == pgt.shapes.Disk(name="outer") - pgt.shapes.Disk(
        radius=0.3, name="inner"
    )
    assert parts.conditions[0].wall == "inner"
    assert len(parts.observations) == 2


def test_a_shape_from_a_file_beside_the_run_file(tmp_path):
    (tmp_path / "hole.wkt").write_text("POLYGON ((0 0, 0.2 0, 0.2 0.2, 0 0))")
    parts = shaped(tmp_path, '{kind = "file", path = "hole.wkt", name = "inner"}')
    assert abs(parts.domain.volume - (np.pi - 0.02)) < 1e-3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"hole": '{kind = "disc"}'}, "domain.shape.holes.0.kind: .* is not known here"),
        ({"hole": '{kind = "disk", radus = 1}'}, "domain.shape.holes.0.radus: .* did you mean 'radius'"),
        ({"hole": '{kind = "disk", radius = -1}'}, "domain.shape.holes.0.radius"),
        ({"hole": '{kind = "rectangle", x = [0, 1]}'}, "holes.0.y: this is missing"),
        ({"hole": '{kind = "disk", radius = 3}'}, "domain.shape: .*nothing of the shape"),
        ({"hole": '{kind = "file", path = "no.stl"}'}, "no such file"),
        ({"wall": "iner"}, "conditions.0.wall: .*there is no wall 'iner'"),
        ({"reading": "0.1,0.1,1"}, "1 reading.* outside the shape of the domain: line 2"),
    ],
)  # fmt: skip
def test_mistakes_in_a_shape_name_file_line_and_key(tmp_path, given, words):
    def build():
        parts = shaped(tmp_path, **given)
        return parts.domain, parts.observations, parts.conditions

    with pytest.raises(InputError, match=words) as refused:
        build()
    assert str(refused.value).startswith(str(tmp_path / "run.toml"))
