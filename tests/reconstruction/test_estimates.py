"""Intervals of coefficients without error bars.

Unknown functions over their own coordinates.
"""

from dataclasses import replace

import numpy as np
import pytest

import pgt
from pgt.reconstruction.display import coefficient_texts
from pgt.uncertainty.intervals import intervals

TIMES = np.random.default_rng(0).uniform(0, 4, 30)
READINGS = pgt.Observations.from_arrays({"t": TIMES}, {"u": 2 / (1 + np.exp(1 - 1.5 * TIMES))})
GROWTH = pgt.Equation("u_t = r*u*(1 - u/2)", r=pgt.Unknown(1.0, positive=True))
DOMAIN = pgt.Domain(t=(0, 4))


def fitted(pde=GROWTH, **settings):
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=6, layers=1)
    polish = pgt.Polish(iterations=40, points=40)
    training = pgt.Training(steps=0, hold_out=0.2, polish=polish)
    return pgt.reconstruct(READINGS, pde, DOMAIN, model=network, training=training, **settings)


@pytest.fixture(scope="module")
def result():
    return fitted()


@pytest.mark.slow
def test_a_network_that_was_polished_has_the_interval_of_its_posterior(result):
    assert result.members is None
    found = result.intervals(0.8)["r"]
    asked = fitted(error_bars=pgt.Posterior(32))
    expected = intervals(asked.members, 0.8)["r"]
    assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper), rel=1e-6)
    assert "between" in coefficient_texts(result)["r"]


def test_terms_that_are_gone_are_doubted_and_the_fit_is_not_to_be_trusted(result):
    """The field of the true rate, and an equation that has lost it."""
    gone = pgt.Equation("u_t = r*u*(1 - u/2)", r=pgt.Unknown(1e-9, positive=True))
    verdict = replace(result, pde=gone).verdict()
    assert {"unidentified_coefficient", "large_residual"} <= set(verdict.kinds)
    assert verdict.exit_code == 4
    assert "unidentified_coefficient" not in result.verdict().kinds
