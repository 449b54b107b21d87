"""Waves satisfy the equation whose symbol they were made of, one equation or a system."""

import numpy as np
import pytest

from pgt.models.exact_waves import Symbol, exact_waves, wave_vectors


def test_every_whole_wave_is_there_with_its_share_of_the_other_axis():
    vectors = wave_vectors(800, (2 * np.pi, 2 * np.pi, 2 * np.pi, 8.0), (True, True, True, False))
    waves, which = np.unique(np.round(vectors[:, :3] / np.pi), axis=0, return_inverse=True)
    assert len(waves) == 63  # of 5 x 5 x 5, each without its negative, and zero
    for number in range(len(waves)):
        own = np.sort(vectors[which == number, 3])
        assert len(own) >= 12
        assert np.diff(np.concatenate([[-8.0], own, [8.0]])).max() < 16 / 12 * 2.5


# ------------------------------------------------------------------------------- exact waves


def scalar(**terms):
    """A symbol in x and y by its powers: xx=1.0 is κ_x²."""
    powers = [[name.count("x"), name.count("y")] for name in terms]
    return Symbol(np.array(powers), np.array(list(terms.values()), float)[:, None, None])


LAPLACE = scalar(xx=1.0, yy=1.0)
HELMHOLTZ = scalar(xx=1.0, yy=1.0, o=900.0)
DIFFUSION = scalar(y=1.0, xx=-0.1, x=0.5)
BEAM = scalar(yy=1.0, xxxx=0.01)


@pytest.mark.parametrize("symbol", [LAPLACE, HELMHOLTZ, DIFFUSION, BEAM])
@pytest.mark.parametrize("periodic", [(False, False), (True, False)])
def test_the_symbol_is_zero_there(symbol, periodic):
    kappa, amplitudes = exact_waves(symbol, 60, (10.0, 6.0), periodic)
    assert len(kappa) >= (4 if periodic[0] else 20)
    sizes = (
        np.prod(np.abs(kappa)[:, None] ** symbol.powers, axis=-1) @ np.abs(symbol.factors)[:, 0, 0]
    )
    assert np.all(np.abs(symbol.at(kappa)[:, 0, 0]) <= 1e-12 * sizes)
    np.testing.assert_allclose(np.abs(amplitudes), 1.0)
    if periodic[0]:  # whole waves
        np.testing.assert_allclose(kappa[:, 0], 1j * np.pi * np.round(kappa[:, 0].imag / np.pi))


def test_waves_of_a_system_lie_in_its_null_space():
    """Light along a line, E_t = B_x, B_t = E_x."""
    powers = np.array([[0, 1], [1, 0]])
    light = Symbol(powers, np.array([np.eye(2), -np.eye(2)[::-1]]))
    kappa, amplitudes = exact_waves(light, 40, (9.0, 9.0), (False, False))
    np.testing.assert_allclose(kappa[:, 0] ** 2, kappa[:, 1] ** 2, atol=1e-9)
    left = np.einsum("nij,nj->ni", light.at(kappa), amplitudes)
    assert np.abs(left).max() < 1e-9
    np.testing.assert_allclose(np.linalg.norm(amplitudes, axis=1), 1.0)
