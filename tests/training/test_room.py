"""Points that no memory holds are refused before they are drawn."""

import numpy as np
import pytest

import pgt
from pgt.training.assemble import assemble
from pgt.training.room import hidden_units, room_for_arrays

POINTS = np.random.default_rng(0).uniform(0, 1, (12, 2))
READINGS = pgt.Observations.from_arrays(POINTS, POINTS[:, :1], coords=("x", "t"), fields=("u",))
DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
MODEL = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": 3, "collocation": 10**9}, r"Training\(collocation=1000000000\)"),
        ({"steps": 3, "condition_points": 10**9}, r"Training\(condition_points=1000000000\)"),
        ({"polish": pgt.Polish(points=10**9)}, r"Polish\(points=1000000000\)"),
    ],
)
def test_a_thousand_million_points(settings, words, monkeypatch):
    monkeypatch.setattr("pgt.ground.memory.available_memory", lambda: 16e9)
    with pytest.raises(
        pgt.InputError, match=f"{words}: this needs .* GB are free; write some thou"
    ):
        assemble(READINGS, pgt.Burgers(0.1), DOMAIN, model=MODEL, training=pgt.Training(**settings))


def test_what_fits_is_not_refused():
    few = pgt.Training(steps=3, collocation=10_000, polish=pgt.Polish(points=10_000))
    assemble(READINGS, pgt.Burgers(0.1), DOMAIN, model=MODEL, training=few)
    # A sum of sines has points of its own.
    many = pgt.Training(collocation=10**9)
    assemble(READINGS, pgt.Heat(0.1), DOMAIN, training=many)


def test_hidden_units_are_those_of_all_layers():
    assert hidden_units(MODEL) == 4 + 4 + 1 + 1  # two layers, the readout, and a stack of biases
    assert room_for_arrays() is None
