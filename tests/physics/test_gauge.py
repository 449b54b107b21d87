"""Fields that the equations leave open: what a gauge says of them, and that the fit obeys."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exact_solutions.flow import taylor_green
from nested_derivatives import NestedDerivatives

import pgt
from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.data.domain import Domain
from pgt.physics.gauge import fixed_fields, freedom
from pgt.problem.losses import Problem

BOX = Domain(x=(0, 3), y=(-1, 2), t=(0, 1))
FLOW = pgt.NavierStokes2D(0.05)
REFERENCE = {"x": 2.5, "y": 0.5}


def evaluator(field, domain=BOX, fields=("u", "v", "p")):
    return lambda z, name: NestedDerivatives(field, z, domain.axes, fields)(name)


def flow(z):
    return taylor_green(0.05, (0.6, -0.3))(z)


def exact_mean_of_p(t):
    """-¼ e^(-4νt) times the mean of cos 2ξ + cos 2η over the box, integrated by hand."""

    def mean(lower, upper, drift):
        ends = [np.sin(2 * (end - drift * t)) / 2 for end in (lower, upper)]
        return (ends[1] - ends[0]) / (upper - lower)

    return -0.25 * np.exp(-0.2 * t) * (mean(0, 3, 0.6) + mean(-1, 2, -0.3))


# ------------------------------------------------------------------------------- the rows


@pytest.mark.parametrize("t", [0.0, 0.4, 1.0])
def test_the_row_is_the_mean_over_space(t):
    with jax.enable_x64(True):
        gauge = pgt.Gauge("p").bind(BOX, FLOW.fields)
        row = gauge.rows(evaluator(flow), jnp.array([9.0, 9.0, t]))  # its place does not matter
    assert row.shape == (1,)
    assert float(row[0]) == pytest.approx(exact_mean_of_p(t), abs=1e-12)


@pytest.mark.parametrize(
    "value", ["0.1*t + 1", lambda t: 0.1 * t + 1, (np.array([0.0, 1.0]), np.array([1.0, 1.1]))]
)
def test_the_row_is_the_value_at_the_place(value):
    gauge = pgt.Gauge("p", at=REFERENCE, value=value).bind(BOX, FLOW.fields)
    for z in gauge.nodes(5):
        assert z[:2].tolist() == [2.5, 0.5]
        wanted = float(flow(jnp.asarray(z))[2]) - 0.1 * z[2] - 1
        assert float(gauge.rows(evaluator(flow), jnp.asarray(z))[0]) == pytest.approx(
            wanted, abs=1e-6
        )


# ------------------------------------------------------------------------------- what is free


def test_what_the_equations_leave_open():
    wave, heat = pgt.Wave(1.0), pgt.Heat(0.1)
    steady = pgt.Equation("phi_xx + phi_yy = 0")
    decay = pgt.Equation("w_t = -w", coords=("x", "t"), fields=("w",))
    found = [freedom(pde, pde.fields[-1]) for pde in (FLOW, wave, heat, steady, decay)]
    assert found == ["a function of time", "a constant", "a constant", "a constant", None]
    conditions = (pgt.Dirichlet("x", p=0.0), pgt.Initial(u=0.0, p=0.0), pgt.Gauge("v"))
    assert fixed_fields(conditions, FLOW) == ("v", "p")
    assert fixed_fields((pgt.Initial(p=0.0),), FLOW) == ()
    assert fixed_fields((pgt.Initial(u=0.0),), heat) == ("u",)


def build(gauges, pde=FLOW, domain=BOX, measured=("u", "v")):
    columns = {axis: np.linspace(*domain.bounds(axis), 4) for axis in domain.axes}
    readings = pgt.Observations.from_arrays(columns, {name: np.arange(4.0) for name in measured})
    readings = readings.aligned(pde.fields)
    return Problem.build(readings, pde, gauges, domain, pgt.Scaling.fit(readings, domain))


@pytest.mark.parametrize(
    ("gauges", "message"),
    [
        ([pgt.Gauge("q")], "there is no field 'q', only u, v, p"),
        ([pgt.Gauge("u")], "'u' was measured"),
        ([pgt.Gauge("p"), pgt.Gauge("p", at=REFERENCE)], "another condition gives values of 'p'"),
        ([pgt.Gauge("p"), pgt.Dirichlet("x", p=0.0)], "another condition gives values of 'p'"),
        ([pgt.Gauge("p", at={"x": 3.5, "y": 0.0})], "x = 3.5 lies outside .* from 0 to 3"),
        ([pgt.Gauge("p", at={"x": 3.0})], "names x; give exactly x, y, and t for one moment"),
        ([pgt.Gauge("p", at=REFERENCE | {"t": 0.5})], "leave the t out of it"),
        ([pgt.Gauge("p", value="x")], "x"),
        ([pgt.Gauge("p", value=([0.0, 0.5], [1.0, 2.0]))], "covers t from 0 to 0.5"),
    ],
)
def test_what_a_gauge_cannot_say_of_a_flow(gauges, message):
    with pytest.raises(pgt.InputError, match=message):
        build(gauges)


# ------------------------------------------------------------------------------- fits


def readings_of(points):
    values = np.asarray(jax.vmap(flow)(jnp.asarray(points)))
    columns = dict(zip(BOX.axes, np.asarray(points).T, strict=True))
    return pgt.Observations.from_arrays(columns, {"u": values[:, 0], "v": values[:, 1]})


def fit(readings, gauge):
    """All fits have as many readings, so that those with one gauge share their compiled program."""
    scaling = pgt.Scaling.fit(readings.aligned(FLOW.fields), BOX)
    return pgt.reconstruct(
        readings, FLOW, BOX, [gauge],
        model=pgt.SIREN(scaling, width=24, layers=2, frequency=3.0),
        training=pgt.Training(
            steps=600, optimiser="adam", learning_rate=1e-2, collocation=64, condition_points=16,
            polish=False,
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def scattered():
    unit = np.random.default_rng(0).uniform(size=(150, 3))
    return readings_of(BOX.lower + BOX.extent * unit)


def pressure(result):
    """p on a grid of cell centres, whose mean is that over the box; times the ends of [0, 1] too."""
    x, y = (np.linspace(*BOX.bounds(a), 60, endpoint=False) + 3 / 120 for a in "xy")
    return result.grid(["p"], x=x, y=y, t=[0.0, 0.3, 0.7, 1.0]).p


@pytest.mark.slow
def test_the_mean_of_a_hidden_pressure_vanishes_at_every_time(scattered):
    result = fit(scattered, pgt.Gauge("p"))
    found = pressure(result)
    assert np.abs(found.mean(("x", "y"))).max() < 0.03 * found.std()
    points = np.stack(np.meshgrid(found.x, found.y, found.t, indexing="ij"), axis=-1)
    truth = np.asarray(jax.vmap(flow)(jnp.asarray(points.reshape(-1, 3))))[:, 2]
    truth = truth.reshape(points.shape[:3]).T - exact_mean_of_p(found.t.to_numpy())[:, None, None]
    assert np.sqrt(np.mean((found - truth) ** 2)) < 0.15 * truth.std()
    assert "gauge" in result.history.term


# ------------------------------------------------------------------------------- run files

RUN = """
[observations]
file = "sensors.csv"
coords = ["x", "y", "t"]
fields = ["u", "v"]

[domain]
x = [0, 3]
y = [-1, 2]
t = [0, 1]

[pde]
name = "navier_stokes"
viscosity = 0.05

[[conditions]]
kind = "gauge"
"""


def written(folder, text):
    (folder / "sensors.csv").write_text("x,y,t,u,v\n1,1,0,1,1\n2,1,0,1,1\n")
    (folder / "run.toml").write_text(RUN + text)
    return load_run(folder / "run.toml")


def test_a_run_file_declares_a_gauge(tmp_path):
    (plain,) = Parts(written(tmp_path, 'field = "p"')).conditions
    assert (plain.field, plain.at, plain.value) == ("p", None, 0.0)
    text = 'field = "p"\nat = {x = 2.5, y = 0.5}\nvalue = {at = [0, 1], values = [5, 5.2]}'
    (gauge,) = Parts(written(tmp_path, text)).conditions
    bound = gauge.bind(BOX, FLOW.fields)
    zero = evaluator(lambda z: jnp.zeros(3))
    assert float(bound.rows(zero, jnp.array([2.5, 0.5, 0.5]))[0]) == pytest.approx(-5.1)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('field = "q"', "conditions.0.field", "there is no field 'q'"),
        ('field = "u"', "conditions.0.field", "was measured"),
        ("at = {x = 1, y = 1}", "conditions.0.field", "missing"),
        ('field = "p"\nat = {x = 9, y = 1}', "conditions.0.at", "outside the domain"),
        ('field = "p"\nvalue = "sin(("', "conditions.0.value", ""),
        ('field = "p"\nvalue = "x"', "conditions.0.value", "x"),
        ('field = "p"\nvalues = 3', "conditions.0.values", "did you mean 'value'"),
    ],
)
def test_mistakes_in_a_run_file_are_located(tmp_path, text, place, message):
    with pytest.raises(pgt.InputError) as caught:
        _ = Parts(written(tmp_path, text)).conditions
    assert place in str(caught.value)
    assert message in str(caught.value)


def test_what_a_gauge_cannot_say_of_other_equations():
    line = Domain(x=(0, 1), t=(0, 1))
    diffusing = pgt.Equation("u_t = u_xx + w_x", "w_t = u_xx", coords=("x", "t"))
    with pytest.raises(pgt.InputError, match="hold 'w_t', so only a constant is open"):
        build([pgt.Gauge("w")], diffusing, line, ("u",))
    build([pgt.Gauge("w", at={"x": 0.0, "t": 0.0})], diffusing, line, ("u",))
    coupled = pgt.Equation("u_t = u_xx + w", "w_x = u", coords=("x", "t"), fields=("u", "w"))
    with pytest.raises(pgt.InputError, match="'w' itself is in the equations"):
        build([pgt.Gauge("w")], coupled, line, ("u",))
    with pytest.raises(pgt.InputError, match="has no spatial axis"):
        pgt.Gauge("u").bind(Domain(t=(0, 1)), ("u",))
