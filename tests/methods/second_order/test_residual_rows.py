"""The rows of the loss as functions of θ, at fixed and fresh residual points."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.methods.second_order.residual_rows import (
    TaylorExpansion,
    build_rows,
    flatten_parameters,
    reading_mask,
)
from pgt.models.field_model import AbstractNetwork
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics import Heat, Initial
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


class InOneStage(AbstractNetwork):
    """The same network, which does not declare its two stages."""

    network: AbstractNetwork

    def encode(self, readings):
        return self.network.encode(readings)

    def decode(self, context, z):
        return self.network.decode(context, z)

    def tunable(self):
        return self.network.tunable()


@pytest.mark.slow
def test_a_taylor_expansion_does_not_change_the_rows():
    """Neither their values nor their derivatives in θ."""
    points = np.random.default_rng(1).uniform(0, 1, (4, 2))
    readings = pgt.Observations.from_arrays(
        points, np.ones((4, 1)) * [[1.0], [2.0], [3.0], [9.0]], coords=("x", "t"), fields=("u",)
    )
    pde = Heat(pgt.Unknown(0.1))
    staged = pgt.PGT(
        Scaling.fit(readings, DOMAIN), pde.kernel(), width=8, blocks=1, heads=2, decoder_width=6,
        decoder_layers=1,
    )  # fmt: skip
    plain = pgt.extend.Frame(staged.scaling, InOneStage(staged.network), staged.kernel)
    problem = Problem.build(readings, pde, (Initial(u="sin(pi*x)"),), DOMAIN, staged.scaling)

    def rows(model, expanded):
        model, equation, task = cast((model, pde, problem), np.float64)
        parameters = flatten_parameters(model, equation, readings, whole=False)
        theta = parameters.theta
        blocks = build_rows(model, equation, task, parameters, Polish(points=9)).blocks
        assert all(is_expanded(block.items) == expanded for block in blocks)
        along = jnp.asarray(np.random.default_rng(2).standard_normal(theta.shape))
        found = []
        for block in blocks:
            function = jax.jit(jax.vmap(block.function, in_axes=(None, 0)))
            found += jax.jvp(lambda t, f=function, b=block: f(t, b.items), (theta,), (along,))
        return found

    def is_expanded(items):
        return isinstance(items[-1] if type(items) is tuple else items, TaylorExpansion)

    with jax.enable_x64(True):
        for one, two in zip(rows(staged, True), rows(plain, False), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
            assert np.abs(one).max() > 1e-3


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
