"""Fields on a square."""

import jax
import numpy as np

from pgt.families.laws.square import (
    cosine_modes,
    cosines,
    sines,
    sines_of_cosines,
    squares,
    transform,
)

X = np.linspace(0, 1, 201)


def test_the_field_has_the_covariance_it_names():
    noise = jax.random.normal(jax.random.key(0), (3000, 6, 6))
    found = np.asarray(jax.vmap(cosine_modes)(noise))
    assert (found[:, 0, 0] == 0).all()
    expected = [2**0.5 * 3 / (np.pi**2 + 9), 2 * 3 / (13 * np.pi**2 + 9)]
    np.testing.assert_allclose([found[:, 0, 1].std(), found[:, 2, 3].std()], expected, rtol=0.06)


def test_a_cosine_is_a_series_of_sines_inside():
    series = np.asarray(sines(X, 2000) @ sines_of_cosines(4, 2000))
    exact = np.asarray(cosines(X, 4))
    np.testing.assert_allclose(series[20:-20], exact[20:-20], atol=5e-3)
    # Closed form against quadrature.
    fine = (np.arange(20000) + 0.5) / 20000
    overlap = 2 * np.mean(np.cos(3 * np.pi * fine) * np.sin(2 * np.pi * fine))
    assert abs(float(sines_of_cosines(4, 4)[1, 3]) - overlap) < 1e-6


def test_modes_become_places_along_both_axes():
    modes = np.zeros((3, 3), np.float32)
    modes[1, 2] = 1.0
    found = transform(jax.numpy.asarray(modes), sines(X, 3))
    exact = np.outer(np.sin(2 * np.pi * X), np.sin(3 * np.pi * X))
    np.testing.assert_allclose(found, exact, atol=1e-5)
    assert abs(squares(3)[1, 2] - 13 * np.pi**2) < 1e-9
