"""Evaluation of formulas: expression trees are evaluated with JAX or with other operations."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from pgt.core.errors import InputError
from pgt.core.parser import (
    FUNCTIONS,
    LAPLACIAN,
    Binary,
    Call,
    Name,
    Number,
    Tree,
    Unary,
    Vector,
    point_at,
    suggestion,
)

CONSTANTS = {"pi": math.pi, "e": math.e}

NEGATIVE = "negative"
# Array functions replace Python's operators, so that 1/0 between constants is inf and not an exception.
_OPERATORS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power"}
_OPERATORS |= {"atan2": "arctan2", "min": "minimum", "max": "maximum"}
WITH_JAX, WITH_NUMPY = (
    {name: getattr(library, name) for name in (*FUNCTIONS, NEGATIVE) if name != "step"}
    | {symbol: getattr(library, name) for symbol, name in _OPERATORS.items()}
    | {"step": lambda a, library=library: library.heaviside(a, 1.0)}
    for library in (jnp, np)
)


def evaluate(
    tree: Tree, lookup: Callable[[str], Any], operations: Mapping[str, Callable] = WITH_JAX
) -> Any:
    """The value of the tree, with `lookup(name)` for its variables (`lap(u)` for a Laplacian)."""
    # The tree of a long sum is deep on the left; the loop descends it without recursion.
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
    """The exponent if it is a small whole number; x**2 is then a product and smooth at x = 0, too."""
    match tree:
        case Number(value) if value.is_integer() and value <= 64:
            return int(value)
        case Unary("-", Number(value)) if value.is_integer() and value <= 64:
            return -int(value)
    return None
