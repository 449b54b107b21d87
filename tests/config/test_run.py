"""Run files: what is right builds, and every class of the library can be asked for."""

import dataclasses
import inspect
import re
import subprocess
import sys
from typing import get_args

import equinox as eqx
import pytest
from run_files import HEAT, build_all, loader, readings, sections_in

import pgt
from pgt import InputError
from pgt.config.derive import chosen, section_of
from pgt.config.described import described
from pgt.config.parts import Parts
from pgt.config.template import template
from pgt.ground.registry import KINDS, parts, snapshot
from pgt.models.cases import ALL_MODELS
from pgt.physics.exact import ALL_PDES

ZOO = sorted(n for n, e in parts("equation").items() if e.__module__.startswith("pgt."))
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
    assert isinstance(training.weighting, pgt.Fixed)
    assert isinstance(training.sampler, pgt.Sobol)
    initial, wall = parts.conditions
    assert isinstance(initial, pgt.Initial)
    assert isinstance(wall, pgt.Dirichlet)
    assert wall.side == "lower"
    assert (run.seed, run.path.name, run.text) == (3, "run.toml", HEAT)
    assert run.output.grid == {"x": 11, "t": (0.5,)}


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
    suited = pgt.default_model(*_problem(build_all(load(short))), seed=3)
    for text in (short, short + '[model]\nname = "pgt"'):
        assert eqx.tree_equal(build_all(load(text)).model(3), suited)
    narrow = build_all(load(short + '[model]\nname = "pgt"\nwidth = 8\nheads = 2'))
    sized = pgt.default_model(*_problem(narrow), seed=3, width=8, heads=2)
    assert eqx.tree_equal(narrow.model(3), sized)


def _problem(parts):
    return parts.observations, parts.pde, parts.domain


@pytest.mark.parametrize("pde", [*ZOO, *TEXTS], ids=str)
def test_templates_load_and_build(load, pde):
    text = template(pde)
    run = load(text)
    assert set(run.observations.fields) <= set(build_all(run).pde.fields)
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
    assert build_all(load(text)).pde.coords == ("x", "y", "t")
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
    assert build_all(run).training.steps == 7
    assert run.output.formats == ("csv",)
    assert run.overrides == tuple(overrides)
    assert build_all(run).training.polish is False
    assert build_all(run).pde.diffusivity.bounds == (0.01, 1)


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
        build_all(load(HEAT, [override]))


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


# ------------------------------------------------------------------------------ as in the library


def table_of(kind, name):
    (section,) = (
        s
        for s in sections_in(chosen(kind))
        if (field := s.model_fields.get(s.chosen_by)) and get_args(field.annotation) == (name,)
    )
    return section


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_has_the_arguments_of_its_classes(name):
    section = table_of("equation", name)
    arguments = inspect.signature(section.builds).parameters
    assert getattr(pgt, section.builds.__name__) is section.builds
    assert set(section.model_fields) - {"name"} == set(arguments)
    for argument, parameter in arguments.items():
        required = parameter.default is parameter.empty
        assert section.model_fields[argument].is_required() == required


def test_models_have_the_options_of_their_classes():
    names = [name for name, part in parts("model").items() if part.__module__.startswith("pgt.")]
    assert len(names) == 7
    for name in names:
        section = table_of("model", name)
        arguments = set(inspect.signature(section.builds).parameters)
        assert set(section.model_fields) - {"name"} == arguments - {"scaling", "seed"}


def test_training_has_the_settings_of_its_class():
    section = section_of(pgt.Training)
    assert set(section.model_fields) == {f.name for f in dataclasses.fields(pgt.Training)}
    for kind in ("sampler", "weighting", "optimiser"):
        for name, part in parts(kind).items():
            arguments = inspect.signature(part).parameters
            assert set(table_of(kind, name).model_fields) - {"name"} == set(arguments)


def test_no_class_of_the_library_is_forgotten():
    built = {s.builds.__name__ for s in sections_in(described()) if hasattr(s, "builds")}
    classes = {type(case.pde).__name__ for case in ALL_PDES} - {"Equation"}
    assert classes <= built
    assert {case.name.split("_")[0].upper() for case in ALL_MODELS} <= {b.upper() for b in built}
    public = [getattr(pgt, name) for name in pgt.__all__]
    registered = {part for _, _, part in snapshot()}
    for thing in public:
        if isinstance(thing, type) and getattr(thing, "part", None) in KINDS:
            text = thing in (pgt.Equation, pgt.Frame)  # `equations` chooses it; needs a network
            assert inspect.isabstract(thing) or text or thing in registered, thing
