"""Equations in the signs of books."""

import pytest

from pgt.core.errors import InputError
from pgt.core.notation import plainly
from pgt.core.parser import parse_equation
from pgt.physics.equation import Equation


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("dT/dt = alpha*d2T/dx2", "T_t = alpha*T_xx"),
        ("∂u/∂t + u·∂u/∂x = ν·∂²u/∂x²", "u_t + u*u_x = ν*u_xx"),
        ("d^2u/dx^2 + d^2u/dy^2 = f", "u_xx + u_yy = f"),
        ("∂²u/∂x∂y − d4w / dx4 = 0", "u_xy - w_xxxx = 0"),
        ("d2u/dx dy = 0", "u_xy = 0"),
        ("u_t = a × ∇²u", "u_t = a * lap(u)"),
        ("u_t = ∇^2(u) + laplacian(u^2)", "u_t = lap(u) + lap(u^2)"),
        ("u_t = ∇·(k*grad(u)) − x²", "u_t = div(k*grad(u)) - x^2"),
    ],
)
def test_what_books_write(written, plain):
    assert plainly(written) == plain
    parse_equation(written)


@pytest.mark.parametrize(
    "text", ["u_t = d*u/dx0", "adu/dt = 0", "u_t = d2u/dx3", "u_t = nu*u_xx", "u_t = dose/day"]
)
def test_other_texts_stay(text):
    assert plainly(text) == text


def test_an_equation_shows_one_way_of_writing():
    assert Equation("dT/dt = a*d²T/dx²", a=0.1).texts == ("T_t = a*T_xx",)
    with pytest.raises(InputError, match=r"Found 'T_xx'.*write `\*` for a product") as found:
        Equation("∂T/∂t = a ∂²T/∂x²", a=0.1)
    shown = str(found.value).splitlines()
    assert shown[1][shown[2].index("^") :] == "T_xx"


@pytest.mark.parametrize(
    ("text", "hint"), [("u' = -u", "u_t, u_xx"), ("a = 1; b = 2", "of its own")]
)
def test_signs_that_are_not_read_have_a_hint(text, hint):
    with pytest.raises(InputError, match=hint):
        parse_equation(text)
