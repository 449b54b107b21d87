"""Networks that come with the library."""

import jax
import numpy as np
import pytest

import pgt
from pgt.families.shipped import FOLDER, shipped, shipped_names


def test_they_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 8e6


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "heat" else pytest.mark.slow)
        for name in shipped_names()
    ],
)
def test_an_unseen_system_is_answered_within_what_the_card_says(name):
    network = shipped(name)
    family = network.family
    system = family.draw(jax.random.key(123))
    truth = family.dataset(system)
    answer = network(
        pgt.sample(truth, n=64, seed=1), {k: float(v) for k, v in system.coefficients.items()}
    )
    found = answer.grid(**family.axes).u.transpose(*truth.u.dims)
    error = float(np.sqrt(((found - truth.u) ** 2).mean()) / truth.u.std())
    assert answer.outside == ()
    assert error < 2 * network.card.errors["64"]["clean_tenth"]


def test_an_unknown_name_lists_the_others():
    with pytest.raises(pgt.InputError, match="heat"):
        shipped("heart")


def test_a_field_far_from_zero_is_not_taken_for_one_around_it():
    network = shipped("burgers")
    system = network.family.draw(jax.random.key(5))
    readings = pgt.sample(network.family.dataset(system), n=40, seed=0)
    x, t = np.asarray(readings.points).T
    carried = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": 1e5 + readings.values[:, 0]})
    coefficients = {name: float(value) for name, value in system.coefficients.items()}
    assert network(readings, coefficients).outside == ()
    assert any("mean" in said for said in network(carried, coefficients).outside)
