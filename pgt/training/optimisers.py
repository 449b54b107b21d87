"""Directions from Optax, step length from a schedule over the share of the budget that is spent.

An optimiser is any Optax transformation of the gradient into the direction of a step, such as
`optax.scale_by_adam()`. The learning rate, its sign and its schedule are not its business: the step
multiplies by them. What it counts in whole numbers is common to all members of an ensemble.
"""

import inspect
from functools import cache
from typing import Any

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from pgt.ground.arguments import Count, NotNegative, Positive, Share
from pgt.ground.errors import InputError
from pgt.ground.registry import parts, register
from pgt.training.soap import scale_by_soap

WARM_UP, HOLD, LAST = 0.02, 0.4, 1e-3


# Sides beyond 512 are not rotated: their QR would cost more than the step itself.
@register("soap", kind="optimiser")
def soap(
    b1: Share = 0.95,
    b2: Share = 0.95,
    eps: Positive = 1e-8,
    refresh_every: Count = 10,
    max_dimension: Count = 512,
) -> optax.GradientTransformation:
    """Adam in the eigenbasis of Shampoo's preconditioner (soap.py)."""
    return scale_by_soap(b1, b2, eps, refresh_every, max_dimension)


@register("adam", kind="optimiser")
def adam(b1: Share = 0.9, b2: Share = 0.999, eps: Positive = 1e-8) -> optax.GradientTransformation:
    """Moments of the gradient (Kingma & Ba 2015)."""
    return optax.scale_by_adam(b1, b2, eps)


@register("adamw", kind="optimiser")
def adamw(
    b1: Share = 0.9, b2: Share = 0.999, eps: Positive = 1e-8, weight_decay: NotNegative = 1e-4
) -> optax.GradientTransformation:
    """Adam with weights that decay (Loshchilov & Hutter 2019): those of the network, and neither the
    coefficients of the equation nor what a weighting learns."""
    network_alone = (True, False, False)
    decay = optax.add_decayed_weights(weight_decay, mask=network_alone)
    return optax.chain(optax.scale_by_adam(b1, b2, eps), decay)


@register("lion", kind="optimiser")
def lion(b1: Share = 0.9, b2: Share = 0.99) -> optax.GradientTransformation:
    """The sign of a mean gradient (Chen et al. 2023); wants a learning rate a tenth of Adam's."""
    return optax.scale_by_lion(b1, b2)


def direction(optimiser: str | optax.GradientTransformation) -> optax.GradientTransformation:
    """The update before it is multiplied by the learning rate."""
    return parts("optimiser")[optimiser]() if isinstance(optimiser, str) else optimiser


def schedule(progress: Float[Array, ""]) -> Float[Array, ""]:
    """Share of the learning rate: up over 2 %, constant to 40 %, cosine down to 0.1 % at the end."""
    rise = jnp.clip(progress / WARM_UP, 0.0, 1.0)
    fall = jnp.clip((progress - HOLD) / (1 - HOLD), 0.0, 1.0)
    return rise * (LAST + (1 - LAST) * 0.5 * (1 + jnp.cos(jnp.pi * fall)))


def described(optimiser: str | optax.GradientTransformation) -> str:
    """A name, or a transformation with its settings: the same in every process.

    >>> described(optax.scale_by_yogi(b1=0.8))
    'scale_by_yogi(b1=0.8, b2=0.999, eps=0.001, eps_root=0.0)'
    """
    return optimiser if isinstance(optimiser, str) else _described(optimiser)


def _described(value: Any, depth: int = 8) -> str:
    """A function is described by the name of what made it and the values that it closed over."""
    if isinstance(value, optax.GradientTransformation):
        return _described(value.update, depth)
    if isinstance(value, int | float | str | bool | None):
        return repr(value)
    if depth and isinstance(value, tuple):
        return f"({', '.join(_described(item, depth - 1) for item in value)})"
    if not depth or not inspect.isfunction(value):
        return type(value).__name__
    maker = value.__qualname__.partition(".<locals>")[0]
    inside = inspect.getclosurevars(value).nonlocals
    if maker == "with_extra_args_support":  # Optax's own wrapping says nothing
        return _described(inside["tx"], depth)
    return f"{maker}({', '.join(f'{n}={_described(v, depth - 1)}' for n, v in inside.items())})"


@cache
def check_direction(optimiser: optax.GradientTransformation) -> None:
    """Raise for a whole optimiser, such as `optax.adam(1e-3)`: negated twice, it would climb."""
    if not isinstance(optimiser, optax.GradientTransformation):
        raise InputError(
            f"Training(optimiser={optimiser!r}): write the name of one, such as 'soap', or an Optax "
            "transformation, such as optax.scale_by_adam()."
        )
    weights = jnp.ones((2, 2))
    update, _ = optimiser.update(weights, optimiser.init(weights), weights)
    if jnp.sum(jnp.asarray(update)) < 0:
        raise InputError(
            "Training(optimiser=...): this transformation goes against the gradient already; give the "
            "direction alone, such as optax.scale_by_adam() instead of optax.adam(1e-3): the "
            "learning rate is Training(learning_rate=...)."
        )
