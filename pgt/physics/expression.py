"""The value of a formula: expression trees worked out with JAX."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.ground.errors import InputError
from pgt.physics.parser import (
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
    suggestion,
)

CONSTANTS = {"pi": math.pi, "e": math.e}

NEGATIVE = "negative"
# jnp, not Python's operators: 1/0 between constants is inf, not an exception.
WITH_JAX = {name: getattr(jnp, name) for name in (*FUNCTIONS, NEGATIVE)} | {
    "+": jnp.add,
    "-": jnp.subtract,
    "*": jnp.multiply,
    "/": jnp.divide,
    "^": jnp.power,
}


NUMPY = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power"}


class Expression(eqx.Module):
    """A formula in text, callable with its variables by name.

    Knows + - * / and powers (`^` or `**`), sin cos tan exp log sqrt tanh sinh cosh abs, pi and e.

    >>> float(Expression("2*x^2 + 1")(x=3.0))
    19.0
    """

    text: str = eqx.field(static=True)

    def __init__(self, text: str):
        require_finite(text, parse(text))  # so that a mistake shows where it was made
        self.text = text

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the formula, in order of appearance."""
        found = [n.name for n in names_in(parse(self.text)) if n.name not in CONSTANTS]
        return tuple(dict.fromkeys(found))

    def require(self, known: Iterable[str], where: str) -> None:
        """Raise unless every variable is among `known`."""
        known = tuple(known)
        for name in names_in(parse(self.text)):
            if name.name not in CONSTANTS and name.name not in known:
                raise unknown_name(self.text, name, known, where)

    def __call__(self, **variables) -> Float[Array, "..."]:
        self.require(variables, "Expression")
        return jnp.asarray(evaluate(parse(self.text), lambda n: variables.get(n, CONSTANTS.get(n))))


def evaluate(
    tree: Tree, lookup: Callable[[str], Any], operations: Mapping[str, Callable] = WITH_JAX
) -> Any:
    """Value of the tree, with `lookup(name)` for its variables (`lap(u)` for a Laplacian)."""
    # A long sum leans to the left: descend it in a loop, so that only brackets cost stack.
    spine = []
    while isinstance(tree, Binary):
        spine.append(tree)
        tree = tree.left
    value = _evaluate_leaf(tree, lookup, operations)
    for node in reversed(spine):
        exponent = _small_integer(node.right) if node.operator == "^" else None
        right = evaluate(node.right, lookup, operations) if exponent is None else exponent
        value = operations[node.operator](value, right)
    return value


def require_finite(text: str, tree: Tree) -> None:
    """Raise where a part without variables is no finite number, as in 1/0 or 9**9**9**9."""

    def known(operation: Callable) -> Callable:
        def apply(*operands):
            if any(operand is None for operand in operands):
                return None  # holds a variable
            with np.errstate(all="ignore"):
                value = float(operation(*map(float, operands)))
            if not math.isfinite(value):
                raise InputError(
                    f"'{text}': a part of it without variables is not finite: a division by zero, a "
                    "root or logarithm without a value, or too large a power. Write a finite number."
                )
            return value

        return apply

    operations = {name: known(getattr(np, NUMPY.get(name, name))) for name in WITH_JAX}
    evaluate(tree, lambda name: math.pi if name == "pi" else None, operations)


def names_in(tree: Tree) -> Iterator[Name]:
    """Every name in the tree, left to right; a Laplacian counts as the name `lap(u)`."""
    pending = [tree]
    while pending:
        match pending.pop():
            case Name() as name:
                yield name
            case Unary(_, operand):
                pending.append(operand)
            case Binary(_, left, right):
                pending += [right, left]
            case Call(function, Name(name, position)) if function == LAPLACIAN:
                yield Name(f"{LAPLACIAN}({name})", position)
            case Call(_, argument):
                pending.append(argument)
            case Vector(items):
                pending += reversed(items)


def unknown_name(text: str, name: Name, known: Iterable[str], where: str) -> InputError:
    known = tuple(known)
    listed = ", ".join(known) or "none"
    message = f"{where}: unknown name '{name.name}' (known here: {listed})."
    return point_at(text, name.position, message + suggestion(name.name, known))


def _evaluate_leaf(tree, lookup, operations):
    match tree:
        case Number(value):
            return value
        case Name(name):
            return lookup(name)
        case Unary(operator, operand):
            value = evaluate(operand, lookup, operations)
            return operations[NEGATIVE](value) if operator == "-" else value
        case Call(function, Name(name)) if function == LAPLACIAN:
            return lookup(f"{LAPLACIAN}({name})")
        case Call(function, argument):
            return operations[function](evaluate(argument, lookup, operations))


def _small_integer(tree) -> int | None:
    """The exponent if it is a small whole number: x**2 is then a product, smooth also at x = 0."""
    match tree:
        case Number(value) if value.is_integer() and value <= 64:
            return int(value)
        case Unary("-", Number(value)) if value.is_integer() and value <= 64:
            return -int(value)
    return None
