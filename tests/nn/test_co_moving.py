"""How fast a pattern goes round."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.co_moving import Pace


def test_a_speed_that_is_told_by_its_logarithm_is_found_again():
    pace = Pace((True, False), numbers=2)
    low, high = 0.2, 2.0
    middle, half = np.log(low * high) / 2, np.log(high / low) / 2
    parts = (jnp.array([np.exp(middle)]), jnp.array([[half, 0.0]]))
    pace = eqx.tree_at(lambda p: (p.gain, p.rate), pace, parts)
    for speed in (0.2, 0.7, 2.0):
        told = jnp.array([(np.log(speed) - middle) / half, 0.3])
        np.testing.assert_allclose(pace(told), [speed, 0.0], rtol=1e-5)


@pytest.mark.parametrize("periodic", [(False, False), (True, True)])
def test_nothing_moves_where_nothing_goes_round_in_time(periodic):
    pace = Pace(periodic, numbers=1)
    assert pace.gain.size == 0
    np.testing.assert_array_equal(pace(jnp.ones(1)), [0.0, 0.0])
