"""Wrong run files: one message with file, line, key and remedy."""

import re

import pytest
from run_files import HEAT, loader, refused


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    return loader(tmp_path_factory.mktemp("run"))


def swap(old, new):
    assert old in HEAT
    return HEAT.replace(old, new)


BROKEN = [
    # (text, where, what): the file and its line come first, then the key
    ("", "line 1, domain", "this is missing; add for example [domain]"),
    ("# nothing\n", "line 1, domain", "missing"),
    ("seed", "line 1", "not TOML"),
    (HEAT + "\nsteps = = 3", "line 48, column 9", "not TOML"),
    (HEAT + "\nk = 1,2e-5", "line 48, column 6", "A decimal has a point: 1.2e-5."),
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
    (swap('coords = ["x", "t"]', 'coords = ["x", "q"]'), "line 5, observations.coords.1", '"q" is not'),
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
    (swap("steps = 10", 'hold_out_by = "blok"'), "line 36, training.hold_out_by", '"block"'),
    (swap("steps = 10", "hold_out_by = true"), "line 36, training.hold_out_by", '"reading"'),
    (swap('sampler = "sobol"', 'sampler = "sobl"'), "line 38, training.sampler", '"sobol"?'),
    (swap('sampler = "sobol"', "sampler = 3"), "line 38, training.sampler", "a table"),
    (swap('name = "fixed"', 'name = "fix"'), "line 37, training.weighting.name", '"fixed"?'),
    (swap("data = 2", "data = -2"), "line 37, training.weighting.weights.data", "at least 0"),
    (swap("data = 2", "self = 2"), "line 37, training.weighting.weights.self", "no loss term"),
    (swap("iterations = 5", "iteration = 5"), "line 41, training.polish.iteration", "iterations"),
    (swap("\n[training.polish]\niterations = 5", "polish = 1"), "line 39, training.polish", "or false"),
    (swap("{x = 11, t = [0.5]}", "{x = 11, r = 3}"), "line 44, output.grid.r", "not an axis"),
    (swap("{x = 11, t = [0.5]}", "{x = 0}"), "line 44, output.grid.x", "at least 2"),
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
