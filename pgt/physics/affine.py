"""Formulas taken apart: what is linear in the fields with constant coefficients, and the rest."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pgt.core.parser import FUNCTIONS, Tree
from pgt.core.trees import NEGATIVE, evaluate

Derivative = tuple[str, str]  # ("u", "xx"); ("u", "") is the field itself

LARGEST_POWER = 8  # that is multiplied out


class Affine(NamedTuple):
    """constant + Σ coefficient · derivative + a rest, in which `others` occur.

    `varies` where there is a rest, be it a function of the coordinates alone.
    """

    constant: float = 0.0
    linear: Mapping[Derivative, float] = {}
    others: frozenset[Derivative] = frozenset()
    varies: bool = False

    @property
    def is_constant(self) -> bool:
        return not self.linear and not self.varies

    @property
    def derivatives(self) -> frozenset[Derivative]:
        return self.others | frozenset(self.linear)


def affine(tree: Tree, lookup: Callable[[str], Affine]) -> Affine:
    """The tree taken apart, with `lookup(name)` for its variables.

    >>> from pgt.core.parser import parse
    >>> names = {"u": Affine(linear={("u", ""): 1.0}), "k": Affine(3.0)}
    >>> affine(parse("2*k*u + u^2 - 1"), names.__getitem__)[:2]
    (-1.0, {('u', ''): 6.0})
    """
    return _lifted(evaluate(tree, lookup, _OPERATIONS))


def _lifted(value: Affine | float | int) -> Affine:
    return value if isinstance(value, Affine) else Affine(float(value))


def _rest(*parts: Affine) -> Affine:
    """What cannot be taken apart."""
    inside = frozenset().union(*(part.derivatives for part in parts))
    return Affine(others=inside, varies=True)


def _add(a: Affine, b: Affine) -> Affine:
    names = {*a.linear, *b.linear}
    linear = {name: a.linear.get(name, 0.0) + b.linear.get(name, 0.0) for name in names}
    return Affine(a.constant + b.constant, linear, a.others | b.others, a.varies or b.varies)


def _scaled(a: Affine, factor: float) -> Affine:
    linear = {name: factor * value for name, value in a.linear.items()}
    return Affine(factor * a.constant, linear, a.others, a.varies)


def _multiply(a: Affine, b: Affine) -> Affine:
    if a.is_constant:
        return _scaled(b, a.constant)
    if b.is_constant:
        return _scaled(a, b.constant)
    # (a + A)(b + B) = ab + aB + bA + AB, of which the last is no longer linear
    linear = _add(Affine(linear=_scaled(b, a.constant).linear), _scaled(a, b.constant)).linear
    return Affine(a.constant * b.constant, linear, _rest(a, b).others, varies=True)


def _divide(a: Affine, b: Affine) -> Affine:
    return _scaled(a, 1 / b.constant) if b.is_constant and b.constant else _rest(a, b)


def _power(a: Affine, b: Affine) -> Affine:
    if a.is_constant and b.is_constant:
        return _constant(lambda: a.constant**b.constant)
    if b.is_constant and b.constant in range(1, LARGEST_POWER + 1):
        return functools.reduce(_multiply, [a] * int(b.constant))
    return _rest(a, b)


def _called(function: Callable[[float], float], a: Affine) -> Affine:
    return _constant(lambda: function(a.constant)) if a.is_constant else _rest(a)


def _constant(compute: Callable[[], float]) -> Affine:
    try:
        value = compute()
    except (ArithmeticError, ValueError):
        return _rest()
    return Affine(value) if isinstance(value, float) else _rest()  # a root may be complex


def _of_lifted(operation: Callable[..., Affine]) -> Callable[..., Affine]:
    return lambda *values: operation(*map(_lifted, values))


_BINARY = {
    "+": _add,
    "-": lambda a, b: _add(a, _scaled(b, -1.0)),
    "*": _multiply,
    "/": _divide,
    "^": _power,
    NEGATIVE: lambda a: _scaled(a, -1.0),
}
_MATHS = {name: math.fabs if name == "abs" else getattr(math, name) for name in FUNCTIONS}
_OPERATIONS = {name: _of_lifted(operation) for name, operation in _BINARY.items()} | {
    name: _of_lifted(functools.partial(_called, function)) for name, function in _MATHS.items()
}
