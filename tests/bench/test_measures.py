"""What is measured of a fit, on one made by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from wavy_result import BOX, PDE, Wavy, measured

import pgt
from pgt.nn.trees import count_parameters
from pgt.problem.assembly import assemble
from pgt_bench import measures
from pgt_bench.measures import step_cost
from pgt_bench.problems import HeatProblem, Setup


@pytest.fixture(scope="module")
def setup():
    noise = {"u": 0.3, "v": 0.0}
    return Setup(measured(40, 0), PDE, BOX, (), xr.Dataset(), noise)


@pytest.fixture(scope="module")
def result(setup):
    """u = sin x + t, v = u / 2, p = 0."""
    scaling = pgt.Scaling.fit(setup.observations, BOX)
    model = Wavy(scaling, jnp.zeros(()), jnp.ones(()), True)
    readings = setup.observations
    return pgt.Reconstruction(model, PDE, readings, readings, {"rows": [], "seed": 0}, BOX)


def test_the_error_of_training_is_the_mean_square_misfit_of_what_was_read(result, setup):
    x, t = np.asarray(setup.observations.points).T
    field = np.stack([np.sin(x) + t, (np.sin(x) + t) / 2], axis=1)
    misfit = field - setup.observations.values[:, :2]  # p is hidden
    assert measures.train_error(result, setup) == pytest.approx(np.mean(misfit**2), rel=1e-4)


def test_the_residual_is_the_mean_square_over_points_and_equations(result, setup):
    x = np.linspace(0, 3, 3001)
    rows = (1 - np.cos(x) / 2, 0.5 - np.cos(x), -np.cos(x) / 2)
    expected = np.mean([np.mean(row**2) for row in rows])
    assert measures.mean_square_residual(result, setup) == pytest.approx(expected, rel=0.05)


def test_flops_of_a_step_are_those_of_its_matrix_products():
    """Data only, Adam: forward, and backward twice that; two operations a weight and reading."""
    setup = HeatProblem(200, known=False).load(0)
    model = pgt.PINN(pgt.Scaling.fit(setup.observations, setup.domain), width=64, layers=4)
    training = pgt.Training(optimiser="adam", collocation=0, hold_out=0.0)
    task = assemble(setup.observations, setup.pde, setup.domain, model=model, training=training)
    cost = step_cost(task)
    expected = 3 * 2 * count_parameters(model) * 200
    assert 0.8 * expected < cost["flops"] < 1.5 * expected
    assert cost["peak_bytes"] > 4 * 3 * count_parameters(model)  # weights and Adam's two moments
