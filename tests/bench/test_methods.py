"""Methods are built as the tables say they are; nothing is trained."""

import pytest

import pgt
from pgt.bench.methods import METHODS, REFERENCES, scaling_of
from pgt.bench.presets import scale_of
from pgt.bench.problems import HeatProblem, WakeProblem

SIZES = scale_of("heat", "smoke").sizes


def built(method, setup=None, recipe="ours"):
    """Its shapes and settings, without drawing a weight."""
    setup = setup or HeatProblem(20).load(0)
    return METHODS[method].build(setup, SIZES, recipe, 0)


def test_names_and_labels_are_used_once():
    assert not METHODS.keys() & REFERENCES.keys()
    labels = [method.label for method in METHODS.values()] + list(REFERENCES.values())
    assert len(set(labels)) == len(labels)


def test_what_knows_no_physics_is_trained_without():
    without = {name for name, method in METHODS.items() if not method.physics}
    assert without == {"siren", "wire", "no-pde", "no-physics"}


def test_the_scale_is_that_of_the_fields_of_the_equation():
    setup = WakeProblem(30, hidden=("p",)).load(0)
    spread = scaling_of(setup).spread
    assert len(spread) == len(setup.pde.fields) == 3


def test_nothing_drifts_in_the_heat_equation():
    with pytest.raises(pgt.InputError, match="the drifting kernel is for the wake"):
        built("gamma-drift")
