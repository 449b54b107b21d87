"""Layers on a regular grid: convolution in Fourier space, and the spline between the nodes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.draw import Draw
from pgt.nn.precision import cast
from pgt.nn.spectral import FourierLayers, cubic_weights, interpolate, spectral_convolution

# ---------------------------------------------------------------------------------------- convolution


def circular_convolution(nodes, weights, modes):
    """The same kernel written as a sum of waves, and the convolution as a sum over all shifts."""
    sizes = nodes.shape[:-1]
    both = [*range(modes), *range(-modes, 0)]
    places = np.stack(np.indices(sizes), -1) / sizes
    kernel = np.zeros((*sizes, *weights.shape[-2:]))
    for index in np.ndindex(*weights.shape[:-2]):
        wave = [both[i] for i in index]
        # A real function holds each wave and its mirror image; along the last axis only one is kept.
        twice = 2 if wave[-1] != 0 else 1
        phase = np.exp(2j * np.pi * places @ wave)
        kernel += twice * (phase[..., None, None] * weights[index]).real / np.prod(sizes)
    result = np.zeros((*sizes, weights.shape[-1]))
    for shift in np.ndindex(*sizes):
        moved = np.roll(nodes, shift, tuple(range(len(sizes))))
        result += moved @ kernel[shift]
    return result


@pytest.mark.parametrize(("sizes", "modes"), [((9,), 3), ((8, 7), 3), ((6, 4, 5), 2)])
def test_spectral_convolution_is_a_circular_convolution(sizes, modes):
    random = np.random.default_rng(0)
    kept = (2 * modes,) * (len(sizes) - 1) + (modes,)
    real, imaginary = random.normal(size=(2, *kept, 2, 3))
    nodes = random.normal(size=(*sizes, 2))
    with jax.enable_x64(True):
        ours = jax.jit(spectral_convolution)(nodes, real, imaginary)
    direct = circular_convolution(nodes, real + 1j * imaginary, modes)
    np.testing.assert_allclose(ours, direct, atol=1e-12)


def test_resolution_invariance():
    """Li et al. 2021: one set of weights acts on a function, at whatever resolution it is sampled."""
    layers = FourierLayers(6, 4, 2, 3, Draw(0))
    random = np.random.default_rng(1)
    waves, phases = random.integers(-2, 3, (3, 2, 6)), random.uniform(0, 6, (3, 1, 1, 6))

    def sampled(n):
        x, t = 2 * np.pi * np.indices((n, n))[..., None] / n
        terms = np.sin(
            waves[:, 0] * x[..., None, :] + waves[:, 1] * t[..., None, :] + phases[:, 0, 0]
        )
        return jnp.asarray(terms.sum(-2))

    with jax.enable_x64(True):
        layers = cast(layers, jnp.float64)
        apply = eqx.filter_jit(layers)
        coarse, middle, fine = (apply(sampled(n))[:: n // 16, :: n // 16] for n in (16, 32, 64))
        scale = np.abs(fine).max()
        errors = [np.abs(nodes - fine).max() / scale for nodes in (coarse, middle)]
    assert errors[0] < 0.05
    assert errors[1] < 1e-3
    assert errors[1] < errors[0] / 10


# ---------------------------------------------------------------------------------------- spline


def test_spline_reproduces_linear_functions():
    places = np.moveaxis(np.indices((6, 5)), 0, -1)
    with jax.enable_x64(True):
        nodes = jnp.asarray(np.stack([places @ [2.0, -3.0] + 1, places[..., 1]], -1))
        at = np.random.default_rng(0).uniform(1, (4, 3), (20, 2))
        values = jax.jit(jax.vmap(lambda p: interpolate(nodes, p)))(at)
        expected = np.stack([at @ [2.0, -3.0] + 1, at[:, 1]], -1)
        np.testing.assert_allclose(values, expected, atol=1e-12)
        np.testing.assert_allclose(cubic_weights(jnp.array([0.0]))[0], [1 / 6, 4 / 6, 1 / 6, 0])


def test_spline_is_twice_continuously_differentiable():
    with jax.enable_x64(True):
        nodes = jnp.asarray(np.random.default_rng(0).normal(size=(8, 1)))

        def value(p):
            return interpolate(nodes, p[None])[0]

        @jax.jit
        @jax.vmap
        def rows(p):
            return jnp.stack([f(p) for f in (value, jax.grad(value), jax.grad(jax.grad(value)))])

        borders = np.array([2.0, 3.0, 4.0, 5.0])
        np.testing.assert_allclose(rows(borders - 1e-9), rows(borders + 1e-9), atol=1e-6)
        assert np.abs(rows(borders)).min(0).min() > 1e-3
