"""The least-squares finish: exact on linear problems, never uphill, learns a coefficient."""

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
from pgt.training import evidence
from pgt.training.least_squares import Block, Prior, Search
from pgt.training.losses import Problem, data_loss
from pgt.training.polish import Expansion, _blocks, _parameters, polish
from pgt.training.settings import Polish

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def run(blocks, start, judge=lambda theta: 0.0, prior=None, **settings):
    with jax.enable_x64(True):
        search, start = Search(blocks), jnp.asarray(start)
        return search.minimise(start, Polish(**settings), judge, lambda i, c: None, prior)


def test_a_linear_problem_reaches_least_squares():
    random = np.random.default_rng(0)
    matrix, target = random.normal(size=(20, 5)), random.normal(size=20)
    weights = random.uniform(0.5, 2.0, 20)
    blocks = [
        Block(
            lambda t, item: (item[0] @ t - item[1])[None], (matrix[:12], target[:12]), weights[:12]
        ),
        Block(
            lambda t, item: (item[0] @ t - item[1])[None], (matrix[12:], target[12:]), weights[12:]
        ),
    ]
    theta, costs = run(blocks, np.zeros(5), iterations=25)
    expected, square, *_ = np.linalg.lstsq(matrix * weights[:, None], target * weights, rcond=None)
    np.testing.assert_allclose(theta, expected, atol=1e-9)
    assert costs[-1] == pytest.approx(square[0], rel=1e-10)


def test_a_curved_valley():
    """Rosenbrock's function as rows: the minimum is at (1, 1) with cost 0."""
    block = Block(
        lambda t, item: jnp.stack([10 * (t[1] - t[0] ** 2), item - t[0]]), np.ones(1), np.ones(1)
    )
    theta, costs = run([block], np.array([-1.2, 1.0]), iterations=80)
    np.testing.assert_allclose(theta, 1.0, atol=1e-6)
    assert all(b <= a for a, b in itertools.pairwise(costs))
    assert costs[0] == pytest.approx((10 * (1 - 1.44)) ** 2 + 2.2**2)


def test_parameters_that_no_row_sees_stay():
    block = Block(lambda t, item: (t[0] - item)[None], np.array([2.0]), np.ones(1))
    theta, costs = run([block], np.array([0.0, 7.0]), iterations=30)
    assert theta[1] == pytest.approx(7.0)
    assert theta[0] == pytest.approx(2.0, abs=1e-8)
    assert costs[-1] < 1e-15


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


def test_seconds_stop_the_polish():
    block = Block(lambda t, item: t - item, np.ones((1, 1)), np.ones(1))
    _, costs = run([block], np.zeros(1), iterations=1000, seconds=1e-6)
    assert len(costs) == 2


def test_the_best_on_held_out_readings_is_kept():
    """The fit runs on to (3, 4), but the point that predicts best lies on the way."""
    block = Block(lambda t, item: (t - item) ** 3, np.array([[3.0, 4.0]]), np.ones(1))
    seen = []

    def judge(theta):
        seen.append(np.asarray(theta))
        return float(np.abs(np.asarray(theta) - np.array([1.5, 2.0])).sum())

    theta, costs = run([block], np.zeros(2), judge, iterations=200, patience=15)
    errors = [np.abs(t - np.array([1.5, 2.0])).sum() for t in seen]
    assert np.array_equal(np.asarray(theta), seen[int(np.argmin(errors))])
    assert 0 < np.argmin(errors) < len(errors) - 1
    assert len(costs) < 200


def noisy_polynomial(n=40, degree=25, noise=0.1):
    """Rows of a polynomial with far more coefficients than its data deserve."""
    random = np.random.default_rng(3)
    x = np.sort(random.uniform(-1, 1, n))
    design = np.polynomial.legendre.legvander(x, degree)
    values = np.sin(3 * x) + noise * random.standard_normal(n)
    rows = Block(lambda t, item: (item[0] @ t - item[1])[None], (design, values), n**-0.5 + 0 * x)
    return rows, design, values


def test_the_evidence_finds_noise_and_prior_of_a_linear_model():
    """The fixed point maximises the marginal likelihood, evaluated directly as a Gaussian density."""
    rows, design, values = noisy_polynomial()
    n, p = design.shape
    prior = Prior(hold=1e-2 / n, rows=n, count=float(n), given=0.0)
    theta, _ = run([rows], np.zeros(p), None, prior, iterations=150)
    with jax.enable_x64(True):
        jacobian, target, hold = jnp.asarray(design) / np.sqrt(n), values / np.sqrt(n), prior.hold
        for _ in range(100):
            matrix = jacobian.T @ jacobian + hold * jnp.eye(p)
            expected = jnp.linalg.solve(matrix, jacobian.T @ target)
            misfit = jacobian @ expected - target
            hold, sigma = evidence.update(jacobian, misfit, expected, hold, float(n), 0.0)
    hold, sigma = float(hold), float(sigma)

    def log_evidence(hold, sigma):
        weight_variance = sigma**2 / (n * hold)
        covariance = sigma**2 * np.eye(n) + weight_variance * design @ design.T
        fit = values @ np.linalg.solve(covariance, values)
        return -0.5 * (fit + np.linalg.slogdet(covariance)[1])

    best = log_evidence(hold, sigma)
    assert sigma == pytest.approx(0.1, rel=0.25)
    for factor in (0.8, 1.25):
        # Change one of the two variances at a time.
        assert log_evidence(hold * factor, sigma) < best
        assert log_evidence(hold * factor**2, sigma * factor) < best
    np.testing.assert_allclose(theta, expected, atol=1e-3)


def test_a_prior_stops_memorising():
    rows, design, _ = noisy_polynomial()
    x = np.linspace(-1, 1, 200)
    grid = np.polynomial.legendre.legvander(x, design.shape[1] - 1)
    prior = Prior(hold=1e-2 / 40, rows=40, count=40.0, given=0.1)
    errors = [
        np.std(
            grid @ np.asarray(run([rows], np.zeros(26), None, p, iterations=80)[0]) - np.sin(3 * x)
        )
        for p in (None, prior)
    ]
    assert errors[1] < 0.1 < errors[0]  # the noise lies between


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"seconds": -1.0}, {"equation_weight": 0.0}])
def test_wrong_settings_are_named(wrong):
    with pytest.raises(pgt.InputError, match=next(iter(wrong))):
        Polish(**wrong)


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
        theta, rebuild = _parameters(model, pde)
        context = model.encode(readings)
        data = _blocks(rebuild, model, pde, context, problem, Polish(points=4))[0]
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
        theta, rebuild = _parameters(model, equation)
        blocks = _blocks(rebuild, model, equation, model.encode(readings), task, Polish(points=9))
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
