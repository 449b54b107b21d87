"""Kernels made of kernels: sums, strengths per head, and what is trained of them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from greens_functions import random_points

from pgt.core.errors import InputError
from pgt.kernels import (
    HeatKernel,
    LearnableStrength,
    NoKernel,
    PoissonKernel,
    SumKernel,
    WaveKernel,
)


def test_sum_adds_influences(float64):
    points, resolution = random_points(12, 3), np.full(3, 0.05)
    parts = HeatKernel(0.1), WaveKernel(1.0), PoissonKernel(0.3, has_time=True)
    gammas = [np.asarray(k.bias(points, points, resolution)) for k in parts]
    expected = np.logaddexp(np.logaddexp(gammas[0], gammas[1]), gammas[2])
    assert np.any(expected == -np.inf)
    np.testing.assert_allclose(SumKernel(*parts).bias(points, points, resolution), expected)


def test_sum_of_heads_broadcasts_single_headed_kernels():
    kernel = SumKernel(NoKernel(), LearnableStrength(NoKernel(), heads=3))
    gamma = kernel.bias(np.zeros((2, 2)), np.zeros((4, 2)), np.ones(2))
    np.testing.assert_allclose(gamma, np.full((3, 2, 4), np.log(2)), rtol=1e-6)


def test_strength_scales_each_head_and_keeps_zero_influence():
    points, resolution = random_points(6, 2), np.full(2, 0.01)
    plain = np.asarray(HeatKernel(0.1).bias(points, points, resolution))
    kernel = LearnableStrength(HeatKernel(0.1), heads=2)
    np.testing.assert_array_equal(
        kernel.bias(points, points, resolution), np.tile(plain, (2, 1, 1))
    )
    kernel = eqx.tree_at(lambda k: k.raw_strength, kernel, jnp.log(jnp.array([0.5, 2.0])))
    expected = np.array([0.5, 2.0])[:, None, None] * plain
    np.testing.assert_allclose(kernel.bias(points, points, resolution), expected, rtol=1e-6)


def test_coefficients_are_not_trained_unless_asked():
    trainable = eqx.filter(LearnableStrength(HeatKernel(0.1), heads=2), eqx.is_inexact_array)
    assert [leaf.shape for leaf in jax.tree.leaves(trainable)] == [(2,)]
    slope = jax.grad(
        lambda a: HeatKernel(a).log_influence(jnp.ones(2), jnp.zeros(2), jnp.ones(2))[0]
    )
    assert slope(0.1) == pytest.approx(1 / (4 * 0.1**2) - 1 / (2 * 0.1), rel=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SumKernel(), "nothing to add"),
        (lambda: LearnableStrength(NoKernel(), heads=0), "heads=0"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
