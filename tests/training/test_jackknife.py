"""What readings change in an answer, against solves without them."""

import numpy as np
import pytest

from pgt.training.jackknife import MOST, before_gaps, drawn_moves, moves, neighbours
from pgt.training.summit import Summit

READ, SIZE = 24, 5


def summit_of(misfit: float) -> tuple[Summit, np.ndarray, np.ndarray]:
    """A polynomial fitted to values that it can follow up to a misfit, at its summit; rows and values."""
    x = np.linspace(-1, 1, READ)
    rows = np.polynomial.legendre.legvander(x, SIZE - 1)
    values = rows @ np.ones(SIZE) + misfit * x**9
    factor = np.asarray(np.linalg.qr(np.concatenate([rows, 1e-6 * np.eye(SIZE)]), mode="r"))
    step = np.linalg.solve(factor.T @ factor, rows.T @ values)
    read = np.column_stack([rows, -values])
    found = Summit(
        step, factor, sigma=0.1, stiffness=1.0, missed_before=1.0, left_out=1.0, determined=1.0,
        moved=0.0, cost=0.0, read=read, firm=factor,
    )  # fmt: skip
    return found, rows, values


@pytest.mark.parametrize("dimension", [1, 3])
def test_neighbours_are_few_and_close(dimension):
    points = np.random.default_rng(0).uniform(size=(200, dimension))
    groups = neighbours(points)
    np.testing.assert_array_equal(np.sort(np.concatenate(groups)), np.arange(200))
    assert {len(group) for group in groups} <= {3, 4, MOST}
    wide = np.mean([np.ptp(points[group], axis=0).max() for group in groups])
    assert wide < 2 * (MOST / 200) ** (1 / dimension)


def test_readings_before_a_gap_are_left_out_as_deep_as_it_is():
    points = np.random.default_rng(0).uniform(size=(200, 2))
    assert before_gaps(points) == []
    late = points.copy()
    late[:, 1] = 0.1 + 0.9 * late[:, 1]
    (group,) = before_gaps(late)
    assert 0.18 < late[group, 1].max() < 0.25
    outer = np.repeat(np.linspace(0.1, 0.9, 5), 40)[:, None]  # sensors that stand still
    assert [len(group) for group in before_gaps(outer)] == [40, 40]


def test_moves_are_those_of_fits_without_the_readings():
    there, rows, values = summit_of(misfit=0.3)
    groups = [np.arange(3), np.array([5, 20]), np.arange(20, 24)]
    hold = there.factor.T @ there.factor - rows.T @ rows
    for move, group in zip(moves(there, groups), groups, strict=True):
        left = np.delete(np.arange(READ), group)
        alone = np.linalg.solve(rows[left].T @ rows[left] + hold, rows[left].T @ values[left])
        np.testing.assert_allclose(there.step + move, alone, rtol=1e-6, atol=1e-9)


def test_readings_that_a_model_cannot_follow_move_what_is_said_beyond_them():
    """What σ of a posterior says is the same; the error beyond the last reading is not."""
    points = np.linspace(-1, 1, READ)[:, None]
    beyond = np.polynomial.legendre.legvander(np.array([1.1]), SIZE - 1)[0]

    def sizes(misfit):
        there, _, _ = summit_of(misfit)
        drawn = drawn_moves(there, points, 64) @ beyond
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
    by_place, by_row = drawn_moves(there, pairs[::2], 8), drawn_moves(there, pairs, 8)
    assert by_place.shape == by_row.shape == (8, SIZE)
    assert np.linalg.norm(by_place) > np.linalg.norm(by_row)
