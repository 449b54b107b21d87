import pytest

from pgt.data.shapes import Disk, Rectangle
from pgt.ground.errors import InputError


def test_of_walls_that_lie_on_each_other_the_first_keeps_the_points():
    both = Rectangle((0, 1), (0, 1), name="a") & Rectangle((0, 1), (0, 2), name="b")
    assert both.walls().weights.sum() == pytest.approx(4.0, rel=1e-3)
    assert both.walls("a").weights.sum() == pytest.approx(4.0, rel=1e-3)
    with pytest.raises(InputError, match="nothing is left of the wall 'b'"):
        both.walls("b")


def test_a_hole_larger_than_the_shape_leaves_no_boundary():
    with pytest.raises(InputError, match="no boundary"):
        (Disk() - Disk(radius=2)).walls()
