"""Vector calculus in the text of an equation: `div(k*grad(u))`, `diff(u^2/2, x)`, `curl((u, v))`.

`Expansion` rewrites a formula by the rules of differentiation, so that the rest of the library sees only
names of derivatives such as u_xx. The order of derivatives and the size of the result are limited,
because the text may come from a stranger. `affine` splits a formula into terms that are linear in the
fields with constant coefficients, and a remainder.
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

# The highest order of a derivative; a text from a stranger must not request a thousand.
MAX_ORDER = 6
# The most nodes of one system's equations, counting those visited and those of the result. Tracing and
# compiling cost about 0.1 ms per node, half a second at this bound. Ordinary systems have 10 to 200
# nodes.
MAX_NODES = 5_000
# The greatest depth of a formula that needs expansion.
MAX_DEPTH = 80

ZERO, ONE = Number(0.0), Number(1.0)


@dataclass
class Expansion:
    """Rewrites the formulas of one text in derivatives of fields.

    Parameters
    ----------
    text
        The text, for messages.
    coords
        The axes; all except t are spatial.
    constants
        Names that do not vary: coefficients, and pi and e unless a field has that name.
    meaning
        The formulas that replace names.
    nodes
        The number of nodes of the texts before this one.
    coordinates
        The coordinate system in which `lap`, `div` and `grad` are taken.
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
        """The formula with all operators of vector calculus replaced by derivatives of fields."""
        expanded = self._expand(tree) if self._needs_expansion(tree) else tree
        if isinstance(expanded, Vector):
            raise self._error(
                tree, "both sides are vectors; write one equation for each component."
            )
        self._count(expanded.size, tree)
        return expanded

    @property
    def is_curved(self) -> bool:
        return self.coordinates != CARTESIAN

    @property
    def space(self) -> tuple[str, ...]:
        return tuple(axis for axis in self.coords if axis != "t")

    def _needs_expansion(self, tree: Tree) -> bool:
        """Whether the formula must be rewritten; the Laplacian of a single field need not be."""
        needs_expansion, deepest, pending = False, 0, [(tree, 1)]
        while pending:
            node, depth = pending.pop()
            deepest = max(deepest, depth)
            is_of_name = isinstance(node, Call) and isinstance(node.argument, Name)
            if isinstance(node, Call) and node.function in CALCULUS:
                needs_expansion |= node.function != LAPLACIAN or not is_of_name
            needs_expansion |= isinstance(node, Vector)
            needs_expansion |= (
                self.is_curved and isinstance(node, Call) and node.function == LAPLACIAN
            )
            needs_expansion |= isinstance(node, Name) and self._definition(node) is not node
            pending += [(part, depth + 1) for part in node.parts]
        if needs_expansion and deepest > MAX_DEPTH:
            raise self._error(tree, f"more than {MAX_DEPTH} operations deep; write it simpler.")
        return needs_expansion

    # -------------------------------------------------------------------------- operators

    def _expand(self, tree: Tree) -> Tree:
        match tree:
            case Name():
                return self._definition(tree)
            case Number():
                return tree
            case Vector(items):
                return Vector(tuple(self._scalar(item) for item in items))
            case Unary(operator, operand):
                return self._map_components(lambda a: Unary(operator, a), self._expand(operand))
            case Binary(operator, left, right):
                return self._combine(tree, operator, self._expand(left), self._expand(right))
            case Call(function, argument) if function in CALCULUS:
                return self._calculus(tree, function, argument)
            case Call(function, argument):
                return Call(function, self._scalar(argument))

    def _definition(self, name: Name) -> Tree:
        """The formula that replaces k, or a derivative k_x of it; the name itself if there is none."""
        formulas = self.meaning or {}
        if name.name in formulas:
            return formulas[name.name]
        stem, _, letters = name.name.rpartition("_")
        if stem in self.states and not set(letters) - set(self.coords):
            formulas = {stem: Name(stem, name.position)}
        if stem not in formulas or set(letters) - set(self.coords):
            return name
        formula = formulas[stem]
        for axis in letters:
            formula = self._derivative(formula, axis)
        return formula

    def _calculus(self, tree: Tree, function: str, argument: Tree) -> Tree:
        if not self.space:
            raise self._error(
                tree, f"{function}(...) over which axes? Write e.g. coords=('x', 'y', 't')."
            )
        if function in ("diff", "dot"):
            return self._two_arguments(tree, function, argument)
        if function == LAPLACIAN:
            return self._laplacian(argument)
        inner = self._expand(argument)
        if function == "grad":
            self._require(tree, not isinstance(inner, Vector), "grad(...) takes a scalar")
            return self._gradient(inner)
        if function == "curl":
            self._require(
                tree,
                not self.is_curved,
                f"curl(...) is not known in {self.coordinates} coordinates",
            )
            return self._curl(tree, inner)
        return self._divergence(tree, inner)

    def _two_arguments(self, tree: Tree, function: str, argument: Tree) -> Tree:
        if not isinstance(argument, Vector) or len(argument.items) != 2:
            raise self._error(tree, f"{function}(...) takes two arguments")
        pair = argument.items
        if function == "diff":
            along = pair[1].name if isinstance(pair[1], Name) else ""
            self._require(tree, along in self.coords, "diff(...) takes a formula and an axis, as x")
            return self._map_components(lambda a: self._derivative(a, along), self._expand(pair[0]))
        left, right = map(self._expand, pair)
        if not isinstance(left, Vector) or not isinstance(right, Vector):
            raise self._error(tree, "dot(...) takes two vectors")
        self._require(tree, len(left.items) == len(right.items), "dot(...) takes equal lengths")
        return _sum(_times(a, b) for a, b in zip(left.items, right.items, strict=True))

    def _laplacian(self, argument: Tree) -> Tree:
        inner = self._expand(argument)
        if self.is_curved:
            message = f"in {self.coordinates} coordinates lap(...) takes a scalar"
            self._require(argument, not isinstance(inner, Vector), message)
            return self._divergence(argument, self._gradient(inner))
        if isinstance(inner, Name) and self._is_field(inner.name):
            return Call(LAPLACIAN, inner)  # one pass, which is cheaper than axis by axis
        return self._map_components(
            lambda a: _sum(
                self._derivative(self._derivative(a, axis), axis) for axis in self.space
            ),
            inner,
        )

    def _divergence(self, tree: Tree, inner: Tree) -> Tree:
        parts = inner.items if isinstance(inner, Vector) else ()
        self._require(
            tree, len(parts) == len(self.space),
            f"div(...) takes a vector with {len(self.space)} components, as grad(u) or (u, v)",
        )  # fmt: skip
        return _sum(
            self._flux_divergence(a, axis) for a, axis in zip(parts, self.space, strict=True)
        )

    def _gradient(self, inner: Tree) -> Vector:
        return Vector(tuple(self._over_scale(self._derivative(inner, a), a) for a in self.space))

    def _flux_divergence(self, flux: Tree, axis: str) -> Tree:
        """The term of the divergence for one axis, with the term of curved coordinates."""
        slope = self._over_scale(self._derivative(flux, axis), axis)
        curvature = TURNS[self.coordinates].get(axis)
        return slope if curvature is None else _plus(slope, _times(flux, parse(curvature)))

    def _over_scale(self, slope: Tree, axis: str) -> Tree:
        """A derivative per length, that is divided by the scale factor of its axis."""
        scale = SCALES[self.coordinates].get(axis)
        return slope if scale is None else _simplified("/", slope, parse(scale))

    def _curl(self, tree: Tree, inner: Tree) -> Tree:
        parts = inner.items if isinstance(inner, Vector) else (inner,)
        match self.space, parts:
            case (x, y), (u, v):
                return _minus(self._derivative(v, x), self._derivative(u, y))
            case (x, y), (u,):
                return Vector((self._derivative(u, y), _negative(self._derivative(u, x))))
            case (x, y, z), (u, v, w):
                return Vector((
                    _minus(self._derivative(w, y), self._derivative(v, z)),
                    _minus(self._derivative(u, z), self._derivative(w, x)),
                    _minus(self._derivative(v, x), self._derivative(u, y)),
                ))  # fmt: skip
        raise self._error(tree, "curl(...) takes a vector of as many components as axes, 2 or 3")

    def _combine(self, tree: Tree, operator: str, left: Tree, right: Tree) -> Tree:
        """The result of a binary operator between scalars and vectors."""
        if not isinstance(left, Vector) and not isinstance(right, Vector):
            return _simplified(operator, left, right)
        if operator in "+-" and isinstance(left, Vector) and isinstance(right, Vector):
            self._require(tree, len(left.items) == len(right.items), "a sum of unequal vectors")
            pairs = zip(left.items, right.items, strict=True)
            return Vector(tuple(_simplified(operator, a, b) for a, b in pairs))
        if operator == "*" and not isinstance(left, Vector):
            return self._map_components(lambda a: _times(left, a), right)
        if operator in "*/" and not isinstance(right, Vector):
            return self._map_components(lambda a: _simplified(operator, a, right), left)
        raise self._error(
            tree, f"'{operator}' between a vector and this; write dot(a, b) for an inner product"
        )

    def _scalar(self, tree: Tree) -> Tree:
        expanded = self._expand(tree)
        is_scalar = not isinstance(expanded, Vector)
        self._require(tree, is_scalar, "a vector stands where a scalar should")
        return expanded

    def _map_components(self, function: Callable[[Tree], Tree], tree: Tree) -> Tree:
        if isinstance(tree, Vector):
            return Vector(tuple(function(item) for item in tree.items))
        return function(tree)

    # ------------------------------------------------------------------------ derivatives

    def _derivative(self, tree: Tree, axis: str) -> Tree:
        """The derivative of a scalar along an axis."""
        self._count(1, tree)
        match tree:
            case Number():
                return ZERO
            case Name():
                return self._derivative_of_name(tree, axis)
            case Unary("-", operand):
                return _negative(self._derivative(operand, axis))
            case Unary(_, operand):
                return self._derivative(operand, axis)
            case Binary("^", base, exponent):
                return self._derivative_of_power(base, exponent, axis)
            case Binary(operator, left, right):
                slopes = self._derivative(left, axis), self._derivative(right, axis)
                return _derivative_of_pair(operator, left, right, *slopes)
            case Call(function, Name(name, position)) if function == LAPLACIAN:
                parts = (Name(f"{name}_{a}{a}", position) for a in self.space)
                return _sum(self._derivative(part, axis) for part in parts)
            case Call(function, argument):
                inner = self._derivative(argument, axis)
                return (
                    ZERO if inner == ZERO else _times(_OUTER_DERIVATIVES[function](argument), inner)
                )
        raise self._error(tree, "a vector stands where a scalar should")

    def _derivative_of_name(self, name: Name, axis: str) -> Tree:
        if name.name in self.coords:
            return ONE if name.name == axis else ZERO
        if (stem := name.name.rstrip("'")) in self.states:
            inner = self._derivative_of_name(Name(self.states[stem], name.position), axis)
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

    def _derivative_of_power(self, base: Tree, exponent: Tree, axis: str) -> Tree:
        inner, outer = self._derivative(base, axis), self._derivative(exponent, axis)
        if outer == ZERO:
            lower = Number(exponent.value - 1) if isinstance(exponent, Number) else None
            lowered = _minus(exponent, ONE) if lower is None else lower
            factor = base if lowered == ONE else Binary("^", base, lowered)
            return ZERO if inner == ZERO else _times(_times(exponent, factor), inner)
        factor = _plus(
            _times(outer, Call("log", base)), _times(exponent, _simplified("/", inner, base))
        )
        return _times(Binary("^", base, exponent), factor)

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

    def _require(self, tree: Tree, holds: bool, message: str) -> None:
        if not holds:
            raise self._error(tree, message)

    def _error(self, tree: Tree, message: str) -> InputError:
        position = next((name.position for name in names_in(tree)), 0)
        return point_at(self.text, position, f"Equation: {message}")


def _derivative_of_pair(
    operator: str, left: Tree, right: Tree, left_slope: Tree, right_slope: Tree
) -> Tree:
    """The derivative of a sum, product or quotient, from the derivatives of its operands."""
    if operator in "+-":
        return _simplified(operator, left_slope, right_slope)
    if operator == "*":
        return _plus(_times(left_slope, right), _times(left, right_slope))
    if right_slope == ZERO:
        return _simplified("/", left_slope, right)
    square = Binary("^", right, Number(2.0))
    return _simplified("/", _minus(_times(left_slope, right), _times(left, right_slope)), square)


# The outer derivatives of functions, which the chain rule multiplies by the derivative of the argument.
_OUTER_DERIVATIVES: Mapping[str, Callable[[Tree], Tree]] = {
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


def _simplified(operator: str, left: Tree, right: Tree) -> Tree:
    """left ∘ right, simplified where an operand is zero or one."""
    if operator in _SIMPLIFIERS:
        return _SIMPLIFIERS[operator](left, right)
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


_SIMPLIFIERS = {"+": _plus, "-": _minus, "*": _times}


# ------------------------------------------------------------------------------- affine


Derivative = tuple[str, str]  # ("u", "xx"); ("u", "") is the field itself

# The largest power that is multiplied out; larger ones go to the remainder.
LARGEST_POWER = 8


class Affine(NamedTuple):
    """A formula as constant + Σ coefficient · derivative + a remainder.

    `others` are the derivatives in the remainder. `varies` says whether there is a remainder, which may
    be a function of the coordinates alone.
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
    """The affine form of a formula whose variables have the forms `lookup(name)`.

    >>> from pgt.core.parser import parse
    >>> names = {"u": Affine(linear={("u", ""): 1.0}), "k": Affine(3.0)}
    >>> affine(parse("2*k*u + u^2 - 1"), names.__getitem__)[:2]
    (-1.0, {('u', ''): 6.0})
    """
    return _as_affine(evaluate(tree, lookup, _OPERATIONS))


def _as_affine(value: Affine | float | int) -> Affine:
    return value if isinstance(value, Affine) else Affine(float(value))


def _remainder(*parts: Affine) -> Affine:
    """A remainder that contains the derivatives of all operands."""
    derivatives = frozenset().union(*(part.derivatives for part in parts))
    return Affine(others=derivatives, varies=True)


def _add(a: Affine, b: Affine) -> Affine:
    names = {*a.linear, *b.linear}
    linear = {name: a.linear.get(name, 0.0) + b.linear.get(name, 0.0) for name in names}
    return Affine(a.constant + b.constant, linear, a.others | b.others, a.varies or b.varies)


def _scale(a: Affine, factor: float) -> Affine:
    linear = {name: factor * value for name, value in a.linear.items()}
    return Affine(factor * a.constant, linear, a.others, a.varies)


def _multiply(a: Affine, b: Affine) -> Affine:
    if a.is_constant:
        return _scale(b, a.constant)
    if b.is_constant:
        return _scale(a, b.constant)
    # In (a + A)(b + B) = ab + aB + bA + AB only the last term is not linear.
    linear = _add(Affine(linear=_scale(b, a.constant).linear), _scale(a, b.constant)).linear
    return Affine(a.constant * b.constant, linear, _remainder(a, b).others, varies=True)


def _divide(a: Affine, b: Affine) -> Affine:
    return _scale(a, 1 / b.constant) if b.is_constant and b.constant else _remainder(a, b)


def _power(a: Affine, b: Affine) -> Affine:
    if a.is_constant and b.is_constant:
        return _constant(lambda: a.constant**b.constant)
    if b.is_constant and b.constant in range(1, LARGEST_POWER + 1):
        return functools.reduce(_multiply, [a] * int(b.constant))
    return _remainder(a, b)


def _call(function: Callable[[float], float], a: Affine) -> Affine:
    return _constant(lambda: function(a.constant)) if a.is_constant else _remainder(a)


def _constant(compute: Callable[[], float]) -> Affine:
    try:
        value = compute()
    except (ArithmeticError, ValueError):
        return _remainder()
    return Affine(value) if isinstance(value, float) else _remainder()  # a root may be complex


def _on_affine(operation: Callable[..., Affine]) -> Callable[..., Affine]:
    return lambda *values: operation(*map(_as_affine, values))


_BINARY = {
    "+": _add,
    "-": lambda a, b: _add(a, _scale(b, -1.0)),
    "*": _multiply,
    "/": _divide,
    "^": _power,
    NEGATIVE: lambda a: _scale(a, -1.0),
}
_EXTRA_FUNCTIONS = {"abs": math.fabs, "step": lambda a: float(a >= 0)}
_MATHS = {name: _EXTRA_FUNCTIONS.get(name) or getattr(math, name) for name in FUNCTIONS}
_OPERATIONS = {name: _on_affine(operation) for name, operation in _BINARY.items()} | {
    name: _on_affine(functools.partial(_call, function)) for name, function in _MATHS.items()
}
