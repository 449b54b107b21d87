"""Each field gets a noise of its own if its residuals are noise of clearly different size."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.inference.likelihood import Likelihood
from pgt.methods.second_order.field_noise import weight_by_field_noise, weighted_held_out_error
from pgt.methods.second_order.least_squares_system import build_system
from pgt.problem.losses import Problem

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
EQUATIONS = pgt.Equation(["p_t + u_x = 0", "u_t + p_x = 0"])
COUNT = 60


def weighted(noise, bias=0.0, given: float | None = None, likelihood: Likelihood = "gauss"):
    """(residuals after and before, factors, θ, weighted error) for a network whose residuals are a noise
    of each field plus a wave of size `bias`."""
    random = np.random.default_rng(0)
    points = random.uniform(size=(COUNT, 2))
    first = pgt.Observations.from_arrays(
        points, random.normal(size=(COUNT, 2)), coords=("x", "t"), fields=("p", "u")
    )
    network = pgt.PINN(pgt.Scaling.fit(first, DOMAIN), width=4, layers=1)
    predicted = np.asarray(
        jax.vmap(lambda z: network.decode((), z))(jnp.asarray(points, jnp.float32))
    )
    wave = bias * np.sin(2 * np.pi * points[:, :1])
    deviation = np.asarray(noise) * random.normal(size=(COUNT, 2)) + wave
    spread = np.asarray(network.scaling.spread)
    readings = pgt.Observations.from_arrays(
        points, predicted + spread * deviation, coords=("x", "t"), fields=("p", "u")
    )
    problem = Problem.build(readings, EQUATIONS, (), DOMAIN, network.scaling, likelihood=likelihood)
    with jax.enable_x64(True):
        none = readings.take(np.zeros(0, int))
        parameters, residuals, _ = build_system(
            network, EQUATIONS, problem, pgt.Polish(points=16), none
        )
        found, factors = weight_by_field_noise(residuals, parameters.theta, network, problem, given)
        error = weighted_held_out_error(network, problem, readings, factors)
        return found, factors, residuals, parameters.theta, error


def test_readings_are_weighted_by_the_noise_of_their_field():
    noise = (0.02, 0.3)
    found, factors, before, theta, error = weighted(noise)
    with jax.enable_x64(True):
        rows = [np.asarray(s.rows_at(theta))[: 2 * COUNT].reshape(-1, 2) for s in (before, found)]
    common = np.linalg.norm(rows[1])
    np.testing.assert_allclose(common * factors, noise, rtol=0.2)
    assert error == pytest.approx(common, rel=1e-3)
    sizes = [np.linalg.norm(part, axis=0) for part in rows]
    assert sizes[0][1] > 10 * sizes[0][0]
    np.testing.assert_allclose(sizes[1][1], sizes[1][0], rtol=1e-6)
    assert found.program is before.program  # nothing is compiled again


@pytest.mark.parametrize(
    "case",
    [
        {"noise": (0.1, 0.12)},
        {"noise": (0.02, 0.3), "given": 0.1},
        {"noise": (0.02, 0.3), "likelihood": "student"},
        {"noise": (1e-6, 1e-4)},
        {"noise": (0.02, 0.1), "bias": 1.0},  # correlated residuals are not noise
    ],
)
def test_fields_share_one_noise_otherwise(case):
    found, factors, before, *_ = weighted(**case)
    assert found is before
    assert factors.tolist() == [1.0, 1.0]
