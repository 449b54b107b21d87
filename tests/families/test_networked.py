"""What a network is given, and in which shapes."""

import numpy as np

import pgt
from pgt.families.networked import padded, with_hidden


def test_readings_are_filled_up_to_a_power_of_two():
    points, values = padded(np.ones((17, 2)), np.full((17, 1), 3.0))
    assert points.shape == (32, 2)
    assert values.shape == (32, 1)
    assert (points[:17] == 1).all()
    assert not values[17:].any()
    assert len(padded(np.ones((3, 1)))[0]) == 16


def test_a_field_that_nobody_read_has_the_spread_of_the_others():
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    steps = np.linspace(0, 1, 8)
    readings = pgt.Observations.from_arrays(
        {"x": steps, "t": steps}, {"u": 5 * steps, "v": 2 * steps}
    )
    readings = readings.aligned(("u", "v", "p"))
    scaling = pgt.Scaling.fit(readings, domain)
    found = np.asarray(with_hidden(scaling, readings).spread)
    np.testing.assert_allclose(found[:2], scaling.spread[:2], rtol=1e-6)
    np.testing.assert_allclose(found[2], np.sqrt(np.mean(found[:2] ** 2)), rtol=1e-6)
