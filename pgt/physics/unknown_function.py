"""Functions of the coordinates that are learnt together with the field.

An unknown function is one more field that nobody measured: q in u_t = D u_xx + q, with a further equation
q_t = 0 for every coordinate that it does not depend on. So all that is known of hidden fields holds for
it, too: smoothness chosen by the evidence, bands, an expected error. Of a positive function the logarithm
is the field.
"""

from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp

from pgt.core.arguments import Positive
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.parser import Binary, Call, Name, Number, Tree
from pgt.data.domain import AXES
from pgt.physics.pde import Quantity


class UnknownFunction(eqx.Module):
    """A function of some of the coordinates, to be learnt: a source q(x), a conductivity k(x, y).

    It stands in the text of an `Equation` by its name, and is found together with the field, as smooth
    as the evidence says.

    Parameters
    ----------
    *axes
        The coordinates that it depends on.
    positive
        Whether it is above zero everywhere; its logarithm is then what is learnt.
    initial
        For a positive one: its order of magnitude, where the equation does not tell it.

    >>> UnknownFunction("x", "y", positive=True, initial=0.5).axes
    ('x', 'y')
    """

    axes: tuple[str, ...] = eqx.field(static=True)
    positive: bool = eqx.field(static=True)
    initial: float | None = eqx.field(static=True)

    @checked
    def __init__(self, *axes: str, positive: bool = False, initial: Positive | None = None):
        _check_function(axes, positive, initial)
        self.axes, self.positive = axes, positive
        self.initial = float(initial or 1.0) if positive else None

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


def _check_function(axes, positive, initial):
    known = all(isinstance(axis, str) and axis in AXES for axis in axes)
    if not axes or not known or len(set(axes)) < len(axes):
        given = ", ".join(map(repr, axes))
        raise InputError(
            f"UnknownFunction({given}): name the coordinates it depends on, each once, out of "
            'r, θ, x, y, z and t, as in pgt.UnknownFunction("x", "y").'
        )
    if initial is not None and not positive:
        raise InputError(
            "UnknownFunction(initial=...): only a positive function needs an order of magnitude; "
            "leave it out, or write positive=True."
        )
