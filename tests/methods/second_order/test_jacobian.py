"""A Jacobian in chunks equals the whole one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.methods.second_order import jacobian as module
from pgt.methods.second_order.jacobian import Jacobian, JacobianLayout, RowProgram
from pgt.methods.second_order.residual_rows import RowBlock

random = np.random.default_rng(0)
BLOCKS = (
    RowBlock(lambda t, x: jnp.sin(x @ t)[None], random.standard_normal((5, 6)), np.arange(1.0, 6)),
    RowBlock(lambda t, x: jnp.stack([x @ t**2, t[5] * x[0]]), random.standard_normal((7, 6)), np.ones(7)),
)  # fmt: skip
THETA, SCALE = np.linspace(-1, 1, 6), np.linspace(1, 2, 19)


def jacobian(layout: JacobianLayout) -> Jacobian:
    data = tuple((block.items, block.weights) for block in BLOCKS)
    return Jacobian(RowProgram(BLOCKS), jnp.asarray(THETA), data, layout).scaled(SCALE)


@pytest.fixture(scope="module")
def expected():
    def rows(theta):
        parts = [
            b.weights[:, None] * jax.vmap(lambda x, b=b: b.function(theta, x))(b.items)
            for b in BLOCKS
        ]
        return jnp.concatenate([part.reshape(-1) for part in parts])

    with jax.enable_x64(True):
        theta = jnp.asarray(THETA)
        return np.asarray(rows(theta)), SCALE[:, None] * np.asarray(jax.jacfwd(rows)(theta))


@pytest.mark.parametrize("long", ["", "θ", "items"])
@pytest.mark.parametrize("chunk", [3, 4, None])
@pytest.mark.parametrize("dual", [False, True])
def test_chunks_give_the_same_products(expected, dual, chunk, long, monkeypatch):
    # Few items at a time.
    some = {
        "θ": {"LONG_THETA": 1, "ITEMS_PER_CHUNK_LONG_THETA": 2},
        "items": {"MANY_ITEMS": 1, "ITEMS_PER_CHUNK": 2},
    }
    for name, value in some.get(long, {}).items():
        monkeypatch.setattr(module, name, value)
    rows, matrix = expected
    with jax.enable_x64(True):
        found = jacobian(JacobianLayout(dual, chunk or 100, chunk is None))
        np.testing.assert_allclose(found.rows, rows)
        np.testing.assert_allclose(found.dense(), matrix, atol=1e-14)
        gram = matrix @ matrix.T if dual else matrix.T @ matrix
        np.testing.assert_allclose(found.gram(), gram, atol=1e-13)
        np.testing.assert_allclose(found.times(THETA), matrix @ THETA, atol=1e-13)
        np.testing.assert_allclose(found.transposed_times(rows), matrix.T @ rows, atol=1e-13)
        np.testing.assert_allclose(found.last_columns(2), matrix[:, -2:], atol=1e-14)
        condensed = found.condensed()
        np.testing.assert_allclose(condensed.T @ condensed, matrix.T @ matrix, atol=1e-13)
        if not dual:
            np.testing.assert_allclose(found.first_rows(5), matrix[:5], atol=1e-14)
            factor = found.qr_factor(5)
            np.testing.assert_allclose(factor.T @ factor, matrix[:5].T @ matrix[:5], atol=1e-13)
            assert found.qr_factor().shape == (6, 6)
            assert found.qr_factor(5) is factor
            assert condensed.shape == (6, 6)
        assert found.shape == (19, 6)
        assert (len(list(found.chunks())) > 1) == (chunk is not None)


def test_a_tall_jacobian_is_condensed_to_its_qr_factor(expected):
    with jax.enable_x64(True):
        condensed = jacobian(JacobianLayout(False, 100, True)).condensed()
    assert condensed.shape == (6, 6)
    np.testing.assert_allclose(condensed.T @ condensed, expected[1].T @ expected[1], atol=1e-13)


def test_the_layout_chooses_the_smaller_matrix_within_memory():
    assert JacobianLayout.of(100, 50, 1e9) == JacobianLayout(dual=False, chunk=100, whole=True)
    assert JacobianLayout.of(50, 100, 1e9) == JacobianLayout(dual=True, chunk=100, whole=True)
    million = JacobianLayout.of(5000, 10**6, 30e9)
    assert million.dual
    assert not million.whole
    assert 8 * module.COPIES_OF_CHUNK * 5000 * million.chunk <= 30e9
    assert JacobianLayout.of(50, 100, 1.0).chunk == 1
    column = 8 * module.COPIES_OF_CHUNK * 50  # bytes
    # All columns but two fit: chunks have equal size instead of one with two columns.
    assert JacobianLayout.of(50, 100, 98 * column).chunk == 50
