"""The least-squares finish: never uphill, learns a coefficient, moves the decoder alone."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.network import AbstractNetwork
from pgt.nn import frozen
from pgt.nn.precision import cast
from pgt.nn.scaling import Scaling
from pgt.physics import Heat, Initial
from pgt.training.losses import Problem, data_loss
from pgt.training.polish import polish
from pgt.training.rows import Expansion, rows_of, tuned
from pgt.training.settings import Polish

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


@pytest.fixture(scope="module")
def polished():
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (30, 2))
    u = np.sin(np.pi * points[:, 0]) * np.exp(-0.1 * np.pi**2 * points[:, 1])
    readings = pgt.Observations.from_arrays(points, u[:, None], coords=("x", "t"), fields=("u",))
    pde = Heat(pgt.Unknown(0.3, positive=True))
    scaling = Scaling.fit(readings, DOMAIN)
    model = pgt.PGT(
        scaling, pde.kernel(), width=8, blocks=1, heads=2, decoder_width=10, decoder_layers=1,
        frequency=4.0,
    )  # fmt: skip
    problem = Problem.build(readings, pde, (Initial(u="sin(pi*x)"),), DOMAIN, scaling)
    seen = []
    settings = Polish(iterations=25, points=100)
    result = polish(
        model,
        pde,
        problem,
        settings,
        readings.take(np.zeros(0, int)),
        lambda i, c: seen.append((i, c)),
    )
    return model, result, seen


def test_cost_never_rises_and_falls_far(polished):
    _, (_, _, costs), seen = polished
    assert all(b <= a for a, b in itertools.pairwise(costs))
    assert costs[-1] < 1e-3 * costs[0]
    assert [i for i, _ in seen] == list(range(1, len(costs)))
    assert [c for _, c in seen] == costs[1:]


def test_an_unknown_coefficient_is_found(polished):
    _, (_, pde, _), _ = polished
    with jax.enable_x64(True):
        assert float(pde.diffusivity.value) == pytest.approx(0.1, rel=0.1)


def test_only_the_decoder_moves(polished):
    before, (after, _, _), _ = polished

    def fixed(model):
        network = model.network
        parts = network.blocks, network.embed_value, network.query, network.keys, model.scaling
        return jax.tree.leaves(parts)

    for old, new in zip(fixed(before), fixed(after), strict=True):
        np.testing.assert_allclose(np.asarray(new), np.asarray(old), atol=0)
    old, new = (jax.tree.leaves(m.tunable())[0] for m in (before, after))
    assert np.abs(np.asarray(old) - np.asarray(new)).max() > 1e-3
    assert all(leaf.dtype == np.float64 for leaf in jax.tree.leaves(after.tunable()))
    assert frozen.count_parameters(after) == frozen.count_parameters(before)


def test_readings_count_as_in_the_loss():
    """The polish's data rows and the training loss agree, also where one reading is far noisier."""
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
        numbers = tuned(model, pde, readings, whole=False)
        theta, context = numbers.theta, numbers.fixed
        data = rows_of(model, pde, problem, numbers, Polish(points=4)).blocks[0]
        rows = jax.vmap(data.function, in_axes=(None, 0))(theta, data.items)
        cost = float(np.sum((np.asarray(rows) * data.weights[:, None]) ** 2))
        assert cost == pytest.approx(float(data_loss(model, context, readings, ())), rel=1e-9)


class InOneStage(AbstractNetwork):
    """The same network, which does not say that it looks before it answers."""

    network: AbstractNetwork

    def encode(self, readings):
        return self.network.encode(readings)

    def decode(self, context, z):
        return self.network.decode(context, z)

    def tunable(self):
        return self.network.tunable()


def test_two_stages_change_the_cost_and_not_the_rows():
    """Expanded around its points or evaluated anew: equal rows, and equal derivatives in θ."""
    points = np.random.default_rng(1).uniform(0, 1, (4, 2))
    readings = pgt.Observations.from_arrays(
        points, np.ones((4, 1)) * [[1.0], [2.0], [3.0], [9.0]], coords=("x", "t"), fields=("u",)
    )
    pde = Heat(pgt.Unknown(0.1))
    staged = pgt.PGT(
        Scaling.fit(readings, DOMAIN), pde.kernel(), width=8, blocks=1, heads=2, decoder_width=6,
        decoder_layers=1,
    )  # fmt: skip
    plain = pgt.Frame(staged.scaling, InOneStage(staged.network), staged.kernel)
    problem = Problem.build(readings, pde, (Initial(u="sin(pi*x)"),), DOMAIN, staged.scaling)

    def rows(model, expanded):
        model, equation, task = cast((model, pde, problem), np.float64)
        numbers = tuned(model, equation, readings, whole=False)
        theta = numbers.theta
        blocks = rows_of(model, equation, task, numbers, Polish(points=9)).blocks
        assert all(is_expanded(block.items) == expanded for block in blocks)
        along = jnp.asarray(np.random.default_rng(2).standard_normal(theta.shape))
        found = []
        for block in blocks:
            function = jax.jit(jax.vmap(block.function, in_axes=(None, 0)))
            found += jax.jvp(lambda t, f=function, b=block: f(t, b.items), (theta,), (along,))
        return found

    def is_expanded(items):
        return isinstance(items[-1] if type(items) is tuple else items, Expansion)

    with jax.enable_x64(True):
        for one, two in zip(rows(staged, True), rows(plain, False), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)
            assert np.abs(one).max() > 1e-3
