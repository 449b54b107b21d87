"""Volumes, areas and names of coordinates."""

import numpy as np
import pytest

import pgt
from pgt.data.coordinate_systems import scale_factors, volume_factor


@pytest.mark.parametrize(
    ("coordinates", "bounds", "volume"),
    [
        ("polar", {"r": (1, 2)}, 3 * np.pi),
        ("polar", {"r": (1, 2), "θ": (0, np.pi)}, 1.5 * np.pi),
        ("axisymmetric", {"r": (0, 2), "z": (0, 3)}, 12 * np.pi),
        ("cylindrical", {"r": (0, 1), "θ": (0, 2 * np.pi), "z": (0, 1)}, np.pi),
        ("spherical", {"r": (0, 1)}, 4 / 3 * np.pi),
        ("spherical", {"r": (0, 2), "θ": (0, np.pi)}, 32 / 3 * np.pi),
        ("cartesian", {"x": (0, 2)}, 2.0),
    ],
)
def test_the_volume_is_that_in_space(coordinates, bounds, volume):
    domain = pgt.Domain(**bounds, coordinates=coordinates)
    places, weights = domain.quadrature(8**domain.dimension)
    point = dict(zip(domain.spatial_axes, places.T, strict=True))
    factors = np.broadcast_to(volume_factor(domain.coordinates, point), len(places))
    assert float(weights @ factors) == pytest.approx(volume, rel=1e-8)


def test_a_step_along_an_angle_is_as_long_as_the_radius():
    points = np.array([[2.0, 0.3, 5.0]])
    assert scale_factors("cylindrical", ("r", "θ", "z"), points).tolist() == [[1.0, 2.0, 1.0]]
    assert volume_factor("spherical", {"r": 2.0}) == pytest.approx(16 * np.pi)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"r": (0, 1)}, "of which coordinates"),
        ({"r": (-1, 1), "coordinates": "polar"}, "not negative"),
        ({"x": (0, 1), "coordinates": "polar"}, "r is one of them"),
        ({"z": (0, 1), "coordinates": "polar"}, "r is one of them"),
        ({"r": (0, 1), "z": (0, 1), "coordinates": "spherical"}, "are named r, θ"),
        ({"r": (0, 1), "coordinates": "round"}, "write one of"),
        ({"r": (0, 1), "θ": (0, 7), "coordinates": "polar"}, "radians"),
        ({"r": (0, 1), "θ": (0, 4), "coordinates": "spherical"}, "radians"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(pgt.InputError, match=said):
        pgt.Domain(**given)
