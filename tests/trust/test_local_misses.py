"""Where a posterior is surer than the readings around let it be."""

import numpy as np
import pytest

from pgt.trust.local_misses import LARGEST, NEIGHBOURS, excess, widened


@pytest.mark.parametrize("count", [50, 500])
def test_noise_is_hardly_ever_taken_for_more(count):
    """Not at any place: what is added there would be most of what is stated for the whole field."""
    random = np.random.default_rng(0)
    places, read = random.uniform(size=(500, 2)), random.uniform(size=(count, 2))
    found = [(excess(places, read, random.standard_normal(count)) > 1).any() for _ in range(100)]
    assert np.mean(found) < 0.05


def test_few_readings_say_nothing_and_none_says_everything():
    line = np.linspace(0, 1, NEIGHBOURS)[:, None]
    assert (excess(line, line, np.full(NEIGHBOURS, 9.0)) == 1).all()
    more = np.linspace(0, 1, 20)[:, None]
    assert (excess(more, more, np.full(20, 1e6)) == LARGEST).all()
    astray = np.where(np.arange(20) < 10, np.nan, 2.0)  # those that are not known do not count
    assert excess(more, more, astray) == pytest.approx(4.0)


def test_more_than_chance_is_the_fields():
    deviations = np.random.default_rng(1).standard_normal((4000, 2, 2))
    found = widened(deviations, 2.0, np.array([1.0, 9.0]), np.array([0.0, 5.0]))
    sizes = np.sqrt(np.mean(found**2, axis=0))
    assert sizes[0] == pytest.approx([2.0, 2.0], rel=0.05)
    assert sizes[1] == pytest.approx([3.0, np.sqrt(9 + 8 * 25)], rel=0.05)
