"""Conditions on walls: their rows vanish on fields that fulfil them, and only there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.physics.derivatives import parse_name

RING = pgt.Domain(
    x=(-2, 2),
    y=(-2, 2),
    shape=pgt.shapes.Disk(radius=2, name="outer") - pgt.shapes.Disk(name="inner"),
)
FLOW = ("u", "v", "p")


def rows(condition, domain, fields, **functions):
    """The rows at nodes of the wall, of fields given as functions of a point."""
    bound = condition.bind(domain, fields)

    def evaluate(z, name):
        field, along = parse_name(name, domain.axes, fields)
        function = functions[fields[field]]
        for axis in along:
            function = (lambda f, k: lambda y: jax.grad(f)(y)[k])(function, axis)
        return function(z)

    with jax.enable_x64(True):
        points = jnp.asarray(np.asarray(bound.nodes(8), float))
        return np.asarray(jax.vmap(lambda z: bound.rows(evaluate, z))(points))


def radius(z):
    return jnp.sqrt(z[0] ** 2 + z[1] ** 2)


def test_dirichlet_and_neumann_on_a_bent_wall():
    def u(z):
        return jnp.log(radius(z))

    # outward of the ring: away from the middle outside, towards it inside
    assert rows(pgt.Neumann(wall="outer", u=0.5), RING, ("u",), u=u) == pytest.approx(0, abs=1e-7)
    assert rows(pgt.Neumann(wall="inner", u=-1.0), RING, ("u",), u=u) == pytest.approx(0, abs=1e-7)
    assert rows(pgt.Dirichlet(wall="inner", u=0.0), RING, ("u",), u=u) == pytest.approx(0, abs=1e-7)


def test_robin_adds_the_value_to_the_slope():
    def u(z):
        return jnp.log(radius(z))

    given = pgt.Robin(wall="outer", coefficient="2*x^2", u="0.5 + 2*x^2*log(2)")
    assert rows(given, RING, ("u",), u=u) == pytest.approx(0, abs=1e-6)
    wrong = pgt.Robin(wall="outer", coefficient=3.0, u=0.5)
    assert np.abs(rows(wrong, RING, ("u",), u=u)).min() > 1


def test_no_slip_is_the_velocity_at_the_wall():
    turning = {"u": lambda z: -z[1] * (radius(z) - 1), "v": lambda z: z[0] * (radius(z) - 1)}
    found = rows(pgt.NoSlip(wall="inner"), RING, FLOW, p=lambda z: 0.0 * z[0], **turning)
    assert found.shape[1] == 2
    assert found == pytest.approx(0, abs=1e-7)


def test_symmetry_mirrors_the_flow():
    box = pgt.Domain(x=(0, 1), y=(0, 1))
    flow = {
        "u": lambda z: jnp.cos(z[1]),
        "v": lambda z: jnp.sin(z[1]),
        "p": lambda z: jnp.cosh(z[1]),
    }
    found = rows(pgt.Symmetry("y", side="lower"), box, FLOW, **flow)
    assert found == pytest.approx(0, abs=1e-7)
    assert np.abs(rows(pgt.Symmetry("y", side="upper"), box, FLOW, **flow)).max() > 0.5


def test_outflow_balances_pressure_and_friction():
    box = pgt.Domain(x=(0, 1), y=(0, 1))
    flow = {"u": lambda z: z[0] ** 2, "v": lambda z: z[1], "p": lambda z: 0.2 * z[0]}
    assert rows(pgt.Outflow("x", side="upper", viscosity=0.1), box, FLOW, **flow) == pytest.approx(
        0
    )
    assert rows(pgt.Outflow("x", side="upper"), box, FLOW, **flow)[:, 0] == pytest.approx(2)


@pytest.mark.parametrize(
    ("condition", "fields", "words"),
    [
        (lambda: pgt.NoSlip("x"), ("u",), "about a velocity u, v, but the fields are u"),
        (lambda: pgt.Outflow("x", viscosity=0.1), ("u", "v"), "no field p"),
        (lambda: pgt.Outflow("x", viscosity=-1.0), FLOW, "above 0"),
        (lambda: pgt.Robin("x", q=0.0), FLOW, "no field 'q'"),
        (lambda: pgt.NoSlip(wall="x", side="lower"), FLOW, "no axis or side"),
    ],
)
def test_conditions_that_make_no_sense_are_refused(condition, fields, words):
    with pytest.raises(InputError, match=words):
        condition().bind(pgt.Domain(x=(0, 1), y=(0, 1)), fields)


def test_what_holds_the_pressure_or_a_value_fixes_it():
    assert pgt.Outflow("x", viscosity=1.0).fixes("p", None)
    assert not pgt.Outflow("x").fixes("p", None)
    assert pgt.Robin("x", u=0.0).fixes("u", "a constant")
    assert pgt.NoSlip("x").bind(pgt.Domain(x=(0, 1), y=(0, 1)), FLOW).fixes("u", None)


MOVING = pgt.Domain(
    x=(-2, 2),
    y=(-2, 2),
    t=(0, 1),
    shape=-pgt.shapes.Disk((0.5, 0), 0.5, name="cylinder").moving(x="t^2", degrees="90*t"),
)


def carried(z):
    """How fast what turns and moves as the cylinder does is at a point."""
    turn = jnp.pi / 2
    return 2 * z[2] - turn * z[1], turn * (z[0] - z[2] ** 2)


def test_what_sticks_to_a_wall_that_moves_has_its_velocity():
    flow = {"u": lambda z: carried(z)[0], "v": lambda z: carried(z)[1], "p": lambda z: z[0]}
    assert np.abs(rows(pgt.NoSlip(wall="cylinder"), MOVING, FLOW, **flow)).max() < 1e-9
    still = {**flow, "u": lambda z: 0.0 * z[0], "v": lambda z: 0.0 * z[0]}
    assert np.abs(rows(pgt.NoSlip(wall="cylinder"), MOVING, FLOW, **still)).max() > 1
    ends = rows(pgt.NoSlip("x"), MOVING, FLOW, **still)  # the ends of the box stand still
    assert np.abs(ends).max() == 0


def test_nothing_flows_through_a_mirror_that_moves():
    flow = {"u": lambda z: carried(z)[0], "v": lambda z: carried(z)[1], "p": lambda z: 0.0 * z[0]}
    through = rows(pgt.Symmetry(wall="cylinder"), MOVING, FLOW, **flow)[:, 1]
    assert np.abs(through).max() < 1e-9


def test_slopes_are_across_a_wall_where_it_is():
    def u(z):
        x, y = z[0] - z[2] ** 2, z[1]
        angle = jnp.pi / 2 * z[2]
        return (x - 0.5 * jnp.cos(angle)) ** 2 + (y - 0.5 * jnp.sin(angle)) ** 2

    found = rows(pgt.Neumann(wall="cylinder", u=-1.0), MOVING, ("u",), u=u)
    assert np.abs(found).max() < 1e-9
    assert np.abs(rows(pgt.Dirichlet(wall="cylinder", u=0.25), MOVING, ("u",), u=u)).max() < 1e-9
