import numpy as np
import pytest

from pgt.data.shapes import Formula
from pgt.ground.errors import InputError


def test_distance_of_a_formula_that_is_no_distance_is_right_near_its_boundary():
    ring = Formula("x^2 + y^2 - 4", (-3, 3), (-3, 3))
    assert ring.distance(np.array([[2.01, 0.0], [0.0, 1.98]])) == pytest.approx(
        [0.01, -0.02], rel=0.01
    )


def test_places_where_a_formula_has_no_value_are_outside():
    assert not Formula("sqrt(x) + y - 1").inside(np.array([[-1.0, 0.0]])).any()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Formula("x^2 + q"), "unknown name 'q'"),
        (lambda: Formula("x^2 +"), "expected"),
        (lambda: Formula("1"), "names neither x nor y"),
        (lambda: Formula("x^2 + y^2 - 1").walls(), "between which numbers"),
        (lambda: Formula("x^2 + y^2 + 1", (-1, 1), (-1, 1)).walls(), "changes its sign nowhere"),
    ],
)
def test_what_is_no_formula_of_a_shape_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()
