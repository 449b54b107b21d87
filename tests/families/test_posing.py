"""Readings as a solver sees them."""

import jax
import numpy as np

import pgt
from pgt.families import HeatFamily
from pgt.families.asking import precisely
from pgt.families.posing import TRUST, posed, posed_many
from pgt.families.rigs import as_rigs
from pgt.families.weighing import LEAST

HEAT = HeatFamily(nodes=16, times=9)
NU = {"diffusivity": 0.02}


def readings(**settings):
    truth = HEAT.dataset(HEAT.draw(jax.random.key(1), NU))
    return pgt.sample(truth, n=11, seed=1, **settings)


def test_readings_without_noise_have_that_of_single_precision():
    with precisely():
        question = posed(HEAT, readings(), NU)
    real = question.is_real
    assert real.sum() == 11
    assert len(real) > 11
    np.testing.assert_allclose(question.base[real], LEAST * question.unit[real])
    assert question.trust == 0


def test_a_noise_that_is_given_is_trusted():
    with precisely():
        question = posed(HEAT, readings(noise=0.1, record_noise=True), NU)
    share = (question.base / question.unit)[question.is_real]
    assert 0.03 < share.min() == share.max() < 0.3
    assert question.trust == TRUST


def test_many_systems_are_posed_as_one_by_one():
    one = readings()
    points, values = np.asarray(one.points, float)[None], np.asarray(one.values, float)[None]
    rigs = as_rigs(HEAT, points, values, {"diffusivity": np.array([0.02])}, points[0])
    with precisely():
        many, alone = posed_many(HEAT, rigs), posed(HEAT, one, NU)
    np.testing.assert_allclose(many.values[0], alone.values[alone.is_real])
    np.testing.assert_allclose(many.base[0], alone.base[alone.is_real], rtol=1e-6)
