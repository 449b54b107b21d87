"""Kernels as an attention bias: what is visible, and a resolution that must be one."""

import functools
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from greens_functions import each_dimension, random_points
from kernel_cases import ALL_KERNELS

from pgt.core.errors import InputError
from pgt.kernels import (
    AdvectionDiffusionKernel,
    HeatKernel,
    LearnableStrength,
    NoKernel,
    PoissonKernel,
    SumKernel,
    WaveKernel,
)
from pgt.kernels.kernel import (
    floored_lag,
    require_dimension,
    visible_where,
)

RESOLUTION = np.array([0.1, 0.5])


@pytest.mark.parametrize(
    ("lag", "causal", "elapsed"),
    [(2.0, True, 2.0), (0.25, True, 0.5), (-2.0, True, 0.5), (-2.0, False, 2.0)],
)
def test_elapsed_time_is_floored_at_the_resolution(lag, causal, elapsed):
    assert floored_lag(jnp.asarray(lag), RESOLUTION, causal) == elapsed


def test_what_is_invisible_has_no_influence_and_no_gradient():
    value, slope = jax.value_and_grad(lambda x: visible_where(x > 0, 2 * x)[0])(-1.0)
    assert (value, slope) == (-np.inf, 0.0)
    assert visible_where(jnp.asarray(True), jnp.asarray(-3.0)).tolist() == [-3.0]


def test_a_space_of_four_axes_is_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"4 spatial axes; .* Give the spatial axes as \(x, t\)\."):
        require_dimension(SimpleNamespace(), 4, "(x, t)")
    for dimension in (1, 2, 3):
        require_dimension(SimpleNamespace(), dimension, "(x, t)")


# ------------------------------------------------------------------------------- kernel


@pytest.mark.parametrize("kernel", [HeatKernel(0.1), AdvectionDiffusionKernel((1.0,), 0.1)])
def test_future_is_invisible_and_simultaneous_points_use_the_floor(float64, kernel):
    resolution, source = np.array([0.01, 0.05]), np.array([[0.3, 0.5]])
    receivers = np.array([[0.3, 0.5 - 1e-3 * 0.051], [0.3, 0.5 - 1e-12], [0.3, 0.5], [0.4, 0.5]])
    before, rounded, itself, beside = kernel.bias(receivers, source, resolution)[0, :, 0]
    assert before == -np.inf
    assert rounded == pytest.approx(
        float(itself), rel=1e-9
    )  # a thousandth of the resolution is none
    prefactor = -0.5 * np.log(4 * np.pi * 0.1 * 0.05)
    assert itself == pytest.approx(prefactor, rel=1e-12)
    assert beside == pytest.approx(prefactor - 0.1**2 / (4 * 0.1 * 0.05), rel=1e-12)


@pytest.mark.parametrize("kernel", [HeatKernel, WaveKernel])
@each_dimension
def test_smoothing_kernels_are_symmetric_in_time(float64, kernel, d):
    points, resolution = random_points(15, d + 1), np.full(d + 1, 0.2)
    smoothing, causal = kernel(0.9, causal=False), kernel(0.9)
    gamma = np.asarray(smoothing.bias(points, points, resolution)[0])
    np.testing.assert_array_equal(gamma, gamma.T)
    mirrored = points * np.r_[np.ones(d), -1]
    np.testing.assert_array_equal(gamma, smoothing.bias(mirrored, mirrored, resolution)[0])
    past = points[:, None, -1] >= points[None, :, -1]
    np.testing.assert_array_equal(gamma[past], causal.bias(points, points, resolution)[0][past])


# ------------------------------------------------------------------------------- kernel cases

FACTORIES = dict(ALL_KERNELS)
PRECISION = {1: "float64", 2: "float32", 3: "float32"}
CASES = [(name, d, dtype) for name in FACTORIES for d, dtype in PRECISION.items()]
COMPILE_QUICKLY = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
contract = pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))


def awkward_points(d):
    """Points that meet as the same point, instant or place, as past and future, near and far.

    Multiples of 1/64, so that their differences are exact even in single precision.
    """
    some = np.random.default_rng(0).integers(0, 64, (5, d + 1)) / 64
    same_time, same_place, far = some[:1].copy(), some[:1].copy(), some[:1] + 32.0
    same_time[0, 0] += 1 / 16
    same_place[0, -1] += 1 / 4
    return np.concatenate([some, same_time, same_place, far, -far])


def attention_loss(arguments, resolution):
    """A loss through softmax(Γ + logits), with a column of zeros for the global token."""
    kernel, receivers, sources, logits = arguments
    scores = kernel.bias(receivers, sources, resolution) + logits
    weights = jax.nn.softmax(jnp.pad(scores, ((0, 0), (0, 0), (1, 0))), axis=-1)
    values = jnp.arange(weights.shape[-1], dtype=weights.dtype)
    return jnp.sum((weights @ values) ** 2), weights


def observe(kernel, points, resolution, logits):
    """All that the tests look at, in one function so that each case is compiled once."""
    sets = jnp.stack([points, points + 4.0, points.at[:, -1].set(0.5)])
    here, moved, simultaneous = jax.vmap(lambda p: kernel.bias(p, p, resolution))(sets)
    arguments = (kernel, points, points, logits)
    gradients, weights = jax.grad(attention_loss, has_aux=True)(arguments, resolution)
    return {
        "here": here,
        "moved": moved,
        "simultaneous": simultaneous,
        "few_receivers": kernel.bias(points[:3], points, resolution),
        "one_pair": kernel.log_influence(points[1], points[2], resolution),
        "weights": weights,
        "gradients": jax.tree.leaves(gradients),
    }


@functools.cache
def observed(case):
    name, d, dtype = case
    with jax.enable_x64(dtype == "float64"):
        # Coefficients as arrays: their gradients are part of the contract too.
        kernel = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), FACTORIES[name](d))
        points = jnp.asarray(awkward_points(d), dtype)
        logits = jax.random.normal(jax.random.key(0), (len(points), len(points)), dtype)
        run = jax.jit(observe, compiler_options=COMPILE_QUICKLY)
        results = run(kernel, points, jnp.full(d + 1, 0.02, dtype), logits)
        return jax.tree.map(np.asarray, results)


@contract
def test_bias_has_one_matrix_per_head_in_the_precision_of_the_points(case):
    results = observed(case)
    heads, count = len(results["one_pair"]), len(awkward_points(case[1]))
    assert results["few_receivers"].shape == (heads, 3, count)
    assert results["few_receivers"].dtype == case[2]
    np.testing.assert_allclose(results["few_receivers"], results["here"][:, :3], rtol=1e-5)
    np.testing.assert_allclose(results["one_pair"], results["here"][:, 1, 2], rtol=1e-5)


@contract
def test_bias_is_finite_or_minus_infinity(case):
    bias = observed(case)["here"]
    assert np.all(np.isfinite(bias) | (bias == -np.inf))


@contract
def test_zero_influence_is_exactly_zero_attention(case):
    weights, bias = observed(case)["weights"], observed(case)["here"]
    assert np.all(weights[..., 1:][bias == -np.inf] == 0.0)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-5)


@contract
def test_gradients_through_the_softmax_are_finite(case):
    # With respect to every coefficient and strength, both sets of coordinates, and the logits.
    gradients = observed(case)["gradients"]
    assert len(gradients) >= 3
    assert all(np.all(np.isfinite(gradient)) for gradient in gradients)


# ------------------------------------------------------------------------------- composition


def test_sum_adds_influences(float64):
    points, resolution = random_points(12, 3), np.full(3, 0.05)
    parts = HeatKernel(0.1), WaveKernel(1.0), PoissonKernel(0.3, has_time=True)
    gammas = [np.asarray(k.bias(points, points, resolution)) for k in parts]
    expected = np.logaddexp(np.logaddexp(gammas[0], gammas[1]), gammas[2])
    assert np.any(expected == -np.inf)
    np.testing.assert_allclose(SumKernel(*parts).bias(points, points, resolution), expected)


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
