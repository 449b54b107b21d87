"""Fields on a square."""

import grid_residuals
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import pgt
from pgt.families.laws.square_laws import (
    DARCY_SINES,
    DARCY_WAVES,
    HelmholtzFamily,
    PoissonFamily,
    cosine_modes,
    cosines,
    head,
    sines,
    source_and_field,
    transform,
)


def test_the_field_has_the_covariance_it_names():
    noise = jax.random.normal(jax.random.key(0), (3000, 6, 6))
    found = np.asarray(jax.vmap(cosine_modes)(noise))
    assert (found[:, 0, 0] == 0).all()
    expected = [2**0.5 * 3 / (np.pi**2 + 9), 2 * 3 / (13 * np.pi**2 + 9)]
    np.testing.assert_allclose([found[:, 0, 1].std(), found[:, 2, 3].std()], expected, rtol=0.06)


def test_even_rain_gives_the_series_of_the_textbook():
    # ∇²u = 1: in the middle u = -0.0736713532... (Timoshenko's torsion of a square).
    modes = jnp.zeros((4, 4)).at[0, 0].set(1.0)
    f, u = np.moveaxis(np.asarray(source_and_field(modes, np.linspace(0, 1, 5))), -1, 0)
    np.testing.assert_allclose(f, 1.0)
    assert abs(u[2, 2] + 0.07367135) < 1e-6
    assert np.abs(u[[0, -1]]).max() < 1e-7


def test_a_smooth_source_is_met_by_differences():
    # Of a few waves only: differences do not see the finest of the law.
    modes = jnp.zeros((5, 5)).at[:4, 1:4].set(jax.random.normal(jax.random.key(0), (4, 3)))
    places = np.linspace(0, 1, 101)
    with jax.enable_x64(True):
        f, u = np.moveaxis(np.asarray(source_and_field(jnp.asarray(modes, float), places)), -1, 0)
    second = sum(
        grid_residuals.difference(grid_residuals.difference(u, i, places), i, places)
        for i in (0, 1)
    )
    inside = slice(25, -25)  # the series ends where it is least smooth, at the edge
    left = (second - f)[inside, inside]
    assert np.abs(left).max() < 2e-3 * f.std()


def test_the_source_is_that_of_poisson_and_the_field_differs_by_the_wave():
    # ∇²u + k²u = f = ∇²w: the sines of u and w are in the ratio (π²(i² + j²)) / (π²(i² + j²) - k²).
    key = jax.random.split(jax.random.key(0))[0]  # of the state, where one coefficient is drawn
    wave = HelmholtzFamily().draw(jax.random.key(0), {"wavenumber": 3.0}).values
    still = PoissonFamily().solve(jax.random.normal(key, (128, 128)), {})
    np.testing.assert_allclose(wave[..., 0], still[..., 0], atol=1e-5)
    x = np.linspace(0, 1, 128)
    for i, j in ((1, 1), (2, 1), (3, 3)):
        modes = np.outer(np.sin(i * np.pi * x), np.sin(j * np.pi * x))
        ratio = (wave[..., 1] * modes).sum() / (still[..., 1] * modes).sum()
        rate = np.pi**2 * (i**2 + j**2)
        np.testing.assert_allclose(ratio, rate / (rate - 9), rtol=1e-3)


def test_resonance_is_refused():
    with pytest.raises(pgt.InputError, match=r"resonates at 4\.443"):
        HelmholtzFamily(wavenumber=(1.0, 4.4))


def finite_volumes(modes, n):
    """h at the nodes inside, with the conductivity in the middle of every face of their cells."""
    nodes, middles = np.linspace(0, 1, n + 1), (np.arange(n) + 0.5) / n
    at = [np.asarray(cosines(places, len(modes)), float) for places in (nodes, middles)]
    east = np.exp(at[1] @ modes @ at[0].T)[:, 1:-1]
    north = np.exp(at[0] @ modes @ at[1].T)[1:-1]
    step = sp.diags([np.ones(n), -np.ones(n)], [0, -1], (n, n - 1))
    inside = sp.identity(n - 1)
    along, across = sp.kron(step, inside), sp.kron(inside, step)
    matrix = along.T @ sp.diags(east.ravel()) @ along + across.T @ sp.diags(north.ravel()) @ across
    return spsolve(matrix.tocsc(), np.full((n - 1) ** 2, n**-2.0)).reshape(n - 1, n - 1)


def test_finite_volumes_agree():
    modes = cosine_modes(jax.random.normal(jax.random.key(0), (DARCY_WAVES, DARCY_WAVES)))
    places = np.linspace(0, 1, 33)
    found = np.asarray(transform(jax.jit(head)(modes), sines(places, DARCY_SINES)))[1:-1, 1:-1]
    fine, finer = (finite_volumes(np.asarray(modes, float), n) for n in (96, 192))
    exact = (4 * finer[5::6, 5::6] - fine[2::3, 2::3]) / 3  # Richardson's
    # Measured against 256 sines in double precision: 3.5e-5 of the largest at the worst of 3.
    assert np.abs(found - exact).max() < 1e-4 * exact.max()


def test_even_ground_gives_the_series_of_the_textbook():
    found = transform(jax.jit(head)(jnp.zeros((2, 2))), sines(np.array([0.5]), DARCY_SINES))
    assert abs(float(found[0, 0]) - 0.07367135) < 2e-6
