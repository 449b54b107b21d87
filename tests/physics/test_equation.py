"""Equations from text: agreement with the zoo, inference of names, helpful errors."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, resolve
from pgt.physics import (
    AdvectionDiffusion,
    AllenCahn,
    Burgers,
    Equation,
    Heat,
    NavierStokes2D,
    Poisson,
    Wave,
)
from pgt.physics.derivatives import residual

PAIRS = [
    (Heat(0.1), Equation("u_t = a*u_xx", a=0.1)),
    (Heat(0.1, 2), Equation("u_t = a*lap(u)", coords=("x", "y"), a=0.1)),
    (Heat(0.1, source="x*t"), Equation("u_t - a*u_xx = x*t", a=0.1)),
    (Burgers(0.2), Equation("u_t + u*u_x - nu*u_xx = 0", nu=0.2)),
    (
        AdvectionDiffusion((1.0, 2.0), 0.3, dimension=2),
        Equation("u_t + a*u_x + b*u_y = k*(u_xx + u_yy)", a=1.0, b=2.0, k=0.3),
    ),
    (Wave(1.5), Equation("u_tt = c^2*u_xx", c=1.5)),
    (Poisson("sin(pi*x)*y"), Equation("lap(u) = sin(pi*x)*y")),
    (AllenCahn(0.1, 2.0), Equation("u_t = k*u_xx + r*(u - u^3)", k=0.1, r=2.0)),
    (
        NavierStokes2D(0.05, convection=0.7),
        Equation(
            [
                "u_t + c*(u*u_x + v*u_y) + p_x = nu*(u_xx + u_yy)",
                "v_t + c*(u*v_x + v*v_y) + p_y = nu*lap(v)",
                "u_x + v_y = 0",
            ],
            nu=0.05,
            c=0.7,
        ),
    ),
]


@pytest.mark.parametrize(("zoo", "equation"), PAIRS, ids=lambda pde: type(pde).__name__)
def test_text_agrees_with_the_zoo(zoo, equation):
    assert equation.coords == zoo.coords
    assert equation.fields == zoo.fields

    def field(z):
        k = jnp.arange(1.0, len(zoo.fields) + 1)
        return jnp.sin(k * (z @ jnp.arange(1.0, z.size + 1))) + k * z[0] ** 2

    with jax.enable_x64(True):
        z = jnp.linspace(0.2, 0.9, len(zoo.coords))
        expected = jnp.stack(list(residual_at(zoo, field, z).values()))
        ours = jnp.stack(list(residual_at(equation, field, z).values()))
        assert jnp.allclose(ours, expected, rtol=1e-12, atol=1e-12)


def test_fields_and_coordinates_are_inferred_in_canonical_order():
    pde = Equation("v_t = u_x + y*c", "u_t = v_x", c=1.0)
    assert pde.fields == ("v", "u")
    assert pde.coords == ("x", "y", "t")
    assert Equation("u_t = v", "v_t = u", fields=("v", "u")).fields == ("v", "u")
    assert Equation("temp_in_xx = 0").fields == ("temp_in",)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("{0}_t = diff({0}^2/2, x)", {}),
        ("{0}_t = div(k*grad({0}))", {"k": 0.1, "coords": ("x", "t")}),
        ("div(x*grad({0})) = 0", {"coords": ("x", "t"), "fields": ("{0}",)}),
    ],
)
def test_a_field_may_be_called_like_a_constant(text, options):
    """An energy e is differentiated as any other field is."""

    def left(name):
        fields = [field.format(name) for field in options.get("fields", ())]
        pde = Equation(text.format(name), **options | {"fields": fields})
        assert pde.fields == (name,)
        return residual(pde, lambda z: jnp.sin(z[:1] + z[1:]), jnp.array([0.3, 0.7]))["equation"]

    assert float(left("e")) == float(left("u")) != 0.0


def test_unknown_coefficients_are_leaves():
    pde = Equation("u_t = nu*u_xx", nu=Unknown(0.3, positive=True))
    z = jnp.array([1.0, 0.0])

    def loss(pde):
        return residual_at(resolve(pde), lambda z: (z[0] ** 2)[None], z)["equation"]

    gradient = eqx.filter_grad(loss)(pde)
    assert float(gradient.coefficients["nu"].raw) == pytest.approx(-0.6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Equation("u_t = nu*u_xx"), r"what is 'nu'\? .*nu=0.01 or nu=pgt.Unknown\(0.01\)"),
        (lambda: Equation("u_t = nu*u_xx", mu=0.1), "what is 'nu'.*\n?"),
        (lambda: Equation("u_t = u_ss + u_s/s"), "'u_ss' is no derivative: .* there is no 'ss'"),
        (lambda: Equation("u_t = visc*u_xx", visk=0.1), "Did you mean 'visk'"),
        (lambda: Equation("u_t = u_xx", nu=0.1), "'nu' does not occur in the text"),
        (lambda: Equation("u_t = p", u=1.0, p=1.0), "'u' is already a field"),
        (lambda: Equation("u_t = x*u", x=1.0), "'x' is already a field, a coordinate"),
        (lambda: Equation("1 = 2"), "needs a field"),
        (lambda: Equation(), "no equation given"),
        (lambda: Equation("u_t"), "expected `=`"),
        (lambda: Equation("x_t = 0"), "not a field"),
        (lambda: Equation("w_t = u", fields=("u",)), "differentiates 'w'"),
        (lambda: Equation("u_t = 0", coords=("s",)), "'s' is not one of r, θ, x"),
        (lambda: Equation("u_t = 0", names=("a", "b")), r"give 1 different name"),
        (lambda: Equation("u_t = 0", names=("data",)), "their history already use"),
        (
            lambda: Equation("u_t = 0", names=["held_out"]),
            "other than data, bc, ic, gauge, variance",
        ),
        (lambda: Equation("u_t = 0", "v_t = 0", names=["a", "step"]), "give 2 different name"),
        (lambda: Equation("u_" + "x" * 2000 + " = 0"), "order 2000"),
        (
            lambda: Equation("u_t = k*u", k=float("nan")),
            r"Equation\(k=nan\): k must be a finite number",
        ),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
