"""Programs as they are compiled everywhere."""

import equinox as eqx
import jax.numpy as jnp
import pytest

from pgt.nn.compiled import OPTIONS, compiled


def test_a_compiled_function_says_what_the_function_says():
    def raised(matrix, times: int):
        return matrix if times == 0 else raised(matrix @ matrix, times - 1)

    assert compiled(raised)(2 * jnp.eye(2), 2).tolist() == (16 * jnp.eye(2)).tolist()


def test_the_compiler_knows_its_options():
    with pytest.raises(Exception, match="xla_gpu_no_such"):
        eqx.filter_jit(jnp.sin, compiler_options=OPTIONS | {"xla_gpu_no_such": 1})(1.0)
