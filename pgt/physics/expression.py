"""`Expression`: a formula from text, as a part of a condition or an equation."""

import math
from collections.abc import Callable, Iterable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.expression_trees import CONSTANTS, WITH_NUMPY, evaluate, names_in, unknown_name
from pgt.core.parser import Call, Tree, parse


class Expression(eqx.Module):
    """A formula from text, callable with its variables by name.

    It may contain + - * / and powers (`^` or `**`), sin cos tan exp log sqrt tanh sinh cosh abs,
    atan2(y, x), min and max of two or more, step(a), which is 1 for a ≥ 0 and 0 otherwise, pi and e.

    >>> float(Expression("2*x^2 + 1")(x=3.0))
    19.0
    """

    text: str = eqx.field(static=True)

    def __init__(self, text: str):
        require_finite(text, parse(text))  # reports a mistake where it was made
        self.text = text

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the formula, in order of appearance."""
        names = [n.name for n in names_in(parse(self.text)) if n.name not in CONSTANTS]
        return tuple(dict.fromkeys(names))

    def require(self, known: Iterable[str], where: str) -> None:
        """Raise unless all variables are among `known`."""
        known = tuple(known)
        for name in names_in(parse(self.text)):
            if name.name not in CONSTANTS and name.name not in known:
                raise unknown_name(self.text, name, known, where)

    def knots(self, axis: str) -> list[float]:
        """The positions along an axis at which `step` switches the formula, as in `step(t - 0.34)`."""
        return switches(parse(self.text), axis)

    def __call__(self, **variables) -> Float[Array, "..."]:
        self.require(variables, "Expression")
        return jnp.asarray(evaluate(parse(self.text), lambda n: variables.get(n, CONSTANTS.get(n))))


def switches(tree: Tree, axis: str) -> list[float]:
    """The positions where the argument of a `step` changes sign, if it is linear in this axis alone."""
    positions, pending = [], [tree]
    while pending:
        node = pending.pop()
        pending += node.parts
        if not isinstance(node, Call) or node.function != "step":
            continue
        if {n.name for n in names_in(node) if n.name not in CONSTANTS} != {axis}:
            continue
        values = [
            float(evaluate(node.argument, lambda n, t=t: CONSTANTS.get(n, t), WITH_NUMPY))
            for t in (0.0, 1.0, 2.0)
        ]
        slope = values[1] - values[0]
        if slope and math.isclose(values[2] - values[1], slope, rel_tol=1e-9):
            positions.append(-values[0] / slope)
    return positions


def require_finite(text: str, tree: Tree) -> None:
    """Raise if a part without variables is not finite, as in 1/0 or 9**9**9**9."""

    def checked(operation: Callable) -> Callable:
        def apply(*operands):
            if any(operand is None for operand in operands):
                return None  # contains a variable
            with np.errstate(all="ignore"):
                value = float(operation(*map(float, operands)))
            if not math.isfinite(value):
                raise InputError(
                    f"'{text}': a part of it without variables is not finite: a division by zero, a "
                    "root or logarithm without a value, or too large a power. Write a finite number."
                )
            return value

        return apply

    operations = {name: checked(operation) for name, operation in WITH_NUMPY.items()}
    evaluate(tree, lambda name: math.pi if name == "pi" else None, operations)
