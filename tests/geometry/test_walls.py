import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry import Formula, Polygon, Rectangle
from pgt.geometry.walls import to_walls


def test_of_walls_that_lie_on_each_other_the_first_keeps_the_points():
    both = Rectangle((0, 1), (0, 1), name="a") & Rectangle((0, 1), (0, 2), name="b")
    assert both.walls().weights.sum() == pytest.approx(4.0, rel=1e-3)
    assert both.walls("a").weights.sum() == pytest.approx(4.0, rel=1e-3)
    with pytest.raises(InputError, match="nothing is left of the wall 'b'"):
        both.walls("b")


def test_walls_that_end_at_a_corner_keep_their_length():
    notched = Rectangle((0, 3), (0, 2), name="plate") - Rectangle((1, 2), (1, 3), name="notch")
    assert notched.walls("plate").weights.sum() == pytest.approx(9, abs=1e-5)
    assert notched.walls("notch").weights.sum() == pytest.approx(3, abs=1e-5)
    stairs = Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], name="stairs")
    lower = stairs & Rectangle((-1, 3), (-1, 1), name="lid")
    assert lower.walls("stairs").weights.sum() == pytest.approx(5, abs=1e-5)


def test_distance_beside_a_corner_is_that_of_the_corner():
    """Outside an L, in its notch, and beyond a corner that two formulas make."""
    places = np.array([[-0.3, -0.4], [1.1, 1.1], [0.5, 0.5], [1.3, 2.4]])
    shape = Rectangle((0, 2), (0, 2)) - Rectangle((1, 3), (1, 3), name="notch")
    known = np.array([0.5, 0.1, -0.5, np.hypot(0.3, 0.4)])
    assert to_walls(shape, places) == pytest.approx(known, abs=3e-4)
    lens = Formula("max((x - 0.5)^2 + y^2 - 1, (x + 0.5)^2 + y^2 - 1)", (-1, 1), (-1, 1))
    tip = np.sqrt(0.75)
    assert to_walls(lens, np.array([[0.0, tip + 0.1]])) == pytest.approx([0.1], abs=1e-3)
