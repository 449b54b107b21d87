r"""Value, first and second derivatives of a function in one forward pass.

A *stream* is a derivative carried beside the value. For f: R^d -> R^c we carry the stack

    [ v,  ∂_i v (i in directions),  Σ_ij A_ij ∂_i ∂_j v (one per symmetric form A) ]

through the traced function. A linear operation acts on the whole stack at once, so a dense layer is one
matrix product over all streams; a Laplacian is a single form, A = identity, instead of one stream per
axis (the "forward Laplacian", Li et al. 2024). A nonlinear element-wise f obeys

    ∂_i f(v) = f'(v) ∂_i v,      A:∂∂ f(v) = f'(v) (A:∂∂ v) + f''(v) Σ_ij A_ij ∂_i v ∂_j v.

Functions are traced to JAX's intermediate form and re-interpreted with a rule per primitive; what has
no rule goes through nested `jax.jvp`, which is slower and always right. The result is ordinary JAX: it
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
    """Which derivatives travel: coordinate indices, and forms over positions in `directions`."""

    directions: tuple[int, ...]
    forms: tuple[Form, ...]


class Streams(NamedTuple):
    """A stack [value, first derivatives..., second-order forms...] along the leading axis."""

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
        operands = [_of_shape(o, equation.outvars[0].aval.shape) for o in operands]
    if name in _UNARY:
        return [_elementwise(plan, _single(equation), operands[0])]
    if name in _LINEAR:
        return _linear(plan, equation, operands)
    if name == "dot_general" and not isinstance(operands[0], Streams):
        return [_product(plan, _swapped(equation), operands[1], operands[0])]
    if name == "mul":
        return [_product(plan, jnp.multiply, *operands)]
    if name == "div":
        return [_quotient(plan, *operands)]
    return [_product(plan, _single(equation), *operands)]


def _has_rule(equation) -> bool:
    """Whether the rules below hold for this use of a primitive."""
    name, params = equation.primitive.name, equation.params
    if name == "gather":  # puts a number of its own where an index is outside: linear if that is 0
        return params["fill_value"] in (None, 0)
    if name == "abs":  # of a complex number is real, and no derivative in the complex sense exists
        return jnp.issubdtype(equation.invars[0].aval.dtype, jnp.floating)
    if name == "dot_general":  # there are rarer ways to say how a product is rounded, or spread
        usual = type(params["precision"]) in (type(None), tuple, jax.lax.Precision)
        return usual and params.get("out_sharding") is None
    return name in _UNARY | _LINEAR | _ARITHMETIC | _BILINEAR


# Primitives that only wrap another traced function, and the parameter that holds it. A function
# with its own jvp rule is not among them: the rule is there because the formula has kinks.
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
# Of two operands one may be a single number.
_ARITHMETIC = frozenset(["add", "sub", "add_any", "mul", "div"])
_BILINEAR = frozenset(["dot_general", "conv_general_dilated"])


def _bind(equation, operands: Sequence) -> list:
    """Run one traced operation on plain arrays."""
    params = equation.primitive.get_bind_params(equation.params)
    result = equation.primitive.bind(*operands, **params)
    return list(result) if equation.primitive.multiple_results else [result]


def _single(equation) -> Callable:
    return lambda *operands: _bind(equation, operands)[0]


def _of_shape(operand, shape: tuple[int, ...]):
    """A number repeated to `shape`: as a row of streams it would be taken for a vector."""
    if isinstance(operand, Streams):
        stack = operand.stack
        rows = stack.reshape(-1, *[1] * len(shape)) if stack.ndim == 1 else stack
        return Streams(jnp.broadcast_to(rows, (len(stack), *shape)))
    return jnp.broadcast_to(operand, shape)


def _swapped(equation) -> Callable:
    """A matrix product W·x as a function of (x, W) that multiplies in this order.

    Batched over points and streams, the neurons are then the last axis of the result, side by side in
    memory; in the other order they are the first, and every layer begins by transposing all streams.
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
        shared = len(batch[0])
        own = x.ndim - shared - len(contracted[1])
        return (
            jnp.moveaxis(product, range(shared, shared + own), range(-own, 0)) if own else product
        )

    return multiply


def _as_streams(plan: PropagationPlan, operand) -> Streams:
    """A constant as a stack whose derivatives are zero."""
    if isinstance(operand, Streams):
        return operand
    operand = jnp.asarray(operand)
    zeros = jnp.zeros((len(plan.directions) + len(plan.forms), *operand.shape), operand.dtype)
    return Streams(jnp.concatenate([operand[None], zeros]))


def _linear(plan: PropagationPlan, equation, operands: list) -> list:
    name = equation.primitive.name
    constants = [not isinstance(o, Streams) for o in operands]
    if name in ("add", "sub", "add_any") and any(constants):
        return [_shift(plan, equation, operands)]
    if name in ("concatenate", "stack", "select_n", "pad", "dynamic_update_slice"):
        operands = [_promote(plan, name, i, o) for i, o in enumerate(operands)]
    axes = [0 if isinstance(o, Streams) else None for o in operands]
    plain = [o.stack if isinstance(o, Streams) else o for o in operands]
    outputs = jax.vmap(lambda *o: _bind(equation, o), in_axes=axes)(*plain)
    return [Streams(o) for o in outputs]


def _promote(plan: PropagationPlan, name: str, position: int, operand):
    """Constants that are part of the output need zero derivatives; predicates and indices do not."""
    is_index = (name == "select_n" and position == 0) or (
        name == "dynamic_update_slice" and position > 1
    )
    return operand if is_index else _as_streams(plan, operand)


def _shift(plan: PropagationPlan, equation, operands: list) -> Streams:
    """x ± constant: only the value moves."""
    left, right = operands
    if isinstance(left, Streams):
        stack, constant = left.stack, right if equation.primitive.name != "sub" else -right
    else:
        stack, constant = (-right.stack if equation.primitive.name == "sub" else right.stack), left
    return Streams(stack + _placed(plan, constant[None].astype(stack.dtype), 0))


def _placed(plan: PropagationPlan, rows: Array, first: int) -> Array:
    """`rows` at position `first` of an otherwise zero stack.

    Padding and selecting by position keep everything one element-wise expression, which the compiler
    fuses; putting the stack together from pieces would cost a pass over memory each time.
    """
    count = 1 + len(plan.directions) + len(plan.forms)
    width = [(first, count - first - rows.shape[0])] + [(0, 0)] * (rows.ndim - 1)
    return jnp.pad(rows, width)


def _is_value(stack: Array) -> Array:
    """True in the first row of a stack."""
    return jax.lax.broadcasted_iota(jnp.int32, stack.shape, 0) == 0


def _elementwise(plan: PropagationPlan, function: Callable, operand: Streams) -> Streams:
    stack, value = operand.stack, operand.value
    ones = jnp.ones_like(value)

    def with_slope(x):
        return jax.jvp(function, (x,), (ones,))

    if not plan.forms:
        result, slope = with_slope(value)
        return Streams(jnp.where(_is_value(stack), result, slope * stack))
    (result, slope), (_, curvature) = jax.jvp(with_slope, (value,), (ones,))
    count = 1 + len(plan.directions)
    first = stack[1:count]
    bends = [curvature * row for row in _contract(plan, jnp.multiply, first, first)]
    rest = _with_forms(plan, slope * stack, bends)
    return Streams(jnp.where(_is_value(stack), result, rest))


def _with_forms(plan: PropagationPlan, stack: Array, rows: Sequence[Array]) -> Array:
    """The stack with a row added to each of its second-order forms."""
    for position, row in enumerate(rows, start=1 + len(plan.directions)):
        stack = stack + _placed(plan, row[None], position)
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
        return Streams(_each(multiply, 0, None)(left.stack, right))
    if not isinstance(left, Streams):
        return Streams(_each(multiply, None, 0)(left, right.stack))
    a, b, count = left.stack, right.stack, 1 + len(plan.directions)
    of_left = _each(multiply, 0, None)(a[1:], b[0])
    total = _each(multiply, None, 0)(a[0], b) + _placed(plan, of_left, 1)
    if plan.forms:
        crosses = [2 * row for row in _contract(plan, multiply, a[1:count], b[1:count])]
        total = _with_forms(plan, total, crosses)
    return Streams(total)


def _each(multiply: Callable, *axes: int | None) -> Callable:
    """`multiply` of each stream. Element by element it needs no mapping, which would move axes about."""
    return multiply if multiply is jnp.multiply else jax.vmap(multiply, in_axes=axes)


def _quotient(plan: PropagationPlan, left, right) -> Streams:
    if not isinstance(right, Streams):
        return Streams(left.stack / right)
    reciprocal = _elementwise(plan, lambda x: 1 / x, right)
    return _product(plan, jnp.multiply, left, reciprocal)


def _fallback(plan: PropagationPlan, equation, operands: list) -> list:
    """Any other primitive, by nested forward-mode differentiation."""
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

    rest = jax.vmap(push)(tuple(s[1:] for s in stacks))
    for row, form in enumerate(plan.forms, start=len(plan.directions)):
        for i, j, c in form:
            bend = push_twice(i, j)
            factor = c if i == j else 2 * c
            rest = [r.at[row].add(factor * b) for r, b in zip(rest, bend, strict=True)]
    smooth = iter(rest)
    outputs = _bind(equation, [o.value if isinstance(o, Streams) else o for o in operands])
    return [
        Streams(jnp.concatenate([o[None], next(smooth)]))
        if jnp.issubdtype(o.dtype, jnp.inexact)
        else o
        for o in outputs
    ]
