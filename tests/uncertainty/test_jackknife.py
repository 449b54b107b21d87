"""What readings change in an answer, against solves without them."""

import numpy as np
import pytest

from pgt.uncertainty.jackknife import (
    MAX_GROUP_SIZE,
    gap_groups,
    jackknife_steps,
    neighbor_groups,
    steps_without,
)
from pgt.uncertainty.linearized_map import MapEstimate

READ, SIZE = 24, 5


def summit_of(misfit: float) -> tuple[MapEstimate, np.ndarray, np.ndarray]:
    """A polynomial fitted to values that it can follow up to a misfit, at its summit; rows and values."""
    x = np.linspace(-1, 1, READ)
    rows = np.polynomial.legendre.legvander(x, SIZE - 1)
    values = rows @ np.ones(SIZE) + misfit * x**9
    factor = np.asarray(np.linalg.qr(np.concatenate([rows, 1e-6 * np.eye(SIZE)]), mode="r"))
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
        left = np.delete(np.arange(READ), group)
        alone = np.linalg.solve(rows[left].T @ rows[left] + hold, rows[left].T @ values[left])
        np.testing.assert_allclose(there.step + move, alone, rtol=1e-6, atol=1e-9)


def test_readings_that_a_model_cannot_follow_move_what_is_said_beyond_them():
    """What σ of a posterior says is the same; the error beyond the last reading is not."""
    points = np.linspace(-1, 1, READ)[:, None]
    beyond = np.polynomial.legendre.legvander(np.array([1.1]), SIZE - 1)[0]

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
    pairs = np.repeat(np.linspace(0, 1, READ // 2)[:, None], 2, axis=0)
    by_place, by_row = jackknife_steps(there, pairs[::2], 8), jackknife_steps(there, pairs, 8)
    assert by_place.shape == by_row.shape == (8, SIZE)
    assert np.linalg.norm(by_place) > np.linalg.norm(by_row)
