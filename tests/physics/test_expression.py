"""Formulas from text: their values against Python's own arithmetic."""

import math

import jax
import pytest

from pgt.core.errors import InputError
from pgt.physics.equation import Equation
from pgt.physics.expression import Expression


@pytest.mark.parametrize(
    "text",
    [
        "2 + 3 * 4",
        "-2 ** 2",
        "2 ** -1",
        "2 ** 3 ** 2",
        "8 / 4 / 2",
        "8 - 4 - 2",
        "2 * -3",
        "-3 * -2",
        "--3",
        "+3 - +2",
        "(1 + 2) * (3 - 4)",
        "1e-3 + .5 + 2.",
        "2 * 3 ** 2",
        "-2 ** -2",
        "10 ** 2.5",
        "7 ** 100 / 7 ** 99",
    ],
)
def test_precedence_is_that_of_python(text):
    with jax.enable_x64(True):
        expected = eval(text)
        assert float(Expression(text)()) == pytest.approx(float(expected), rel=1e-12)
        assert float(Expression(text.replace("**", "^"))()) == pytest.approx(float(expected))


@pytest.mark.parametrize(
    "name", ["sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "sinh", "cosh"]
)
def test_functions_match_the_math_module(name):
    with jax.enable_x64(True):
        value = float(Expression(f"{name}(x)")(x=0.7))
    assert value == pytest.approx(getattr(math, name)(0.7), rel=1e-12)


def test_missing_variable_is_named_with_a_suggestion():
    with pytest.raises(InputError, match=r"unknown name 'tt' .* Did you mean 't'"):
        Expression("sin(tt)")(x=1.0, t=2.0)


@pytest.mark.parametrize(
    "text", ["1/0", "1/0*x", "9**9**9**9", "log(0)", "sqrt(0 - 1) + x", "1e200*1e200"]
)
def test_a_part_that_is_no_finite_number_is_refused(text):
    with pytest.raises(InputError, match="a part of it without variables is not finite"):
        Expression(text)
    with pytest.raises(InputError, match="a part of it without variables is not finite"):
        Equation(f"u_t = ({text})*u_xx")
