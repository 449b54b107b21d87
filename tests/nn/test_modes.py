"""Waves that fade and swing at rates that training finds."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pgt.nn.modes import Modes


def derivatives(waves, z):
    """Values, first along the last axis, second along both."""
    one = jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])

    def along(f, direction):
        return lambda z: jax.jvp(f, (z,), (direction,))[1]

    over_x, over_t = along(along(waves, one[0]), one[0]), along(waves, one[1])
    return waves(z), over_t(z), over_x(z), along(over_t, one[1])(z)


def test_with_the_law_of_diffusion_every_wave_solves_the_heat_equation():
    modes = Modes((False, False), numbers=1, count=4, swings=False)
    # ν = 0.1 e^(2 n) in unit coordinates: rate = ν (k π / 2)².
    parts = (jnp.asarray(np.log(0.1 * np.pi**2 / 4)), jnp.array([2.0]))
    modes = eqx.tree_at(lambda m: (m.fading.start, m.fading.slope), modes, parts)
    value, over_t, over_xx, _ = derivatives(modes(jnp.array([0.5])), jnp.array([0.3, -0.6]))
    assert value.shape == (modes.size,) == (8,)
    np.testing.assert_allclose(over_t, 0.1 * np.e * over_xx, rtol=1e-4, atol=1e-5)


def test_with_the_law_of_sound_every_wave_solves_the_wave_equation():
    modes = Modes((True, False), numbers=1, count=3, swings=True)
    speed = 0.7
    parts = (jnp.asarray(-30.0), jnp.asarray(np.log(speed * np.pi)))
    modes = eqx.tree_at(lambda m: (m.fading.start, m.swinging.start), modes, parts)
    value, _, over_xx, over_tt = derivatives(modes(jnp.zeros(1)), jnp.array([0.3, 0.4]))
    assert value.shape == (modes.size,) == (12,)
    np.testing.assert_allclose(over_tt, speed**2 * over_xx, rtol=1e-3, atol=1e-2)


def test_on_a_ring_waves_close():
    waves = Modes((True, False), numbers=1, count=5, swings=False)(jnp.zeros(1))
    ends = [waves(jnp.array([x, 0.1])) for x in (-1.0, 1.0)]
    np.testing.assert_allclose(*ends, atol=1e-5)


def test_there_are_none_over_more_axes():
    modes = Modes((True, True, False), numbers=2, count=5, swings=True)
    assert modes.size == 0
    assert modes(jnp.zeros(2))(jnp.zeros(3)).shape == (0,)


def test_what_fades_at_once_stays_finite():
    modes = Modes((False, False), numbers=1, count=30, swings=False)
    slope = jax.grad(lambda n: jnp.sum(modes(n)(jnp.array([0.2, -0.9]))))(jnp.array([50.0]))
    assert bool(jnp.isfinite(slope).all())
