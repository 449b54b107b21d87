"""What is far from zero is counted from elsewhere, and comes back as it was."""

import numpy as np
import pytest

import pgt
from pgt.data.origin import Origin

NOON = 1714564800.0
HOUR = pgt.Domain(x=(5e6, 5e6 + 1), t=(NOON, NOON + 3600))


def readings(count=20, level=101325.0):
    random = np.random.default_rng(0)
    x, t, u = random.uniform(size=(3, count))
    places = {"x": 5e6 + x, "t": NOON + 3600 * t}
    return pgt.Observations.from_arrays(
        places, {"u": level + 10 * u, "v": np.append(u[1:], np.nan)}
    )


def test_what_is_far_from_zero_has_one_by_its_name():
    names = [name for name, _ in Origin.of(readings(), HOUR).shifts]
    assert names == ["x", "t", "u"]


def test_readings_come_back_as_they_were():
    given, origin = readings(), Origin.of(readings(), HOUR)
    local = origin.readings(given)
    assert np.abs(local.points).max() <= 3600
    assert np.abs(local.values).max() < 10
    assert local.values[-1, 1] == 0.0  # hidden
    again = origin.physical(local)
    np.testing.assert_array_equal(again.points, given.points)
    np.testing.assert_array_equal(again.values, given.values)


def test_a_domain_counted_from_its_start_names_physical_coordinates():
    local = Origin.of(readings(), HOUR).domain(HOUR)
    assert local.bounds("x") == (0.0, 1.0)
    assert local.bounds("t") == (0.0, 3600.0)
    named = local.walls("x").box.named(np.array([0.25, 60.0]))
    assert float(named["x"]) == pytest.approx(5e6 + 0.25)
    face = local.walls("x").box.along(("t",)).named(np.array([60.0]))
    assert float(face["t"]) == pytest.approx(NOON + 60.0)
