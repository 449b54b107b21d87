"""Systems that a network has not seen."""

import jax
import numpy as np

import pgt
from pgt.families.card import HELD_OUT, SYSTEMS
from pgt.families.examples import examples


def test_they_are_others_than_those_of_the_card():
    trained = pgt.families.shipped("heat")
    (truth, answer, readings), other = examples(trained, 2)
    assert truth.u.dims == answer.u.dims
    assert len(readings) == 64
    error = float(((truth.u - answer.u) ** 2).mean() ** 0.5 / truth.u.std())
    assert error < 0.3
    keys = jax.random.split(jax.random.key(trained.card.seed + HELD_OUT), SYSTEMS)
    judged = jax.jit(jax.vmap(trained.family.draw))(keys[:64]).values
    for field in (truth, other[0]):
        apart = np.abs(np.asarray(judged)[..., 0] - field.u.to_numpy()).max(axis=(1, 2))
        assert apart.min() > 1e-3
