"""A descent continues with the same bits, and uses fresh and fixed points as set."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.methods.second_order.descent import (
    MAX_DAMPING,
    DescentState,
    descend,
    why_ended,
)
from pgt.methods.second_order.least_squares import Residuals, WeightPrior
from pgt.methods.second_order.residual_rows import RowBlock, RowBlocks
from pgt.training.settings import Polish

# ------------------------------------------------------------------------------- descent


def waves(number: int) -> RowBlock:
    """The misfit between a small network and a wave, at the points of a draw."""
    x = np.random.default_rng(number).uniform(-1, 1, 12)

    def row(theta, x):
        hidden = jnp.tanh(theta[:4] * x + theta[4:8])
        return (hidden @ theta[8:12] - jnp.sin(3 * x))[None]

    return RowBlock(row, x, np.full(12, 12**-0.5))


def residuals():
    blocks = (RowBlock(waves(0).function, np.array([0.1, 0.7, -0.5]), np.ones(3)), waves(0))
    return Residuals(RowBlocks(blocks, 1, waves))


START = np.linspace(-1, 1, 12)


@pytest.mark.parametrize("prior", [None, WeightPrior(1e-4, 3, 3.0, 0.0)])
@pytest.mark.parametrize("fresh", [0.0, 0.5, 1.0])
def test_a_descent_continues_bit_for_bit(fresh, prior):
    with jax.enable_x64(True):
        settings = Polish(iterations=40, patience=100, fresh=fresh)
        states = []
        start = DescentState(START) if prior is None else DescentState(START, prior)
        revised = {"is_revised": prior is not None}
        end = descend(
            residuals(), start, settings, lambda t: float(t @ t), keep=states.append, **revised
        )
        again = descend(residuals(), states[31], settings, lambda t: float(t @ t), **revised)
    assert end.is_finished
    assert states[31].iteration == 32
    np.testing.assert_array_equal(end.theta, again.theta)
    np.testing.assert_array_equal(end.best, again.best)
    assert (end.costs, end.damping, end.prior) == (again.costs, again.damping, again.prior)
    assert descend(residuals(), end, settings, None) is end


def test_a_rejected_step_raises_the_damping():
    stuck = RowBlock(lambda t, x: (1 + t**2) * x, np.ones((1, 1)), np.ones(1))
    with jax.enable_x64(True):
        end = descend(Residuals([stuck]), DescentState(np.zeros(1)), Polish(iterations=5), None)
    assert end.damping > DescentState(np.zeros(1)).damping
    assert end.costs == (1.0,) * 6


@pytest.mark.parametrize(
    ("changes", "ended"),
    [
        ({}, "seconds"),
        ({"iteration": 50, "best_iteration": 45}, "iterations"),
        ({"iteration": 50}, "patience"),
        ({"damping": 2 * MAX_DAMPING}, "converged"),
        ({"costs": (1.0, np.nan)}, "diverged"),
    ],
)
def test_why_a_descent_ended(changes, ended):
    state = replace(DescentState(START, iteration=5, costs=(2.0, 1.0)), **changes)
    settings = Polish(iterations=50, seconds=1.0, patience=40)
    assert why_ended(state, settings, lambda theta: 0.1) == ended
    without = "converged" if ended == "patience" else ended
    assert why_ended(state, settings, None) == without
