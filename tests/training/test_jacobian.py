"""J in pieces is J."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.training import jacobian as module
from pgt.training.jacobian import Jacobian, Plan, Program
from pgt.training.rows import Block

random = np.random.default_rng(0)
BLOCKS = (
    Block(lambda t, x: jnp.sin(x @ t)[None], random.standard_normal((5, 6)), np.arange(1.0, 6)),
    Block(lambda t, x: jnp.stack([x @ t**2, t[5] * x[0]]), random.standard_normal((7, 6)), np.ones(7)),
)  # fmt: skip
THETA, SCALE = np.linspace(-1, 1, 6), np.linspace(1, 2, 19)


def jacobian(plan: Plan) -> Jacobian:
    data = tuple((block.items, block.weights) for block in BLOCKS)
    return Jacobian(Program(BLOCKS), jnp.asarray(THETA), data, plan).scaled(SCALE)


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
@pytest.mark.parametrize("piece", [3, 4, None])
@pytest.mark.parametrize("dual", [False, True])
def test_pieces_add_up(expected, dual, piece, long, monkeypatch):
    # Some items at a time.
    some = {"θ": {"LONG": 1, "TOGETHER": 2}, "items": {"MANY": 1, "AT_ONCE": 2, "TRIANGLE": 4}}
    for name, value in some.get(long, {}).items():
        monkeypatch.setattr(module, name, value)
    rows, matrix = expected
    with jax.enable_x64(True):
        found = jacobian(Plan(dual, piece or 100, piece is None))
        np.testing.assert_allclose(found.rows, rows)
        np.testing.assert_allclose(found.assembled(), matrix, atol=1e-14)
        gram = matrix @ matrix.T if dual else matrix.T @ matrix
        np.testing.assert_allclose(found.gram(), gram, atol=1e-13)
        np.testing.assert_allclose(found.times(THETA), matrix @ THETA, atol=1e-13)
        np.testing.assert_allclose(found.transposed(rows), matrix.T @ rows, atol=1e-13)
        np.testing.assert_allclose(found.last(2), matrix[:, -2:], atol=1e-14)
        condensed = found.condensed()
        np.testing.assert_allclose(condensed.T @ condensed, matrix.T @ matrix, atol=1e-13)
        if not dual:
            np.testing.assert_allclose(found.first(5), matrix[:5], atol=1e-14)
            factor = found.triangle(5)
            np.testing.assert_allclose(factor.T @ factor, matrix[:5].T @ matrix[:5], atol=1e-13)
            assert found.triangle().shape == (6, 6)
            assert found.triangle(5) is factor
            assert condensed.shape == ((6, 6) if piece else (19, 6))
        assert found.shape == (19, 6)
        assert (len(list(found.pieces())) > 1) == (piece is not None)


def test_of_many_rows_no_more_is_kept_than_their_triangle(monkeypatch, expected):
    monkeypatch.setattr(module, "TALL", 3)
    with jax.enable_x64(True):
        condensed = jacobian(Plan(False, 100, True)).condensed()
    assert condensed.shape == (6, 6)
    np.testing.assert_allclose(condensed.T @ condensed, expected[1].T @ expected[1], atol=1e-13)


def test_the_smaller_matrix_is_solved_and_the_memory_kept():
    assert Plan.of(100, 50, 1e9) == Plan(dual=False, piece=100, whole=True)
    assert Plan.of(50, 100, 1e9) == Plan(dual=True, piece=100, whole=True)
    million = Plan.of(5000, 10**6, 30e9)
    assert million.dual
    assert not million.whole
    assert 8 * module.COPIES * 5000 * million.piece <= 30e9
    assert Plan.of(50, 100, 1.0).piece == 1
    most = (
        8 * module.COPIES * 50
    )  # bytes of one column: all but two fit, and no piece is left of two
    assert Plan.of(50, 100, 98 * most).piece == 50


@pytest.mark.parametrize("whole", [True, False])
def test_another_number_of_items_compiles_nothing_anew(expected, whole):
    rows, matrix = expected
    program = Program(BLOCKS, (None, 3))
    with jax.enable_x64(True):
        for count in (7, 3, 5):  # of the last block, in parts of three
            items, weights = BLOCKS[1].items[:count], BLOCKS[1].weights[:count]
            data = ((BLOCKS[0].items, BLOCKS[0].weights), (items, weights))
            kept = 5 + 2 * count
            assert program.count(jnp.asarray(THETA), data) == kept
            if whole:
                found, derivative = program.whole(jnp.asarray(THETA), data)
                np.testing.assert_allclose(derivative, (matrix / SCALE[:, None])[:kept], atol=1e-14)
            else:
                found = program.rows(jnp.asarray(THETA), data)
            np.testing.assert_allclose(found, rows[:kept])
    made = program.groups if whole else program.alone
    assert [one._cache_size() for one in made] == [1, 1]
