"""Noise levels: one for every field where the readings distinguish them."""

import numpy as np
import pytest

from pgt.inference.evidence import fit_posterior, maximize_evidence
from pgt.inference.linear_gaussian import Rows


def two_instruments(noise, given=None):
    """Rows of two fields that share eight weights, each read 40 times with a noise of its own."""
    random = np.random.default_rng(3)
    truth, seen = random.normal(size=8), random.normal(size=(80, 8)) / np.sqrt(8)
    fields = np.repeat([0, 1], 40)
    values = seen @ truth + np.asarray(noise)[fields] * random.normal(size=80)
    none = np.zeros((0, 8)), np.zeros(0)
    return truth, Rows(*none, seen, values, np.ones(80), given, fields)


@pytest.mark.parametrize("noise", [(0.02, 0.4), (0.3, 0.01)])
def test_every_field_has_a_noise_of_its_own_where_readings_tell(noise):
    """Else the better instrument counts for too little, and the worse one is followed too closely."""
    truth, rows = two_instruments(noise)
    solved, at_once = fit_posterior(rows), maximize_evidence(rows)
    found = solved.sigma * solved.reduced.sigma[[0, -1]]
    np.testing.assert_allclose(found, noise, rtol=0.3)
    error, before = (np.linalg.norm(s.weights - truth) for s in (solved, at_once))
    assert error < before / 3


def test_one_noise_suits_all_where_it_is_given_or_the_same():
    for rows in (two_instruments((0.1, 0.12))[1], two_instruments((0.02, 0.4), given=0.1)[1]):
        assert fit_posterior(rows).evidence == maximize_evidence(rows).evidence
