"""The summit of a posterior against solves without its shortcuts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.methods.finished_fit import Fit
from pgt.methods.second_order.gauss_newton import polish
from pgt.methods.second_order.least_squares import Residuals, WeightPrior
from pgt.methods.second_order.residual_rows import RowBlock
from pgt.models.linearised import LinearisedModel, network_of
from pgt.problem.losses import Problem
from pgt.uncertainty.laplace import draw_laplace_samples
from pgt.uncertainty.linearized_map import (
    MAX_STIFFNESS,
    map_estimate,
)

SIZE, READ = 6, 20
DOMAIN = pgt.Domain(x=(0, 1))


def normal_of(theta, noise: float, unmet: int = 0, others: int = 0):
    """Rows of 20 readings and 3 equations that are linear in 6 weights, of as many `unmet` ones, and of
    `others` that are met by the truth."""
    random = np.random.default_rng(0)
    design, equations = random.standard_normal((READ, SIZE)), random.standard_normal((3, SIZE))
    truth = np.linalg.svd(equations)[2][3:].T @ np.array([1.0, -2.0, 0.5])
    data = design @ truth + noise * random.standard_normal(READ)
    more = random.standard_normal((others, SIZE))

    def row(theta, item):
        return (item[0] @ theta - item[1])[None]

    with jax.enable_x64(True):
        search = Residuals([
            RowBlock(row, (design, data), np.full(READ, READ**-0.5)),
            RowBlock(row, (equations, np.zeros(3)), np.full(3, 3**-0.5)),
            RowBlock(row, (np.zeros((unmet, SIZE)), np.full(unmet, noise)), np.ones(unmet)),
            RowBlock(row, (more, more @ truth), np.ones(others)),
        ])  # fmt: skip
        return search.normal_at(jnp.asarray(theta)), truth


def test_the_summit_of_clean_rows_is_the_truth_however_far_it_is():
    theta = np.linspace(-3.0, 2.0, SIZE)
    normal, truth = normal_of(theta, noise=0.0)
    found = map_estimate(normal, WeightPrior(1e-3, READ, float(READ), 0.0), 7.0)
    assert found is not None
    np.testing.assert_allclose(theta + found.step, truth, atol=1e-9)
    assert found.sigma < 1e-9 < found.misfit_before


def test_what_others_say_of_a_reading_is_what_a_fit_without_it_says():
    theta = np.linspace(-3.0, 2.0, SIZE)
    normal, _ = normal_of(theta, noise=0.1, unmet=1)  # or it would be drawn around, more softly
    found = map_estimate(normal, WeightPrior(1e-3, READ, float(READ), 0.0), 7.0)
    assert found is not None
    matrix, rows = np.asarray(normal.jacobian.dense()), np.asarray(normal.rows)
    inverse = np.linalg.inv(found.factor.T @ found.factor)
    missed = rows[:READ] + matrix[:READ] @ found.step
    in_turn = []
    for k in range(READ):  # by a solve without the row
        without = np.linalg.inv(np.linalg.inv(inverse) - np.outer(matrix[k], matrix[k]))
        gone = without @ (matrix[k] * missed[k])  # its pull is taken out of a system at rest
        in_turn.append(missed[k] + matrix[k] @ gone)
    np.testing.assert_allclose(found.left_out_misfit, np.linalg.norm(in_turn), rtol=1e-9)
    assert found.sigma == pytest.approx(0.1, rel=0.5)


@pytest.mark.parametrize("noise", [0.0, 3e-4, 0.1])
def test_noise_shows_however_little_it_is_and_the_equation_is_then_softened(noise):
    normal, _ = normal_of(np.linspace(-3.0, 2.0, SIZE), noise)
    found = map_estimate(normal, WeightPrior(1e-3, READ, float(READ), 0.0), 7.0)
    assert found is not None
    assert found.has_noise is (noise > 0)
    if noise:
        assert found.stiffness < MAX_STIFFNESS
        assert found.sigma == pytest.approx(noise, rel=0.5)


def drawn_around(noise: float, iterations: int = 15):
    """The posterior of a network after a few steps, and readings of sin 3x with u'' = -9u."""
    x = np.linspace(0, 1, 40)
    u = np.sin(3 * x) + noise * np.random.default_rng(0).standard_normal(40)
    readings = pgt.Observations.from_arrays({"x": x}, {"u": u})
    seen, held_out = readings.take(np.arange(40) % 4 > 0), readings.take(np.arange(40) % 4 == 0)
    model = pgt.PINN(pgt.Scaling.fit(readings, DOMAIN), width=6, layers=2)
    pde = pgt.Equation("u_xx = -9*u")
    problem = Problem.build(seen, pde, (), DOMAIN, model.scaling)
    settings = pgt.Polish(iterations=iterations, points=40, evidence=False)
    model, pde, *_ = polish(model, pde, problem, settings, held_out)
    fit = Fit(model, pde, 0.0)
    return draw_laplace_samples(fit, problem, pgt.Posterior(8), held_out, None, settings)


def test_a_network_far_from_the_map_estimate_is_moved_there_and_drawn_around():
    drawn = drawn_around(noise=0.0)
    assert drawn.better is not None
    model, _, error = drawn.better
    assert isinstance(model, LinearisedModel)
    assert isinstance(network_of(model), pgt.PINN)
    assert error < 1e-3
    assert drawn.record["exact_readings"]
    assert drawn.record["leave_one_out"]
    middle = np.mean(np.asarray(jax.tree.leaves(drawn.stacked[0].direction)[0]), axis=0)
    np.testing.assert_allclose(middle, jax.tree.leaves(model.direction)[0], atol=1e-9)
