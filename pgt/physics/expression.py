"""A formula in text as a part of a condition or an equation."""

from collections.abc import Iterable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.ground.parser import parse
from pgt.ground.trees import CONSTANTS, evaluate, names_in, unknown_name


class Expression(eqx.Module):
    """A formula in text, callable with its variables by name.

    Knows + - * / and powers (`^` or `**`), sin cos tan exp log sqrt tanh sinh cosh abs, pi and e.

    >>> float(Expression("2*x^2 + 1")(x=3.0))
    19.0
    """

    text: str = eqx.field(static=True)

    def __init__(self, text: str):
        parse(text)  # so that a mistake shows where it was made
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
