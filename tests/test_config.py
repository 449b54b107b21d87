"""Run files: what is right builds, what is wrong is one message with file, line, key and remedy."""

import dataclasses
import datetime
import inspect
import re
import subprocess
import sys
import time
import tomllib
import types
import typing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import pgt
from pgt import InputError
from pgt.config import RunFile, load_run, template
from pgt.config.lines import key_lines
from pgt.config.messages import explain
from pgt.config.models import Model
from pgt.config.pdes import NAMED_PDES
from pgt.config.schema import Section
from pgt.config.sections import ValueSection
from pgt.config.training import TrainingSection
from pgt.models import ALL_MODELS
from pgt.physics import ALL_PDES

HEAT = """\
seed = 3

[observations]
file = "sensors.csv"
coords = ["x", "t"]
fields = ["u"]
columns = {x = "X [m]"}
units = {x = "m", u = "K"}
noise = {u = 0.01}

[domain]
x = [0, 1]
t = [0, 1]

[pde]
name = "heat"
diffusivity = {unknown = true, initial = 0.05}
source = "sin(pi*x)"

[[conditions]]
kind = "initial"
u = "sin(4*pi*x)"

[[conditions]]
kind = "dirichlet"
axis = "x"
side = "lower"
u = {at = [0, 1], values = [0, 2]}

[model]
name = "siren"
width = 12
layers = 2

[training]
steps = 10
weighting = {name = "fixed", weights = {data = 2}}
sampler = "sobol"

[training.polish]
iterations = 5

[output]
grid = {x = 11, t = [0.5]}
quantities = ["u", "u_xx"]
formats = ["nc", "png"]
"""
ZOO = sorted(NAMED_PDES)
TEXTS = (
    ("u_t + u*u_x = nu*u_xx",),
    ("u_t = k*lap(u)",),
    ("lap(u) + q^2*u = sin(pi*x)",),
    ("u_t = ν*u_xx",),
    ("u_t = -k*u",),
    (
        "u_t + u*u_x + v*u_y = -p_x + nu*lap(u)",
        "v_t + u*v_x + v*v_y = -p_y + nu*lap(v)",
        "u_x + v_y = 0",
    ),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("run")
    (path / "sensors.csv").write_text("x,t,u\n0.5,0.5,1\n")
    return path


@pytest.fixture(scope="module")
def load(folder):
    def load(text, overrides=()):
        path = folder / "run.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_run(path, overrides)

    return load


def readings(run):
    n = np.random.default_rng(0)
    points = {axis: n.uniform(*pair, 9) for axis, pair in run.domain.axes.items()}
    values = {field: n.normal(size=9) for field in run.observations.fields}
    return pgt.Observations.from_arrays(points, values)


def build_all(run: RunFile):
    run.build_domain()
    run.build_training()
    run.build_conditions()
    run.build_quantities()
    return run.build_pde(), run.build_model(readings(run))


# ---------------------------------------------------------------------------------- what is right


def test_everything_is_built(load):
    run = load(HEAT)
    pde, model = build_all(run)
    assert isinstance(pde, pgt.Heat)
    assert isinstance(pde.diffusivity, pgt.Unknown)
    assert pde.diffusivity.positive  # heat flows one way, said or not
    assert isinstance(model, pgt.SIREN)
    domain, training = run.build_domain(), run.build_training()
    assert domain == pgt.Domain(x=(0, 1), t=(0, 1), units={"x": "m"})
    assert training.polish == pgt.Polish(iterations=5)
    assert (training.steps, training.batch) == (10, pgt.Training().batch)
    assert isinstance(training.weighting, pgt.Fixed)
    assert isinstance(training.sampler, pgt.Sobol)
    initial, wall = run.build_conditions()
    assert isinstance(initial, pgt.Initial)
    assert isinstance(wall, pgt.Dirichlet)
    assert wall.side == "lower"
    assert (run.seed, run.path.name, run.text) == (3, "run.toml", HEAT)
    assert run.output.grid == {"x": 11, "t": (0.5,)}


def test_readings_are_found_beside_the_run_file(load, folder, monkeypatch):
    asked = {}

    def read_observations(path, **options):
        asked.update(options, path=path)

    fake = types.SimpleNamespace(read_observations=read_observations)
    monkeypatch.setitem(sys.modules, "pgt.io", fake)
    load(HEAT).read_observations()
    assert asked["path"] == folder / "sensors.csv"
    assert asked["columns"] == {"x": "X [m]"}
    assert asked["noise"] == {"u": 0.01}

    def refuse(path, **options):
        raise InputError("sensors.csv has no column 'X [m]'.")

    fake.read_observations = refuse
    with pytest.raises(
        InputError, match=r"run.toml, line 4, observations.file: sensors.csv has no"
    ):
        load(HEAT).read_observations()


def test_the_model_is_left_to_the_library(load):
    short = re.sub(r"\[model\].*?(?=\[training\])", "", HEAT, flags=re.DOTALL)
    assert build_all(load(short))[1] is None
    assert build_all(load(short + '[model]\nname = "pgt"'))[1] is None
    pgt_model = build_all(load(short + '[model]\nname = "pgt"\nwidth = 8\nheads = 2'))[1]
    assert isinstance(pgt_model, pgt.PGT)


@pytest.mark.parametrize("pde", [*ZOO, *TEXTS], ids=str)
def test_templates_load_and_build(load, pde):
    text = template(pde)
    run = load(text)
    built, model = build_all(run)
    assert model is None
    assert set(run.observations.fields) <= set(built.fields)
    everything = re.sub(r"(?m)^#(?=[a-z\[\"])(?!periodic)", "", text)
    assert everything != text
    build_all(load(everything))


def test_templates_of_nonsense(load):
    with pytest.raises(InputError, match="did you mean 'heat'"):
        template("haet")
    with pytest.raises(InputError, match="cannot be called 'kernel'"):
        template("u_t = kernel*u_xx")
    with pytest.raises(InputError, match="Found"):
        template("u_t = = 1")
    with pytest.raises(InputError):
        template([])


def test_the_dimension_follows_the_domain(load):
    text = template("heat").replace('["x", "t"]', '["x", "y", "t"]')
    text = text.replace("[domain]", "[domain]\ny = [0, 1]")
    assert build_all(load(text))[0].coords == ("x", "y", "t")
    with pytest.raises(
        InputError, match=r"run.toml, line 20, pde: the equation has the coordinates x"
    ):
        build_all(load(text.replace('name = "heat"', 'name = "heat"\ndimension = 1')))


def test_overrides(load):
    overrides = [
        "training.steps = 7",
        "pde.diffusivity={unknown=true, initial=0.1, bounds=[0.01, 1]}",
        "conditions.1.u=0",
        'output.formats=["csv"]',
        "training.polish=false",
    ]
    run = load(HEAT, overrides)
    assert run.training.steps == 7
    assert run.output.formats == ("csv",)
    assert run.overrides == tuple(overrides)
    assert run.build_training().polish is False
    assert build_all(run)[0].diffusivity.bounds == (0.01, 1)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "training.stps=1",
            "run.toml, --set, training.stps: there is no such key; did you mean 'steps'",
        ),
        ("training.steps=0", "--set, training.steps: 0 is out of range; write a number at least 1"),
        ("training.steps", "--set training.steps: a setting is one key and its value"),
        ("training.steps=", "the value is not TOML"),
        ("model.name=siren", "text in quotes"),
        ("seed.a=1", "seed is not a table"),
        ("conditions.7.u=1", "'7' is not a position in this array; they count from 0 to 1"),
        ("[training]", "a setting is one key"),
        ("", "a setting is one key"),
        ("seed=1\nseed=2", "a setting is one key"),
        ("=1", "a setting is one key"),
        ("a..b=1", "a setting is one key"),
        ("seed=" + "[" * 9999, "not TOML"),
    ],
)
def test_wrong_overrides(load, override, message):
    with pytest.raises(InputError, match=re.escape(message)):
        load(HEAT, [override])


# ------------------------------------------------------------------------------ as in the library


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_has_the_arguments_of_its_classes(name):
    section = NAMED_PDES[name]
    arguments = inspect.signature(getattr(pgt, section.builds)).parameters
    assert set(section.model_fields) - {"name"} == set(arguments)
    for argument, parameter in arguments.items():
        required = parameter.default is parameter.empty
        assert section.model_fields[argument].is_required() == required


def sections_in(annotation) -> set[type[Section]]:
    """Every section an annotation may hold."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        inner = (sections_in(field.annotation) for field in annotation.model_fields.values())
        return {annotation}.union(*inner)
    return set().union(*map(sections_in, typing.get_args(annotation)))


def test_models_have_the_options_of_their_classes():
    models = [s for s in sections_in(Model) if hasattr(s, "builds")]
    assert len(models) == 7
    for section in models:
        arguments = set(inspect.signature(getattr(pgt, section.builds)).parameters)
        assert set(section.model_fields) - {"name"} == arguments - {"scaling", "kernel", "seed"}


def test_training_has_the_settings_of_its_class():
    assert set(TrainingSection.model_fields) == {f.name for f in dataclasses.fields(pgt.Training)}
    for section in sections_in(TrainingSection):
        if hasattr(section, "builds") and section.builds != "Fixed":
            arguments = inspect.signature(getattr(pgt, section.builds)).parameters
            assert set(section.model_fields) - {"name"} == set(arguments)


def test_no_class_of_the_library_is_forgotten():
    built = {section.builds for section in sections_in(RunFile) if hasattr(section, "builds")}
    classes = {type(case.pde).__name__ for case in ALL_PDES} - {"Equation"}
    assert classes <= built
    assert {case.name.split("_")[0].upper() for case in ALL_MODELS} <= {b.upper() for b in built}


# ---------------------------------------------------------------------------------- what is wrong


def refused(load, text, overrides=()) -> str:
    """The one message of a wrong file; wherever it is found, it names the file and a line."""
    with pytest.raises(InputError) as caught:
        build_all(load(text, overrides))
    message = str(caught.value)
    assert re.match(r".*run\.toml, line \d+", message), message
    assert not re.search(r"pydantic|Traceback|validation error|input_type|NoneType|<\w+>", message)
    return message


def swap(old, new):
    assert old in HEAT
    return HEAT.replace(old, new)


BROKEN = [
    # (text, where, what): the file and its line come first, then the key
    ("", "line 1, observations", "this is missing; add for example [observations]"),
    ("# nothing\n", "line 1, observations", "missing"),
    ("seed", "line 1", "not TOML"),
    (HEAT + "\nsteps = = 3", "line 48, column 9", "not TOML"),
    (HEAT + "\n[training]", "line 48", "not TOML"),
    (HEAT + '\na = "', "line 48", "not TOML"),
    ("seed = 1\nseed = 2", "line 2", "not TOML"),
    ("seed = " + "9" * 5000, "line 1", "not TOML"),
    ("seed = " + "[" * 5000, "line 1", "nested too deeply"),
    (b"seed = 0\nx = \xff", "line 2", "byte 0xff is not UTF-8"),
    ("\0", "line 1", "not TOML"),
    (" " * 200_000, "line 1", "more than 100000 bytes"),
    ("x,t,u\n0.1,0.2,3\n", "line 1", "not TOML"),
    (swap("[pde]", "[pdes]"), "line 15, pdes", "did you mean 'pde'?"),
    (swap("seed = 3", "seed = -1"), "line 1, seed", "out of range; write a number at least 0"),
    (swap("seed = 3", "seed = 3.5"), "line 1, seed", "write a whole number"),
    (swap("seed = 3", "seed = true"), "line 1, seed", "true does not fit"),
    (swap("seed = 3", "") + "seed = 3", "seed", "at the top of the file"),
    (swap('"sensors.csv"', '"other.csv"'), "line 4, observations.file", "does not exist"),
    (swap('"sensors.csv"', '"."'), "line 4, observations.file", "is a folder"),
    (swap('"sensors.csv"', '""'), "line 4, observations.file", "the text is empty"),
    (swap('"sensors.csv"', '"a\\u0000b"'), "line 4, observations.file", "control characters"),
    (swap('"sensors.csv"', f'"{"a" * 5000}"'), "line 4, observations.file", "does not exist"),
    (swap('coords = ["x", "t"]', 'coords = "x"'), "line 5, observations.coords", "an array"),
    (swap('coords = ["x", "t"]', 'coords = ["x", "r"]'), "line 5, observations.coords.1", '"r" is not'),
    (swap('coords = ["x", "t"]', 'coords = ["x", "x"]'), "line 5, observations.coords.1", "twice"),
    (swap('coords = ["x", "t"]', "coords = []"), "line 5, observations.coords", "at least 1"),
    (swap('coords = ["x", "t"]', 'coords = ["x"]'), "line 13, domain.t", "no such coordinate"),
    (swap('fields = ["u"]', 'fields = ["u", "x"]'), "line 6, observations.fields.1", "coordinate"),
    (swap('fields = ["u"]', 'fields = ["u", "w"]'), "line 6, observations.fields.1", "no field 'w'"),
    (swap('fields = ["u"]\n', ""), "line 3, observations.fields", 'add for example fields = ["u"]'),
    (swap("columns = {x", "columns = {y"), "line 7, observations.columns.y", "not a coordinate"),
    (swap('"X [m]"', '"t"'), "line 7, observations.columns.x", "taken twice"),
    (swap('x = "m"', 'x = ""'), "line 8, observations.units.x", "empty"),
    (swap('x = "m"', "x = 3"), "line 8, observations.units.x", "text in quotes"),
    (swap('x = "m"', 'xx = "m"'), "line 8, observations.units.xx", "did you mean 'x'?"),
    (swap("{u = 0.01}", "{u = -0.01}"), "line 9, observations.noise.u", "at least 0"),
    (swap("{u = 0.01}", "{v = 0.01}"), "line 9, observations.noise.v", "not a field"),
    (swap("{u = 0.01}", "0.01"), "line 9, observations.noise", "a table"),
    (swap("{u = 0.01}", "{u = true}"), "line 9, observations.noise.u", "the name of a column"),
    (swap("x = [0, 1]", "x = [1, 0]"), "line 12, domain.x", "not below"),
    (swap("x = [0, 1]", "x = [0]"), "line 12, domain.x", "at least 2"),
    (swap("x = [0, 1]", "x = [0, 1, 2]"), "line 12, domain.x", "at most 2"),
    (swap("x = [0, 1]", "x = [0, inf]"), "line 12, domain.x.1", "finite"),
    (swap("x = [0, 1]", "x = [0, 1e40]"), "line 12, domain.x.1", "at most 1e+30"),
    (swap("x = [0, 1]", f"x = [0, 1{'0' * 400}]"), "line 12, domain.x.1", "more than 20 digits"),
    (swap("x = [0, 1]", 'x = ["0", 1]'), "line 12, domain.x.0", "write a number"),
    (swap("x = [0, 1]\n", ""), "line 11, domain", "add x = [0, 1]"),
    (swap("\nt = [0, 1]", '\nt = [0, 1]\nperiodic = ["t"]'), "line 14, domain.periodic.0", "time cannot"),
    (swap("\nt = [0, 1]", '\nt = [0, 1]\nperiodic = ["y"]'), "line 14, domain.periodic.0", "no bounds"),
    (swap('name = "heat"', 'name = "haet"'), "line 16, pde.name", 'did you mean "heat"?'),
    (swap('name = "heat"', "name = 3"), "line 16, pde.name", "3 is not known here"),
    (swap('name = "heat"\n', ""), "line 15, pde.name", "missing"),
    (swap('name = "heat"', 'name = "burgers"'), "line 17, pde.diffusivity", "no such key"),
    (swap("{unknown = true, initial = 0.05}", "-1"), "line 17, pde.diffusivity", "not above 0"),
    (swap("{unknown = true, initial = 0.05}", '"a"'), "line 17, pde.diffusivity", "unknown = true"),
    (swap("unknown = true", "unknown = false"), "line 17, pde.diffusivity.unknown", "write true"),
    (swap("unknown = true, ", ""), "line 17, pde.diffusivity.unknown", "missing"),
    (swap("initial = 0.05", "initial = -1"), "line 17, pde.diffusivity.initial", "not above 0"),
    (swap("initial = 0.05", "start = 1"), "line 17, pde.diffusivity.start", "no such key"),
    (swap("= 0.05", "= 3, bounds = [0, 1]"), "line 17, pde.diffusivity.initial", "between"),
    (swap('"sin(pi*x)"', '"sin(pi*x"'), "line 18, pde.source", "expected `)`"),
    (swap('"sin(pi*x)"', '"sin(pi*w)"'), "line 18, pde.source", "unknown name 'w'"),
    (swap('"sin(pi*x)"', '"__import__(1)"'), "line 18, pde.source", "Unknown function"),
    (swap('"sin(pi*x)"', "[1]"), "line 18, pde.source", "a formula in quotes"),
    (re.sub(r"(?s)\[\[c.*?\[mod", "[conditions]\n[mod", HEAT), "line 20, conditions", "[[conditions]]"),
    (swap('kind = "initial"', 'kind = "intial"'), "line 21, conditions.0.kind", '"initial"?'),
    (swap('kind = "initial"\n', ""), "line 20, conditions.0.kind", "missing"),
    (swap('"sin(4*pi*x)"', '"sin(4*pi*y)"'), "line 22, conditions.0.u", "unknown name 'y'"),
    (swap('"sin(4*pi*x)"', '"sin(4 pi x)"'), "line 22, conditions.0.u", "Found 'pi'"),
    (swap('u = "sin(4*pi*x)"', 'q = "x"'), "line 22, conditions.0.q", "there is no field 'q'"),
    (swap('u = "sin(4*pi*x)"', ""), "line 20, conditions.0", "add for example u = 0"),
    (swap('u = "sin(4*pi*x)"', "u = 1979-05-27"), "line 22, conditions.0.u", "the date or time"),
    (swap('u = "sin(4*pi*x)"', "self = 1"), "line 22, conditions.0.self", "cannot be"),
    (swap('axis = "x"', 'axis = "y"'), "line 26, conditions.1.axis", "'y' is not an axis"),
    (swap('axis = "x"', 'axis = "t"'), "line 26, conditions.1.axis", "time has no walls"),
    (swap('side = "lower"', 'side = "left"'), "line 27, conditions.1.side", 'write "lower"'),
    (swap("values = [0, 2]", "values = [0]"), "line 28, conditions.1.u.values", "write as many"),
    (swap("at = [0, 1]", "at = [1, 0]"), "line 28, conditions.1.u.at", "increasing"),
    (swap("at = [0, 1]", "at = [0, 0.5]"), "line 28, conditions.1.u", "extend the table"),
    (swap('name = "siren"', 'name = "sirene"'), "line 31, model.name", 'did you mean "siren"?'),
    (swap("width = 12", "width = 0"), "line 32, model.width", "at least 1"),
    (swap("width = 12", "heads = 3"), "line 32, model.heads", "no such key"),
    (swap('"siren"\nwidth = 12\nlayers = 2', '"pgt"\nwidth = 9\nheads = 2'), "line 32, model", "width"),
    (swap('"siren"\nwidth = 12', '"wire"\nfrequency = 99'), "line 32, model.frequency", "spread"),
    (swap('"siren"\nwidth = 12\nlayers = 2', '"fno"\ngrid = [8, 8, 8]'), "line 32, model.grid", "axes"),
    (swap("steps = 10", "stps = 10"), "line 36, training.stps", "did you mean 'steps'?"),
    (swap("steps = 10", "learning_rate = 0"), "line 36, training.learning_rate", "above 0"),
    (swap("steps = 10", 'precision = "double"'), "line 36, training.precision", '"float64"'),
    (swap("steps = 10", "hold_out = 1.0"), "line 36, training.hold_out", "below 1"),
    (swap('sampler = "sobol"', 'sampler = "sobl"'), "line 38, training.sampler", '"sobol"?'),
    (swap('sampler = "sobol"', "sampler = 3"), "line 38, training.sampler", "a table"),
    (swap('name = "fixed"', 'name = "fix"'), "line 37, training.weighting.name", '"fixed"?'),
    (swap("data = 2", "data = -2"), "line 37, training.weighting.weights.data", "at least 0"),
    (swap("data = 2", "self = 2"), "line 37, training.weighting.weights.self", "no loss term"),
    (swap("iterations = 5", "iteration = 5"), "line 41, training.polish.iteration", "iterations"),
    (swap("\n[training.polish]\niterations = 5", "polish = 1"), "line 39, training.polish", "or false"),
    (swap("{x = 11, t = [0.5]}", "{x = 11, r = 3}"), "line 44, output.grid.r", "not an axis"),
    (swap("{x = 11, t = [0.5]}", "{x = 0}"), "line 44, output.grid.x", "at least 1"),
    (swap("t = [0.5]", "t = [5.0]"), "line 44, output.grid.t", "from 0 to 1"),
    (swap("{x = 11, t = [0.5]}", "{x = 100000, t = 100000}"), "line 44, output.grid", "the most"),
    (swap('"u_xx"', '"w_xx"'), "line 45, output.quantities.1", "w"),
    (swap('"png"', '"pdf"'), "line 46, output.formats.1", '"pdf" is not known here'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "what"), BROKEN)
def test_broken_files(load, text, where, what):
    message = refused(load, text)
    assert where in message
    assert what in message


EQUATION = template("u_t + u*u_x = nu*u_xx")


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("nu = 0.01", "mu = 0.01", "pde.mu", "the equations do not use 'mu'; write one of"),
        ("nu = 0.01", "", "pde", "nu={unknown = true, initial = 0.01}"),
        ("nu = 0.01", 'nu = "a"', "pde.nu", "write a number"),
        ("nu = 0.01", 'nu = 0.01\nname = "heat"', "pde.name", "either name or equations"),
        ("nu*u_xx", "nu*u_xx = 3", "pde.equations.0", "Found '='"),
        ("nu*u_xx", "nu*u_yy", "pde", "coordinates"),
        ("nu*u_xx", "nu*exec(u_xx)", "pde.equations.0", "Unknown function"),
        ('["u_t + u*u_x = nu*u_xx"]', '"u_t = nu*u_xx"', "pde.equations", "an array"),
        ('["u_t + u*u_x = nu*u_xx"]', "[]", "pde.equations", "at least 1"),
        ("nu*u_xx\"]\nnu", "kernel*u_xx\"]\nkernel", "pde.kernel", "cannot be called"),
        ("nu = 0.01", 'nu = 0.01\nfields = ["u", "nu"]', "pde.nu", "already a field"),
        ("nu = 0.01", 'nu = 0.01\nnames = ["a", "b"]', "pde.names", "1 different name"),
    ],
)  # fmt: skip
def test_broken_equations(load, old, new, where, what):
    assert old in EQUATION
    message = refused(load, EQUATION.replace(old, new))
    assert f", {where}: " in message
    assert what in message


def test_missing_files(tmp_path):
    with pytest.raises(InputError, match=r"there is no run file .*none.toml"):
        load_run(tmp_path / "none.toml")
    with pytest.raises(InputError, match="is a folder"):
        load_run(tmp_path)
    with pytest.raises(InputError):
        load_run("a\0b")


def all_keys(section: type[Section]) -> list[tuple[type[Section], str]]:
    return [(s, key) for s in sorted(sections_in(section), key=str) for key in s.model_fields]


def valid(section: type[Section]) -> dict:
    """A table with the required keys of a section."""
    table = {}
    for name, field in section.model_fields.items():
        if name in ("name", "kind"):
            table[name] = typing.get_args(field.annotation)[0]
        elif field.is_required() and section is not RunFile:
            table |= tomllib.loads(field.examples[0])
    return table | ({"u": 0} if issubclass(section, ValueSection) else {})


@pytest.mark.parametrize(
    ("section", "key"), all_keys(RunFile), ids=lambda v: v if isinstance(v, str) else v.__name__
)
def test_every_key_wrong_once(section, key):
    """No key takes a date; and every key misspelt is missed, or is no such key."""

    def complaint(table):
        with pytest.raises(ValidationError) as caught:
            section.model_validate(table)
        where, message = explain(caught.value.errors(include_url=False)[0])
        assert "does not fit here." not in message  # the words for what pydantic says are missing
        return where, message

    where, message = complaint(valid(section) | {key: datetime.date(2026, 1, 1)})
    if section is not RunFile:
        assert where[0] == key
    if section.model_config["extra"] == "forbid":
        where, message = complaint(valid(section) | {key + "_": 1})
        assert where == (key + "_",)
        assert f"did you mean '{key}'?" in message or "write one of" in message


# ------------------------------------------------------------------------------- lines, mutations


def test_lines_of_keys():
    text = '''\
# a = 1
a = 1 # [b]
"quoted key".'other' = """
c = 3
\\""" d = 4"""""
[table . "sub.table"]   # [x]
inline = {one = 1, two.three = [1, {four = "}"}]}
[[many]]
k = 1979-05-27 07:32:00
[many.inner]
deep = \'\'\'
e = 5\'\'\'
[[many]]
k = [
  1,  # first
  # none
  2
  ,
]
[[many.more]]
z = 1
'''
    lines = key_lines(text)
    assert lines == {
        ("a",): 2,
        ("quoted key",): 3,
        ("quoted key", "other"): 3,
        ("table",): 6,
        ("table", "sub.table"): 6,
        ("table", "sub.table", "inline"): 7,
        ("table", "sub.table", "inline", "one"): 7,
        ("table", "sub.table", "inline", "two"): 7,
        ("table", "sub.table", "inline", "two", "three"): 7,
        ("table", "sub.table", "inline", "two", "three", 0): 7,
        ("table", "sub.table", "inline", "two", "three", 1): 7,
        ("table", "sub.table", "inline", "two", "three", 1, "four"): 7,
        ("many",): 8,
        ("many", 0): 8,
        ("many", 0, "k"): 9,
        ("many", 0, "inner"): 10,
        ("many", 0, "inner", "deep"): 11,
        ("many", 1): 13,
        ("many", 1, "k"): 14,
        ("many", 1, "k", 0): 15,
        ("many", 1, "k", 1): 17,
        ("many", 1, "more"): 20,
        ("many", 1, "more", 0): 20,
        ("many", 1, "more", 0, "z"): 21,
    }
    assert set(lines) == set(paths(tomllib.loads(text)))


def paths(data, path=()):
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


PIECES = st.sampled_from(
    ["=", "[", "]", "[[", "]]", "{", "}", ",", ".", '"', "'", '"""', "'''", "#", "\n", "\r", "\\",
     "x", "u", "pde", "name", "1e400", "nan", "-", "true", "\0", "\ufeff", "é", "1979-05-27", " ",
     "unknown = true", "\nsteps = 5\n", "\n[[conditions]]\n", "\n[model]\n", "{}", "[]", '""']
)  # fmt: skip


def right_or_refused(load, text, overrides=()):
    try:
        run = load(text, overrides)
        build_all(run)
    except InputError as error:
        message = str(error)
    else:
        return
    assert "run.toml, " in message


@given(at=st.floats(0, 1), cut=st.integers(0, 12), piece=PIECES)
def test_mutated_text(load, at, cut, piece):
    place = int(at * len(HEAT))
    text = HEAT[:place] + piece + HEAT[place + cut :]
    right_or_refused(load, text)
    try:
        data = tomllib.loads(text)
    except ValueError:
        return
    assert set(key_lines(text)) == set(paths(data))


@given(st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=3)), min_size=1, max_size=4))
def test_mutated_bytes(load, changes):
    raw = HEAT.encode()
    for at, piece in changes:
        place = int(at * len(raw))
        raw = raw[:place] + piece + raw[place + len(piece) :]
    right_or_refused(load, raw)


VALUES = st.one_of(
    st.sampled_from(
        ["0", "-1", "1e30", "1e-300", "9" * 400, "nan", "true", "[]", "{}", '""', '"u"', '"x^2"',
         "[0, 1]", '["x"]', "[[1]]", "{a = 1}", "{unknown = true, initial = 1}", "07:32:00",
         '"\\u0000"', '"' + "(" * 300 + '"', '["u_t = u_xx"]', "1000000000000"]
    ),
    st.integers().map(str),
    st.floats().map(repr),
)  # fmt: skip
KEYS = sorted({".".join(map(str, path)) for path in paths(tomllib.loads(HEAT))})


@given(st.lists(st.tuples(st.sampled_from(KEYS), VALUES), min_size=1, max_size=3))
def test_mutated_structure(load, changes):
    right_or_refused(load, HEAT, [f"{key}={value}" for key, value in changes])


@given(st.text(alphabet="ab.=[]{}\"'\\\n, 1#", max_size=30))
def test_lines_of_any_toml(text):
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    assert set(key_lines(text)) == set(paths(data))


@pytest.mark.parametrize(
    "text",
    ["a" + ".a" * 49_000 + " = 1", "[" * 90_000, '"' * 99_000, "a=" + "[{a=" * 20_000,
     "a = [" + "1," * 49_000 + "]", "a={b=1}\n" * 10_000, "#" * 99_000]
)  # fmt: skip
def test_hostile_files_take_no_time(load, text):
    began = time.monotonic()
    with pytest.raises(InputError):
        load(text)
    assert time.monotonic() - began < 10


def test_a_run_file_is_checked_without_jax(folder):
    (folder / "quick.toml").write_text(HEAT)
    program = (
        "import sys, time\n"
        "began = time.perf_counter()\n"
        "from pgt.config import load_run\n"
        f"load_run({str(folder / 'quick.toml')!r})\n"
        "assert not {'jax', 'numpy', 'pandas'} & set(sys.modules)\n"
        "print(time.perf_counter() - began)\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    assert min(float(run.stdout) for run in runs) < 0.3
