"""Unknown functions of the coordinates, or of the field itself, which are fitted with the field.

An unknown function is an additional hidden field, such as q in u_t = D u_xx + q, with an equation q_t = 0
for each coordinate on which it does not depend. It therefore has what hidden fields have: a smoothness of
greatest evidence, bands and a stated error. For a positive function the field is its logarithm.

A function of the state, such as D(u) in u_t = div(D(u) grad(u)), is a sum of Legendre polynomials over
the range of u, or the exponential of such a sum if it is positive. Its weights are unknown numbers of the
equation.
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
    """An unknown function, such as a source q(x), a conductivity k(x, y) or a diffusivity D(u).

    The text of an `Equation` contains its name, `q` or `q(x)`. It is fitted together with the field, with
    a smoothness of greatest evidence.

    Parameters
    ----------
    *axes
        The coordinates on which it depends, or one field of the equation.
    positive
        Whether it is above zero everywhere; its logarithm is then fitted.
    initial
        The order of magnitude of a positive function, if the equation does not determine it.
    between
        The range of the field on which the function depends, by default that of its readings. Beyond
        it the function is constant.

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
        """Whether the function depends on a field instead of coordinates."""
        return not set(self.axes) <= set(AXES)

    def field(self, name: str) -> str:
        """The name of the field that represents the function."""
        return f"log_{name}" if self.positive else name

    def tree(self, name: str) -> Tree:
        """The formula that replaces the name of the function in an equation."""
        field = Name(self.field(name))
        if self.initial is None:
            return field
        return Binary("*", Number(self.initial), Call("exp", field))

    def require(self, where: str, coords: tuple[str, ...], free: tuple[str, ...]) -> None:
        """Raise unless all its axes vary in the region where it is used: `free` out of `coords`."""
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
        """The value of the function, from the value of its field."""
        return value if self.initial is None else self.initial * jnp.exp(value)


def constancy(functions: Mapping[str, UnknownFunction], coords: tuple[str, ...]) -> tuple[str, ...]:
    """The derivatives that vanish, along coordinates on which a function does not depend.

    >>> constancy({"q": UnknownFunction("x")}, ("x", "t"))
    ('q_t',)
    """
    return tuple(
        f"{function.field(name)}_{axis}"
        for name, function in functions.items() for axis in coords if axis not in function.axes
    )  # fmt: skip


def positive_ones(functions: Mapping[str, UnknownFunction]) -> dict[str, Quantity]:
    """The positive functions as derived quantities of their fields, which are logarithms."""
    return {
        name: Quantity((function.field(name),), function.of_field)
        for name, function in functions.items() if function.positive
    }  # fmt: skip


# ------------------------------------------------------------------------------- of the state

# The prior standard deviation of the k-th polynomial's weight is WEIGHT_SPREAD / k². The logarithm of a
# positive function then changes by a few units over the range of the state, without kinks. Other
# functions are in the units that balance the equation.
WEIGHT_SPREAD, DEGREE = 2.0, 7
# The prior standard deviation of a function's mean, which leaves the mean almost free.
MEAN_SPREAD = 10.0
# The share of the readings' range by which a field may lie beyond them.
RANGE_MARGIN = 0.05


class StateFunction(eqx.Module):
    """A function of a field as a sum of Legendre polynomials with unknown weights."""

    field: str = eqx.field(static=True)
    positive: bool = eqx.field(static=True)
    between: tuple[float, float] | None = eqx.field(static=True)
    weights: tuple[Any, ...]

    @staticmethod
    def of(function: UnknownFunction) -> "StateFunction":
        """The function with its initial weights."""
        first = function.initial or 0.0
        values = [first, *([1.0 if function.positive else 0.0] * DEGREE)]
        spreads = [MEAN_SPREAD, *(WEIGHT_SPREAD / k**2 for k in range(1, DEGREE + 1))]
        weights = tuple(
            weight(Unknown(value, positive=function.positive), spread)
            for value, spread in zip(values, spreads, strict=True)
        )
        return StateFunction(function.axes[0], function.positive, function.between, weights)

    def __call__(self, state: Float[Array, ""], order: int = 0) -> Float[Array, ""]:
        """The value of the function with known weights, or its derivative of an order by the state."""
        if order:
            return jax.jvp(lambda s: self(s, order - 1), (state,), (jnp.ones_like(state),))[1]
        low, high = self.between or (0.0, 1.0)
        unit = jnp.clip((2 * jnp.asarray(state, float) - low - high) / (high - low), -1.0, 1.0)
        polynomials = [jnp.ones_like(unit), unit]
        for n in range(1, DEGREE):
            recurrence = (2 * n + 1) * unit * polynomials[n] - n * polynomials[n - 1]
            polynomials.append(recurrence / (n + 1))
        pairs = list(zip(self.weights, polynomials, strict=True))
        if self.positive:
            return jnp.exp(sum((jnp.log(w) * p for w, p in pairs), jnp.zeros(())))
        return sum((w * p for w, p in pairs), jnp.zeros(()))

    def over(self, values: Float[np.ndarray, " n"]) -> "StateFunction":
        """The function over the range of these values, unless the user gave a range."""
        if self.between is not None or not len(values):
            return self
        low, high = float(np.min(values)), float(np.max(values))
        margin = RANGE_MARGIN * (high - low) or 1.0
        between = (low - margin, high + margin)
        return StateFunction(self.field, self.positive, between, self.weights)


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
