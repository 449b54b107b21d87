"""Truths are made once, on a grid that suits the domain."""

import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt_bench.zoo.truth import Formula


def _field(x, t):
    return {"u": jnp.sin(x) * t, "v": x + t}


BOX = pgt.Domain(x=(0, 2), t=(0, 1))


def test_a_formula_on_a_grid_and_at_a_point():
    truth = Formula(_field, (5, 3))
    grid = truth.on(BOX)
    assert grid.u.shape == (5, 3)
    assert grid.u.dtype == np.float64
    at = truth.at(BOX, jnp.array([0.5, 1.0]))
    assert at.tolist() == pytest.approx(
        [float(grid.u.sel(x=0.5, t=1.0)), float(grid.v.sel(x=0.5, t=1.0))], rel=1e-6
    )
    assert truth.on(BOX) is grid
