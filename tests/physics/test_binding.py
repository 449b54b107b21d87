import pytest

import pgt
from pgt.core.errors import InputError
from pgt.data.condition_regions import Faces, Spread
from pgt.physics.binding import wall_of, with_static

DOMAIN = pgt.Domain(x=(0, 2), y=(0, 1), shape=-pgt.shapes.Disk((1, 0.5), 0.2, name="hole"))


def test_a_wall_is_found_by_its_name_or_by_an_axis():
    assert isinstance(wall_of(pgt.Dirichlet(wall="hole", u=0.0), DOMAIN), Spread)
    assert isinstance(wall_of(pgt.Dirichlet("x", u=0.0), DOMAIN), Spread)
    assert isinstance(wall_of(pgt.Dirichlet("x", u=0.0), pgt.Domain(x=(0, 1), y=(0, 1))), Faces)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda: pgt.Dirichlet(wall="hol", u=0.0), r"Dirichlet\(wall='hol'\): there is no wall"),
        (lambda: pgt.Neumann(wall="hole", where="q < 0", u=0.0), "unknown name 'q'"),
        (lambda: pgt.Dirichlet(wall="hole", where="x < 0", u=0.0), "nothing is left"),
        (lambda: pgt.Dirichlet("x", wall="hole", u=0.0), "has no axis or side"),
    ],
)
def test_walls_that_are_not_there_are_told_of_the_condition(condition, words):
    with pytest.raises(InputError, match=words):
        condition().bind(DOMAIN, ("u",))


def test_static_fields_are_replaced_in_a_copy():
    condition = pgt.NoSlip("x")
    assert with_static(condition, velocity=("u", "v")).velocity == ("u", "v")
    assert condition.velocity == ()
