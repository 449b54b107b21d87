"""The Fourier neural operator: its convolution, other resolutions, and mistakes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.fno import FourierLayers, cubic_weights, interpolate, spectral_convolution
from pgt.nn.layers import Draw
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast

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


# ------------------------------------------------------------------------------- fno

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 2))


def readings(n=30, seed=0):
    """exp(-π²t/10) sin(πx), which solves u_t = u_xx / 10."""
    points = np.random.default_rng(seed).uniform((0, 0), (1, 2), (n, 2))
    values = np.exp(-(np.pi**2) * points[:, 1] / 10) * np.sin(np.pi * points[:, 0])
    return pgt.Observations.from_arrays(points, {"u": values}, coords=("x", "t"))


def small(domain=DOMAIN, **options):
    sizes = {"grid": (12, 10), "modes": 4, "width": 8, "layers": 2}
    return pgt.FNO(Scaling.fit(readings(), domain), **(sizes | options))


# ---------------------------------------------------------------------------------------- the whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": (8, 8, 8)}, "2 axes"),
        ({"grid": 3}, "at least 4"),
        ({"modes": 6}, "at most half"),
        ({"layers": 0}, "layers must be a whole number from 1 up"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(pgt.InputError, match=message):
        small(**options)
