"""Least-squares searches of a few numbers, run as the polish runs them."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.training.descent import State, descend
from pgt.training.least_squares import NO_PRIOR, Search
from pgt.training.rows import Block
from pgt.training.settings import Polish


def run(blocks, start, judge=lambda theta: 0.0, prior=None, **settings):
    with jax.enable_x64(True):
        state = State(jnp.asarray(start), prior or NO_PRIOR)
        end = descend(
            Search(blocks), state, Polish(**settings), judge, is_revised=prior is not None
        )
        return end.best, end.costs


def noisy_polynomial(n=40, degree=25, noise=0.1):
    """Rows of a polynomial with far more coefficients than its data deserve."""
    random = np.random.default_rng(3)
    x = np.sort(random.uniform(-1, 1, n))
    design = np.polynomial.legendre.legvander(x, degree)
    values = np.sin(3 * x) + noise * random.standard_normal(n)
    rows = Block(lambda t, item: (item[0] @ t - item[1])[None], (design, values), n**-0.5 + 0 * x)
    return rows, design, values
