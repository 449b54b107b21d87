"""Levenberg–Marquardt: exact on linear problems, never uphill, held back by a prior."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_searches import noisy_polynomial, run

from pgt.training import evidence, least_squares
from pgt.training.jacobian import Plan
from pgt.training.least_squares import Damped, Prior, Search, revised, root_of
from pgt.training.rows import Block


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


def test_stiffness_weighs_all_but_the_readings():
    blocks = [Block(lambda t, item: t * item, np.ones((1, 1)), np.array([w])) for w in (2.0, 3.0)]
    with jax.enable_x64(True):
        search, theta = Search(blocks), jnp.asarray([0.5])
        jacobian = search.stiffened(10.0).jacobian_at(theta)
        np.testing.assert_allclose(jacobian.rows, [1.0, 15.0])
        np.testing.assert_allclose(jacobian.matrix, [[2.0], [30.0]])
        np.testing.assert_allclose(search.stiffened(10.0).rows_at(theta), jacobian.rows)
        np.testing.assert_allclose(search.rows_at(theta), [1.0, 1.5])


def coefficients_last(theta, item):
    """Rows of six numbers, of which the last is a coefficient."""
    return jnp.stack([jnp.sin(item @ theta), theta[5] * (item[:5] @ theta[:5])])


def both_ways(monkeypatch, prior):
    """The same system with JᵀJ and with JJᵀ."""
    random = np.random.default_rng(5)
    block = Block(coefficients_last, random.standard_normal((4, 6)), np.ones(4))
    theta = jnp.asarray(random.standard_normal(6))
    found = []
    for dual in (False, True):
        monkeypatch.setattr(Plan, "of", staticmethod(lambda *_, dual=dual: Plan(dual, 3, True)))
        found.append(Search([block]).normal_at(theta))
    assert found[1].gram.shape == (8, 8)
    return found


@pytest.mark.parametrize("hold", [0.0, 0.3])
def test_both_matrices_give_one_step(monkeypatch, hold):
    prior, momentum = Prior(hold, 4, 4.0, 0.0, free=1), np.linspace(-1, 1, 6)
    with jax.enable_x64(True):
        normals = both_ways(monkeypatch, prior)
        damped = [Damped(normal, prior, 0.1) for normal in normals]
        for one, two in (
            [d.step() for d in damped],
            [d.step(momentum) for d in damped],
            [d.pull(normals[0].rows) for d in damped],
        ):
            np.testing.assert_allclose(one, two, rtol=1e-9)
        # Momentum: what the rows do not say is as it was.
        stiff = Damped(normals[0], prior._replace(hold=0.0), 1e9)
        np.testing.assert_allclose(stiff.step(momentum), momentum, rtol=1e-6)


def test_both_matrices_give_one_evidence(monkeypatch):
    prior = Prior(0.3, 4, 4.0, 0.0, free=1)
    with jax.enable_x64(True):
        one, two = (revised(prior, n, 3) for n in both_ways(monkeypatch, prior))
    assert one[0].hold == pytest.approx(two[0].hold, rel=1e-5)
    assert one[1] == pytest.approx(two[1], rel=1e-5)


@pytest.mark.parametrize("hold", [1e-3, 1e-6, 1e-14])
def test_a_root_from_the_gram_matrix_is_the_root_of_the_rows_where_it_has_the_digits(hold):
    """Of rows whose singular values span nine decades; a hold of 1e-14 asks for the rows themselves."""
    random = np.random.default_rng(3)
    left, _ = np.linalg.qr(random.normal(size=(30, 6)))
    right, _ = np.linalg.qr(random.normal(size=(6, 6)))
    matrix = left @ np.diag(10.0 ** np.linspace(1, -8, 6)) @ right.T
    block = Block(lambda t, item: (item @ t)[None], matrix, np.ones(30))
    held = np.full(6, hold)
    with jax.enable_x64(True):
        normal = Search([block]).normal_at(jnp.ones(6))
        found, expected = root_of(normal, held, hold), evidence.root(matrix, jnp.asarray(held))
    np.testing.assert_allclose(
        np.linalg.inv(np.asarray(found)) ** 2 @ np.ones(6),
        np.linalg.inv(np.asarray(expected)) ** 2 @ np.ones(6),
        rtol=1e-3,
    )


def test_rounds_of_the_evidence_end_where_they_change_nothing(monkeypatch):
    rows, design, _ = noisy_polynomial()
    prior = Prior(1e-3, len(design), float(len(design)), 0.0)
    asked, determined = [], least_squares.determined
    monkeypatch.setattr(
        least_squares, "determined", lambda *found: asked.append(1) or determined(*found)
    )
    with jax.enable_x64(True):
        normal = Search([rows]).normal_at(0.1 * jnp.ones(design.shape[1]))
        few, _ = revised(prior, normal, rounds=100)
        assert len(asked) < 100
        more, _ = revised(few, normal, rounds=1)
    assert more.hold == pytest.approx(few.hold, rel=0.02)
