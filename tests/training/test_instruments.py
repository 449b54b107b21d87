"""Readings of every field count by what those of that field are missed by, where that is noise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.training.instruments import by_instrument, judged_by_instrument
from pgt.training.likelihood import Likelihood
from pgt.training.losses import Problem
from pgt.training.system import system

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
EQUATIONS = pgt.Equation(["p_t + u_x = 0", "u_t + p_x = 0"])
COUNT = 60


def asked(noise, bias=0.0, given: float | None = None, likelihood: Likelihood = "gauss"):
    """What becomes of a search whose network misses readings by that much noise of each field, and by a
    wave; the search as it was, θ, and by how much readings are missed in units of their noise."""
    random = np.random.default_rng(0)
    points = random.uniform(size=(COUNT, 2))
    first = pgt.Observations.from_arrays(
        points, random.normal(size=(COUNT, 2)), coords=("x", "t"), fields=("p", "u")
    )
    network = pgt.PINN(pgt.Scaling.fit(first, DOMAIN), width=4, layers=1)
    said = np.asarray(jax.vmap(lambda z: network.decode((), z))(jnp.asarray(points, jnp.float32)))
    wave = bias * np.sin(2 * np.pi * points[:, :1])
    missed = np.asarray(noise) * random.normal(size=(COUNT, 2)) + wave
    spread = np.asarray(network.scaling.spread)
    readings = pgt.Observations.from_arrays(
        points, said + spread * missed, coords=("x", "t"), fields=("p", "u")
    )
    problem = Problem.build(readings, EQUATIONS, (), DOMAIN, network.scaling, likelihood=likelihood)
    with jax.enable_x64(True):
        none = readings.take(np.zeros(0, int))
        numbers, search, _ = system(network, EQUATIONS, problem, pgt.Polish(points=16), none)
        found, factors = by_instrument(search, numbers.theta, network, problem, given)
        missed = judged_by_instrument(network, problem, readings, factors)
        return found, factors, search, numbers.theta, missed


def test_the_better_instrument_counts_for_more():
    noise = (0.02, 0.3)
    found, factors, before, theta, missed = asked(noise)
    with jax.enable_x64(True):
        rows = [np.asarray(s.rows_at(theta))[: 2 * COUNT].reshape(-1, 2) for s in (before, found)]
    common = np.linalg.norm(rows[1])
    np.testing.assert_allclose(common * factors, noise, rtol=0.2)
    assert missed == pytest.approx(common, rel=1e-3)
    sizes = [np.linalg.norm(part, axis=0) for part in rows]
    assert sizes[0][1] > 10 * sizes[0][0]
    np.testing.assert_allclose(sizes[1][1], sizes[1][0], rtol=1e-6)
    assert found.program is before.program  # nothing is compiled anew


@pytest.mark.parametrize(
    "case",
    [
        {"noise": (0.1, 0.12)},
        {"noise": (0.02, 0.3), "given": 0.1},
        {"noise": (0.02, 0.3), "likelihood": "student"},
        {"noise": (1e-6, 1e-4)},
        {"noise": (0.02, 0.1), "bias": 1.0},  # no noise, but a field that is yet to be followed
    ],
)
def test_all_fields_count_alike_where_nothing_else_is_known(case):
    found, factors, before, *_ = asked(**case)
    assert found is before
    assert factors.tolist() == [1.0, 1.0]
