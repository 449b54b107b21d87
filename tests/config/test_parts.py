"""The parts that a run file describes."""

import re

import equinox as eqx
import numpy as np
import pytest
from run_files import HEAT, build_all, loader

import pgt
from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.core.errors import InputError
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


RUN_IN_MM = """
[observations]
file = "rod.csv"
coords = ["x", "t"]
fields = ["T"]
units = {{x = "mm", t = "min", T = "K"}}
[domain]
x = [0, 100]
t = [0, 10]
[pde]
{pde}
"""
HEAT_OF_T = 'name = "heat"\nfields = ["T"]\n'


@pytest.fixture
def pde_of(tmp_path):
    (tmp_path / "rod.csv").write_text("x [m],t [s],T [°C]\n0.01,0,20\n0.05,60,21\n")

    def build(text):
        (tmp_path / "run.toml").write_text(RUN_IN_MM.format(pde=text))
        return Parts(load_run(tmp_path / "run.toml")).pde

    return build


def test_an_amount_is_converted_to_the_units_of_the_run(pde_of):
    pde = pde_of(HEAT_OF_T + 'diffusivity = "1.2e-5 m^2/s"')
    assert pde.diffusivity == pytest.approx(1.2e-5 * 1e6 * 60, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('diffusivity = "3 m/s"', r"run.toml, line 13.*'m/s', but this has to be in 'm2 s-1'"),
        ('diffusivity = "-3 m^2/s"', "diffusivity"),
        ('diffusivity = "a lot"', "diffusivity"),
    ],
)
def test_a_wrong_amount_names_file_line_and_both_units(pde_of, text, words):
    with pytest.raises(InputError, match=words):
        pde_of(HEAT_OF_T + text)


RUN_WITH_DATES = """
[observations]
file = "rod.csv"
coords = ["x", "t"]
fields = ["u"]
{units}
[domain]
x = [0, 1]
t = {t}
[pde]
name = "heat"
diffusivity = 0.01
[output]
grid = {{t = [0.0, 60.0]}}
"""
STAMPS = "2024-03-01 06:00", "2024-03-04 00:00"
DAYS = '["2024-03-01", "2024-03-08"]'


@pytest.fixture
def parts_of(tmp_path):
    def build(t, units="", stamps=STAMPS):
        lines = [f"{x},{stamp},1" for x, stamp in zip((0.1, 0.5), stamps, strict=True)]
        (tmp_path / "rod.csv").write_text("\n".join(["x,t,u", *lines]))
        (tmp_path / "run.toml").write_text(RUN_WITH_DATES.format(t=t, units=units))
        return Parts(load_run(tmp_path / "run.toml"))

    return build


@pytest.mark.parametrize(
    "t", [DAYS, "[2024-03-01, 2024-03-08]", '["2024-03-01T01:00+01:00", "2024-03-08T00:00Z"]']
)
def test_dates_count_as_the_readings_do(parts_of, t):
    parts = parts_of(t)
    low, high = parts.domain.bounds("t")
    assert (low, high) == pytest.approx((-6 * 3600, (7 * 24 - 6) * 3600))  # from the first reading
    parts.observations.check_inside(parts.domain)


@pytest.mark.parametrize(
    ("t", "stamps", "words"),
    [
        (DAYS, ("0", "1"), r"run.toml, line 9, domain.t: .*the time of the readings is a number"),
        ('["2024-03-08", "2024-03-01"]', STAMPS, "2024-03-08 is not before 2024-03-01"),
        ('["2024-03-01", "soon"]', STAMPS, '"soon" is no date'),
        ('["2024-03-41", "2024-04-01"]', STAMPS, '"2024-03-41" is no date'),
        ('["now", "later"]', STAMPS, r"write a number, such as 0.1, or dates, such as \["),
        ('["2024-03-01"]', STAMPS, "write at least 2"),
    ],
)
def test_mistakes_name_file_line_and_key(parts_of, t, stamps, words):
    with pytest.raises(InputError, match=words):
        _ = parts_of(t, stamps=stamps).domain


def test_readings_outside_the_dates_are_refused(parts_of):
    with pytest.raises(InputError, match="outside"):
        _ = parts_of('["2024-03-01", "2024-03-02"]').observations
