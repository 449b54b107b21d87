"""What is open at the ends of axes, and what cannot be solved so."""

import pytest
from mesh_problems import LINE, unknowns_of

from pgt import Dirichlet, Domain, Equation, Initial, InputError, Neumann, Unknown, shapes

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


def test_as_many_conditions_as_derivatives_need_no_rule():
    """Sound between two walls: both conditions are for the velocity."""
    sound = Equation("p_t + u_x = 0", "u_t + p_x = 0")
    assert opened(sound, LINE, [Dirichlet("x", u=0.0)]) == set()


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
    ],
)  # fmt: skip
def test_what_cannot_be_solved_is_refused(pde, domain, conditions, said):
    with pytest.raises(InputError, match=said):
        unknowns_of(pde, domain, conditions)


def test_a_velocity_may_be_unknown():
    assert opened(Equation("u_t + c*u_x = 0", c=Unknown(-0.5))) == {("x", 1, "u", 0)}
