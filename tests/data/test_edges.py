import pytest

import pgt
from pgt.core.errors import InputError
from pgt.data.condition_regions import Faces, Spread
from pgt.data.edges import Edges

HOLE = pgt.shapes.Disk(radius=0.25, name="hole")
BOX = {"x": (-1, 1), "y": (-1, 1), "t": (0, 1)}


def edges(shape=None):
    domain = pgt.Domain(**BOX, shape=shape)
    return Edges(domain.box, domain.periodic, domain.shape, "the domain")


@pytest.mark.parametrize(("shape", "kind"), [(None, Faces), (-HOLE, Spread)])
def test_ends_of_the_box_are_of_the_kind_that_the_shape_asks_for(shape, kind):
    assert isinstance(edges(shape).walls("x", "both", None), kind)


def test_a_position_in_an_obstacle_is_refused():
    assert edges(-HOLE).instants((("x", -0.9), ("y", 0.9))).free == ("t",)
    with pytest.raises(InputError, match=r"x = 0\.1, y = 0, t = 0 is outside the shape"):
        edges(-HOLE).instants((("x", 0.1), ("y", 0.0)))
