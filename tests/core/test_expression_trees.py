"""Expression trees: their values against Python's own arithmetic."""

import math

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgt.core.expression_trees import evaluate
from pgt.core.parser import Binary, Call, Name, Number, Unary, parse

NUMPY_FREE = {"sin": math.sin, "cos": math.cos, "tanh": math.tanh, "abs": abs}

leaves = st.one_of(
    st.floats(0, 100, allow_subnormal=False).map(lambda v: Number(round(v, 3))),
    st.sampled_from(["x", "y", "t"]).map(Name),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Unary, st.just("-"), inner),
        st.builds(Binary, st.sampled_from("+-*"), inner, inner),
        st.builds(Call, st.sampled_from(sorted(NUMPY_FREE)), inner),
    ),
    max_leaves=12,
)


def written(tree) -> str:
    match tree:
        case Number(value):
            return repr(value)
        case Name(name):
            return name
        case Unary(operator, operand):
            return f"({operator}{written(operand)})"
        case Binary(operator, left, right):
            return f"({written(left)} {operator} {written(right)})"
        case Call(function, argument):
            return f"{function}({written(argument)})"


def by_python(tree, variables) -> float:
    match tree:
        case Number(value):
            return value
        case Name(name):
            return variables[name]
        case Unary(_, operand):
            return -by_python(operand, variables)
        case Call(function, argument):
            return NUMPY_FREE[function](by_python(argument, variables))
        case Binary(operator, left, right):
            a, b = by_python(left, variables), by_python(right, variables)
            return {"+": a + b, "-": a - b, "*": a * b}[operator]


@settings(max_examples=60, deadline=None)
@given(trees)
def test_printed_tree_parses_back_and_evaluates_like_python(tree):
    variables = {"x": 0.3, "y": -1.7, "t": 2.5}
    parsed = parse(written(tree))
    assert parsed == tree
    with jax.enable_x64(True):
        value = float(evaluate(parsed, lambda name: jnp.asarray(variables[name])))
    expected = by_python(tree, variables)
    # Sines of huge arguments may differ by the rounding of the argument.
    if abs(expected) < 1e6:
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-6)
