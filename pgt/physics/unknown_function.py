"""Functions of the coordinates, or of the field itself, that are learnt together with the field.

An unknown function is one more field that nobody measured: q in u_t = D u_xx + q, with a further equation
q_t = 0 for every coordinate that it does not depend on. So all that is known of hidden fields holds for
it, too: smoothness chosen by the evidence, bands, an expected error. Of a positive function the logarithm
is the field.

A function of the state, D(u) in u_t = div(D(u) grad(u)), is a sum of Legendre polynomials over the range
of u, or the exponential of one where it is positive. Its weights are unknown numbers of the equation.
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.arguments import Positive
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.numbers import listed
from pgt.core.parser import Binary, Call, Name, Number, Tree
from pgt.core.unknown import Unknown, weight
from pgt.data.domain import AXES
from pgt.physics.pde import Quantity


class UnknownFunction(eqx.Module):
    """A function to be learnt: a source q(x), a conductivity k(x, y), a diffusivity D(u).

    It stands in the text of an `Equation` by its name, `q` or `q(x)`, and is found together with the
    field, as smooth as the evidence says.

    Parameters
    ----------
    *axes
        The coordinates that it depends on, or one field of the equation.
    positive
        Whether it is above zero everywhere; its logarithm is then what is learnt.
    initial
        For a positive one: its order of magnitude, where the equation does not tell it.
    between
        For one of a field: the range of the field, by default that of its readings. Beyond it the
        function goes on as it is at the end.

    >>> UnknownFunction("x", "y", positive=True, initial=0.5).axes
    ('x', 'y')
    """

    axes: tuple[str, ...] = eqx.field(static=True)
    positive: bool = eqx.field(static=True)
    initial: float | None = eqx.field(static=True)
    between: tuple[float, float] | None = eqx.field(static=True)

    @checked
    def __init__(
        self,
        *axes: str,
        positive: bool = False,
        initial: Positive | None = None,
        between: tuple[float, float] | None = None,
    ):
        _check_function(axes, positive, initial, between)
        self.between = between
        self.axes, self.positive = axes, positive
        self.initial = float(initial or 1.0) if positive else None

    @property
    def is_of_state(self) -> bool:
        """Whether it depends on a field."""
        return not set(self.axes) <= set(AXES)

    def field(self, name: str) -> str:
        """The field that stands for it."""
        return f"log_{name}" if self.positive else name

    def tree(self, name: str) -> Tree:
        """What its name in a formula stands for."""
        field = Name(self.field(name))
        if self.initial is None:
            return field
        return Binary("*", Number(self.initial), Call("exp", field))

    def require(self, where: str, coords: tuple[str, ...], free: tuple[str, ...]) -> None:
        """Raise unless it depends on what varies where it is to stand, `free` out of `coords`."""
        for axis in self.axes:
            if axis in free:
                continue
            has = f"the coordinates are {', '.join(coords)}"
            why = f"{axis} is the same everywhere there" if axis in coords else has
            remedy = "write pgt.Unknown(...), an unknown number"
            if free:
                remedy = f"write pgt.UnknownFunction{free!r}".replace(",)", ")")
            raise InputError(f"{where}: a function of {axis}, but {why}; {remedy}.")

    def of_field(self, value):
        """The function, from the field that stands for it."""
        return value if self.initial is None else self.initial * jnp.exp(value)


def constancy(functions: Mapping[str, UnknownFunction], coords: tuple[str, ...]) -> tuple[str, ...]:
    """The derivatives that vanish: along the coordinates that a function does not depend on.

    >>> constancy({"q": UnknownFunction("x")}, ("x", "t"))
    ('q_t',)
    """
    return tuple(
        f"{function.field(name)}_{axis}"
        for name, function in functions.items() for axis in coords if axis not in function.axes
    )  # fmt: skip


def positive_ones(functions: Mapping[str, UnknownFunction]) -> dict[str, Quantity]:
    """The positive functions, of which the fields are logarithms."""
    return {
        name: Quantity((function.field(name),), function.of_field)
        for name, function in functions.items() if function.positive
    }  # fmt: skip


# ------------------------------------------------------------------------------- of the state

# Standard deviation of the weight of the k-th polynomial, WEIGHT / k²: the logarithm of a positive
# function changes by a few units over the range of the state, and has no kinks. For others it is in units
# of what balances the equation.
WEIGHT, DEGREE = 2.0, 7
LEVEL = 10.0  # standard deviation of a function's mean: next to nothing is known of it
MARGIN = 0.05  # of the range of readings: so far beyond them a field may be


class StateFunction(eqx.Module):
    """A function of a field, with its weights as they are learnt."""

    field: str = eqx.field(static=True)
    positive: bool = eqx.field(static=True)
    between: tuple[float, float] | None = eqx.field(static=True)
    weights: tuple[Any, ...]

    @staticmethod
    def of(function: UnknownFunction) -> "StateFunction":
        """The function before anything is learnt."""
        first = function.initial or 0.0
        values = [first, *([1.0 if function.positive else 0.0] * DEGREE)]
        spreads = [LEVEL, *(WEIGHT / k**2 for k in range(1, DEGREE + 1))]
        weights = tuple(
            weight(Unknown(value, positive=function.positive), spread)
            for value, spread in zip(values, spreads, strict=True)
        )
        return StateFunction(function.axes[0], function.positive, function.between, weights)

    def __call__(self, state: Float[Array, ""], order: int = 0) -> Float[Array, ""]:
        """Its value where its weights are known, or a derivative by the state."""
        if order:
            return jax.jvp(lambda s: self(s, order - 1), (state,), (jnp.ones_like(state),))[1]
        low, high = self.between or (0.0, 1.0)
        local = jnp.clip((2 * jnp.asarray(state, float) - low - high) / (high - low), -1.0, 1.0)
        polynomials = [jnp.ones_like(local), local]
        for n in range(1, DEGREE):
            following = (2 * n + 1) * local * polynomials[n] - n * polynomials[n - 1]
            polynomials.append(following / (n + 1))
        pairs = list(zip(self.weights, polynomials, strict=True))
        if self.positive:
            return jnp.exp(sum((jnp.log(w) * p for w, p in pairs), jnp.zeros(())))
        return sum((w * p for w, p in pairs), jnp.zeros(()))

    def over(self, values: Float[np.ndarray, " n"]) -> "StateFunction":
        """The same over the range of readings, unless the user gave a range."""
        if self.between is not None or not len(values):
            return self
        low, high = float(np.min(values)), float(np.max(values))
        more = MARGIN * (high - low) or 1.0
        return StateFunction(self.field, self.positive, (low - more, high + more), self.weights)


def _check_function(axes, positive, initial, between):
    named = all(isinstance(axis, str) and axis.isidentifier() for axis in axes)
    of_state = named and not set(axes) <= set(AXES)
    if not axes or not named or len(set(axes)) < len(axes) or (of_state and len(axes) > 1):
        given = ", ".join(map(repr, axes))
        raise InputError(
            f"UnknownFunction({given}): name the coordinates it depends on, each once, out of "
            f'{listed(AXES)}, as in pgt.UnknownFunction("x", "y"), or one field, as in '
            'pgt.UnknownFunction("u").'
        )
    if between is not None and not (of_state and between[0] < between[1]):
        raise InputError(
            f"UnknownFunction(between={between}): the range of the field that it depends on, "
            "between=(lower, upper)."
        )
    if initial is not None and not positive:
        raise InputError(
            "UnknownFunction(initial=...): only a positive function needs an order of magnitude; "
            "leave it out, or write positive=True."
        )
