"""`pgt fit` as a user runs it, from a table of readings and a run file to the report.

A case is one line of the table: what it covers, the equation with its truth, what is read, the rest of
the run file, and a bound on the true error that a broken fit does not keep.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import pgt
from pgt.cli import app
from pgt.cli.interrupt import INTERRUPTED
from pgt.methods.plan import NAMED
from pgt.problem.checkpoint import StageStates
from pgt.runs.predict import load

Truth = Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]
ALWAYS = {
    "checksums.sha256", "metrics.json", "reconstruction.json", "reconstruction.safetensors",
    "report.html", "run.toml",
}  # fmt: skip
TESTED = 400  # points at which the field is compared with its truth


@dataclass(frozen=True)
class Case:
    """One run.

    `box` are the bounds by axis, `truth` the fields at points, `bound` what the true error of any field
    may be, over its spread. `read` are the fields that are measured (all), at `n` points or at every
    place and time of a grid of so many sensors and times, with `noise` over the spread. `spoil` changes
    the table. `stages` and `answer` are the stages of the fit and the model that is to answer, `known`
    coefficients with their truth; `predicts` also asks `pgt predict`, and with `kill_after` so many
    states the run is interrupted and resumed.
    """

    box: Mapping[str, tuple[float, float]]
    truth: Truth
    bound: float
    equation: str
    settings: str = ""
    n: int = 60
    noise: float = 0.0
    read: tuple[str, ...] | None = None
    observations: str = ""
    domain: str = ""
    spoil: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table
    options: tuple[str, ...] = ()
    formats: tuple[str, ...] = ("nc",)
    code: int = 0
    stages: tuple[str, ...] = ()
    answer: str = "Features"
    choice: str = "second"
    known: Mapping[str, float] = field(default_factory=dict)
    within: float = 0.05  # of a coefficient, relative
    predicts: bool = False
    kill_after: int = 0


# ----------------------------------------------------------------------------------- truths

SQUARE = {"x": (0.0, 1.0), "t": (0.0, 1.0)}
PLANE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def heat(at):
    x, t = at["x"], at["t"]
    return {"u": np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x) + 0.3 * x}


def warm(at):
    """The same in kelvin, over metres and seconds."""
    return {"T": 300 + 10 * heat({"x": at["x"], "t": at["t"] / 1000})["u"]}


def ring(at):
    return {"u": np.sin(2 * np.pi * (at["x"] - 0.5 * at["t"]))}


def pulse(at):
    return {"u": np.exp(-(((at["x"] - 0.2 - 0.6 * at["t"]) / 0.05) ** 2))}


def front(at):
    """A travelling wave of Burgers' equation with viscosity 0.1."""
    return {"u": 0.5 - 0.5 * np.tanh((at["x"] - 0.3 - 0.5 * at["t"]) / 0.4)}


def grown(at):
    return {"u": 1 / (1 + 9 * np.exp(-2.0 * at["t"]))}


def cooled(at):
    return {"T": 20 + 60 * np.exp(-0.5 * at["t"])}


def swung(at):
    """A spring: place and velocity."""
    return {"a": np.cos(2 * at["t"]), "b": -2 * np.sin(2 * at["t"])}


PENDULUM = solve_ivp(
    lambda t, y: [y[1], -np.sin(y[0])], (0, 20), [2.8, 0.0], rtol=1e-10, atol=1e-12,
    dense_output=True,
).sol  # fmt: skip


def pendulum(at):
    return {"u": PENDULUM(at["t"])[0]}


def bowl(at):
    return {"u": np.sin(np.pi * at["x"]) * np.sin(np.pi * at["y"])}


def channel(at):
    """Flow between two plates, driven by a pressure that falls."""
    x, y = at["x"], at["y"]
    return {"u": y * (1 - y), "v": 0 * x, "p": -2 * x}


def around(at):
    """A potential around a disk at the middle."""
    return {"u": np.log(np.hypot(at["x"] - 0.5, at["y"] - 0.5) / 0.2)}


def layered(at):
    """(k u')' = -1 with k = 1 + x, u(0) = 0 and k u' = 1 at 0."""
    x = at["x"]
    return {"u": 2 * np.log1p(x) - x}


def with_outliers(table):
    table.loc[table.index[::12], "u"] += 5.0
    return table


def with_dates(table):
    start = pd.Timestamp("2024-03-01T12:00:00")
    return table.assign(t=[(start + pd.Timedelta(seconds=s)).isoformat() for s in table["t"]])


def in_millimetres(table):
    table = table.assign(x=1000 * table["x"], T=table["T"] - 273.15)
    return table.rename(columns={"x": "x [mm]", "t": "t [s]", "T": "T [degC]"})


# ------------------------------------------------------------------------------------ cases

HEAT = '[pde]\nname = "heat"\ndiffusivity = 0.1\n'
LEARNT_HEAT = '[pde]\nname = "heat"\ndiffusivity = {unknown = true, initial = 0.05}\n'
BURGERS = '[pde]\nname = "burgers"\nviscosity = 0.1\n'
LOGISTIC = '[pde]\nequations = ["u_t = 2*u*(1 - u)"]\n'
LEARNT_LOGISTIC = '[pde]\nequations = ["u_t = r*u*(1 - u)"]\nr = {unknown = true, initial = 1.0}\n'
SMALL = '[model]\nname = "pinn"\nwidth = 8\nlayers = 2\n'


def steps(iterations, more=""):
    """So many Gauss-Newton steps."""
    return f"[training.polish]\niterations = {iterations}\n{more}"


def first_order(count, more=""):
    return f"[training]\nsteps = {count}\npolish = false\ncollocation = 64\n{more}"


SECOND = {"t": (0.0, 4.0)}

CASES = {
    "linear equation, closed form, every format": Case(
        SQUARE, heat, 1e-8, HEAT, formats=("nc", "csv", "vtk", "png"), predicts=True,
    ),
    "a solver with an unknown coefficient, then sines": Case(
        SQUARE, heat, 1e-2, LEARNT_HEAT, n=24, noise=0.002, known={"diffusivity": 0.1},
    ),
    "closed form with an unknown coefficient, by name": Case(
        SQUARE, heat, 1e-2, LEARNT_HEAT, '[model]\nname = "features"\n', n=24, noise=0.002,
        known={"diffusivity": 0.1}, choice="named",
    ),
    "unknown function of space, solved iteratively": Case(
        {"x": (0.0, 1.0)}, layered, 1e-8,
        '[pde]\nequations = ["diff(k*u_x, x) = -1"]\n'
        'k = {unknown = true, of = ["x"], initial = 1.0, positive = true}\n',
        '[[conditions]]\nkind = "dirichlet"\naxis = "x"\nside = "lower"\nu = 0.0\n', n=40, choice="first",
    ),
    "small network by Gauss-Newton": Case(
        SQUARE, front, 1e-6, BURGERS, SMALL + steps(40), stages=("Gauss-Newton",),
        answer="PINN", choice="named", formats=("png",),
    ),
    "nonlinear equation on a mesh, its initial state unknown": Case(
        {"t": (0.0, 20.0)}, pendulum, 1e-6, '[pde]\nequations = ["u_tt = -sin(u)"]\n', n=44,
        answer="Solver", choice="first of two", formats=("nc", "png"),
    ),
    "noisy readings under a prior": Case(
        SECOND, grown, 1e-2, LOGISTIC, SMALL + steps(60), n=80, noise=0.05,
        stages=("Gauss-Newton", "under a prior"), answer="PINN", choice="named",
        formats=("png",),
    ),
    "noise that is given, coefficient of a nonlinear equation": Case(
        SECOND, grown, 3e-2, LEARNT_LOGISTIC, SMALL + steps(60), n=80, noise=0.03,
        observations="noise = {u = 0.01}\n",
        stages=("Gauss-Newton", "under a prior"), answer="PINN", choice="named",
        known={"r": 2.0}, within=0.1,
    ),
    "a pulse that a mesh follows better than the sines after it": Case(
        SQUARE, pulse, 0.5, '[pde]\nequations = ["u_t = -0.6*u_x"]\n', steps(5), n=100,
        answer="Solver", choice="first of two",
    ),
    "first-order steps, SOAP and SIREN": Case(
        SQUARE, heat, 5e-2, HEAT,
        '[model]\nname = "siren"\nwidth = 16\nlayers = 2\nfrequency = 2.0\n'
        + first_order(600), answer="SIREN",
        choice="named", code=3, predicts=True,
        formats=("png",),
    ),
    "a PGT": Case(
        SQUARE, heat, 0.5, HEAT,
        '[model]\nname = "pgt"\nwidth = 8\nblocks = 1\nheads = 1\ndecoder_width = 8\n'
        "decoder_layers = 2\n" + first_order(300), answer="PGT", choice="named",
        code=4,
    ),
    "hidden pressure with a gauge": Case(
        PLANE, channel, 1e-6, '[pde]\nname = "stokes"\nviscosity = 1.0\n',
        '[[conditions]]\nkind = "gauge"\nfield = "p"\nat = {x = 0, y = 0.5}\nvalue = 0.0\n',
        read=("u", "v"), n=30, predicts=True, choice="first",
    ),
    "initial, Dirichlet and Neumann conditions, few readings": Case(
        SQUARE, heat, 1e-8, HEAT,
        '[[conditions]]\nkind = "initial"\nu = "sin(pi*x) + 0.3*x"\n'
        '[[conditions]]\nkind = "dirichlet"\naxis = "x"\nside = "lower"\nu = 0.0\n'
        '[[conditions]]\nkind = "neumann"\naxis = "x"\nside = "upper"\n'
        'u = "0.3 - pi*exp(-0.1*pi^2*t)"\n', n=8,
    ),
    "a periodic axis": Case(
        SQUARE, ring, 1e-8, '[pde]\nequations = ["u_t = -0.5*u_x"]\n',
        '[[conditions]]\nkind = "periodic"\naxis = "x"\n', n=40,
    ),
    "a shape with a hole": Case(
        PLANE, around, 1e-6, '[pde]\nname = "laplace"\n',
        '[[conditions]]\nkind = "dirichlet"\nwall = "hole"\nu = 0.0\n',
        domain='[domain.shape]\nkind = "difference"\n'
        'whole = {kind = "rectangle", x = [0, 1], y = [0, 1]}\n'
        'holes = [{kind = "disk", centre = [0.5, 0.5], radius = 0.2, name = "hole"}]\n',
        formats=("png",), choice="first",
    ),
    "outliers under a Student likelihood": Case(
        SQUARE, heat, 2e-2, HEAT, '[training]\nlikelihood = "student"\n', noise=0.01,
        spoil=with_outliers, formats=("png",), answer="Solver", choice="first",
    ),
    "error bars of a posterior": Case(
        SQUARE, heat, 5e-2, HEAT, '[error_bars]\nname = "posterior"\nsamples = 16\n', noise=0.05,
        answer="Solver", choice="first",
    ),
    "error bars of an ensemble": Case(
        SQUARE, front, 1e-2, BURGERS,
        SMALL + '[error_bars]\nname = "ensemble"\nmembers = 2\n' + steps(12, "seconds = 60.0\n"),
        answer="PINN", choice="named", stages=("Gauss-Newton",),
    ),
    "resumed after a kill": Case(
        SECOND, grown, 1e-6, LOGISTIC, SMALL + steps(40), n=40, stages=("Gauss-Newton",),
        answer="PINN", choice="named", kill_after=10,
    ),
    "cross-validation": Case(SQUARE, heat, 1e-8, HEAT, n=40, options=("--folds", "2")),
    "two fields": Case(SECOND, swung, 1e-8, '[pde]\nequations = ["a_t = b", "b_t = -4*a"]\n', n=30),
    "a steady problem": Case(
        PLANE, bowl, 1e-8,
        '[pde]\nname = "poisson"\nsource = "-2*pi^2*sin(pi*x)*sin(pi*y)"\n',
        formats=("csv", "png"),
    ),
    "an equation in time alone, its coefficient unknown": Case(
        SECOND, cooled, 5e-3,
        '[pde]\nequations = ["T_t = -k*(T - 20)"]\nk = {unknown = true, initial = 0.2}\n',
        n=30, noise=0.002, known={"k": 0.5}, answer="Solver",
        choice="first of two",
    ),
    "dates in the column of the time": Case(
        {"x": (0.0, 1.0), "t": (0.0, 1000.0)}, warm, 1e-6,
        '[pde]\nname = "heat"\ndiffusivity = 1e-4\nfields = "T"\n', spoil=with_dates,
        observations='units = {x = "m", T = "K"}\n',
        domain='t = ["2024-03-01T12:00:00", "2024-03-01T12:16:40"]\n', predicts=True,
    ),
    "units that are converted": Case(
        {"x": (0.0, 1.0), "t": (0.0, 1000.0)}, warm, 1e-6,
        '[pde]\nname = "heat"\ndiffusivity = "100 mm^2/s"\nfields = "T"\n', spoil=in_millimetres,
        observations='units = {x = "m", t = "s", T = "K"}\n'
        'columns = {x = "x [mm]", t = "t [s]", T = "T [degC]"}\n',
    ),
}  # fmt: skip


# ------------------------------------------------------------------------------------ a run


@pytest.mark.parametrize("name", CASES)
def test_a_fit_from_a_table_to_its_report(name, tmp_path, monkeypatch):
    case, out = CASES[name], tmp_path / "out"
    write(case, tmp_path)
    if case.kill_after:
        interrupt(tmp_path, out, case.kill_after, monkeypatch)
    more = ("--resume",) if case.kill_after else case.options
    found = command("fit", tmp_path / "run.toml", "-o", out, *more)
    assert found.exit_code == case.code, found.output
    if case.stages:  # the reason is that of the last stage
        assert f"{case.stages[-1]} ended after" in " ".join(found.output.split())
    check_files(case, out)
    check_numbers(case, read_strictly(out / "metrics.json"))
    page = (out / "report.html").read_text(encoding="utf-8")
    assert all(stage in page for stage in case.stages)
    result = load(out)
    for one, error in true_errors(case, result).items():
        assert error < case.bound, (one, error)
    if case.predicts:
        check_prediction(case, out)


def command(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def write(case: Case, folder: Path) -> None:
    """The table and the run file."""
    points = inside(case, draw(case, case.n, seed=1))
    values = case.truth(points)
    random, read = np.random.default_rng(2), case.read or tuple(values)
    for one in read:
        values[one] = values[one] + case.noise * np.std(values[one]) * random.normal(
            size=len(values[one])
        )
    table = pd.DataFrame(points | {one: values[one] for one in read})
    case.spoil(table).to_csv(folder / "sensors.csv", index=False)
    bounds = [f"{axis} = {list(pair)}" for axis, pair in case.box.items()]
    if 't = ["' in case.domain:
        bounds = [line for line in bounds if not line.startswith("t ")]
    grid = ", ".join(f"{axis} = 5" for axis in case.box)
    text = (
        f'[observations]\nfile = "sensors.csv"\ncoords = {json.dumps(list(case.box))}\n'
        f"fields = {json.dumps(list(read))}\n{case.observations}\n"
        + "[domain]\n" + "\n".join(bounds) + f"\n{case.domain}\n"
        + f"{case.equation}\n{case.settings}\n"
        + f"[output]\ngrid = {{{grid}}}\nformats = {json.dumps(list(case.formats))}\n"
    )  # fmt: skip
    (folder / "run.toml").write_text(text)


def draw(case: Case, count: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {axis: random.uniform(*pair, count) for axis, pair in case.box.items()}


def inside(case: Case, points: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those outside the hole, where there is one."""
    if "hole" not in case.domain:
        return points
    kept = np.hypot(points["x"] - 0.5, points["y"] - 0.5) > 0.21
    return {axis: column[kept] for axis, column in points.items()}


def interrupt(folder: Path, out: Path, calls: int, monkeypatch) -> None:
    """Begin the run, and stop it after so many states were written down."""
    keep, seen = StageStates.keep, []

    def killing(self, stage, state):
        keep(self, stage, state)
        seen.append(stage)
        if len(seen) == calls:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pgt.problem.checkpoint.SECONDS_BETWEEN", 0.0)
        patch.setattr(StageStates, "keep", killing)
        found = command("fit", folder / "run.toml", "-o", out)
    assert found.exit_code == INTERRUPTED, found.output
    assert "--resume" in found.output
    assert not (out / "metrics.json").exists()


def check_files(case: Case, out: Path) -> None:
    endings = ["vtr" if one == "vtk" else one for one in case.formats]
    if "vtk" in case.formats:  # one file for each of several instants
        endings.remove("vtr")
        assert list(out.glob("field*.vt?")) or list(out.glob("**/*.vt?"))
    wanted = ALWAYS | {f"field.{ending}" for ending in endings}
    if "png" in case.formats and case.stages:
        wanted |= {"convergence.png"}
    names = {path.name for path in out.iterdir() if path.is_file()}
    assert wanted <= names
    assert all((out / one).stat().st_size > 0 for one in names)
    if "png" in case.formats:
        assert (out / "field.png").read_bytes().startswith(b"\x89PNG")


def read_strictly(path: Path) -> dict:
    """Numbers, all of them finite."""

    def refuse(name):
        raise AssertionError(f"{path.name} holds {name}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def choice(plan: list[dict]) -> str:
    """How the answer was chosen, by what came of the candidates."""
    if plan[0]["reason"] == NAMED:
        return "named"
    if plan[0]["outcome"] == "kept":
        return "first"
    return "first of two" if plan[0]["outcome"].endswith("is kept") else "second"


def check_numbers(case: Case, found: dict) -> None:
    assert (found["model"], choice(found["plan"])) == (case.answer, case.choice)
    assert found["exit_code"] == case.code
    assert tuple(stage["name"] for stage in found["stages"]) == case.stages
    for stage in found["stages"]:
        assert stage["seconds"] > 0
        assert all(cost >= 0 and math.isfinite(cost) for cost in stage["costs"].values())
    fields = set(case.truth({axis: np.zeros(1) for axis in case.box}))
    assert fields <= set(found["field_error"])  # unknown functions have one, too
    for error in found["field_error"].values():
        assert 0 <= error["low"] <= error["value"] <= error["high"]
    for one, true in case.known.items():
        assert found["coefficients"][one] == pytest.approx(true, rel=case.within)
    assert bool(found["cross_validation"]) == ("--folds" in case.options)
    assert ("coverage" in found) == ("error_bars" in case.settings)


def true_errors(case: Case, result: pgt.Reconstruction) -> dict[str, float]:
    """The error of each field over its spread, at points of its own."""
    points = inside(case, draw(case, TESTED, seed=3))
    truth = case.truth(points)
    start = float(result.domain.bounds("t")[0]) if "dates" in case.spoil.__name__ else 0.0
    asked = {axis: column + (start if axis == "t" else 0.0) for axis, column in points.items()}
    found = result.at(asked)
    errors = {}
    for one, values in truth.items():
        spread = np.std(values) or 1.0
        errors[one] = float(np.sqrt(np.mean((found[one].to_numpy() - values) ** 2)) / spread)
    return errors


def check_prediction(case: Case, out: Path) -> None:
    grid = ",".join(f"{axis}=3" for axis in case.box)
    found = command("predict", out, "--grid", grid, "-o", out.parent / "asked.csv")
    assert found.exit_code == 0, found.output
    table = pd.read_csv(out.parent / "asked.csv")
    assert len(table) == 3 ** len(case.box)
    assert table.notna().all().all()
