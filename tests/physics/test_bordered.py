"""Numbers of conditions that are learnt: their names, their places, and their values."""

import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.ground.unknown import named_unknowns
from pgt.physics.bordered import Bordered, bare, bordered, filled

INNER, OUTSIDE, EXCHANGE = 0.3, 20.0, 2.0
RING = pgt.Domain(
    x=(-1, 1), y=(-1, 1), shape=pgt.Disk(name="rim") - pgt.Disk(radius=INNER, name="hole")
)
# u = level + slope log r, cooled at the hole: slope / INNER = EXCHANGE (u - OUTSIDE)
SLOPE = 12.0
LEVEL = OUTSIDE + SLOPE / INNER / EXCHANGE - SLOPE * np.log(INNER)
COOLED = pgt.Robin(
    wall="hole", coefficient=pgt.Unknown(7.0, positive=True), relative=True, u=OUTSIDE
)


def test_unknowns_are_named_after_their_place():
    given = [
        COOLED,
        pgt.Dirichlet("x", side="lower", u=pgt.Unknown(1.0)),
        pgt.Dirichlet("x", side="lower", where="y > 0", u=pgt.Unknown(1.0)),
        pgt.Neumann(u=pgt.Unknown(2.0)),
        pgt.Initial(u=pgt.Unknown(3.0)),
    ]
    pde, known = bordered(pgt.Heat(pgt.Unknown(0.1), dimension=2), given)
    names = ["hole_coefficient", "x_lower_u", "x_lower_u_2", "neumann_u", "initial_u"]
    assert {name for name, _ in named_unknowns(pde)} == {"diffusivity", *names}
    assert isinstance(bare(pde), pgt.Heat)
    assert not named_unknowns(known)
    assert (pde.coords, pde.fields) == (("x", "y", "t"), ("u",))


def test_conditions_without_unknowns_change_nothing():
    pde, wall = pgt.Laplace(), pgt.Robin(wall="hole", coefficient=1.0, u=0.0)
    assert bordered(pde, [wall])[0] is pde
    assert filled(wall, pde) is wall


def test_a_condition_is_filled_with_the_number_that_the_equation_holds():
    pde, (wall,) = bordered(pgt.Laplace(), [COOLED])
    assert isinstance(pde, Bordered)
    bound = filled(wall.bind(RING, ("u",)), pde)
    place = bound.nodes(1)[0]
    rows = bound.rows(lambda z, name: jnp.asarray({"u": 30.0}.get(name, 0.0)), place)
    assert float(rows[0]) == pytest.approx(7.0 * 10.0)


def test_an_unknown_value_fixes_nothing():
    assert not pgt.Dirichlet("x", u=pgt.Unknown(1.0)).fixes("u", "a constant")
    assert pgt.Dirichlet("x", u=1.0).fixes("u", "a constant")


@pytest.fixture(scope="module")
def cooled():
    x, y = RING.even(40).T
    u = LEVEL + SLOPE * np.log(np.hypot(x, y))
    readings = pgt.Observations.from_arrays({"x": x, "y": y}, {"u": u})
    model = pgt.Features(pgt.Scaling.fit(readings, RING), count=60, band=4.0, domain=RING)
    return pgt.reconstruct(readings, pgt.Laplace(), RING, [COOLED], model=model)


def test_how_strongly_a_wall_is_cooled_is_learnt(cooled):
    assert cooled.parameters["hole_coefficient"] == pytest.approx(EXCHANGE, rel=1e-3)
    assert "hole_coefficient = 2" in str(cooled)
    assert "Laplace" in str(cooled)


def test_a_result_with_an_unknown_wall_is_stored(cooled, tmp_path):
    cooled.save(tmp_path)
    again = pgt.Reconstruction.load(tmp_path)
    assert again.parameters == cooled.parameters
