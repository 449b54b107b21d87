"""First-order optimizers: a direction from Optax, times a learning rate with a schedule.

An optimizer is any Optax transformation of the gradient into the direction of a step, such as
`optax.scale_by_adam()`. It has no learning rate, sign or schedule: the training step multiplies by them.
The schedule depends on the share of the budget that is spent. All members of an ensemble share the
integer counters of an optimizer.
"""

import inspect
from functools import cache
from typing import Any

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from pgt.core.arguments import Count, NotNegative, Positive, Share
from pgt.core.errors import InputError
from pgt.core.registry import parts, register
from pgt.training.soap import scale_by_soap

# The learning rate rises linearly until the first share of the budget and is constant until the second
# one.
WARM_UP_SHARE, CONSTANT_SHARE = 0.02, 0.4
# Then it falls as a cosine to this share of its value.
FINAL_RATE_SHARE = 1e-3


# Sides of more than 512 are not rotated, since their QR would take longer than the step itself.
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
    """Adam (Kingma & Ba 2015)."""
    return optax.scale_by_adam(b1, b2, eps)


@register("adamw", kind="optimiser")
def adamw(
    b1: Share = 0.9, b2: Share = 0.999, eps: Positive = 1e-8, weight_decay: NotNegative = 1e-4
) -> optax.GradientTransformation:
    """Adam with weight decay (Loshchilov & Hutter 2019) of the network only, not of the equation's
    coefficients and the weights of the losses."""
    network_only = (True, False, False)
    decay = optax.add_decayed_weights(weight_decay, mask=network_only)
    return optax.chain(optax.scale_by_adam(b1, b2, eps), decay)


@register("lion", kind="optimiser")
def lion(b1: Share = 0.9, b2: Share = 0.99) -> optax.GradientTransformation:
    """Lion, the sign of a mean gradient (Chen et al. 2023); it needs a tenth of Adam's learning rate."""
    return optax.scale_by_lion(b1, b2)


def direction(optimiser: str | optax.GradientTransformation) -> optax.GradientTransformation:
    """The transformation of the gradient into a direction, before the learning rate."""
    return parts("optimiser")[optimiser]() if isinstance(optimiser, str) else optimiser


def schedule(progress: Float[Array, ""]) -> Float[Array, ""]:
    """Factor on the learning rate: rising over 2 %, constant to 40 %, then a cosine to 0.1 %."""
    rise = jnp.clip(progress / WARM_UP_SHARE, 0.0, 1.0)
    fall = jnp.clip((progress - CONSTANT_SHARE) / (1 - CONSTANT_SHARE), 0.0, 1.0)
    return rise * (FINAL_RATE_SHARE + (1 - FINAL_RATE_SHARE) * 0.5 * (1 + jnp.cos(jnp.pi * fall)))


def describe_optimiser(optimiser: str | optax.GradientTransformation) -> str:
    """The name of an optimizer, or its transformation with settings, equal in every process.

    >>> describe_optimiser(optax.scale_by_yogi(b1=0.8))
    'scale_by_yogi(b1=0.8, b2=0.999, eps=0.001, eps_root=0.0)'
    """
    return optimiser if isinstance(optimiser, str) else _describe(optimiser)


def _describe(value: Any, depth: int = 8) -> str:
    """The text for a value; a function is described by the name of its factory and the values it closes
    over."""
    if isinstance(value, optax.GradientTransformation):
        return _describe(value.update, depth)
    if isinstance(value, int | float | str | bool | None):
        return repr(value)
    if depth and isinstance(value, tuple):
        return f"({', '.join(_describe(item, depth - 1) for item in value)})"
    if not depth or not inspect.isfunction(value):
        return type(value).__name__
    maker = value.__qualname__.partition(".<locals>")[0]
    inside = inspect.getclosurevars(value).nonlocals
    if maker == "with_extra_args_support":  # a wrapper of Optax
        return _describe(inside["tx"], depth)
    return f"{maker}({', '.join(f'{n}={_describe(v, depth - 1)}' for n, v in inside.items())})"


@cache
def check_direction(optimiser: optax.GradientTransformation) -> None:
    """Raise for a complete optimizer, such as `optax.adam(1e-3)`, whose sign would be changed twice."""
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
