"""What every kernel asks of a pair of points: separation, lag, floors and masks."""

from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jax.errors import TracerArrayConversionError
from jaxtyping import Array, Bool, Float

from pgt.core.arguments import LARGEST, Limits
from pgt.core.errors import InputError
from pgt.core.types import Point

Coefficient = float | int | np.number | Float[Array, ""]
"""A number, or a scalar array where the coefficient is being learnt."""

PositiveCoefficient = Annotated[Coefficient, Limits(above=0, at_most=LARGEST)]

Number = Float[Array, ""]
SIMULTANEOUS = 1e-3  # of the resolution in time: closer than that, two moments are one


def displacement_and_lag(receiver: Point, source: Point) -> tuple[Float[Array, " s"], Number]:
    """Receiver minus source, split into the spatial part and the time lag (the last axis)."""
    difference = jnp.asarray(receiver) - jnp.asarray(source)
    return difference[:-1], difference[-1]


def floored_lag(lag: Number, resolution: Point, causal: bool) -> Number:
    """The elapsed time, at least τ = resolution[-1]; without causality in either direction."""
    return jnp.maximum(lag if causal else jnp.abs(lag), resolution[-1])


def has_begun(lag: Number, resolution: Point) -> Bool[Array, ""]:
    """Whether the source is not later than the receiver, as far as the resolution tells.

    Coordinates that were rescaled differ from themselves by rounding, where a compiler makes a product
    and a difference one instruction: without an allowance a point would lie in its own future.
    """
    return lag >= -SIMULTANEOUS * resolution[-1]


def length(vector: Float[Array, " s"]) -> Number:
    """Euclidean length, with gradient 0 instead of NaN for the zero vector."""
    squared = jnp.sum(vector**2)
    nonzero = squared > 0
    return jnp.where(nonzero, jnp.sqrt(jnp.where(nonzero, squared, 1.0)), 0.0)


def visible_where(visible: Bool[Array, ""], log_influence: Number) -> Float[Array, "1"]:
    """`log_influence` where visible, exactly -inf elsewhere.

    `log_influence` must be finite on both sides: the gradient runs through both.
    """
    return jnp.where(visible, log_influence, -jnp.inf)[None]


def known_positive(value) -> bool:
    """Whether all entries are finite and above 0; a traced value cannot be looked at and passes."""
    try:
        concrete = np.asarray(value)
    except TracerArrayConversionError:
        return True
    is_number = np.issubdtype(concrete.dtype, np.number)
    return bool(is_number and np.all(np.isfinite(concrete) & (concrete > 0)))


def require_positive(kernel, *names: str):
    """Reject coefficients that are not positive numbers."""
    for name in names:
        value = getattr(kernel, name)
        if not known_positive(value):
            raise InputError(
                f"{type(kernel).__name__}({name}={value}): write a finite number above 0."
            )


def require_dimension(kernel, dimension: int, remedy: str):
    """Reject points whose number of spatial axes has no formula here."""
    if dimension not in (1, 2, 3):
        raise InputError(
            f"{type(kernel).__name__} got points with {dimension} spatial axes; it is known for "
            f"1, 2 or 3. Give the spatial axes as {remedy}."
        )
