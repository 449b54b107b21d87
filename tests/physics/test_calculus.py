"""Vector calculus in equations, against automatic differentiation of the same formulas."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgt
from pgt.core.parser import CALCULUS, FUNCTIONS, parse, parse_equation
from pgt.physics.calculus import Affine, Expansion, affine
from pgt.physics.derivatives import residual

PLACE = np.array([0.3, 0.7, 0.2])


def field(z):
    """(u, v, k): smooth, positive, of everything."""
    x, y, t = z
    return jnp.stack([
        1.5 + jnp.sin(x + 2 * y) * jnp.exp(-t), 2 + jnp.cos(x * y) + t, jnp.exp(0.3 * x - 0.2 * y)
    ])  # fmt: skip


def left_of(text, **options):
    """Of `text = 0` at one place, by the library."""
    options = {"fields": ("u", "v", "k"), "coords": ("x", "y", "t")} | options
    pde = pgt.Equation(f"{text} = 0", **options)
    with jax.enable_x64(True):
        at_place = jax.jit(lambda z: residual(pde, field, z)["equation"])
        return float(at_place(jnp.asarray(PLACE)))


def along(formula, *axes):
    """∂formula/∂axes by differentiation of the function itself."""
    for axis in axes:
        formula = (lambda f, a: lambda z: jax.jvp(f, (z,), (jnp.eye(3)[a],))[1])(formula, axis)
    with jax.enable_x64(True):
        return float(jax.jit(formula)(jnp.asarray(PLACE, float)))


def u(z):
    return field(z)[0]


def v(z):
    return field(z)[1]


def k(z):
    return field(z)[2]


X, Y, T = 0, 1, 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "div(k*grad(u))",
            lambda: sum(along(lambda z, a=a: k(z) * jax.grad(u)(z)[a], a) for a in (X, Y)),
        ),
        ("diff(u^2/2, x)", lambda: along(lambda z: u(z) ** 2 / 2, X)),
        ("diff(u*v, t)", lambda: along(lambda z: u(z) * v(z), T)),
        ("diff(diff(exp(-u), x), y)", lambda: along(lambda z: jnp.exp(-u(z)), X, Y)),
        ("curl((u, v))", lambda: along(v, X) - along(u, Y)),
        ("div(curl(u))", lambda: 0.0),
        ("div((u, v))", lambda: along(u, X) + along(v, Y)),
        ("div(2*(u, v) - (v, u)/3)", lambda: along(lambda z: 2 * u(z) - v(z) / 3, X)
         + along(lambda z: 2 * v(z) - u(z) / 3, Y)),
        ("dot(grad(u), (v, k))", lambda: along(u, X) * along(v) + along(u, Y) * along(k)),
        ("lap(u*k)", lambda: sum(along(lambda z: u(z) * k(z), a, a) for a in (X, Y))),
        ("lap(lap(u))", lambda: sum(along(u, a, a, b, b) for a in (X, Y) for b in (X, Y))),
        ("diff(x*u_x + t, x)", lambda: along(lambda z: z[0] * jax.grad(u)(z)[0], X)),
        ("diff(u^v, x)", lambda: along(lambda z: u(z) ** v(z), X)),
        ("diff(c*u^n, y)", lambda: along(lambda z: 0.7 * u(z) ** 1.5, Y)),
        ("diff(-u/v + (+k), x)", lambda: along(lambda z: -u(z) / v(z) + k(z), X)),
        *((f"diff({name}(u), x)", lambda name=name: along(lambda z: getattr(jnp, name)(u(z)), X))
          for name in FUNCTIONS if name != "step"),
        ("diff(u*step(u - 0.5), x)", lambda: along(lambda z: u(z) * (u(z) > 0.5), X)),
    ],
)  # fmt: skip
def test_against_differentiation_of_the_formula(text, expected):
    coefficients = {name: value for name, value in (("c", 0.7), ("n", 1.5)) if f"{name}*" in text}
    coefficients = {"c": 0.7, "n": 1.5} if "c*u^n" in text else coefficients
    with jax.enable_x64(True):
        assert left_of(text, **coefficients) == pytest.approx(expected(), rel=1e-9, abs=1e-9)


def test_conservative_and_plain_forms_imply_the_same_kernel():
    plain = pgt.Equation("u_t = D*lap(u)", D=0.3, coords=("x", "y"))
    flux = pgt.Equation("u_t = div(D*grad(u))", D=0.3, coords=("x", "y", "t"))
    assert flux.kernel() == plain.kernel()
    assert flux.fields == plain.fields == ("u",)


@pytest.mark.parametrize(
    ("text", "coords", "said"),
    [
        ("grad(u) = 0", "xy", "dot(a, b)"),
        ("grad(u) = grad(v)", "xy", "one equation for each component"),
        ("div(u) = 0", "xy", "a vector with 2 components"),
        ("grad(grad(u)) = 0", "xy", "takes a scalar"),
        ("sin(u, v) = u_x", "x", "a vector stands where a scalar should"),
        ("dot(u, v) = u_x", "x", "takes two vectors"),
        ("dot((u, v), (u, v, u)) = u_x", "x", "equal lengths"),
        ("(u, v) + (u, v, u) = u_x", "x", "unequal vectors"),
        ("diff(u) = u_x", "x", "two arguments"),
        ("diff(u, 3) = u_x", "x", "an axis"),
        ("curl((u, v)) = u_x", "x", "as many components as axes"),
        ("grad(u)*grad(u) = u_x", "xy", "dot(a, b)"),
        ("div(grad(" * 4 + "u" + "))" * 4 + " = 0", "xy", "at most 6"),
        ("lap(u*v)" + " + 1" * 300 + " = 0", "xy", "write it simpler"),
        ("lap(lap(lap(" + "*".join(["sin(u)"] * 40) + "))) = 0", "xyz", "too long"),
    ],
)
def test_what_makes_no_sense_is_said_where_it_stands(text, coords, said):
    with pytest.raises(pgt.InputError, match="Equation") as caught:
        pgt.Equation(text, coords=tuple(coords))
    assert said in str(caught.value)
    assert str(caught.value).endswith("^")


WORDS = [*CALCULUS, "u", "v", "x", "2", "(", ")", ",", "+", "*", "^", "(u, v)", "grad(u)", "u_x"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9))
def test_any_text_is_taken_apart_or_refused(words):
    try:
        tree = parse_equation("".join(words) + " = u_x")
        taken = Expansion("", ("x", "y"))(tree)
    except pgt.InputError:
        return
    assert "Vector" not in repr(taken)


# ------------------------------------------------------------------------------- affine

U, V = ("u", ""), ("v", "")
NAMES = {
    "u": Affine(linear={U: 1.0}),
    "v": Affine(linear={V: 1.0}),
    "k": Affine(3.0),
    "x": Affine(varies=True),
}


def taken_apart(text):
    return affine(parse(text), NAMES.__getitem__)


@pytest.mark.parametrize(
    ("text", "constant", "linear", "others", "varies"),
    [
        ("2*k - 1", 5, {}, (), False),
        ("-(u - v)/2", 0, {U: -0.5, V: 0.5}, (), False),
        ("(2 + u)*(k - v)", 6, {U: 3, V: -2}, (U, V), True),
        ("(1 + u)^3", 1, {U: 3}, (U,), True),
        ("u + sin(v)", 0, {U: 1}, (V,), True),
        ("x*u + k", 3, {U: 0}, (U,), True),
        ("u/x", 0, {}, (U,), True),
        ("k^2*exp(0)*u", 0, {U: 9}, (), False),
    ],
)
def test_formulas_by_hand(text, constant, linear, others, varies):
    found = taken_apart(text)
    assert found.constant == pytest.approx(constant)
    assert {n: c for n, c in found.linear.items() if c} == {n: c for n, c in linear.items() if c}
    assert found.others == set(others)
    assert found.varies is varies


POWERS = "(" * 30 + "u" + "^2)" * 30


HOSTILE = {
    "a product under six derivatives": ["diff(" * 6 + "u^64*sin(u)*exp(u)" + ", x)" * 6],
    "nested powers": ["diff(" * 3 + "^".join(["u"] * 20) + ", x)" * 3],
    "powers of powers": ["diff(" * 6 + POWERS + ", x)" * 6],
    "a product of sums": ["diff(diff(" + "*".join(["(u + u_x)"] * 60) + ", x), x)"],
    "Laplacians in space": ["lap(lap(lap(u^3*sin(u)*exp(u))))"],
    "functions of functions": ["diff(" * 3 + "sin(" * 70 + "u" + ")" * 70 + ", x)" * 3],
    "many formulas": [f"diff(diff(diff(u^9*x, x), x), x) + {i}*u" for i in range(200)],
    "many long formulas": ["+".join(["sin(u)"] * 1000) + f" + {i}*u" for i in range(100)],
}


@pytest.mark.parametrize("formulas", HOSTILE.values(), ids=HOSTILE)
def test_what_would_become_too_large_is_refused_before_it_is_built(formulas):
    begun = time.process_time()
    with pytest.raises(pgt.InputError, match=r"too (long|many)"):
        pgt.Equation([f"u_t = {formula}" for formula in formulas], coords=("x", "y", "z", "t"))
    assert time.process_time() - begun < 1.0
