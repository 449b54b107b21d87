"""The size of functions in conditions, from the condition that they stand in."""

import numpy as np
import pytest

import pgt
from pgt.training.assemble import assemble

BOX = pgt.Domain(x=(0, 4), t=(0, 1))
AT = np.linspace(0.1, 0.9, 40)
READINGS = pgt.Observations.from_arrays({"x": 4 * AT, "t": AT}, {"u": 300 + 5 * np.sin(20 * AT)})
MEAN, SPREAD = float(np.mean(READINGS.values)), float(np.std(READINGS.values))


def scaled(condition):
    scaling = assemble(READINGS, pgt.Heat(0.1), BOX, [condition]).model.scaling
    return float(scaling.mean[1]), float(scaling.spread[1])


def test_a_value_is_like_its_field():
    found = scaled(pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("t")))
    assert found == pytest.approx((MEAN, SPREAD), rel=0.3)


def test_a_slope_is_like_that_of_the_field():
    mean, spread = scaled(pgt.Neumann("x", side="lower", u=pgt.UnknownFunction("t")))
    assert mean == pytest.approx(0.0, abs=1e-9)
    assert spread == pytest.approx(SPREAD / 2, rel=0.3)  # by half of the domain


def test_a_temperature_beyond_the_wall_is_like_that_of_the_field():
    beyond = pgt.Robin(
        "x", side="lower", coefficient=10.0, relative=True, u=pgt.UnknownFunction("t")
    )
    assert scaled(beyond) == pytest.approx((MEAN, SPREAD), rel=0.3)


def test_an_exchange_is_of_the_size_that_balances_its_condition():
    exchange = pgt.UnknownFunction("t", positive=True)
    level, _ = scaled(pgt.Robin("x", side="lower", coefficient=exchange, u=600.0))
    assert np.exp(level) == pytest.approx(2.0, rel=0.3)  # of 300 h = 600


def test_the_network_that_may_be_tried_next_has_the_function_too():
    wall = pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("t"))
    task = assemble(READINGS, pgt.Heat(0.1), BOX, [wall])
    assert task.rival is not None
    other = task.rival()
    assert other.pde.fields == task.pde.fields == ("u", "x_lower_u")
    np.testing.assert_allclose(other.model.scaling.mean, task.model.scaling.mean, rtol=1e-5)
