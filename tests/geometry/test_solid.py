import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry import Ball, Box, Cylinder


def test_distance_from_a_cylinder_and_a_box():
    places = np.array([[0.0, 0.0, 0.5], [2.0, 0.0, 0.5], [2.0, 0.0, 2.0]])
    assert Cylinder().distance(places) == pytest.approx([-0.5, 1.0, np.sqrt(2)])
    box = Box((-1, 1), (-1, 1), (0, 1))
    assert box.distance(places) == pytest.approx([-0.5, 1.0, np.sqrt(2)])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Ball(radius=-1), "above 0"),
        (lambda: Ball(centre=(0, 0)), "write 3 numbers"),
        (lambda: Cylinder(z=(1, 1)), "first number must be below"),
        (lambda: Box((0, 1), (0, 1), (1, 0)), "first number must be below"),
    ],
)
def test_what_is_no_solid_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()
