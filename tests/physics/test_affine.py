"""Formulas taken apart: products out of brackets, constants worked out, the rest set aside."""

import math

import pytest

from pgt.core.parser import parse
from pgt.physics.affine import LARGEST_POWER, Affine, affine

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


def test_constants_are_worked_out():
    assert taken_apart("sqrt(abs(-k)) + cos(2)").constant == pytest.approx(3**0.5 + math.cos(2))
    assert taken_apart("k").is_constant
    assert not taken_apart("u").is_constant
    assert not taken_apart("x").is_constant


@pytest.mark.parametrize("text", ["1/0", "log(0)", "(0 - 2)^0.5", "10^400", "sqrt(-1)"])
def test_a_constant_that_is_no_number_is_a_rest(text):
    assert taken_apart(text) == Affine(varies=True)


def test_high_powers_are_not_multiplied_out():
    assert taken_apart(f"(1 + u)^{LARGEST_POWER}").linear == {U: LARGEST_POWER}
    beyond = taken_apart(f"(1 + u)^{LARGEST_POWER + 1}")
    assert not beyond.linear
    assert beyond.derivatives == {U}
