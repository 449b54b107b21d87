"""What is open at the ends of axes, and what cannot be solved so."""

import numpy as np
import pytest
from mesh_problems import LINE, unknowns_of

from pgt import Dirichlet, Domain, Equation, Heat, Initial, InputError, Neumann, Unknown, shapes
from pgt.data.origin import Origin
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.statement import condition_rows, equation_rows, raws_of

RING = Domain(x=(0, 1), t=(0, 1), periodic=("x",))


def opened(pde, domain=LINE, conditions=()):
    problem = unknowns_of(pde, domain, conditions).problem
    return {(o.face.axis, o.face.side, pde.fields[o.field], o.order) for o in problem.open}


def test_values_that_no_condition_gives_are_open():
    heat = Equation("u_t = u_xx")
    assert opened(heat) == {("x", 0, "u", 0), ("x", 1, "u", 0)}
    assert opened(heat, LINE, [Neumann("x", side="lower", u=0.0)]) == {("x", 1, "u", 0)}
    assert opened(heat, RING) == set()


def test_what_is_carried_is_open_where_it_comes_in():
    assert opened(Equation("u_t + u_x = 0")) == {("x", 0, "u", 0)}
    assert opened(Equation("u_t = 2*u_x")) == {("x", 1, "u", 0)}
    assert opened(Equation("u_t + 6*u*u_x + u_xxx = 0")) == {
        ("x", 0, "u", 0), ("x", 1, "u", 0), ("x", 1, "u", 1),
    }  # fmt: skip


def test_a_beam_needs_two_values_at_each_end():
    found = opened(Equation("u_tt + u_xxxx = 0"), LINE, [Dirichlet("x", u=0.0)])
    assert found == {("x", 0, "u", 1), ("x", 1, "u", 1)}


@pytest.mark.parametrize(
    ("pde", "domain", "conditions", "said"),
    [
        (
            Equation("u_t = u_xx"), LINE,
            [Dirichlet("x", u=0.0), Neumann("x", side="lower", u=0.0)], "lower end of x",
        ),
        (
            Equation("u_x + v_y = 0", fields=("u", "v")), Domain(x=(0, 1), y=(0, 1)), [],
            "as many equations as fields",
        ),
        (
            Equation("lap(u) = 0", coords=("x", "y")),
            Domain(x=(-1, 1), y=(-1, 1), shape=-shapes.Disk(radius=0.2)), [], "shape",
        ),
        (Equation("u_t = u_xx"), LINE, [Initial(u_x=1.0)], "u_x"),
        (
            Equation("lap(u) = p_x", "lap(v) = p_y", "u_x + v_y = 0"),
            Domain(x=(0, 1), y=(0, 1)), [Dirichlet(u=0.0, v=0.0)], "equation 3 has no highest",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_solved_is_refused(pde, domain, conditions, said):
    with pytest.raises(InputError, match=said):
        unknowns_of(pde, domain, conditions)


# ---- rows at points


DOMAIN = Domain(x=(0, 2), t=(0, 1))


def test_slopes_are_the_coefficients_of_an_equation():
    pde = Equation("u_t + u*u_x = nu*u_xx", nu=Unknown(0.5, positive=True))
    with beside_numpy():
        rows = equation_rows(pde, Origin())
        names = dict(zip(rows.names, (2.0, 3.0, 5.0, 7.0), strict=True))
        found = rows.slopes(raws_of(pde), np.zeros((3, 2)), np.tile(list(names.values()), (3, 1)))
    by_name = dict(zip(rows.names, found.by_name[0, 0], strict=True))
    assert by_name == pytest.approx({"u_t": 1, "u": names["u_x"], "u_x": names["u"], "u_xx": -0.5})
    assert found.by_raw[0, 0, 0] == pytest.approx(-0.5 * names["u_xx"])
    assert found.values.shape == (3, 1)


def test_an_equation_sees_physical_numbers():
    with beside_numpy():
        rows = equation_rows(Equation("u_t = x*u"), Origin((("x", 100.0), ("u", 10.0))))
        values = np.array([[0.0 if name == "u_t" else 1.0 for name in rows.names]])
        found = rows.slopes(np.zeros(0), np.array([[2.0, 0.0]]), values)
    assert abs(found.values[0, 0]) == pytest.approx(102.0 * 11.0)


@pytest.mark.parametrize(
    ("condition", "names", "value"),
    [(Dirichlet("x", u="t"), ("u",), 3.0 - 0.5), (Neumann("x", u=1.0), ("u_x",), -3.0 - 1.0)],
)
def test_conditions_are_rows_as_well(condition, names, value):
    with beside_numpy():
        rows = condition_rows(condition.bind(DOMAIN, ("u",)), Heat(0.1), Origin())
        found = rows.slopes(np.zeros(0), np.array([[0.0, 0.5]]), np.array([[3.0]]))
    assert rows.names == names
    assert found.values[0, 0] == pytest.approx(value)
