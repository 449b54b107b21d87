r"""Value, first and second derivatives of a function in one forward pass.

A *stream* is a derivative that is propagated together with the value. For f: R^d -> R^c the stack is

    [ v,  ∂_i v (i in directions),  Σ_ij A_ij ∂_i ∂_j v (one per symmetric form A) ]

It is propagated through the traced function. A linear operation acts on the whole stack at once, so a
dense layer is one matrix product over all streams. A Laplacian is a single form, A = identity, instead of
one stream per axis (the "forward Laplacian", Li et al. 2024). A nonlinear element-wise f obeys

    ∂_i f(v) = f'(v) ∂_i v,      A:∂∂ f(v) = f'(v) (A:∂∂ v) + f''(v) Σ_ij A_ij ∂_i v ∂_j v.

Functions are traced to JAX's intermediate form and re-interpreted with a rule per primitive. Primitives
without a rule use nested `jax.jvp`, which is slower and always correct. The result is ordinary JAX: it
can be compiled, batched and differentiated again.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core
from jaxtyping import Array, Float

from pgt.core.types import Point

Form = tuple[tuple[int, int, float], ...]  # entries (i, j, A_ij) with i <= j, off-diagonals once


class PropagationPlan(NamedTuple):
    """The derivatives to propagate: coordinate indices, and forms over positions in `directions`."""

    directions: tuple[int, ...]
    forms: tuple[Form, ...]


class Streams(NamedTuple):
    """The stack [value, first derivatives..., second-order forms...] along the leading axis."""

    stack: Array

    @property
    def value(self) -> Array:
        return self.stack[0]


def propagate(function: Callable, point: Point, plan: PropagationPlan) -> Float[Array, "streams c"]:
    """The stack of streams of `function` at `point`."""
    closed = jax.make_jaxpr(function)(point)
    basis = np.zeros((1 + len(plan.directions) + len(plan.forms), len(point)), point.dtype)
    for row, axis in enumerate(plan.directions, start=1):
        basis[row, axis] = 1.0
    seed = Streams(jnp.asarray(basis).at[0].set(point))
    (output,) = _interpret(plan, closed.jaxpr, closed.consts, [seed])
    return _as_streams(plan, output).stack


def _interpret(plan: PropagationPlan, jaxpr, consts: Sequence, inputs: Sequence) -> list:
    """The outputs of a traced function whose inputs are streams or constants."""
    known = dict(zip(jaxpr.constvars, consts, strict=True))
    known.update(zip(jaxpr.invars, inputs, strict=True))
    for equation in jaxpr.eqns:
        operands = [v.val if isinstance(v, core.Literal) else known[v] for v in equation.invars]
        outputs = _apply(plan, equation, operands)
        known.update(zip(equation.outvars, outputs, strict=True))
    return [v.val if isinstance(v, core.Literal) else known[v] for v in jaxpr.outvars]


def _apply(plan: PropagationPlan, equation, operands: list) -> list:
    name = equation.primitive.name
    if not any(isinstance(o, Streams) for o in operands):
        return _bind(equation, operands)
    if not any(jnp.issubdtype(v.aval.dtype, jnp.inexact) for v in equation.outvars):
        return _bind(equation, [o.value if isinstance(o, Streams) else o for o in operands])
    if name == "stop_gradient":
        return [operands[0].value]
    if name in _CALLS:
        inner = equation.params[_CALLS[name]]
        jaxpr, consts = (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
        return _interpret(plan, jaxpr, consts, operands)
    return (_by_rule if _has_rule(equation) else _fallback)(plan, equation, operands)


def _by_rule(plan: PropagationPlan, equation, operands: list) -> list:
    name = equation.primitive.name
    if name in _ARITHMETIC:
        operands = [_broadcast_to(o, equation.outvars[0].aval.shape) for o in operands]
    if name in _UNARY:
        return [_elementwise(plan, _as_function(equation), operands[0])]
    if name in _LINEAR:
        return _linear(plan, equation, operands)
    if name == "dot_general" and not isinstance(operands[0], Streams):
        return [_product(plan, _swapped_product(equation), operands[1], operands[0])]
    if name == "mul":
        return [_product(plan, jnp.multiply, *operands)]
    if name == "div":
        return [_quotient(plan, *operands)]
    return [_product(plan, _as_function(equation), *operands)]


def _has_rule(equation) -> bool:
    """Whether the rules below are valid for this use of a primitive."""
    name, params = equation.primitive.name, equation.params
    if name == "gather":  # it is linear if the fill value for indices outside is 0
        return params["fill_value"] in (None, 0)
    if name == "abs":  # the absolute value of a complex number has no complex derivative
        return jnp.issubdtype(equation.invars[0].aval.dtype, jnp.floating)
    if name == "dot_general":  # rarer forms of precision and sharding have no rule
        has_common_precision = type(params["precision"]) in (type(None), tuple, jax.lax.Precision)
        return has_common_precision and params.get("out_sharding") is None
    return name in _UNARY | _LINEAR | _ARITHMETIC | _BILINEAR


# Primitives that only wrap another traced function, and the parameter that holds it. A function with its
# own jvp rule is not among them, because it has that rule for formulas with kinks.
_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
}
_UNARY = frozenset([
    "sin", "cos", "sine", "cosine", "tan", "tanh", "sinh", "cosh", "asin", "acos", "atan",
    "asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log1p", "logistic", "erf", "erfc",
    "rsqrt", "sqrt", "cbrt", "integer_pow", "square", "abs",
])  # fmt: skip
# Jointly linear in all operands that carry streams (index operands never do).
_LINEAR = frozenset([
    "add", "sub", "add_any", "neg", "reduce_sum", "broadcast_in_dim", "reshape", "transpose",
    "squeeze", "slice", "dynamic_slice", "concatenate", "convert_element_type", "copy", "rev",
    "gather", "select_n", "pad", "cumsum", "split", "stack", "unstack", "real", "imag",
    "reduce_precision", "dynamic_update_slice",
])  # fmt: skip
# Primitives of two operands, one of which may be a single number.
_ARITHMETIC = frozenset(["add", "sub", "add_any", "mul", "div"])
_BILINEAR = frozenset(["dot_general", "conv_general_dilated"])


def _bind(equation, operands: Sequence) -> list:
    """Run one traced operation on plain arrays."""
    params = equation.primitive.get_bind_params(equation.params)
    result = equation.primitive.bind(*operands, **params)
    return list(result) if equation.primitive.multiple_results else [result]


def _as_function(equation) -> Callable:
    return lambda *operands: _bind(equation, operands)[0]


def _broadcast_to(operand, shape: tuple[int, ...]):
    """The operand broadcast to `shape`; a stack of single numbers would look like a vector."""
    if isinstance(operand, Streams):
        stack = operand.stack
        rows = stack.reshape(-1, *[1] * len(shape)) if stack.ndim == 1 else stack
        return Streams(jnp.broadcast_to(rows, (len(stack), *shape)))
    return jnp.broadcast_to(operand, shape)


def _swapped_product(equation) -> Callable:
    """A matrix product W·x as a function of (x, W) that multiplies in this order.

    Batched over points and streams, the neurons are then the last axis of the result, contiguous in
    memory. In the other order they are the first axis, and each layer would begin by transposing all
    streams.
    """
    contracted, batch = equation.params["dimension_numbers"]
    precision = equation.params["precision"]
    if isinstance(precision, tuple):
        precision = precision[::-1]

    def multiply(x, w):
        product = jax.lax.dot_general(
            x,
            w,
            (contracted[::-1], batch[::-1]),
            precision=precision,
            preferred_element_type=equation.params["preferred_element_type"],
        )
        batched = len(batch[0])
        free = x.ndim - batched - len(contracted[1])
        if not free:
            return product
        return jnp.moveaxis(product, range(batched, batched + free), range(-free, 0))

    return multiply


def _as_streams(plan: PropagationPlan, operand) -> Streams:
    """The operand as streams; a constant has derivatives of zero."""
    if isinstance(operand, Streams):
        return operand
    operand = jnp.asarray(operand)
    zeros = jnp.zeros((len(plan.directions) + len(plan.forms), *operand.shape), operand.dtype)
    return Streams(jnp.concatenate([operand[None], zeros]))


def _linear(plan: PropagationPlan, equation, operands: list) -> list:
    name = equation.primitive.name
    constants = [not isinstance(o, Streams) for o in operands]
    if name in ("add", "sub", "add_any") and any(constants):
        return [_add_constant(plan, equation, operands)]
    if name in ("concatenate", "stack", "select_n", "pad", "dynamic_update_slice"):
        operands = [_promote(plan, name, i, o) for i, o in enumerate(operands)]
    axes = [0 if isinstance(o, Streams) else None for o in operands]
    plain = [o.stack if isinstance(o, Streams) else o for o in operands]
    outputs = jax.vmap(lambda *o: _bind(equation, o), in_axes=axes)(*plain)
    return [Streams(o) for o in outputs]


def _promote(plan: PropagationPlan, name: str, position: int, operand):
    """The operand as streams, unless it is a predicate or an index."""
    is_index = (name == "select_n" and position == 0) or (
        name == "dynamic_update_slice" and position > 1
    )
    return operand if is_index else _as_streams(plan, operand)


def _add_constant(plan: PropagationPlan, equation, operands: list) -> Streams:
    """The streams of x ± constant, in which only the value changes."""
    left, right = operands
    if isinstance(left, Streams):
        stack, constant = left.stack, right if equation.primitive.name != "sub" else -right
    else:
        stack, constant = (-right.stack if equation.primitive.name == "sub" else right.stack), left
    return Streams(stack + _padded(plan, constant[None].astype(stack.dtype), 0))


def _padded(plan: PropagationPlan, rows: Array, first: int) -> Array:
    """A stack that is zero except for `rows`, which start at position `first`.

    Padding and selecting by position form one element-wise expression, which the compiler fuses.
    Concatenating the stack from pieces would cost a pass over memory each time.
    """
    count = 1 + len(plan.directions) + len(plan.forms)
    width = [(first, count - first - rows.shape[0])] + [(0, 0)] * (rows.ndim - 1)
    return jnp.pad(rows, width)


def _is_value_row(stack: Array) -> Array:
    """An array that is True in the first row of a stack."""
    return jax.lax.broadcasted_iota(jnp.int32, stack.shape, 0) == 0


def _elementwise(plan: PropagationPlan, function: Callable, operand: Streams) -> Streams:
    """The streams of a nonlinear element-wise function."""
    stack, value = operand.stack, operand.value
    ones = jnp.ones_like(value)

    def with_slope(x):
        return jax.jvp(function, (x,), (ones,))

    if not plan.forms:
        result, slope = with_slope(value)
        return Streams(jnp.where(_is_value_row(stack), result, slope * stack))
    (result, slope), (_, curvature) = jax.jvp(with_slope, (value,), (ones,))
    count = 1 + len(plan.directions)
    first = stack[1:count]
    second = [curvature * row for row in _contract(plan, jnp.multiply, first, first)]
    derivatives = _add_to_forms(plan, slope * stack, second)
    return Streams(jnp.where(_is_value_row(stack), result, derivatives))


def _add_to_forms(plan: PropagationPlan, stack: Array, rows: Sequence[Array]) -> Array:
    """The stack with a row added to each of its second-order forms."""
    for position, row in enumerate(rows, start=1 + len(plan.directions)):
        stack = stack + _padded(plan, row[None], position)
    return stack


def _contract(plan: PropagationPlan, multiply: Callable, left: Array, right: Array) -> list[Array]:
    """Σ_ij A_ij left_i · right_j for every form A."""
    pairs = {}
    for form in plan.forms:
        for i, j, _ in form:
            if (i, j) not in pairs:
                product = multiply(left[i], right[j])
                same = i == j or left is right
                pairs[i, j] = product if same else (product + multiply(left[j], right[i])) / 2
    rows = []
    for form in plan.forms:
        # An off-diagonal entry stands for A_ij and A_ji, hence the factor two.
        terms = [(c if i == j else 2 * c) * pairs[i, j] for i, j, c in form]
        rows.append(sum(terms[1:], terms[0]))
    return rows


def _product(plan: PropagationPlan, multiply: Callable, left, right) -> Streams:
    if not isinstance(right, Streams):
        return Streams(_map_streams(multiply, 0, None)(left.stack, right))
    if not isinstance(left, Streams):
        return Streams(_map_streams(multiply, None, 0)(left, right.stack))
    a, b, count = left.stack, right.stack, 1 + len(plan.directions)
    of_left = _map_streams(multiply, 0, None)(a[1:], b[0])
    total = _map_streams(multiply, None, 0)(a[0], b) + _padded(plan, of_left, 1)
    if plan.forms:
        crosses = [2 * row for row in _contract(plan, multiply, a[1:count], b[1:count])]
        total = _add_to_forms(plan, total, crosses)
    return Streams(total)


def _map_streams(multiply: Callable, *axes: int | None) -> Callable:
    """`multiply` mapped over streams; an element-wise product needs no mapping, which would move axes."""
    return multiply if multiply is jnp.multiply else jax.vmap(multiply, in_axes=axes)


def _quotient(plan: PropagationPlan, left, right) -> Streams:
    if not isinstance(right, Streams):
        return Streams(left.stack / right)
    reciprocal = _elementwise(plan, lambda x: 1 / x, right)
    return _product(plan, jnp.multiply, left, reciprocal)


def _fallback(plan: PropagationPlan, equation, operands: list) -> list:
    """The outputs of any other primitive, by nested forward-mode differentiation."""
    active = [i for i, o in enumerate(operands) if isinstance(o, Streams)]
    stacks = tuple(operands[i].stack for i in active)
    primals = tuple(s[0] for s in stacks)

    def function(*values):
        merged = list(operands)
        for i, v in zip(active, values, strict=True):
            merged[i] = v
        return [o for o in _bind(equation, merged) if jnp.issubdtype(o.dtype, jnp.inexact)]

    def push(tangents):
        return jax.jvp(function, primals, tangents)[1]

    def push_twice(i, j):
        first, second = (tuple(s[1 + k] for s in stacks) for k in (i, j))
        return jax.jvp(lambda *p: jax.jvp(function, p, first)[1], primals, second)[1]

    derivatives = jax.vmap(push)(tuple(s[1:] for s in stacks))
    for row, form in enumerate(plan.forms, start=len(plan.directions)):
        for i, j, c in form:
            second = push_twice(i, j)
            factor = c if i == j else 2 * c
            derivatives = [
                d.at[row].add(factor * s) for d, s in zip(derivatives, second, strict=True)
            ]
    remaining = iter(derivatives)
    outputs = _bind(equation, [o.value if isinstance(o, Streams) else o for o in operands])
    return [
        Streams(jnp.concatenate([o[None], next(remaining)]))
        if jnp.issubdtype(o.dtype, jnp.inexact)
        else o
        for o in outputs
    ]
