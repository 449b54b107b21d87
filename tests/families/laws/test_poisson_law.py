"""Fields above random sources, against a known one and the equation."""

import grid_residuals
import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.laws.poisson_law import PoissonFamily, source_and_field
from pgt.families.laws.square import cosine_modes


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


def test_a_source_without_a_mean_and_a_field_without_an_edge():
    values = np.asarray(jax.jit(PoissonFamily().draw)(jax.random.key(3)).values)
    assert np.abs(values[[0, -1], :, 1]).max() < 1e-7
    assert np.abs(values[:, [0, -1], 1]).max() < 1e-7
    trapezium = np.ones(128)
    trapezium[[0, -1]] = 0.5
    mean = trapezium @ values[..., 0] @ trapezium / 127**2
    assert abs(mean) < 0.02 * values[..., 0].std()


def test_four_times_the_sines_change_little(monkeypatch):
    # Measured: 4e-5 of the largest at the worst of 3.
    modes, places = (
        cosine_modes(jax.random.normal(jax.random.key(1), (128, 128))),
        np.linspace(0, 1, 33),
    )
    usual = np.asarray(source_and_field(modes, places))[..., 1]
    monkeypatch.setattr("pgt.families.laws.poisson_law.SINES", 1024)
    more = np.asarray(source_and_field(modes, places))[..., 1]
    assert np.abs(usual - more).max() < 1e-4 * np.abs(more).max()
