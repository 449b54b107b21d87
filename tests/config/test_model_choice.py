"""One experiment in several systems of units is one problem."""

import equinox as eqx
import numpy as np
import pytest
from typer.testing import CliRunner

from pgt.cli import app
from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.data.units import conversion
from pgt.methods.closed_form.design_rows import rows_of
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.problem.assembly import assemble

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
    checked = CliRunner().invoke(app, ["check", "--quick", str(made)])
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


def test_what_fits_stays_and_other_kinds_are_left_to_the_check(tmp_path):
    (tmp_path / "a.csv").write_text("x [mm],t [ms],u [m/s]\n0,0,1\n1,1,2\n2,2,4\n")
    (tmp_path / "b.csv").write_text("x [mm],t [ms],u [K]\n0,0,1\n1,1,2\n2,2,4\n")
    for name in ("a", "b"):
        words = ["init", "burgers", "--from", str(tmp_path / f"{name}.csv")]
        result = CliRunner().invoke(app, [*words, "-o", str(tmp_path / f"{name}.toml")])
        assert "converted" not in result.output


def test_a_table_without_a_time_is_of_a_steady_flow(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,u,v\n0,0,1,2\n1,1,2,3\n0,1,4,5\n")
    made = tmp_path / "run.toml"
    words = ["init", "navier_stokes", "--from", str(tmp_path / "a.csv"), "-o", str(made)]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert Parts(load_run(made)).pde.coords == ("x", "y")
