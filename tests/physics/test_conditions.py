"""Initial and boundary conditions: where their points lie and what their rows say."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from nested_derivatives import NestedDerivatives

from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.physics import Dirichlet, Gauge, Initial, Neumann, Periodic

LINE = Domain(x=(-1, 3), t=(2, 5))
PLANE = Domain(x=(0, 1), y=(-2, 2), t=(0, 3))
KEY = jax.random.key(0)


def evaluator(field, domain, fields=("u",)):
    """What the training code passes to `rows`."""
    return lambda z, name: NestedDerivatives(field, z, domain.axes, fields)(name)


def wavy(z):
    return (jnp.sin(2 * z[0]) * jnp.cos(z[1]) + z[0] * z[-1])[None]


@pytest.mark.parametrize(
    "value",
    [
        "x^2 + 1",
        lambda x: x**2 + 1,
        lambda x, t: x**2 + 1,
        lambda position: position**2 + 1,
        (np.linspace(-1, 3, 2001), np.linspace(-1, 3, 2001) ** 2 + 1),
        xr.DataArray(
            np.linspace(-1, 3, 2001) ** 2 + 1, dims="x", coords={"x": np.linspace(-1, 3, 2001)}
        ),
    ],
)
def test_a_value_may_be_written_in_many_ways(value):
    condition = Initial(u=value).bind(LINE, ("u",))
    z = jnp.array([0.7, 2.0])
    rows = eqx.filter_jit(lambda c, z: c.rows(evaluator(wavy, LINE), z))(condition, z)
    assert rows.shape == (1,)
    assert float(rows[0]) == pytest.approx(float(wavy(z)[0]) - 1.49, abs=1e-5)


def test_tables_interpolate_linearly_along_every_axis():
    y, t = np.array([-2.0, 0.5, 2.0]), np.array([0.0, 1.0, 3.0])
    table = xr.DataArray(np.add.outer(2 * y, 3 * t), dims=("y", "t"), coords={"y": y, "t": t})
    condition = Dirichlet("x", side="upper", u=table).bind(PLANE, ("u",))

    def bilinear(z):
        return (2 * z[1] + 3 * z[2])[None]

    for z in condition.sample(KEY, 20):
        assert float(condition.rows(evaluator(bilinear, PLANE), z)[0]) == pytest.approx(0, abs=1e-5)


def test_neumann_uses_the_outward_normal_on_every_face():
    condition = Neumann(u=0.25).bind(PLANE, ("u",))

    def field(z):
        return (jnp.sin(2 * z[0]) * jnp.cos(z[1]) + z[0] * z[2])[None]

    for x, y, t in [(0.0, 0.3, 1.0), (1.0, 0.3, 1.0), (0.4, -2.0, 1.0), (0.4, 2.0, 1.0)]:
        u_x = 2 * np.cos(2 * x) * np.cos(y) + t
        u_y = -np.sin(2 * x) * np.sin(y)
        normal = {0.0: -u_x, 1.0: u_x}.get(x, u_y if y > 0 else -u_y)
        row = condition.rows(evaluator(field, PLANE), jnp.array([x, y, t]))
        assert float(row[0]) == pytest.approx(normal - 0.25, abs=1e-5)


def test_periodic_compares_both_ends():
    domain = Domain(x=(0, 2), t=(0, 1))
    condition = Periodic("x", order=2).bind(domain, ("u", "v"))

    def fields(z):
        return jnp.stack([jnp.sin(jnp.pi * z[0]) * z[1], z[0] ** 3])

    rows = condition.rows(evaluator(fields, domain, ("u", "v")), jnp.array([0.0, 0.5]))
    assert rows[:3] == pytest.approx([0, 0, 0], abs=1e-4)
    assert rows[3:] == pytest.approx([-8, -12, -12])
    only_v = Periodic("x", fields="v", order=0).bind(domain, ("u", "v"))
    assert only_v.rows(evaluator(fields, domain, ("u", "v")), jnp.array([2.0, 0.5])).shape == (1,)


def test_values_fix_what_the_equations_leave_open():
    both = ("a constant", "a function of time")
    found = [
        [condition.fixes("u", freedom) for freedom in both]
        for condition in (Dirichlet(u=0), Gauge("u"), Initial(u=0), Initial(u_t=0), Neumann(u=0))
    ]
    assert found == [[True, True], [True, True], [True, False], [False, False], [False, False]]
    assert not Dirichlet(v=0).fixes("u", "a constant")


PERIODIC = Domain(x=(0, 1), t=(0, 1), periodic=("x",))


@pytest.mark.parametrize(
    ("condition", "domain", "message"),
    [
        (Initial(w=0.0), LINE, "no field 'w', only u"),
        (Initial(u_q=0.0), LINE, "no field 'u_q'.*Did you mean 'u'"),
        (Initial(u=0.0), Domain(x=(0, 1)), "no axis 't'"),
        (Initial(u="sin(y)"), LINE, "unknown name 'y'"),
        (Dirichlet("z", u=0.0), LINE, "no axis 'z'"),
        (Dirichlet(u_x=0.0), LINE, "no field 'u_x'"),
        (Dirichlet("x", u=0.0), PERIODIC, "periodic along x"),
        (Dirichlet(u=0.0), PERIODIC, "no spatial axis"),
        (Neumann("x", u=lambda a, b, c: a), LINE, "write `lambda t"),
        (Periodic("y"), LINE, "no axis 'y'"),
        (Periodic("x", fields=("w",)), LINE, "no field 'w'"),
        (Initial(u=([0.0, 1.0], [0.0, 1.0])), PLANE, r"\['x', 'y'\] vary"),
        (Initial(u=([0.0, 1.0], [0.0, 1.0])), LINE, "covers x from 0 to 1"),
        (Initial(u=xr.DataArray([0.0, 1.0], [("y", [0.0, 1.0])])), LINE, "dimension 'y' is not"),
    ],
)
def test_check_names_the_mistake(condition, domain, message):
    with pytest.raises(InputError, match=message):
        condition.check(domain, ("u",))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Initial(), "no field given"),
        (lambda: Initial(u="sin(4*pi*x"), r"expected `\)`"),
        (lambda: Initial(u="sin(q)"), r"Initial\(u=...\): unknown name 'q'"),
        (lambda: Initial(u=float("nan")), r"Initial\(u=...\) is nan"),
        (
            lambda: Dirichlet("x", side="left", u=0.0),
            "side must be 'lower', 'upper', 'both' or 'far'",
        ),
        (lambda: Dirichlet("t", u=0.0), r"write Initial\(...\)"),
        (lambda: Periodic("x", order=9), "order=9"),
    ],
)
def test_mistakes_show_at_construction(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (Initial(u="log(x)"), r"Initial\(u=...\): log\(x\) is not finite at x = 0, t = 0"),
        (Initial(u="1/(x - 1)"), "not finite at x = 1, t = 0"),
        (Dirichlet("x", u="1/t"), "not finite at x = 0, t = 0"),
        (Initial(u=lambda x: 1 / x), "the function is not finite at x = 0"),
        (Initial(u=lambda x: "a"), r"Initial\(u=...\): the function fails \("),
    ],
)
def test_values_are_finite_where_they_hold(condition, message):
    with pytest.raises(InputError, match=message):
        condition.bind(Domain(x=(0, 1), t=(0, 1)), ("u",))
