import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.data.bounds import Bounds
from pgt.data.tables import graded, graded_places, picked, places_inside
from pgt.geometry import Disk, Intersection, Rectangle

SPACE = Bounds(("x", "y"), ((-1.0, 1.0), (-1.0, 1.0)))
CASE = Rectangle(*SPACE.limits)
STILL = Intersection(Disk(radius=0.8), CASE)


def test_what_is_spread_evenly_in_the_unit_cube_is_so_inside():
    table = places_inside(SPACE, STILL)
    unit = np.random.default_rng(0).uniform(size=(4000, 3))
    places = picked(table, unit)
    assert STILL.inside(places).all()
    np.testing.assert_allclose(picked(table, jnp.asarray(unit[:9])), places[:9], atol=1e-6)
    inner = np.hypot(*places.T) < 0.4
    assert inner.mean() == pytest.approx(0.25, abs=0.03)


def test_close_to_walls_there_are_more():
    found = graded(jax.random.key(0), 2000, *graded_places(SPACE, STILL, STILL, 0.02))
    assert np.median(np.abs(STILL.distance(np.asarray(found, float)))) < 0.04


def test_nothing_inside_is_said():
    with pytest.raises(InputError, match="too thin"):
        places_inside(SPACE, Intersection(Disk((9, 9)), CASE))
