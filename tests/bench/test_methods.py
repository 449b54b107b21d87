"""Methods are built as the tables say they are; nothing is trained."""

import numpy as np

from pgt.kernels import HeatKernel, LearnableStrength, NoKernel
from pgt_bench.methods import FEW, METHODS, scaling_of
from pgt_bench.presets import scale_of
from pgt_bench.problems import HeatProblem, WakeProblem

SIZES = scale_of("heat", "smoke").sizes


def built(method, readings=20, recipe="ours"):
    return METHODS[method].build(HeatProblem(readings).load(0), SIZES, recipe, 0)


def test_what_knows_no_physics_is_trained_without():
    without = {name for name, method in METHODS.items() if not method.physics}
    assert without == {"siren", "wire", "no-pde", "no-physics"}


def test_a_hidden_field_is_scaled_among_the_others():
    spread = np.asarray(scaling_of(WakeProblem(30, hidden=("p",)).load(0)).spread)
    assert spread.shape == (3,)
    assert spread[2] == 1


def test_kernels_are_those_of_the_study():
    assert isinstance(built("gamma-none").kernel, NoKernel)
    assert isinstance(built("no-bias").kernel, NoKernel)
    plain, both_ways = built("gamma-heat").kernel, built("gamma-both-ways").kernel
    assert isinstance(plain, HeatKernel)
    assert isinstance(both_ways, HeatKernel)
    assert plain.causal
    assert not both_ways.causal
    assert isinstance(built("gamma-learnable").kernel, LearnableStrength)


def test_the_study_gathers_many_readings_with_anchors_and_few_without():
    assert built("gamma-none", FEW).network.anchors is None
    assert built("gamma-none", FEW + 1).network.anchors is not None
    assert built("pgt", FEW + 1).network.anchors is None
    assert built("pgt-anchors").network.anchors is not None


def test_the_frequency_of_waves_is_the_authors_own_in_their_recipe_alone():
    ours, authors = (built("siren", recipe=recipe).network for recipe in ("ours", "authors"))
    ratio = np.asarray(ours.layers.readout) / np.asarray(authors.layers.readout)
    np.testing.assert_allclose(ratio, 30.0 / SIZES["siren"]["frequency"], rtol=1e-5)
