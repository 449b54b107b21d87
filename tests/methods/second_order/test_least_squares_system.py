"""Which weights are tuned, the memory limit, and the first prior."""

import numpy as np
import pytest

import pgt
from pgt.methods.second_order.least_squares_system import (
    MAX_NOISE_GUESS,
    common_noise,
    initial_prior,
    memory_limit,
)
from pgt.problem.budget import tunes_all_weights
from pgt.problem.losses import Problem
from pgt.training.settings import Polish


@pytest.mark.parametrize(("weights", "whole"), [("all", True), ("decoder", False), (None, False)])
def test_which_weights_are_tuned(weights, whole):
    readings, domain = pgt.sample(pgt.datasets.heat(), n=6), pgt.Domain(x=(0, 1), t=(0, 1))
    scaling = pgt.Scaling.fit(readings, domain)
    model = pgt.PGT(
        scaling, pgt.Heat(0.1).kernel(), width=8, blocks=1, heads=2, decoder_width=10,
        decoder_layers=1,
    )  # fmt: skip
    assert tunes_all_weights(model, Polish(weights=weights)) == whole
    assert tunes_all_weights(pgt.SIREN(scaling, width=4, layers=2), Polish())


def test_memory_is_in_gigabytes():
    assert memory_limit(Polish(memory=0.5)) == 5e8
    assert memory_limit(Polish()) >= 2e9


def test_the_first_prior_assumes_noise_of_the_size_of_the_held_out_error():
    readings = pgt.sample(pgt.datasets.heat(), n=6)
    strengths = [
        initial_prior(readings, pgt.Heat(0.1), noise, error).strength * 6
        for noise, error in ((None, 0.0), (None, 0.02), (None, 0.8), (0.3, 0.02))
    ]
    np.testing.assert_allclose(np.sqrt(strengths), [MAX_NOISE_GUESS, 0.02, MAX_NOISE_GUESS, 0.3])


def test_the_common_noise_is_a_weighted_mean():
    """The plain mean of very unequal σ would give a prior that is far too strong."""
    x, sigma = np.linspace(0, 1, 8), np.array([0.01] * 4 + [1.0] * 4)
    readings = pgt.Observations.from_arrays({"x": x}, {"u": x}, noise=sigma[:, None])
    domain = pgt.Domain(x=(0, 1))
    scaling, pde = pgt.Scaling.fit(readings, domain), pgt.Equation("u_xx = 0")
    problem = Problem.build(readings, pde, (), domain, scaling)
    relative = sigma / float(scaling.spread[0])
    found = common_noise(problem, scaling, float(relative.mean()))
    assert found == pytest.approx(np.sqrt(8 / np.sum(relative**-2.0)), rel=1e-5)
    assert common_noise(problem, scaling, None) is None
