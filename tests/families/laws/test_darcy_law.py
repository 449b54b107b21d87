"""Water through uneven ground, against finite volumes and an exact series."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from pgt.families.laws.darcy_law import SINES, WAVES, DarcyFamily, head
from pgt.families.laws.square import cosine_modes, cosines, sines, transform


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
    modes = cosine_modes(jax.random.normal(jax.random.key(0), (WAVES, WAVES)))
    places = np.linspace(0, 1, 33)
    found = np.asarray(transform(jax.jit(head)(modes), sines(places, SINES)))[1:-1, 1:-1]
    fine, finer = (finite_volumes(np.asarray(modes, float), n) for n in (96, 192))
    exact = (4 * finer[5::6, 5::6] - fine[2::3, 2::3]) / 3  # Richardson's
    # Measured against 256 sines in double precision: 3.5e-5 of the largest at the worst of 3.
    assert np.abs(found - exact).max() < 1e-4 * exact.max()


def test_even_ground_gives_the_series_of_the_textbook():
    found = transform(jax.jit(head)(jnp.zeros((2, 2))), sines(np.array([0.5]), SINES))
    assert abs(float(found[0, 0]) - 0.07367135) < 2e-6


def test_rain_raises_the_head_in_proportion():
    family, key = DarcyFamily(nodes=9), jax.random.key(1)
    draw = jax.jit(lambda q: family.draw(key, {"recharge": q}).values)
    one, two = np.asarray(draw(1.0)), np.asarray(draw(2.0))
    np.testing.assert_array_equal(one[..., 0], two[..., 0])
    np.testing.assert_allclose(2 * one[..., 1], two[..., 1], rtol=1e-5)
    assert (one[1:-1, 1:-1, 1] > 0).all()
