"""The rows of the loss as functions of θ."""

import jax
import numpy as np
import pytest

import pgt
from pgt.methods.second_order.residual_rows import (
    build_rows,
    flatten_parameters,
    reading_mask,
)
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics import Heat
from pgt.problem.losses import Problem, data_loss
from pgt.training.settings import Polish

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


@pytest.mark.slow
def test_readings_have_the_weights_of_the_loss():
    """Also if one reading is far noisier than the others."""
    points = np.random.default_rng(1).uniform(0, 1, (4, 2))
    readings = pgt.Observations.from_arrays(
        points, np.ones((4, 1)) * [[1.0], [2.0], [3.0], [9.0]], coords=("x", "t"), fields=("u",),
        noise=np.array([[0.1], [0.1], [0.2], [5.0]]),
    )  # fmt: skip
    pde = Heat(0.1)
    model = pgt.PGT(
        Scaling.fit(readings, DOMAIN), pde.kernel(), width=8, blocks=1, heads=2, decoder_width=6,
        decoder_layers=1,
    )  # fmt: skip
    problem = Problem.build(readings, pde, (), DOMAIN, model.scaling)
    with jax.enable_x64(True):
        model, pde, problem = cast((model, pde, problem), np.float64)
        parameters = flatten_parameters(model, pde, readings, whole=False)
        theta, context = parameters.theta, parameters.fixed_context
        data = build_rows(model, pde, problem, parameters, Polish(points=4)).blocks[0]
        rows = jax.vmap(data.function, in_axes=(None, 0))(theta, data.items)
        cost = float(np.sum((np.asarray(rows) * data.weights[:, None]) ** 2))
        assert cost == pytest.approx(float(data_loss(model, context, readings, ())), rel=1e-9)


def test_a_hidden_field_has_no_rows():
    domain, pde = pgt.Domain(x=(0, 1), y=(0, 1), t=(0, 1)), pgt.NavierStokes2D(0.1)
    points = np.random.default_rng(0).uniform(0, 1, (5, 3))
    values = np.stack([points[:, 0], points[:, 1]], axis=1)
    values[0, 1] = np.nan
    readings = pgt.Observations.from_arrays(
        points, values, coords=domain.axes, fields=("u", "v")
    ).aligned(pde.fields)
    model = pgt.SIREN(Scaling.fit(readings, domain), width=4, layers=2)
    problem = Problem.build(readings, pde, (), domain, model.scaling)
    with jax.enable_x64(True):
        parameters = flatten_parameters(model, pde, readings, whole=True)
        block = build_rows(model, pde, problem, parameters, Polish(points=4)).blocks[0]
        rows = jax.vmap(block.function, in_axes=(None, 0))(parameters.theta, block.items)
    mask = reading_mask(readings)
    assert rows.shape == mask.shape == (5, 2)
    np.testing.assert_array_equal(np.asarray(rows) != 0, mask)
