"""What is tuned, the bytes that its derivatives may take, and the prior that holds it."""

import numpy as np
import pytest

import pgt
from pgt.training.losses import Problem
from pgt.training.settings import Polish
from pgt.training.system import GUESS, common_noise, is_whole, memory_of, prior_of


@pytest.mark.parametrize(("weights", "whole"), [("all", True), ("decoder", False), (None, False)])
def test_which_weights_are_tuned(weights, whole):
    readings, domain = pgt.sample(pgt.datasets.heat(), n=6), pgt.Domain(x=(0, 1), t=(0, 1))
    scaling = pgt.Scaling.fit(readings, domain)
    model = pgt.PGT(
        scaling, pgt.Heat(0.1).kernel(), width=8, blocks=1, heads=2, decoder_width=10,
        decoder_layers=1,
    )  # fmt: skip
    assert is_whole(model, Polish(weights=weights)) == whole
    assert is_whole(pgt.SIREN(scaling, width=4, layers=2), Polish())


def test_memory_is_in_gigabytes():
    assert memory_of(Polish(memory=0.5)) == 5e8
    assert memory_of(Polish()) >= 2e9


def test_the_first_prior_takes_noise_for_no_larger_than_readings_are_missed_by():
    readings = pgt.sample(pgt.datasets.heat(), n=6)
    holds = [
        prior_of(readings, pgt.Heat(0.1), noise, error).hold * 6
        for noise, error in ((None, 0.0), (None, 0.02), (None, 0.8), (0.3, 0.02))
    ]
    np.testing.assert_allclose(np.sqrt(holds), [GUESS, 0.02, GUESS, 0.3])


def test_a_common_noise_stands_for_very_unequal_ones():
    """A fit under a prior that took their mean for it was held back by as much too strong a prior."""
    x, sigma = np.linspace(0, 1, 8), np.array([0.01] * 4 + [1.0] * 4)
    readings = pgt.Observations.from_arrays({"x": x}, {"u": x}, noise=sigma[:, None])
    domain = pgt.Domain(x=(0, 1))
    scaling, pde = pgt.Scaling.fit(readings, domain), pgt.Equation("u_xx = 0")
    problem = Problem.build(readings, pde, (), domain, scaling)
    relative = sigma / float(scaling.spread[0])
    found = common_noise(problem, scaling, float(relative.mean()))
    assert found == pytest.approx(np.sqrt(8 / np.sum(relative**-2.0)), rel=1e-5)
    assert common_noise(problem, scaling, None) is None
