"""Numbers and functions of conditions that are learnt: their names, their places, and what they say."""

import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.core.unknown import named_unknowns
from pgt.physics.derivatives import DerivativeTable
from pgt.physics.unknown_conditions import (
    bare,
    bordered,
    functions_of,
    wall_fields,
)

INNER, OUTSIDE, EXCHANGE = 0.3, 20.0, 2.0
RING = pgt.Domain(
    x=(-1, 1),
    y=(-1, 1),
    shape=pgt.shapes.Disk(name="rim") - pgt.shapes.Disk(radius=INNER, name="hole"),
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


# ------------------------------------------------------------------------------- functions

BOX = pgt.Domain(x=(0, 1), t=(0, 2))
INFLOW = pgt.UnknownFunction("t")


def test_a_function_is_a_field_beside_the_equation_constant_along_the_other_coordinates():
    wall = pgt.Dirichlet("x", side="lower", u=INFLOW)
    pde, known = bordered(pgt.Heat(0.1), [wall])
    assert pde.fields == ("u", "x_lower_u")
    assert (wall_fields(pde), functions_of(pde)) == (("x_lower_u",), {"x_lower_u": INFLOW})
    again, same = bordered(pde, known)
    assert again is pde
    assert same == known
    table = {"u_t": 1.0, "lap(u)": 10.0, "x_lower_u_x": 3.0}
    values = DerivativeTable({name: jnp.asarray(value) for name, value in table.items()})
    assert float(pde.residual(values)["x_lower_u_x"]) == 3.0


@pytest.mark.parametrize(
    ("condition", "domain", "message"),
    [
        (pgt.Dirichlet("x", u=pgt.UnknownFunction("x")), BOX, r"same everywhere.*Function\('t'\)"),
        (pgt.Dirichlet("x", u=pgt.UnknownFunction("y")), BOX, "coordinates are x, t"),
        (pgt.Dirichlet("x", u=INFLOW), pgt.Domain(x=(0, 1)), "coordinates are x; write pgt.Unknown"),
        (pgt.Initial(u=INFLOW), BOX, "t is the same everywhere there"),
        (
            pgt.Robin("x", coefficient=pgt.UnknownFunction("x"), u=0.0), BOX,
            r"coefficient=\.\.\.\): a function of x",
        ),
    ],
)  # fmt: skip
def test_it_depends_on_what_varies_there(condition, domain, message):
    with pytest.raises(pgt.InputError, match=message):
        condition.check(domain, ("u",))
