"""The parts of a run file that the data say."""

import tomllib

import equinox as eqx
import numpy as np
import pytest
from sensor_files import write
from typer.testing import CliRunner

from pgt.cli import app
from pgt.config import from_data, load_run
from pgt.config.parts import Parts
from pgt.core.dialect import Dialect
from pgt.data.units import conversion
from pgt.io.survey import survey
from pgt.methods.closed_form.design_rows import rows_of
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.problem.assembly import assemble


def test_the_tables_say_what_was_found(tmp_path):
    path = write(tmp_path, "pos. [m];t;T [°C]\n0,5;0;20\n0,5;0;22\n0,75;0;-9999\n")
    found = survey([path], columns={"x": "pos. [m]"}, dialect=Dialect(decimal=","))
    text = from_data.observations(found, tmp_path / "runs")
    assert tomllib.loads(text) == {
        "file": "../sensors.csv",
        "coords": ["x", "t"],
        "fields": ["T"],
        "columns": {"T": "T [°C]", "x": "pos. [m]"},
        "units": {"x": "m", "T": "°C"},
        "duplicates": "mean",
        "dialect": {"decimal": ","},
    }
    assert "# semicolons, decimal commas, 1 sentinel hidden." in text
    assert "# T: 1 of 3 readings hidden." in text
    assert tomllib.loads(from_data.bounds(found)) == {"x": [0.5, 0.75], "t": [0, 1]}


# The units of places, times, velocities and of the viscosity in the run file.
SYSTEMS = {
    "SI": ("m", "s", "m/s", "m^2/s"),
    "of an image": ("mm", "s", "m/s", "m^2/s"),
    "of a fast camera": ("mm", "ms", "m/s", "mm^2/s"),
    "of a lake": ("km", "h", "cm/s", "m2 d-1"),
    "small": ("cm", "min", "mm/s", "cm²/s"),
    "in inches": ("inch", "s", "ft/s", "mm^2/s"),
}


def as_written(columns, units):
    """A table whose headings hold the units, of columns in SI."""
    heads = [f"{name} [{units[name]}]" for name in columns]
    turned = [column * conversion(SI[n], units[n])[0] for n, column in columns.items()]
    rows = [",".join(repr(float(number)) for number in row) for row in zip(*turned, strict=True)]
    return "\n".join([",".join(heads), *rows])


SI = {"x": "m", "y": "m", "t": "s", "u": "m/s", "v": "m/s"}


def flow(steady):
    """Readings of something that flows; which does not matter here."""
    random = np.random.default_rng(0)
    columns = {axis: random.uniform(0, 0.02, 40) for axis in ("x", "y")}
    columns |= {} if steady else {"t": random.uniform(0, 3.0, 40)}
    return columns | {name: random.normal(0.01, 0.05, 40) for name in ("u", "v")}


def run_of(folder, system, equation, steady):
    """The parts of the run that `pgt init` writes for the table, the viscosity given with its unit."""
    length, time, speed, viscosity = SYSTEMS[system]
    units = {"x": length, "y": length, "t": time, "u": speed, "v": speed}
    (folder / "piv.csv").write_text(as_written(flow(steady), units))
    made, table = folder / "run.toml", folder / "piv.csv"
    words = ["init", "--from", table, "--equation", equation, "-o", made]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    number = 3e-6 * conversion("m^2/s", viscosity)[0]
    lines = [
        f'viscosity = "{number!r} {viscosity}"' if line.startswith("viscosity") else line
        for line in made.read_text().splitlines()
    ]
    made.write_text("\n".join(lines))
    checked = CliRunner().invoke(app, ["check", str(made)])
    assert checked.exit_code == 0, checked.output
    return Parts(load_run(made))


def of_no_unit(parts):
    """What is minimised: the rows of the equation for a sum of sines, without any unit."""
    readings = parts.observations.aligned(parts.pde.fields)
    small = Features(Scaling.fit(readings, parts.domain), count=12)
    task = assemble(parts.observations, parts.pde, parts.domain, model=small)
    model = task.model.with_sines(12, (6.0,) * len(parts.domain.axes))
    random = np.random.default_rng(1)
    readout = random.normal(size=model.network.readout.shape)
    rows = rows_of(_with(model, readout), task.pde, task.problem, 60)
    return np.concatenate([rows.equation.ravel(), rows.target.ravel(), rows.values])


def _with(model, readout):
    return eqx.tree_at(lambda m: m.network.readout, model, readout)


CASES = {
    "stokes": ("SI", "of an image", "of a lake"),  # steady, and linear
    "navier_stokes": ("SI", "small"),
    "navier_stokes in time": ("SI", "of a fast camera", "in inches"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_flow_is_the_same_problem_in_all_systems(tmp_path, case):
    equation, _, in_time = case.partition(" ")
    found = {}
    for system in CASES[case]:
        (tmp_path / system).mkdir()
        found[system] = of_no_unit(run_of(tmp_path / system, system, equation, not in_time))
    for system, numbers in found.items():
        np.testing.assert_allclose(numbers, found["SI"], rtol=2e-4, atol=2e-5, err_msg=system)


def test_fahrenheit_minutes_and_square_millimetres(tmp_path):
    """Of a rod whose diffusivity is 0.1 mm²/s; a difference in °F is 5/9 of one in K."""
    rows = "0,0,68\n10,30,77\n20,60,86\n"
    (tmp_path / "rod.csv").write_text("x [inch],t [min],T [°F]\n" + rows)
    made = tmp_path / "run.toml"
    words = ["init", "--from", tmp_path / "rod.csv", "--equation", "heat", "-o", made]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert "u is 'T [°F]'" in " ".join(result.output.split())
    text = made.read_text()
    assert "# inch2 min-1; or with its unit" in text
    made.write_text(text.replace("diffusivity = 0.01", 'diffusivity = "0.1 mm^2/s"', 1))
    assert float(Parts(load_run(made)).pde.diffusivity) == pytest.approx(0.1 * 60 / 25.4**2)
