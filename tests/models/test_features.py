"""Random sines: exact derivatives, periodic axes, a field linear in its weights."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few_readings import DOMAINS, POINTS, field, readings

import pgt
from pgt.core.errors import InputError
from pgt.models.features import (
    Features,
    Multipoles,
    Sines,
)
from pgt.nn.scaling import Scaling

CUBE = {"x": (-1, 1), "y": (-1, 1), "z": (-1, 1)}
SHELL = pgt.shapes.Ball() - pgt.shapes.Ball((0.1, 0, 0), 0.3)


@pytest.fixture(scope="module")
def around():
    """The functions, and at some places their values and Laplacians."""
    domain = pgt.Domain(**CUBE, shape=SHELL)
    found = Multipoles.of(domain)
    assert found is not None
    with jax.enable_x64(True):
        ask = jax.jit(lambda z: (found(z), *(found(z, (k, k)) for k in range(3))))
        values, *second = map(np.asarray, ask(jnp.asarray(domain.even(60))))
    return found, values, sum(second)


def test_the_laplacian_of_further_ones_is_made_of_those_before(around):
    _, values, laplacian = around
    for rise, (one, before) in enumerate([((16, 25), (0, 9)), ((25, 29), (16, 20))], 1):
        own, earlier = laplacian[:, slice(*one)], values[:, slice(*before)]
        made = earlier @ np.linalg.lstsq(earlier, own, rcond=None)[0]
        assert np.abs(made - own).max() < 1e-9 * np.abs(own).max(), rise


# ------------------------------------------------------------------------------- features

SCALING = Scaling.fit(readings(), DOMAINS["open"])


@pytest.fixture
def in_float64():
    with jax.enable_x64(True):
        yield


def along_axes(function, axes):
    for axis in axes:
        function = (lambda f, a: lambda z: jax.jvp(f, (z,), (jnp.eye(2)[a],))[1])(function, axis)
    return function


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 0), (0, 1), (1, 1, 0), (0, 0, 1, 1)])
def test_derivatives_are_those_of_autodiff(in_float64, axes):
    sines = Sines.draw(8, (5.0, 3.0), (False, False), seed=1)
    z = jnp.array([0.3, -0.7])
    np.testing.assert_allclose(sines(z, axes), along_axes(sines, axes)(z), rtol=1e-12, atol=1e-12)


def test_only_periodic_axes_repeat(in_float64):
    sines = Sines.draw(40, (15.0, 15.0), (True, False))
    z = jnp.array([-1.0, 0.4])
    there = z + jnp.array([2.0, 0.0])
    for axes in ((), (0,), (0, 1)):
        np.testing.assert_allclose(sines(z, axes), sines(there, axes), rtol=0, atol=1e-11)
    assert np.abs(sines(z) - sines(z + jnp.array([0.0, 2.0]))).max() > 0.5
    waves = sines.frequencies[:, 0] / np.pi
    assert set(np.round(np.abs(waves), 12)) == {0, 1, 2, 3, 4, 5}


# ---------------------------------------------------------------------------------- the model


def test_the_field_is_the_weighted_sum_in_physical_units():
    model = Features(SCALING, count=9, band=(4.0, 2.0))
    readout = np.random.default_rng(0).normal(size=(2, 9)).astype(np.float32)
    model = eqx.tree_at(lambda m: m.network.readout, model, readout)
    sines = model.network.sines
    unit = (POINTS - [1.0, 1.5]) / [1.0, 1.5]  # of a domain 0 < x < 2, 0 < t < 3
    sums = np.sin(unit @ sines.frequencies.T + sines.phases) @ readout.T
    values = np.where(readings().mask, readings().values, np.nan)
    expected = np.nanmean(values, axis=0) + np.nanstd(values, axis=0) * sums
    np.testing.assert_allclose(field(model, readings(), POINTS), expected, rtol=2e-5)


WRONG_BANDS = [0.0, -1.0, (1.0, np.inf), (1.0, np.nan), "a"]


@pytest.mark.parametrize(
    ("band", "message"),
    [
        ((1.0,), "one for each of the 2 coordinates"),
        ((1.0, 2.0, 3.0), "one for each of the 2 coordinates"),
        *(
            (band, "band must be a number above 0, a list of numbers above 0")
            for band in WRONG_BANDS
        ),
    ],
)
def test_a_band_that_does_not_fit_is_refused(band, message):
    with pytest.raises(InputError, match=message):
        Features(SCALING, band=band)


@pytest.mark.parametrize("count", [0, -3])
def test_without_sines_there_is_no_model(count):
    with pytest.raises(InputError, match="Features"):
        Features(SCALING, count=count)
