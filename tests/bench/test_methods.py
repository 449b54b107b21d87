"""Methods are built as the tables say they are; nothing is trained."""

import numpy as np

from pgt.kernels import HeatKernel, LearnableStrength, NoKernel
from pgt_bench.methods import METHODS
from pgt_bench.presets import scale_of
from pgt_bench.problems import HeatProblem

SIZES = scale_of("heat", "smoke").sizes


def built(method, readings=20, recipe="ours"):
    return METHODS[method].build(HeatProblem(readings).load(0), SIZES, recipe, 0)


def test_kernels_are_those_of_the_study():
    assert isinstance(built("gamma-none").kernel, NoKernel)
    assert isinstance(built("no-bias").kernel, NoKernel)
    plain, both_ways = built("gamma-heat").kernel, built("gamma-both-ways").kernel
    assert isinstance(plain, HeatKernel)
    assert isinstance(both_ways, HeatKernel)
    assert plain.causal
    assert not both_ways.causal
    assert isinstance(built("gamma-learnable").kernel, LearnableStrength)


def test_the_frequency_of_waves_is_the_authors_own_in_their_recipe_alone():
    ours, authors = (built("siren", recipe=recipe).network for recipe in ("ours", "authors"))
    ratio = np.asarray(ours.layers.readout) / np.asarray(authors.layers.readout)
    np.testing.assert_allclose(ratio, 30.0 / SIZES["siren"]["frequency"], rtol=1e-5)
