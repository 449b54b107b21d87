"""A sensor whose clock is wrong is found; sensors that are right are not doubted."""

import numpy as np
import pytest

import pgt
from pgt.methods.closed_form.band_solution import NODES, solved_at_once
from pgt.methods.plan import choose
from pgt.uncertainty.sensor_check import find_displaced_sensor

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def found(*, late=0.0, moved=0.0, noise=0.01, seed=0):
    """What is found of a wave that four sensors read, the second one late or elsewhere by so much."""
    random = np.random.default_rng(seed)
    places, times = np.array([0.11, 0.41, 0.62, 0.87]), np.linspace(0, 1, 12)
    x, t = (part.ravel() for part in np.meshgrid(places, times, indexing="ij"))
    is_second = x == places[1]
    at, when = x + moved * is_second, t - late * is_second
    u = np.exp(-0.02 * 25 * when) * np.sin(5 * (at - 0.5 * when) + 1)
    u += 0.7 * np.exp(-0.02 * 9 * when) * np.sin(3 * (at - 0.5 * when))
    u += noise * random.normal(size=len(u))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
    task = choose(readings, pgt.Equation("u_t + 0.5*u_x = 0.02*u_xx"), DOMAIN).first
    model, pde, *_ = solved_at_once(task.model.with_sines(120, (4.0, 2.8)), task)
    return find_displaced_sensor(model, pde, task.problem, NODES)


@pytest.mark.parametrize("wrong", [{"late": 0.1}, {"moved": 0.06}])
def test_a_sensor_that_is_late_or_elsewhere_is_found(wrong):
    assert found(**wrong).place == pytest.approx((0.41,))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_sensors_that_are_right_are_not_doubted(seed, noise):
    assert found(noise=noise, seed=seed) is None
