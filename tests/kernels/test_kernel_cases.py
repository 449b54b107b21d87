"""What every kernel in `ALL_KERNELS` promises, whatever its equation."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.kernels.kernel_cases import ALL_KERNELS

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
def test_only_differences_of_coordinates_matter(case):
    np.testing.assert_array_equal(observed(case)["here"], observed(case)["moved"])


@contract
def test_nothing_is_louder_than_the_point_itself_at_the_same_instant(case):
    bias = observed(case)["simultaneous"]
    itself = np.diagonal(bias, axis1=1, axis2=2)[..., None]
    assert np.all(np.isfinite(itself))
    assert np.all(bias <= itself)


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
