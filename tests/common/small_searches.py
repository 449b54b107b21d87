"""Small least-squares problems, and the descent that fits them."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.methods.second_order.descent import DescentState, descend
from pgt.methods.second_order.least_squares import NO_PRIOR, Residuals
from pgt.methods.second_order.residual_rows import RowBlock
from pgt.training.settings import Polish


def run(blocks, start, held_out_error=lambda theta: 0.0, prior=None, **settings):
    with jax.enable_x64(True):
        state = DescentState(jnp.asarray(start), prior or NO_PRIOR)
        end = descend(
            Residuals(blocks),
            state,
            Polish(**settings),
            held_out_error,
            is_revised=prior is not None,
        )
        return end.best, end.costs


def noisy_polynomial(n=40, degree=25, noise=0.1):
    """The rows of a polynomial with far more coefficients than its noisy data allow."""
    random = np.random.default_rng(3)
    x = np.sort(random.uniform(-1, 1, n))
    design = np.polynomial.legendre.legvander(x, degree)
    values = np.sin(3 * x) + noise * random.standard_normal(n)
    rows = RowBlock(
        lambda t, item: (item[0] @ t - item[1])[None], (design, values), n**-0.5 + 0 * x
    )
    return rows, design, values
