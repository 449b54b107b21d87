"""Vector calculus in the text of an equation: `div(k*grad(u))`, `diff(u^2/2, x)`, `curl((u, v))`.

A formula is taken apart into the derivatives of its fields by the rules of differentiation, so that the
rest of the library meets nothing but names such as u_xx. Text from a stranger stays small: orders of
derivatives and the size of the outcome are limited.
"""

import functools
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pgt.core.errors import InputError
from pgt.core.expression_trees import CONSTANTS, NEGATIVE, evaluate, names_in
from pgt.core.parser import (
    CALCULUS,
    FUNCTIONS,
    LAPLACIAN,
    Binary,
    Call,
    Name,
    Number,
    Tree,
    Unary,
    Vector,
    parse,
    point_at,
)
from pgt.data.coordinate_systems import CARTESIAN, SCALES, TURNS

MAX_ORDER = 6  # of a derivative: text from a stranger must not ask for a thousand
# Of the equations of one system, visited on the way and left at its end. Every evaluation in JAX costs
# about 0.1 ms per node, tracing and compiling: half a second at this bound. Ordinary ones have 10 to 200.
MAX_NODES = 5_000
MAX_DEPTH = 80  # of one that has to be

ZERO, ONE = Number(0.0), Number(1.0)


@dataclass
class Expansion:
    """Takes formulas of one text apart.

    Parameters
    ----------
    text
        For messages.
    coords
        The axes, of which those other than t are space.
    constants
        Names that do not vary: coefficients, and pi and e where no field is called so.
    meaning
        What stands for a name, where that is a formula.
    nodes
        How many nodes the texts before this one have taken.
    coordinates
        In which `lap`, `div` and `grad` are taken.
    states
        Names of unknown functions of the state, and the field that each depends on; D' stands for the
        derivative of D by its field.
    """

    text: str
    coords: tuple[str, ...]
    constants: Collection[str] = tuple(CONSTANTS)
    meaning: Mapping[str, Tree] | None = None
    nodes: int = 0
    coordinates: str = CARTESIAN
    states: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, tree: Tree) -> Tree:
        """The same formula in derivatives of fields alone."""
        found = self._expand(tree) if self._has_any(tree) else tree
        if isinstance(found, Vector):
            raise self._error(
                tree, "both sides are vectors; write one equation for each component."
            )
        self._count(found.size, tree)
        return found

    @property
    def is_curved(self) -> bool:
        return self.coordinates != CARTESIAN

    @property
    def space(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.coords if axis != "t")

    def _has_any(self, tree: Tree) -> bool:
        """Whether there is anything to take apart; a Laplacian of one field is not."""
        found, deepest, pending = False, 0, [(tree, 1)]
        while pending:
            node, depth = pending.pop()
            deepest = max(deepest, depth)
            plain = isinstance(node, Call) and isinstance(node.argument, Name)
            if isinstance(node, Call) and node.function in CALCULUS:
                found |= node.function != LAPLACIAN or not plain
            found |= isinstance(node, Vector)
            found |= self.is_curved and isinstance(node, Call) and node.function == LAPLACIAN
            found |= isinstance(node, Name) and self._meaning(node) is not node
            pending += [(part, depth + 1) for part in node.parts]
        if found and deepest > MAX_DEPTH:
            raise self._error(tree, f"more than {MAX_DEPTH} operations deep; write it simpler.")
        return found

    # -------------------------------------------------------------------------- operators

    def _expand(self, tree: Tree) -> Tree:
        match tree:
            case Name():
                return self._meaning(tree)
            case Number():
                return tree
            case Vector(items):
                return Vector(tuple(self._scalar(item) for item in items))
            case Unary(operator, operand):
                return self._each(lambda a: Unary(operator, a), self._expand(operand))
            case Binary(operator, left, right):
                return self._combined(tree, operator, self._expand(left), self._expand(right))
            case Call(function, argument) if function in CALCULUS:
                return self._calculus(tree, function, argument)
            case Call(function, argument):
                return Call(function, self._scalar(argument))

    def _meaning(self, name: Name) -> Tree:
        """What stands for a name: of k, and of k_x, where k stands for a formula."""
        known = self.meaning or {}
        if name.name in known:
            return known[name.name]
        stem, _, letters = name.name.rpartition("_")
        if stem in self.states and not set(letters) - set(self.coords):
            known = {stem: Name(stem, name.position)}
        if stem not in known or set(letters) - set(self.coords):
            return name
        found = known[stem]
        for axis in letters:
            found = self._slope(found, axis)
        return found

    def _calculus(self, tree: Tree, function: str, argument: Tree) -> Tree:
        if not self.space:
            raise self._error(
                tree, f"{function}(...) over which axes? Write e.g. coords=('x', 'y', 't')."
            )
        if function in ("diff", "dot"):
            return self._of_two(tree, function, argument)
        if function == LAPLACIAN:
            return self._laplacian(argument)
        inner = self._expand(argument)
        if function == "grad":
            self._check(tree, not isinstance(inner, Vector), "grad(...) takes a scalar")
            return self._gradient(inner)
        if function == "curl":
            self._check(
                tree,
                not self.is_curved,
                f"curl(...) is not known in {self.coordinates} coordinates",
            )
            return self._curl(tree, inner)
        return self._divergence(tree, inner)

    def _of_two(self, tree: Tree, function: str, argument: Tree) -> Tree:
        if not isinstance(argument, Vector) or len(argument.items) != 2:
            raise self._error(tree, f"{function}(...) takes two arguments")
        pair = argument.items
        if function == "diff":
            along = pair[1].name if isinstance(pair[1], Name) else ""
            self._check(tree, along in self.coords, "diff(...) takes a formula and an axis, as x")
            return self._each(lambda a: self._slope(a, along), self._expand(pair[0]))
        left, right = map(self._expand, pair)
        if not isinstance(left, Vector) or not isinstance(right, Vector):
            raise self._error(tree, "dot(...) takes two vectors")
        self._check(tree, len(left.items) == len(right.items), "dot(...) takes equal lengths")
        return _sum(_times(a, b) for a, b in zip(left.items, right.items, strict=True))

    def _laplacian(self, argument: Tree) -> Tree:
        inner = self._expand(argument)
        if self.is_curved:
            message = f"in {self.coordinates} coordinates lap(...) takes a scalar"
            self._check(argument, not isinstance(inner, Vector), message)
            return self._divergence(argument, self._gradient(inner))
        if isinstance(inner, Name) and self._is_field(inner.name):
            return Call(LAPLACIAN, inner)  # in one pass, cheaper than axis by axis
        return self._each(
            lambda a: _sum(self._slope(self._slope(a, axis), axis) for axis in self.space), inner
        )

    def _divergence(self, tree: Tree, inner: Tree) -> Tree:
        parts = inner.items if isinstance(inner, Vector) else ()
        self._check(
            tree, len(parts) == len(self.space),
            f"div(...) takes a vector with {len(self.space)} components, as grad(u) or (u, v)",
        )  # fmt: skip
        return _sum(self._flux_out(a, axis) for a, axis in zip(parts, self.space, strict=True))

    def _gradient(self, inner: Tree) -> Vector:
        return Vector(tuple(self._per_length(self._slope(inner, a), a) for a in self.space))

    def _flux_out(self, flux: Tree, axis: str) -> Tree:
        """Its part of the divergence: the slope along the axis, and what is thinned out in turning."""
        along = self._per_length(self._slope(flux, axis), axis)
        turn = TURNS[self.coordinates].get(axis)
        return along if turn is None else _plus(along, _times(flux, parse(turn)))

    def _per_length(self, slope: Tree, axis: str) -> Tree:
        scale = SCALES[self.coordinates].get(axis)
        return slope if scale is None else _simple("/", slope, parse(scale))

    def _curl(self, tree: Tree, inner: Tree) -> Tree:
        parts = inner.items if isinstance(inner, Vector) else (inner,)
        match self.space, parts:
            case (x, y), (u, v):
                return _minus(self._slope(v, x), self._slope(u, y))
            case (x, y), (u,):
                return Vector((self._slope(u, y), _negative(self._slope(u, x))))
            case (x, y, z), (u, v, w):
                return Vector((
                    _minus(self._slope(w, y), self._slope(v, z)),
                    _minus(self._slope(u, z), self._slope(w, x)),
                    _minus(self._slope(v, x), self._slope(u, y)),
                ))  # fmt: skip
        raise self._error(tree, "curl(...) takes a vector of as many components as axes, 2 or 3")

    def _combined(self, tree: Tree, operator: str, left: Tree, right: Tree) -> Tree:
        """Sums of vectors, and vectors times and over scalars."""
        if not isinstance(left, Vector) and not isinstance(right, Vector):
            return _simple(operator, left, right)
        if operator in "+-" and isinstance(left, Vector) and isinstance(right, Vector):
            self._check(tree, len(left.items) == len(right.items), "a sum of unequal vectors")
            pairs = zip(left.items, right.items, strict=True)
            return Vector(tuple(_simple(operator, a, b) for a, b in pairs))
        if operator == "*" and not isinstance(left, Vector):
            return self._each(lambda a: _times(left, a), right)
        if operator in "*/" and not isinstance(right, Vector):
            return self._each(lambda a: _simple(operator, a, right), left)
        raise self._error(
            tree, f"'{operator}' between a vector and this; write dot(a, b) for an inner product"
        )

    def _scalar(self, tree: Tree) -> Tree:
        found = self._expand(tree)
        self._check(tree, not isinstance(found, Vector), "a vector stands where a scalar should")
        return found

    def _each(self, function: Callable[[Tree], Tree], tree: Tree) -> Tree:
        if isinstance(tree, Vector):
            return Vector(tuple(function(item) for item in tree.items))
        return function(tree)

    # ------------------------------------------------------------------------ derivatives

    def _slope(self, tree: Tree, axis: str) -> Tree:
        """The derivative of a scalar along an axis."""
        self._count(1, tree)
        match tree:
            case Number():
                return ZERO
            case Name():
                return self._of_name(tree, axis)
            case Unary("-", operand):
                return _negative(self._slope(operand, axis))
            case Unary(_, operand):
                return self._slope(operand, axis)
            case Binary("^", base, exponent):
                return self._of_power(base, exponent, axis)
            case Binary(operator, left, right):
                slopes = self._slope(left, axis), self._slope(right, axis)
                return _of_pair(operator, left, right, *slopes)
            case Call(function, Name(name, position)) if function == LAPLACIAN:
                parts = (Name(f"{name}_{a}{a}", position) for a in self.space)
                return _sum(self._slope(part, axis) for part in parts)
            case Call(function, argument):
                inner = self._slope(argument, axis)
                return ZERO if inner == ZERO else _times(_OUTER[function](argument), inner)
        raise self._error(tree, "a vector stands where a scalar should")

    def _of_name(self, name: Name, axis: str) -> Tree:
        if name.name in self.coords:
            return ONE if name.name == axis else ZERO
        if (stem := name.name.rstrip("'")) in self.states:
            inner = self._of_name(Name(self.states[stem], name.position), axis)
            return _times(Name(f"{name.name}'", name.position), inner)
        if not self._is_field(name.name):
            return ZERO
        field, _, letters = name.name.rpartition("_")
        if not field or set(letters) - set(self.coords):
            field, letters = name.name, ""
        if len(letters) >= MAX_ORDER:
            raise point_at(
                self.text, name.position,
                f"Equation: a derivative of order {len(letters) + 1}; at most {MAX_ORDER} can be taken.",
            )  # fmt: skip
        return Name(f"{field}_{letters}{axis}", name.position)

    def _of_power(self, base: Tree, exponent: Tree, axis: str) -> Tree:
        inner, outer = self._slope(base, axis), self._slope(exponent, axis)
        if outer == ZERO:
            lower = Number(exponent.value - 1) if isinstance(exponent, Number) else None
            less = _minus(exponent, ONE) if lower is None else lower
            factor = base if less == ONE else Binary("^", base, less)
            return ZERO if inner == ZERO else _times(_times(exponent, factor), inner)
        grown = _plus(_times(outer, Call("log", base)), _times(exponent, _simple("/", inner, base)))
        return _times(Binary("^", base, exponent), grown)

    def _is_field(self, name: str) -> bool:
        return name not in self.constants and name not in self.coords

    # -------------------------------------------------------------------------- messages

    def _count(self, nodes: int, tree: Tree) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            raise self._error(
                tree,
                f"this is too long when it is taken apart, more than {MAX_NODES} operations; write it "
                "simpler.",
            )

    def _check(self, tree: Tree, holds: bool, message: str) -> None:
        if not holds:
            raise self._error(tree, message)

    def _error(self, tree: Tree, message: str) -> InputError:
        position = next((name.position for name in names_in(tree)), 0)
        return point_at(self.text, position, f"Equation: {message}")


def _of_pair(operator: str, left: Tree, right: Tree, slope: Tree, other: Tree) -> Tree:
    """The derivative of a sum, product or quotient, from those of its parts."""
    if operator in "+-":
        return _simple(operator, slope, other)
    if operator == "*":
        return _plus(_times(slope, right), _times(left, other))
    if other == ZERO:
        return _simple("/", slope, right)
    square = Binary("^", right, Number(2.0))
    return _simple("/", _minus(_times(slope, right), _times(left, other)), square)


# What is multiplied with the derivative of the argument.
_OUTER: Mapping[str, Callable[[Tree], Tree]] = {
    "sin": lambda a: Call("cos", a),
    "cos": lambda a: _negative(Call("sin", a)),
    "tan": lambda a: _plus(ONE, Binary("^", Call("tan", a), Number(2.0))),
    "exp": lambda a: Call("exp", a),
    "log": lambda a: Binary("/", ONE, a),
    "sqrt": lambda a: Binary("/", Number(0.5), Call("sqrt", a)),
    "tanh": lambda a: _minus(ONE, Binary("^", Call("tanh", a), Number(2.0))),
    "sinh": lambda a: Call("cosh", a),
    "cosh": lambda a: Call("sinh", a),
    "abs": lambda a: Binary("/", a, Call("abs", a)),
    "step": lambda a: ZERO,
}


def _simple(operator: str, left: Tree, right: Tree) -> Tree:
    """left ∘ right without zeros and ones."""
    if operator in _SIMPLER:
        return _SIMPLER[operator](left, right)
    return ZERO if operator == "/" and left == ZERO else Binary(operator, left, right)


def _plus(left: Tree, right: Tree) -> Tree:
    if left == ZERO:
        return right
    return left if right == ZERO else Binary("+", left, right)


def _minus(left: Tree, right: Tree) -> Tree:
    if left == ZERO:
        return _negative(right)
    return left if right == ZERO else Binary("-", left, right)


def _times(left: Tree, right: Tree) -> Tree:
    if ZERO in (left, right):
        return ZERO
    if left == ONE:
        return right
    return left if right == ONE else Binary("*", left, right)


def _negative(tree: Tree) -> Tree:
    return ZERO if tree == ZERO else Unary("-", tree)


def _sum(parts) -> Tree:
    total: Tree = ZERO
    for part in parts:
        total = _plus(total, part)
    return total


_SIMPLER = {"+": _plus, "-": _minus, "*": _times}


# ------------------------------------------------------------------------------- affine

# Formulas taken apart: what is linear in the fields with constant coefficients, and the rest.


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
_OWN = {"abs": math.fabs, "step": lambda a: float(a >= 0)}
_MATHS = {name: _OWN.get(name) or getattr(math, name) for name in FUNCTIONS}
_OPERATIONS = {name: _of_lifted(operation) for name, operation in _BINARY.items()} | {
    name: _of_lifted(functools.partial(_called, function)) for name, function in _MATHS.items()
}
