"""Unknown functions in conditions: what they are called, where they may stand, what they say."""

import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.physics.bordered import bordered, filled, functions_of, wall_fields
from pgt.physics.derivatives import DerivativeTable
from pgt.physics.gauge import freedom

BOX = pgt.Domain(x=(0, 1), t=(0, 2))
INFLOW = pgt.UnknownFunction("t")


def row(condition, table, domain=BOX, pde=None):
    """What is left of a condition at one point, where a table says what fields and slopes are."""
    pde, (known,) = bordered(pde or pgt.Heat(0.1), [condition])
    bound = filled(known.bind(domain, pde.fields), pde)
    return float(bound.rows(lambda z, name: jnp.asarray(table[name]), bound.nodes(1)[0])[0])


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


def test_what_a_condition_says_of_its_function():
    side = {"axis": "x", "side": "lower"}
    assert row(pgt.Dirichlet(**side, u=INFLOW), {"u": 5.0, "x_lower_u": 3.0}) == 2.0
    assert row(pgt.Neumann(**side, u=INFLOW), {"u_x": -5.0, "x_lower_u": 3.0}) == 2.0
    beyond = pgt.Robin(**side, coefficient=2.0, relative=True, u=INFLOW)
    assert row(beyond, {"u": 5.0, "u_x": 0.0, "x_lower_u": 3.0}) == 4.0
    start = pgt.Initial(u=pgt.UnknownFunction("x"))
    assert row(start, {"u": 5.0, "initial_u": 3.0}) == 2.0


def test_a_positive_one_is_learnt_by_its_logarithm():
    exchange = pgt.UnknownFunction("t", positive=True, initial=2.0)
    cooled = pgt.Robin("x", side="upper", coefficient=exchange, u=0.0)
    pde, _ = bordered(pgt.Heat(0.1), [cooled])
    assert pde.fields == ("u", "log_x_upper_coefficient")
    assert set(pde.quantities) == {"x_upper_coefficient"}
    found = row(cooled, {"u": 5.0, "u_x": 0.0, "log_x_upper_coefficient": np.log(3.0)})
    assert found == pytest.approx(30.0)


def test_nothing_is_fixed_by_it_and_nothing_of_it_is_open():
    wall = pgt.Dirichlet("x", side="lower", p=INFLOW)
    assert not wall.fixes("p", "a constant")
    pde, (known,) = bordered(pgt.Heat(0.1), [pgt.Dirichlet("x", u=INFLOW)])
    assert not known.fixes("u", "a constant")
    assert freedom(pde, "x_u") is None


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
