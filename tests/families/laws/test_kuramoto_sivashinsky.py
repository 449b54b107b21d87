"""Chaos, against a refined run and the equation."""

import grid_residuals
import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.laws.kuramoto_sivashinsky import (
    DURATION,
    LENGTH,
    KuramotoSivashinskyFamily,
    evolve,
)
from pgt.families.laws.pseudo_spectral import Ring


def test_the_field_solves_the_equation():
    family = KuramotoSivashinskyFamily(nodes=256, times=641)
    left, scale = grid_residuals.residuals(family, jax.random.key(1), {"hyperviscosity": 0.7})
    assert np.abs(left["equation"]).max() < 1e-4 * scale["u_xxxx"]


def test_a_refined_run_in_double_precision_agrees():
    family = KuramotoSivashinskyFamily(nodes=128, times=9)
    draw = jax.jit(jax.vmap(lambda key: family.draw(key, {"hyperviscosity": 0.7})))
    values = np.asarray(draw(jax.random.split(jax.random.key(0), 8)).values)[..., 0]
    finer = Ring(128, 9, length=LENGTH, duration=DURATION, least=256, steps=1280)
    starts = 2 * np.fft.irfft(np.fft.rfft(values[:, :, 0].astype(float)), 256)
    with jax.enable_x64(True):
        refined = jax.jit(jax.vmap(lambda u: evolve(finer, u, 0.7)))(jnp.asarray(starts))[..., 0]
    # Chaos multiplies what single precision rounds; measured: 3e-5 of the spread at the worst of 64.
    assert np.abs(values - np.asarray(refined)).max() < 1e-4 * values.std()
    assert 0.8 < values.std() < 1.8


def test_it_does_not_come_to_rest():
    values = np.asarray(jax.jit(KuramotoSivashinskyFamily(times=9).draw)(jax.random.key(2)).values)[
        ..., 0
    ]
    assert np.abs(values.mean(0)).max() < 1e-3
    assert np.abs(np.diff(values, axis=1)).max(0).min() > 0.1
