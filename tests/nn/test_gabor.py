"""Complex wavelets in pairs of real arrays."""

import jax.numpy as jnp
import numpy as np

from pgt.nn.gabor import Complex, gabor


def test_a_wavelet_far_out_is_zero():
    far = np.array([0, -1e3, 1e3, -1e15, 1e15], np.float32)
    wave = gabor(Complex(jnp.asarray(far[::-1]), jnp.asarray(far)), 20.0, 10.0)
    np.testing.assert_array_equal(wave.real, 0.0)
    np.testing.assert_array_equal(wave.imaginary, 0.0)
