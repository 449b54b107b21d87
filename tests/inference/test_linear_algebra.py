"""Linear algebra of a step, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.inference import linear_algebra

MATRIX = np.random.default_rng(0).standard_normal((7, 4))


@pytest.fixture(params=[True, False], ids=["host", "device"])
def backend(request, monkeypatch):
    monkeypatch.setattr(linear_algebra, "on_host", lambda: request.param)
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("dual", [True, False])
def test_a_damped_system_is_solved(backend, dual):
    gram = linear_algebra.gram(linear_algebra.local(MATRIX), dual=dual)
    expected = MATRIX @ MATRIX.T if dual else MATRIX.T @ MATRIX
    np.testing.assert_allclose(gram, expected)
    diagonal = np.arange(1.0, len(expected) + 1)
    factor = linear_algebra.factorised(gram, diagonal)
    right = np.ones(len(expected))
    np.testing.assert_allclose(
        linear_algebra.solved(factor, right), np.linalg.solve(expected + np.diag(diagonal), right)
    )


def test_beside_numpy_all_is_double_and_on_the_processor():
    with linear_algebra.beside_numpy():
        made = jnp.sin(jnp.asarray(np.ones(2)))
    assert made.dtype == np.float64
    assert {device.platform for device in made.devices()} == {"cpu"}


def test_a_triangle_is_solved_either_way(backend):
    factor, right = linear_algebra.triangle(MATRIX), MATRIX[:4, :3]
    np.testing.assert_allclose(factor @ linear_algebra.back(factor, right), right)
    np.testing.assert_allclose(
        factor.T @ linear_algebra.back(factor, right, transposed=True), right
    )
