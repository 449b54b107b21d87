"""States on a line: of the shape that they claim, and ending as they say."""

import numpy as np
import pytest

from pgt_bench.generator.draws import PERIODS, SHAPES, Draw, state


@pytest.fixture
def draw():
    return Draw(np.random.default_rng(0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ends", PERIODS)
def test_a_state_ends_as_it_says_and_is_at_most_one(draw, ends, shape):
    start = state(draw, (ends,), (shape,))
    place = np.linspace(0, 1, 400)
    values = start.values(place)
    assert np.abs(values).max() == pytest.approx(1)
    step = 1e-6
    if ends == "held":
        np.testing.assert_allclose(values[[0, -1]], 0, atol=1e-12)
    if ends == "insulated":
        sides = start.values(np.array([-step, step, 1 - step, 1 + step]))
        np.testing.assert_allclose(sides[::2], sides[1::2], atol=1e-9)
    period = start.period
    np.testing.assert_allclose(start.values(place + period), values, atol=1e-9)
