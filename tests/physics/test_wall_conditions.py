"""Conditions on walls: their rows vanish on fields that fulfil them, and only there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exact_solutions.solids import kirsch
from scipy.special import erfc, exp1

import pgt
from pgt.core.errors import InputError
from pgt.core.unknown import resolve
from pgt.physics.curved_coordinates import in_domain
from pgt.physics.derivatives import parse_name
from pgt.physics.unknown_conditions import filled

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


# ------------------------------------------------------------------------------- traction

YOUNG, RATIO, PULL = 2.0, 0.3, 0.5
PLATE = pgt.Domain(
    x=(-2, 2),
    y=(-2, 2),
    shape=pgt.shapes.Rectangle(x=(-2, 2), y=(-2, 2)) - pgt.shapes.Disk(radius=0.5, name="hole"),
)
THIN = pgt.Elasticity(YOUNG, RATIO, plane="stress")


def rows_of_traction(condition, domain, pde, solution):
    """At nodes of the wall, of a displacement given as a function of a point."""
    bound = filled(condition.bind(domain, pde.fields), pde)

    def evaluate(z, name):
        field, along = parse_name(name, domain.axes, pde.fields)
        function = lambda y: solution(y)[field]  # noqa: E731
        for axis in along:
            function = (lambda f, k: lambda y: jax.grad(f)(y)[k])(function, axis)
        return function(z)

    with jax.enable_x64(True):
        points = jnp.asarray(np.asarray(bound.nodes(16), float))
        return points, np.asarray(jax.vmap(lambda z: bound.rows(evaluate, z))(points))


def test_the_hole_of_a_plate_that_is_pulled_is_free():
    _, found = rows_of_traction(
        pgt.Traction(wall="hole"), PLATE, THIN, kirsch(YOUNG, RATIO, PULL, 0.5)
    )
    assert found.shape[1] == 2
    assert found == pytest.approx(0, abs=1e-6)
    long = pgt.Elasticity(YOUNG, RATIO)
    _, wrong = rows_of_traction(
        pgt.Traction(wall="hole"), PLATE, long, kirsch(YOUNG, RATIO, PULL, 0.5)
    )
    assert np.abs(wrong).max() > 0.05


def bent(z):
    """A beam that is bent to the curvature 1: the stress along x is E y, all others are none."""
    x, y = z
    return jnp.stack([x * y, -(x**2 + RATIO * y**2) / 2])


def test_the_force_at_the_end_of_a_bent_beam():
    beam = pgt.Domain(x=(0, 2), y=(-0.5, 0.5))
    end = pgt.Traction("x", side="upper", u=f"{YOUNG}*y", v=0.0)
    for condition in (end, pgt.Traction("y")):
        assert rows_of_traction(condition, beam, THIN, bent)[1] == pytest.approx(0, abs=1e-6)
    points, found = rows_of_traction(pgt.Traction("x", side="lower", u=0.0), beam, THIN, bent)
    assert found[:, 0] == pytest.approx(-YOUNG * np.asarray(points)[:, 1], abs=1e-6)


@pytest.mark.parametrize(
    ("condition", "pde", "words"),
    [
        (pgt.Traction("x"), pgt.Laplace(), "wall of an elastic solid, but the equation is Laplace"),
        (pgt.Traction("x", p=1.0), THIN, "no field 'p', only u, v"),
    ],
)
def test_what_cannot_be_is_said(condition, pde, words):
    square = pgt.Domain(x=(0, 1), y=(0, 1))
    with pytest.raises(InputError, match=words):
        filled(condition.bind(square, pde.fields), pde)


# ------------------------------------------------------------------------------- wells and far ends

AQUIFER = pgt.Domain(r=(0.1, 100), t=(0, 0.5), coordinates="polar")


def rows_of(condition, pde, domain, field, z):
    bound = condition.bind(domain, pde.fields).beside(resolve(in_domain(pde, domain)))
    found = {"s": field(z)}

    def evaluate(z, name):
        value = field
        for axis in name.rpartition("_")[2] if name not in found else "":
            value = (lambda f, k: lambda y: jax.grad(f)(y)[k])(value, domain.index(axis))
        return value(z)

    return bound.rows(evaluate, z)


@pytest.mark.parametrize(
    "text",
    [
        "S*s_t = k*lap(s)",
        "k*lap(s) = S*s_t",
        "S*s_t = div(k*grad(s))",
        "S*s_t = div((k + 0*s)*grad(s))",
    ],
)
def test_a_well_gives_what_flows_in_whatever_way_the_equation_is_written(text):
    rate, k = 112.0, 66.0
    pde = pgt.Equation(text, S=1e-4, k=k)
    with jax.enable_x64(True):
        z = jnp.array([0.1, 0.2])
        (row,) = rows_of(
            pgt.Well(s=rate), pde, AQUIFER, lambda z: -rate / (2 * jnp.pi * k) * jnp.log(z[0]), z
        )
    assert abs(float(row)) < 1e-9


@pytest.mark.slow
def test_a_pumped_well_draws_down_as_theis_says_and_recovers_when_it_is_switched_off():
    k, storage, rate = 66.0, 2.5e-5, 112.0
    pde = pgt.Equation("S*s_t = k*lap(s)", S=storage, k=k)
    result = pgt.solve(
        pde,
        AQUIFER,
        [
            pgt.Initial(s=0.0),
            pgt.Well(s=f"{rate}*step(0.3 - t)"),
            pgt.Dirichlet("r", side="far", s=0.0),
        ],
        tolerance=1e-4,
    )
    assert result.domain == AQUIFER

    def theis(r, t):
        return rate / (4 * np.pi * k) * exp1(r**2 * storage / (4 * k * t))

    for r, t in ((30.0, 0.01), (90.0, 0.2)):
        assert float(result.at(r=r, t=t).s.item()) == pytest.approx(theis(r, t), abs=1e-4)
    left = theis(30.0, 0.5) - theis(30.0, 0.2)
    assert float(result.at(r=30.0, t=0.5).s.item()) == pytest.approx(left, abs=1e-4)


def test_heat_runs_into_a_rod_without_an_end():
    result = pgt.solve(
        pgt.Heat(1.0),
        pgt.Domain(x=(0, 1), t=(0, 1)),
        [
            pgt.Initial(u=0.0),
            pgt.Dirichlet("x", side="lower", u="t"),
            pgt.Dirichlet("x", side="far", u=0.0),
        ],
    )
    eta = 0.5 / 2  # x = 0.5, t = 1; the solution for u = t at the end is t i2erfc(eta) * 4
    exact = (1 + 2 * eta**2) * erfc(eta) - 2 / np.sqrt(np.pi) * eta * np.exp(-(eta**2))
    assert float(result.at(x=0.5, t=1.0).u.item()) == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize(
    ("condition", "domain", "said"),
    [
        (pgt.Well(s=1.0), pgt.Domain(r=(0, 1), t=(0, 1), coordinates="polar"), "has a radius"),
        (pgt.Well(s=1.0), pgt.Domain(x=(0, 1), t=(0, 1)), "Well"),
        (
            pgt.Well(s=1.0),
            pgt.Domain(r=(1, 2), θ=(0, 1), coordinates="spherical"),
            "its area is not known",
        ),
        (pgt.Dirichlet("r", side="far", h=1.0), AQUIFER, "no field 'h'"),
    ],
)
def test_wells_and_far_ends_that_make_no_sense_are_refused(condition, domain, said):
    with pytest.raises(pgt.InputError, match=said):
        condition.bind(domain, ("s",))


def test_what_is_far_away_is_along_one_axis():
    with pytest.raises(pgt.InputError, match="name the axis"):
        pgt.Dirichlet(side="far", s=0.0)


def test_only_a_solver_follows_a_field_beyond_the_domain():
    readings = {"r": [1.0, 2.0], "t": [0.1, 0.2], "s": [0.0, 1.0]}
    with pytest.raises(pgt.InputError, match="side='far'"):
        pgt.reconstruct(
            readings,
            "s_t = lap(s)",
            AQUIFER,
            [pgt.Dirichlet("r", side="far", s=0.0)],
            model="siren",
        )
