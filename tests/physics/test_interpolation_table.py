"""Tables as functions: read, refused, interpolated, in conditions and in equations."""

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import pgt
from pgt import InputError
from pgt.physics.derivatives import DerivativeTable

HOURS = np.array([0.0, 1.0, 3.0, 4.0])


def frame(**columns):
    return pd.DataFrame({"hour": HOURS, "T": [14.0, 15.0, 13.0, 13.0]} | columns)


@pytest.mark.parametrize("t", [-1.0, 0.0, 0.4, 1.0, 2.7, 4.0, 9.0])
def test_values_are_interpolated_as_numpy_does(t):
    table = pgt.Table(frame(), "T", t="hour")
    assert float(table({"t": t})) == pytest.approx(np.interp(t, HOURS, frame()["T"]))


def test_a_grid_is_bilinear_and_has_slopes():
    x, t = np.meshgrid([0.0, 1.0, 4.0], [0.0, 2.0], indexing="ij")
    table = pgt.Table(
        pd.DataFrame({"x": x.ravel(), "t": t.ravel(), "k": (1 + 2 * x + 3 * t + x * t).ravel()}),
        "k", x="x", t="t",
    )  # fmt: skip
    point = {"x": 2.5, "t": 0.5}
    assert float(table(point)) == pytest.approx(1 + 5.0 + 1.5 + 1.25)
    assert float(table.slope(point, "x")) == pytest.approx(2 + 0.5)
    assert float(table.slope(point, "t")) == pytest.approx(3 + 2.5)
    assert float(table.slope(point, "y")) == 0.0


def test_dates_count_from_when_the_readings_do(tmp_path):
    file = tmp_path / "stream.csv"
    file.write_text("date,T\n2024-03-12 10:00,14\n2024-03-12 12:00,16\n")
    units = {"t": "h since 2024-03-12 09:00"}
    table = pgt.Table(file, "T", t="date", units=units)
    assert table.knots("t").tolist() == [1.0, 3.0]
    same = pgt.Table(pd.read_csv(file), "T", t="date", units=units)
    assert same.knots("t").tolist() == [1.0, 3.0]
    for source in (file, pd.read_csv(file)):
        with pytest.raises(InputError, match=r'units=\{"t": "s since 2024-03-12'):
            pgt.Table(source, "T", t="date")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pgt.Table(frame(), "T"), 'name the column of a coordinate, such as t="date"'),
        (lambda: pgt.Table(frame(), "temp", t="hour"), "no column 'temp'"),
        (lambda: pgt.Table(frame(T=list("abcd")), "T", t="hour"), "the column 'T'"),
        (
            lambda: pgt.Table(frame(hour=[0, 1, 1, 2]), "T", t="hour"),
            "more than one row with t = 1",
        ),
        (
            lambda: pgt.Table(frame(z=[0, 0, 1, 1]), "T", t="hour", z="z"),
            "no row with z = 0, t = 3",
        ),
        (lambda: pgt.Table(frame()[:1], "T", t="hour"), "1 row.* with a value; it needs two"),
        (lambda: pgt.Table("nowhere.csv", "T", t="hour"), "nowhere.csv"),
        (lambda: pgt.Table(frame(), "T", t="hour", units={"x": "m"}), "there is no 'x'"),
        (lambda: pgt.Table(frame(), "T", t="hour", units={"value": "K"}), "convert 'T' before"),
    ],
)
def test_what_is_no_table_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


# ------------------------------------------------------------------------- in equations


def known(values):
    return DerivativeTable({name: jnp.asarray(value) for name, value in values.items()})


def test_a_table_in_an_equation_is_a_function_and_not_a_field():
    rate = pgt.Table(frame(), "T", t="hour")
    pde = pgt.Equation("u_t = -q*u", q=rate)
    assert (pde.fields, pde.coords) == (("u",), ("t",))
    values = {"u": 2.0, "u_t": 1.0, "t": 2.0}
    assert float(pde.residual(known(values))["equation"]) == pytest.approx(1.0 + 14.0 * 2.0)


def test_a_solution_with_a_measured_rate_is_exact():
    """u' = -q(t) u with q linear between its knots: the integral of q is that of trapezoids."""
    table = pgt.Table(frame(), "T", t="hour")
    result = pgt.solve(
        pgt.Equation("u_t = -0.1*q*u", q=table), pgt.Domain(t=(0, 4)), [pgt.Initial(u=1.0)]
    )
    for t in (0.5, 1.0, 2.2, 4.0):
        knots = np.union1d(HOURS[t >= HOURS], [t])
        integral = np.trapezoid(np.interp(knots, HOURS, frame()["T"]), knots)
        found = float(result.at({"t": [t]})["u"].item())
        assert found == pytest.approx(np.exp(-0.1 * integral), rel=1e-6)


def test_a_table_that_ends_before_the_domain_is_refused():
    pde = pgt.Equation("u_t = -q*u", q=pgt.Table(frame(), "T", t="hour"))
    with pytest.raises(InputError, match="covers t from 0 to 4 but the domain goes from 0 to 5"):
        pgt.solve(pde, pgt.Domain(t=(0, 5)), [pgt.Initial(u=1.0)])
