"""Mistakes in run files and settings, each through `pgt fit`: exit code 2 and one message."""

import pytest
from broken import RUN, altered, csv, refuse, with_observations


def pde(**table) -> str:
    return altered(pde=table)


def equations(*texts: str, **coefficients) -> str:
    return altered(pde={"equations": list(texts), **coefficients})


def condition(**table) -> str:
    return altered(conditions=[table])


FLOW = {
    "observations": RUN["observations"] | {"coords": ["x", "y", "t"]},
    "domain": {"x": [0, 1], "y": [0, 1], "t": [0, 1]},
    "pde": {"name": "navier_stokes"},
}
LEARNT = {"unknown": True, "initial": 0.05}
NEGATIVE = LEARNT | {"initial": -1}
MISTAKES = {
    "empty": ("", "line 1, domain", "this is missing"),
    "not TOML": ("seed = = 1", "line 1", "this is not TOML"),
    "the table of readings": (csv(), "line 1", "this is not TOML"),
    "wrong encoding": ("# Zürich".encode("latin-1"), "line 1", "is not UTF-8 text"),
    "no equation": (altered(pde=None), "pde", "this is missing"),
    "no domain": (altered(domain=None), "domain", "this is missing"),
    "unknown equation": (pde(name="heart"), "pde.name", 'did you mean "heat"?'),
    "coefficient missing": (pde(name="heat"), "pde.diffusivity", "this is missing"),
    "viscosity missing": (altered(**FLOW), "pde.viscosity", "this is missing"),
    "negative coefficient": (pde(name="heat", diffusivity=-1), "pde.diffusivity", "not above 0"),
    "text as coefficient": (pde(name="heat", diffusivity="big"), "pde.diffusivity", "write a number"),
    "infinite coefficient": (
        altered().replace("0.01", "inf"), "pde.diffusivity", "write a finite number"),
    "bounds upside down": (
        pde(name="heat", diffusivity=LEARNT | {"bounds": [1, 0]}),
        "pde.diffusivity.bounds", "the lower bound 1 is not below the upper one 0"),
    "start outside of the bounds": (
        pde(name="heat", diffusivity=LEARNT | {"bounds": [1, 2]}),
        "pde.diffusivity.initial", "strictly between the bounds"),
    "one bound": (
        pde(name="heat", diffusivity=LEARNT | {"bounds": [1]}),
        "pde.diffusivity.bounds", "write at least 2"),
    "negative start": (pde(name="heat", diffusivity=NEGATIVE), "initial", "not above 0"),
    "field of another equation": (
        with_observations(fields=["w"], columns={"w": "u"}),
        "observations.fields.0", "the equation has no field 'w'"),
    "equation without a coefficient": (
        equations("u_t = nu*u_xx"), "pde", "'nu'"),
    "equation of another field": (
        equations("w_t = w_xx"), "observations.fields.0", "the equation has no field 'u'"),
    "equation with a field too many": (
        equations("u_t = u_xx + q_x", fields=["u"]), "pde", "q"),
    "equation along another axis": (equations("u_t = u_yy"), "pde", "y"),
    "equation without end": (equations("u_t = nu*(u_xx", nu=1), "pde.equations.0", "("),
    "equation without a sign": (equations("u_t - u_xx"), "pde.equations.0", "="),
    "equation that imports": (
        equations("u_t = __import__('os').system('true')"), "pde.equations.0", "line 4"),
    "coefficient of no equation": (
        equations("u_t = u_xx", nu=1), "pde.nu", "the equations do not use 'nu'"),
    "bad expression": (condition(kind="initial", u="sin(pi*x"), "conditions.0.u", ")"),
    "unknown function": (condition(kind="initial", u="sine(x)"), "conditions.0", "sine"),
    "function of what is the same on a wall": (
        condition(kind="dirichlet", axis="x", u={"unknown": True, "of": ["x"]}),
        "conditions.0", 'write {unknown = true, of = ["t"]}'),
    "unknown name": (condition(kind="initial", u="sin(q)"), "conditions.0", "'q'"),
    "condition on no field": (condition(kind="initial", w=1), "conditions.0.w", "'w'"),
    "condition on no axis": (condition(kind="dirichlet", axis="y", u=0), "conditions.0.axis", "'y'"),
    "unknown condition": (condition(kind="cauchy", u=0), "conditions.0.kind", '"cauchy" is not known'),
    "table of another length": (
        condition(kind="initial", u={"at": [0, 1], "values": [1]}),
        "conditions.0.u.values", "1 values for 2 places"),
    "domain upside down": (altered(domain={"x": [1, 0], "t": [0, 1]}), "domain.x", "lower bound 1"),
    "domain of no size": (altered(domain={"x": [0, 0], "t": [0, 1]}), "domain.x", "lower bound 0"),
    "domain without time": (altered(domain={"x": [0, 1]}), "domain", "the coordinate 't'"),
    "tiny domain": (altered(domain={"x": [0, 1], "t": [0, 1e-40]}), "outside the domain", "line 2"),
    "periodic time": (
        altered(domain=RUN["domain"] | {"periodic": ["t"]}), "domain.periodic.0", "time cannot"),
    "unknown model": (altered(model={"name": "gpt"}), "model.name", 'did you mean "pgt"?'),
    "heads that do not divide": (
        altered(model={"name": "pgt", "width": 8, "heads": 3}), "model", "heads"),
    "grid of another axis": (altered(output={"grid": {"y": 3}}), "output.grid.y", "not an axis"),
    "grid of too many points": (
        altered(output={"grid": {"x": 10**8, "t": 10}}), "output.grid", "1e+09 points"),
    "grid outside": (altered(output={"grid": {"x": [2.0]}}), "output.grid.x", "from 0 to 1"),
    "unknown quantity": (
        altered(output={"quantities": ["vorticity"]}), "output.quantities.0", "v_x"),
    "unknown format": (altered(output={"formats": ["pdf"]}), "output.formats.0", '"pdf"'),
    "no steps": (altered(training={"steps": -1}), "training.steps", "at least 0"),
    "everything held out": (altered(training={"hold_out": 1.0}), "training.hold_out", "below 1"),
    "noise in no column": (with_observations(noise={"u": "sigma"}), "sensors.csv", "'sigma'"),
    "negative noise": (with_observations(noise={"u": -1}), "observations.noise.u", "out of range"),
    "unit of nothing": (with_observations(units={"v": "m"}), "observations.units.v", "'v'"),
    "missing file": (with_observations(file="no.csv"), "observations.file", "does not exist"),
    "folder instead of file": (with_observations(file="."), "observations.file", "is a folder"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "where", "cause"), MISTAKES.values(), ids=MISTAKES)
def test_broken_run_files(tmp_path, text, where, cause):
    refuse(tmp_path, "run.toml", "line ", where, cause, text=text)


@pytest.mark.parametrize(
    ("override", "cause"),
    [
        ("training.steps", "a setting is one key and its value"),
        ("training.steps=many", "many"),
        ("training.step=3", "did you mean 'steps'?"),
        ("seed.deep=3", "seed is not a table"),
    ],
)
def test_broken_settings_of_the_command_line(tmp_path, override, cause):
    refuse(tmp_path, "run.toml", "--set", cause, words=("--set", override))
