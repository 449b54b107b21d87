"""Unknown coefficients, which are estimated together with the field."""

from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import wadler_lindig
from jaxtyping import Array, Float

from pgt.core.arguments import InUnits, number_and_unit
from pgt.core.checked import checked
from pgt.core.errors import InputError


@checked
class Unknown(eqx.Module):
    """A coefficient to be learnt, starting from `initial`.

    A positive coefficient is stored as its logarithm, and one with bounds through a logistic curve, so
    that every value that the optimizer can reach is admissible. Any other coefficient is stored as a
    multiple of `unit`, which is the starting value until the problem is known.

    The starting value of an equation's coefficient may have a unit of its own, "0.6 m^2/min", which then
    holds for the bounds, too; both are converted to the units of the readings.

    >>> round(float(Unknown(0.05, positive=True).value), 6)
    0.05
    >>> Unknown("0.6 m^2/min", positive=True)
    Unknown('0.6 m^2/min', positive=True)
    """

    raw: Float[Array | np.ndarray, ""]
    positive: bool = eqx.field(static=True)
    bounds: tuple[float, float] | None = eqx.field(static=True)
    unit: float = eqx.field(static=True)
    units: str | None = eqx.field(static=True, default=None)  # its own, until it is converted
    # The prior standard deviation of `raw` for a weight of a function; None for other coefficients.
    spread: float | None = eqx.field(static=True, default=None)

    def __init__(
        self,
        initial: float | Annotated[str, InUnits()],
        positive: bool = False,
        bounds: tuple[float, float] | None = None,
        unit: float | None = None,
    ):
        initial, self.units = _number(initial)
        _check(initial, positive, bounds)
        self.unit = float(unit or abs(initial) or 1.0)
        if bounds is not None:
            low, high = bounds
            fraction = (initial - low) / (high - low)
            raw = np.log(fraction / (1 - fraction))
        else:
            raw = np.log(initial) if positive else initial / self.unit
        self.raw = jnp.asarray(float(raw))
        self.positive = positive
        self.bounds = bounds
        self.spread = None

    @property
    def value(self) -> Float[Array, ""]:
        if self.units:
            raise InputError(
                f"{self!r} is a number only as a coefficient of an equation together with readings and "
                "a domain, whose units it is converted to; here write the number alone."
            )
        return self.number

    @property
    def number(self) -> Float[Array, ""]:
        """The value, in the unit of its own if it has one."""
        if self.bounds is not None:
            low, high = self.bounds
            return low + (high - low) * jax.nn.sigmoid(self.raw)
        return jnp.exp(self.raw) if self.positive else self.unit * jnp.asarray(self.raw)

    def __repr__(self) -> str:
        try:
            shown = f"{float(self.number):.6g}"
        except Exception:  # traced, or one of many members
            shown = "..."
        kind = (
            f", bounds={self.bounds}" if self.bounds else ", positive=True" if self.positive else ""
        )
        return (
            f"Unknown({f'{shown} {self.units}'!r}{kind})"
            if self.units
            else f"Unknown({shown}{kind})"
        )

    def __pdoc__(self, **_):
        return wadler_lindig.TextDoc(repr(self))  # inside an equation, too

    @property
    def is_plain(self) -> bool:
        """Whether it may have any value, and is stored as a multiple of `unit`."""
        return not self.positive and self.bounds is None

    def in_units_of(self, unit: float) -> "Unknown":
        """The same value as a multiple of another unit."""
        return weight(Unknown(float(self.value), unit=unit), self.spread)

    def times(self, factor: float) -> "Unknown":
        """The unknown multiplied by a factor, as a plain number without a unit of its own."""
        bounds = self.bounds and (factor * self.bounds[0], factor * self.bounds[1])
        return Unknown(factor * float(self.number), self.positive, bounds)


def weight(node: Unknown, spread: float | None) -> Unknown:
    """The unknown as a weight of a function, with the prior standard deviation `spread`."""
    object.__setattr__(node, "spread", spread)
    return node


def is_unknown(node) -> bool:
    return isinstance(node, Unknown)


def resolve(tree):
    """The same tree with every `Unknown` replaced by its current value."""
    return jax.tree.map(lambda n: n.value if is_unknown(n) else n, tree, is_leaf=is_unknown)


def named_unknowns(tree) -> list[tuple[str, Unknown]]:
    """Every `Unknown` of an equation with its name there."""
    found = jax.tree_util.tree_flatten_with_path(tree, is_leaf=is_unknown)[0]
    return [(_readable(path), node) for path, node in found if is_unknown(node)]


def named_coefficients(tree) -> list[tuple[str, Unknown]]:
    """Every `Unknown` of an equation with its name, without the weights of functions."""
    return [(name, node) for name, node in named_unknowns(tree) if node.spread is None]


HOLDERS = (
    "coefficients",
    "pde",
    "on_walls",
    "states",
)  # the attributes of equations whose names are left out of those of unknowns


def _readable(path) -> str:
    """The name of a path: nu for `.coefficients['nu']`, velocity_0 for `.velocity[0]`."""
    keys = [getattr(key, "name", getattr(key, "key", getattr(key, "idx", key))) for key in path]
    names = [str(key) for key in keys if key not in HOLDERS]
    return "_".join(names)


def _number(initial: float | str) -> tuple[float, str | None]:
    """The starting value as a number, and its unit or None."""
    if not isinstance(initial, str):
        return initial, None
    found = number_and_unit(initial)
    if found is None:
        raise InputError(
            f"Unknown(initial={initial!r}): initial must be a number, or {InUnits.said}."
        )
    return found


def _check(initial, positive, bounds):
    if not np.isfinite(initial):
        raise InputError(f"Unknown(initial={initial}): the starting value must be a finite number.")
    if positive and initial <= 0:
        raise InputError(
            f"Unknown(initial={initial}, positive=True): a positive coefficient needs a starting "
            "value above 0; write a positive `initial` or drop `positive=True`."
        )
    if positive and bounds is not None and bounds[0] < 0:
        raise InputError(
            f"Unknown(positive=True, bounds={bounds}): between these bounds it may be negative; write a "
            "lower bound of 0 or more, or drop `positive=True`."
        )
    if bounds is not None and not bounds[0] < initial < bounds[1]:
        raise InputError(
            f"Unknown(initial={initial}, bounds={bounds}): the starting value must lie strictly "
            "between the bounds."
        )
