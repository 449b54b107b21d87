"""Readings of many systems as arrays."""

import numpy as np
import pytest

import pgt
from pgt.families.rigs import as_rigs, stand_still

HEAT, RING = pgt.families.get("heat"), pgt.families.get("burgers")
POINTS, VALUES = np.full((2, 3, 2), 0.5), np.ones((2, 3, 1))
GIVEN, AT = {"diffusivity": [0.01, 0.02]}, np.zeros((4, 2))


def test_what_was_not_read_is_masked_wherever_it_is():
    points, values = POINTS.copy(), VALUES.copy()
    points[0, 1], values[0, 1] = 7.0, np.nan
    found = as_rigs(HEAT, points, values, GIVEN, AT)
    assert found.mask[..., 0].tolist() == [[True, False, True], [True, True, True]]
    assert np.isfinite(found.values).all()
    assert found.points.max() <= 1


def test_a_reading_beyond_the_seam_is_put_inside():
    found = as_rigs(RING, POINTS + np.array([0.75, 0.0]), VALUES, {"viscosity": [0.01, 0.01]}, AT)
    np.testing.assert_allclose(found.points[..., 0], 0.25)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"points": POINTS[..., :1]}, r"points has shape \(2, 3, 1\); its axes are .*\(x, t\)"),
        ({"points": POINTS + 1}, r"6 reading\(s\) outside the domain x = \(0, 1\)"),
        ({"points": POINTS * np.nan}, "points has a number that is not finite"),
        ({"values": VALUES[:1]}, r"values has shape \(1, 3, 1\)"),
        ({"values": VALUES * np.inf}, "write NaN for what was not read"),
        ({"values": VALUES * np.nan}, "system 0 has no reading"),
        ({"coefficients": {}}, "needs the coefficient 'diffusivity'"),
        ({"coefficients": {"diffusivity": [0.01]}}, "for each of the 2 systems"),
        ({"coefficients": {"diffusivity": [0.01, -1]}}, "a number above 0"),
        ({"at": "here"}, "at has shape"),
    ],
)
def test_what_is_wrong_is_said(changed, words):
    right = {"points": POINTS, "values": VALUES, "coefficients": GIVEN, "at": AT}
    with pytest.raises(pgt.InputError, match=words):
        as_rigs(HEAT, **right | changed)


def test_a_few_sensors_that_read_again_and_again_stand_still():
    few, scattered = np.repeat([0.1, 0.7], 8), np.linspace(0, 1, 16)
    t = np.tile(np.linspace(0, 1, 8), 2)
    places = np.stack([np.stack([x, t], axis=-1) for x in (few, scattered)])
    assert [stand_still(one, HEAT.domain) for one in places] == [True, False]
    rigs = as_rigs(HEAT, places, np.ones((2, 16, 1)), GIVEN, AT)
    assert rigs.still(HEAT.domain) == [True, False]
    assert not stand_still(places[0], pgt.Domain(x=(0, 1), y=(0, 1)))
