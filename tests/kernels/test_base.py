"""Kernels as an attention bias: what is visible, the paper's limits, combinations, bad input."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.kernels import (
    AdvectionDiffusionKernel,
    HeatKernel,
    HelmholtzKernel,
    LearnableStrength,
    NoKernel,
    PoissonKernel,
    ScreenedPoissonKernel,
    SumKernel,
    WaveKernel,
)

each_dimension = pytest.mark.parametrize("d", [1, 2, 3])


@pytest.fixture
def float64():
    with jax.enable_x64(True):
        yield


def random_points(count, axes, seed=0):
    return np.random.default_rng(seed).uniform(0, 1, (count, axes))


# --- causality, floors, light cone ---


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


def test_smoothing_with_drift_follows_the_flow_backwards(float64):
    kernel, resolution = AdvectionDiffusionKernel((2.0,), 0.1, causal=False), np.full(2, 0.01)
    points = random_points(15, 2)
    gamma = np.asarray(kernel.bias(points, points, resolution)[0])
    np.testing.assert_allclose(gamma, gamma.T, rtol=1e-12)


@each_dimension
def test_wave_influence_ends_at_the_light_cone(float64, d):
    speed, lag, resolution = 1.5, 0.6, np.full(d + 1, 0.05)
    kernel = WaveKernel(speed)
    radii = np.array([speed * lag * 1.0001, speed * lag * 0.99])
    receivers = np.zeros((2, d + 1))
    receivers[:, 0], receivers[:, -1] = radii, lag
    outside, inside = kernel.bias(receivers, np.zeros((1, d + 1)), resolution)[0, :, 0]
    assert outside == -np.inf
    assert np.isfinite(inside)
    receivers[:, -1] = -lag
    assert np.all(kernel.bias(receivers, np.zeros((1, d + 1)), resolution) == -np.inf)


def test_wave_in_space_leaves_silence_behind_the_shell_but_not_in_the_plane(float64):
    # Huygens: a clap in 3D passes, a stone in a pond leaves a wake.
    def heard_at_the_source(d):
        receiver = np.zeros(d + 1)
        receiver[-1] = 1.0
        return WaveKernel(1.0).log_influence(receiver, np.zeros(d + 1), np.full(d + 1, 0.05))[0]

    assert heard_at_the_source(3) == -np.inf
    assert np.isfinite(heard_at_the_source(2))


@pytest.mark.parametrize("kernel", [PoissonKernel, ScreenedPoissonKernel, HelmholtzKernel])
@each_dimension
def test_elliptic_kernels_ignore_time(float64, kernel, d):
    points, resolution = random_points(8, d + 1), np.full(d + 1, 0.01)
    with_time = kernel(0.8, has_time=True).bias(points, points, resolution)
    without = kernel(0.8).bias(points[:, :d], points[:, :d], resolution[:d])
    np.testing.assert_array_equal(with_time, without)


def test_poisson_radius_below_the_resolution_still_shows_a_point_to_itself():
    gamma = PoissonKernel(0.01).bias(np.eye(2), np.eye(2), np.full(2, 0.5))[0]
    assert np.all(np.isfinite(np.diagonal(gamma)))
    assert gamma[0, 1] == -np.inf


# --- the paper's limits, as far as they hold ---


@each_dimension
def test_infinite_diffusivity_leaves_only_the_time_prefactor(float64, d):
    sources = random_points(10, d + 1)
    receiver = np.full((1, d + 1), 1.0)
    row = HeatKernel(1e12).bias(receiver, sources, np.full(d + 1, 1e-3))[0, 0]
    lag = 1.0 - sources[:, -1]
    np.testing.assert_allclose(row - row[0], -d / 2 * np.log(lag / lag[0]), atol=1e-8)
    sources[:, -1] = 0.4  # equal lag: the spatial part alone, which does vanish
    row = HeatKernel(1e12).bias(receiver, sources, np.full(d + 1, 1e-3))[0, 0]
    np.testing.assert_allclose(row, row[0], atol=1e-8)


@each_dimension
def test_zero_diffusivity_restricts_attention_to_the_nearest_neighbour(float64, d):
    sources, receiver = random_points(10, d + 1), np.full((1, d + 1), 0.5)
    sources[:, -1] = 0.2
    row = HeatKernel(1e-8).bias(receiver, sources, np.full(d + 1, 1e-3))[0, 0]
    nearest = np.argmin(np.linalg.norm(sources[:, :-1] - receiver[0, :-1], axis=1))
    np.testing.assert_array_equal(jax.nn.softmax(row), np.eye(10)[nearest])


# --- combinations ---


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


# --- bad input ---


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HeatKernel(0.0), "HeatKernel.diffusivity=0.0"),
        (lambda: HeatKernel(np.nan), "diffusivity=nan"),
        (lambda: AdvectionDiffusionKernel((1.0,), -1.0), "diffusivity=-1.0"),
        (lambda: WaveKernel(-2.0), "speed=-2.0"),
        (lambda: PoissonKernel(np.inf), "radius=inf"),
        (lambda: ScreenedPoissonKernel(0.0), "length=0.0"),
        (lambda: HelmholtzKernel(0.0), "wavenumber=0.0"),
        (lambda: SumKernel(), "nothing to add"),
        (lambda: LearnableStrength(NoKernel(), heads=0), "heads=0"),
        (lambda: _bias(AdvectionDiffusionKernel((1.0,), 1.0), 3), "2 spatial axes"),
        (lambda: _bias(WaveKernel(1.0), 5), "4 spatial axes"),
        (lambda: _bias(PoissonKernel(1.0, has_time=True), 1), "0 spatial axes"),
        (lambda: NoKernel().bias(np.ones((2, 2)), np.ones((2, 2)), np.zeros(2)), "above 0"),
    ],
)
def test_bad_input_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def _bias(kernel, axes):
    return kernel.bias(np.ones((2, axes)), np.ones((3, axes)), np.ones(axes))
