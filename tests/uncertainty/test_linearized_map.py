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
    MAX_GROUP_SIZE,
    MAX_STIFFNESS,
    MAX_WEIGHTS_ON_HOST,
    SOFTER_STIFFNESSES,
    MapEstimate,
    gap_groups,
    jackknife_steps,
    map_estimate,
    neighbor_groups,
    steps_without,
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


def test_an_equation_that_determines_the_field_stays_stiff():
    theta = np.linspace(-3.0, 2.0, SIZE)
    found = [
        map_estimate(
            normal_of(theta, 0.1, others=others)[0], WeightPrior(1e-3, READ, float(READ), 0.0), 7.0
        )
        for others in (0, SIZE)
    ]
    soft, stiff = (there.stiffness for there in found if there is not None)
    assert soft == SOFTER_STIFFNESSES[0]
    assert stiff > SOFTER_STIFFNESSES[1]


def test_noise_that_is_given_is_kept_unless_readings_exceed_it():
    normal, _ = normal_of(np.linspace(-3.0, 2.0, SIZE), noise=0.1)
    for given, kept in ((0.12, 0.12), (0.01, pytest.approx(0.1, rel=0.5))):
        found = map_estimate(normal, WeightPrior(1e-3, READ, float(READ), given), 7.0)
        assert found is not None
        assert found.sigma == kept


@pytest.mark.parametrize("theta", [np.zeros(SIZE), np.full(SIZE, np.nan)])
def test_rows_that_tell_nothing_have_no_summit(theta):
    normal, _ = normal_of(theta, noise=0.1)
    assert map_estimate(normal, WeightPrior(1e-3, READ, float(READ), 0.0), 7.0) is None
    assert MAX_WEIGHTS_ON_HOST < 10_000


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


def test_a_network_far_from_its_summit_is_moved_there_and_drawn_around():
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


@pytest.mark.parametrize("noise", [0.05, 0.003])
def test_noise_of_readings_is_not_taken_for_an_error_of_the_field(noise):
    about = drawn_around(noise).record
    assert not about["exact_readings"]
    assert about["stiffness"] < MAX_STIFFNESS


def test_a_network_that_followed_little_noise_is_moved_where_the_equation_holds():
    drawn = drawn_around(noise=0.003, iterations=4)
    assert drawn.better is not None
    x = np.linspace(0, 1, 101)

    def error(model):
        found = jax.vmap(lambda z: model.decode((), z)[0])(jnp.asarray(x[:, None]))
        return np.sqrt(np.mean((np.asarray(found) - np.sin(3 * x)) ** 2))

    with jax.enable_x64(True):
        moved = drawn.better[0]
        assert error(moved) < min(0.003, error(network_of(moved)))


# ------------------------------------------------------------------------------- the jackknife

JACKKNIFE_READINGS, JACKKNIFE_SIZE = 24, 5


def summit_of(misfit: float) -> tuple[MapEstimate, np.ndarray, np.ndarray]:
    """A polynomial fitted to values that it can follow up to a misfit, at its summit; rows and values."""
    x = np.linspace(-1, 1, JACKKNIFE_READINGS)
    rows = np.polynomial.legendre.legvander(x, JACKKNIFE_SIZE - 1)
    values = rows @ np.ones(JACKKNIFE_SIZE) + misfit * x**9
    factor = np.asarray(
        np.linalg.qr(np.concatenate([rows, 1e-6 * np.eye(JACKKNIFE_SIZE)]), mode="r")
    )
    step = np.linalg.solve(factor.T @ factor, rows.T @ values)
    read = np.column_stack([rows, -values])
    found = MapEstimate(
        step, factor, sigma=0.1, stiffness=1.0, misfit_before=1.0, left_out_misfit=1.0, determined=1.0,
        reading_change=0.0, cost=0.0, reading_rows=read, stiff_factor=factor,
    )  # fmt: skip
    return found, rows, values


@pytest.mark.parametrize("dimension", [1, 3])
def test_neighbours_are_few_and_close(dimension):
    points = np.random.default_rng(0).uniform(size=(200, dimension))
    groups = neighbor_groups(points)
    np.testing.assert_array_equal(np.sort(np.concatenate(groups)), np.arange(200))
    assert {len(group) for group in groups} <= {3, 4, MAX_GROUP_SIZE}
    wide = np.mean([np.ptp(points[group], axis=0).max() for group in groups])
    assert wide < 2 * (MAX_GROUP_SIZE / 200) ** (1 / dimension)


def test_readings_before_a_gap_are_left_out_as_deep_as_it_is():
    points = np.random.default_rng(0).uniform(size=(200, 2))
    assert gap_groups(points) == []
    late = points.copy()
    late[:, 1] = 0.1 + 0.9 * late[:, 1]
    (group,) = gap_groups(late)
    assert 0.18 < late[group, 1].max() < 0.25
    outer = np.repeat(np.linspace(0.1, 0.9, 5), 40)[:, None]  # sensors that stand still
    assert [len(group) for group in gap_groups(outer)] == [40, 40]


def test_moves_are_those_of_fits_without_the_readings():
    there, rows, values = summit_of(misfit=0.3)
    groups = [np.arange(3), np.array([5, 20]), np.arange(20, 24)]
    hold = there.factor.T @ there.factor - rows.T @ rows
    for move, group in zip(steps_without(there, groups), groups, strict=True):
        left = np.delete(np.arange(JACKKNIFE_READINGS), group)
        alone = np.linalg.solve(rows[left].T @ rows[left] + hold, rows[left].T @ values[left])
        np.testing.assert_allclose(there.step + move, alone, rtol=1e-6, atol=1e-9)


def test_readings_that_a_model_cannot_follow_move_what_is_said_beyond_them():
    """What σ of a posterior says is the same; the error beyond the last reading is not."""
    points = np.linspace(-1, 1, JACKKNIFE_READINGS)[:, None]
    beyond = np.polynomial.legendre.legvander(np.array([1.1]), JACKKNIFE_SIZE - 1)[0]

    def sizes(misfit):
        there, _, _ = summit_of(misfit)
        drawn = jackknife_steps(there, points, 64) @ beyond
        assert drawn.mean() == pytest.approx(0, abs=1e-12)
        error = (there.step - 1) @ beyond - misfit * 1.1**9
        return float(np.sqrt(np.mean(drawn**2))), abs(error)

    said, error = sizes(0.3)
    assert 0.3 * error < said < 3 * error
    assert sizes(1e-9)[0] < 1e-3 * said


def test_values_of_several_fields_are_left_out_together():
    """Read in one place at one time: each tells of the other."""
    there, _, _ = summit_of(misfit=0.3)
    pairs = np.repeat(np.linspace(0, 1, JACKKNIFE_READINGS // 2)[:, None], 2, axis=0)
    by_place, by_row = jackknife_steps(there, pairs[::2], 8), jackknife_steps(there, pairs, 8)
    assert by_place.shape == by_row.shape == (8, JACKKNIFE_SIZE)
    assert np.linalg.norm(by_place) > np.linalg.norm(by_row)
