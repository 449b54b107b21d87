"""First-order optimizers by name, the SOAP optimizer, and the schedule of the learning rate.

An optimizer is any Optax transformation of the gradient into the direction of a step, such as
`optax.scale_by_adam()`. It has no learning rate, sign or schedule, because the training step applies
them. The schedule depends on the share of the budget that is spent. All members of an ensemble share the
integer counters of an optimizer.
"""

import inspect
import math
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from pgt.core.arguments import Count, NotNegative, Positive, Share
from pgt.core.errors import InputError
from pgt.core.registry import parts, register

_VECTORS = "vectors"  # the group of all leaves with fewer than two axes


class SoapState(NamedTuple):
    """SOAP's moments by matrix shape ("mxn": k m n), factors and bases by size ("d": s d d)."""

    step: Int[Array, ""]
    mean: dict[str, Float[Array, "..."]]
    square: dict[str, Float[Array, "..."]]
    factor: dict[str, Float[Array, "s d d"]]
    basis: dict[str, Float[Array, "s d d"]]


class _Side(NamedTuple):
    """The rows, in the stack of their dimension, of the factors of one side of one group."""

    dimension: str
    start: int
    stop: int

    def of(self, stacks):
        return stacks[self.dimension][self.start : self.stop]


def scale_by_soap(
    b1: float = 0.95,
    b2: float = 0.95,
    eps: float = 1e-8,
    refresh_every: int = 10,
    max_dimension: int = 1024,
) -> optax.GradientTransformation:
    """Adam, run in the slowly turning eigenbasis of the gradient's Kronecker factors.

    For a matrix gradient G with factors L = E[G Gᵀ], R = E[Gᵀ G] and their eigenvectors Q_L, Q_R::

        M ← b1 M + (1 − b1) G           V ← b2 V + (1 − b2) (Q_Lᵀ G Q_R)²
        update = Q_L [ (Q_Lᵀ M Q_R) / (√V + eps) ] Q_Rᵀ        (M and V bias-corrected)

    The first call only computes the bases (by `eigh`) and returns zeros; every `refresh_every` steps
    they are updated by one power iteration, Q ← QR(P Q), columns and V in the order of the
    eigenvalues. A side longer than `max_dimension` is not rotated. Scalars and vectors get plain
    Adam. The leading axes of a leaf with three or more are a stack of matrices.

    Matrices of equal shape form one stack, and all factors of one dimension share one `eigh` and one QR,
    so that the size of the compiled program grows with the number of shapes, not of layers.

    Under `vmap` a step count per member makes XLA update the bases at every step. Ensembles should share
    it: ``vmap(update, in_axes=(0, axes), out_axes=(0, axes))``, ``axes = SoapState(None, 0, 0, 0, 0)``.

    >>> transformation = optax.chain(scale_by_soap(), optax.scale_by_learning_rate(3e-3))
    >>> state = transformation.init({"weight": jnp.ones((3, 4)), "bias": jnp.zeros(4)})
    """
    _check_settings(b1, b2, eps, refresh_every, max_dimension)

    def init(params):
        zeros = jax.tree.map(jnp.zeros_like, _pack(params))
        sizes = _stack_sizes(_sides(zeros, max_dimension))
        dtype = jnp.result_type(*zeros.values()) if zeros else jnp.float32
        factor = {d: jnp.zeros((n, int(d), int(d)), dtype) for d, n in sizes.items()}
        basis = {
            d: jnp.broadcast_to(jnp.eye(int(d), dtype=dtype), f.shape) for d, f in factor.items()
        }
        return SoapState(jnp.zeros((), jnp.int32), zeros, zeros, factor, basis)

    def update(updates, state, params=None):
        del params
        gradient = {k: g.astype(state.mean[k].dtype) for k, g in _pack(updates).items()}
        sides = _sides(gradient, max_dimension)
        direction, mean, square = _adam(gradient, state, sides, b1, b2, eps)
        factor = _update_factors(gradient, state.factor, sides, b2)
        is_due = (state.step % refresh_every == 0).astype(jnp.int32)
        basis, square = jax.lax.switch(
            jnp.where(state.step == 0, 2, is_due),
            (_keep_bases, _refresh(sides), _initialise),
            *(factor, state.basis, square),
        )
        next_state = SoapState(state.step + 1, mean, square, factor, basis)
        return _unpack(direction, updates), next_state

    return optax.GradientTransformation(init, update)


def _adam(gradient, state, sides, b1, b2, eps):
    """The direction and the new moments of each group; the first call's gradient is not counted."""
    step = jnp.maximum(state.step, 1)
    direction, mean, square = {}, {}, {}
    for key, value in gradient.items():
        value = jnp.where(state.step == 0, 0, value)
        bases = [None if side is None else side.of(state.basis) for side in sides[key]]
        mean[key] = b1 * state.mean[key] + (1 - b1) * value
        square[key] = b2 * state.square[key] + (1 - b2) * _project(value, *bases) ** 2
        first = _project(mean[key], *bases) / (1 - jnp.asarray(b1, value.dtype) ** step)
        second = square[key] / (1 - jnp.asarray(b2, value.dtype) ** step)
        direction[key] = _project_back(first / (jnp.sqrt(second) + eps), *bases)
    return direction, mean, square


def _project(matrix, left, right):
    matrix = matrix if left is None else left.mT @ matrix
    return matrix if right is None else matrix @ right


def _project_back(matrix, left, right):
    matrix = matrix if left is None else left @ matrix
    return matrix if right is None else matrix @ right.mT


def _update_factors(gradient, factor, sides, b2):
    """P ← b2 P + (1 − b2) G Gᵀ (left) or Gᵀ G (right), in the order of `_sides`."""
    products = {dimension: [] for dimension in factor}
    for key, (left, right) in sides.items():
        value = gradient[key]
        if left is not None:
            products[left.dimension].append(value @ value.mT)
        if right is not None:
            products[right.dimension].append(value.mT @ value)
    return {d: b2 * p + (1 - b2) * jnp.concatenate(products[d]) for d, p in factor.items()}


def _keep_bases(factor, basis, square):
    del factor
    return basis, square


def _initialise(factor, basis, square):
    """The eigenvectors of the factors as bases, and the second moments unchanged."""
    del basis
    return _decompose_in_sequence(
        lambda stack: jnp.linalg.eigh(stack)[1][..., ::-1], factor
    ), square


def _refresh(sides):
    """The function that updates the bases by one power iteration and reorders the second moments."""

    def refresh(factor, basis, square):
        power = {d: p @ basis[d] for d, p in factor.items()}
        order = {
            d: jnp.argsort(jnp.sum(basis[d] * power[d], axis=-2), axis=-1, descending=True)
            for d in power
        }
        sorted_power = {
            d: jnp.take_along_axis(p, order[d][..., None, :], axis=-1) for d, p in power.items()
        }
        updated = _decompose_in_sequence(_orthonormal, sorted_power)
        updated = {
            d: jnp.where(jnp.all(jnp.isfinite(q), axis=(-2, -1), keepdims=True), q, basis[d])
            for d, q in updated.items()
        }
        return updated, {key: _sort(value, order, *sides[key]) for key, value in square.items()}

    return refresh


def _orthonormal(stack):
    """The Q of a QR decomposition.

    On a GPU the batched Householder QR of the vendor's library took two thirds of a training step.
    On a CPU it is fast, and its replacement on the GPU would be slow to compile.
    """
    return jax.lax.platform_dependent(
        stack, cpu=lambda a: jnp.linalg.qr(a)[0], default=_cholesky_orthonormal
    )


def _cholesky_orthonormal(stack):
    """The Q of a QR decomposition, by shifted Cholesky QR (Fukaya et al. 2020).

    Three rounds of Gram matrix, Cholesky factor and triangular solve. Columns are brought to unit
    length first, and the shift of the first round keeps the Gram matrix positive.
    """
    eps = jnp.finfo(stack.dtype).eps
    length = jnp.linalg.norm(stack, axis=-2, keepdims=True)
    q = stack / jnp.maximum(length, jnp.finfo(stack.dtype).tiny)
    identity = jnp.eye(stack.shape[-1], dtype=stack.dtype)
    for shift in (10 * stack.shape[-1] * eps, 0.0, 0.0):
        gram = jnp.matmul(q.mT, q, precision="highest") + shift * identity
        factor = jnp.linalg.cholesky(gram)
        q = jax.lax.linalg.triangular_solve(factor, q, lower=True, transpose_a=True)
    return q


def _decompose_in_sequence(decompose, stacks):
    """The decomposition of each stack, one after the other.

    On the CPU a batched decomposition waits for other threads of the pool that it runs in. Two of them at
    once can take every thread and wait forever. XLA runs independent operations at once, so each stack is
    made to depend on the previous result.
    """
    results, zero = {}, 0.0
    for dimension, stack in stacks.items():
        results[dimension] = decompose(stack + zero)
        # XLA cannot remove this product, because it would be NaN for a NaN.
        zero = 0 * results[dimension][0, 0, 0]
    return results


def _sort(square, order, left, right):
    if left is not None:
        square = jnp.take_along_axis(square, left.of(order)[..., :, None], axis=-2)
    if right is not None:
        square = jnp.take_along_axis(square, right.of(order)[..., None, :], axis=-1)
    return square


def _group(leaf) -> str:
    is_matrix = leaf.ndim >= 2 and leaf.size > 0
    return f"{leaf.shape[-2]}x{leaf.shape[-1]}" if is_matrix else _VECTORS


def _flat_shape(leaf) -> tuple[int, ...]:
    return (-1,) if _group(leaf) == _VECTORS else (-1, *leaf.shape[-2:])


def _pack(tree) -> dict[str, Float[Array, "..."]]:
    """One stack of matrices for each shape, and one vector of all other leaves."""
    parts: dict[str, list] = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.floating):
            raise InputError(
                f"scale_by_soap: leaf {jax.tree_util.keystr(path)} is {jnp.result_type(leaf)}, "
                "and SOAP trains real floating-point arrays. Split other leaves off with "
                "`eqx.partition(model, eqx.is_inexact_array)`, and store a complex weight as its "
                "real and imaginary parts."
            )
        leaf = jnp.asarray(leaf)
        parts.setdefault(_group(leaf), []).append(leaf.reshape(_flat_shape(leaf)))
    return {key: jnp.concatenate(parts[key]) for key in sorted(parts)}


def _unpack(stacks, like):
    """The tree whose `_pack` is `stacks`, with the shapes and dtypes of `like`."""
    leaves, structure = jax.tree.flatten(like)
    used = dict.fromkeys(stacks, 0)
    pieces = []
    for leaf in map(jnp.asarray, leaves):
        key = _group(leaf)
        start, stack = used[key], stacks[key]
        used[key] += leaf.size // math.prod(stack.shape[1:])
        pieces.append(stack[start : used[key]].reshape(leaf.shape).astype(leaf.dtype))
    return jax.tree.unflatten(structure, pieces)


def _sides(stacks, max_dimension: int) -> dict[str, tuple[_Side | None, _Side | None]]:
    """The left and the right side of each group, numbered per dimension in the order of the groups."""
    used: dict[str, int] = {}

    def take(count, dimension):
        if dimension > max_dimension:
            return None
        start = used.get(str(dimension), 0)
        used[str(dimension)] = start + count
        return _Side(str(dimension), start, start + count)

    return {
        key: (None, None)
        if key == _VECTORS
        else (take(stack.shape[0], stack.shape[1]), take(stack.shape[0], stack.shape[2]))
        for key, stack in stacks.items()
    }


def _stack_sizes(sides) -> dict[str, int]:
    rotated = [side for pair in sides.values() for side in pair if side is not None]
    return {
        s.dimension: max(r.stop for r in rotated if r.dimension == s.dimension) for s in rotated
    }


def _check_settings(b1, b2, eps, refresh_every, max_dimension):
    for name, value in (("b1", b1), ("b2", b2)):
        if not 0 <= value < 1:
            raise InputError(
                f"scale_by_soap({name}={value}): must lie in [0, 1), for example 0.95."
            )
    if not eps > 0:
        raise InputError(f"scale_by_soap(eps={eps}): must be positive, for example 1e-8.")
    for name, value in (("refresh_every", refresh_every), ("max_dimension", max_dimension)):
        if int(value) != value or value < 1:
            raise InputError(
                f"scale_by_soap({name}={value}): must be a whole number of at least 1."
            )


# ------------------------------------------------------------------------------- optimizers by name

# The learning rate rises linearly until the first share of the budget is spent, and is constant until the
# second one.
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
    """Adam in the eigenbasis of Shampoo's preconditioner (`scale_by_soap`)."""
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
    """The factor on the learning rate: it rises over 2 %, is constant to 40 %, then a cosine to 0.1 %."""
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
    """Raise for a complete optimizer, such as `optax.adam(1e-3)`, whose sign would change twice."""
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
