"""Numbers without units."""

import jax.numpy as jnp
import numpy as np

from pgt.families.dimensionless import centred, extents, sizes
from pgt.nn.scaling import Scaling

SCALING = Scaling(
    middle=np.zeros(2),
    half_extent=np.array([2.0, 5.0]),
    mean=np.array([3.0]),
    spread=np.array([2.0]),
    resolution=np.ones(2),
    periodic=(False, False),
)


def test_a_range_goes_from_minus_one_to_one():
    found = [float(centred(number, 0.01, 1.0)) for number in (0.01, 0.1, 1.0)]
    np.testing.assert_allclose(found, [-1, 0, 1], atol=1e-6)
    assert float(centred(2.0, 2.0, 2.0)) == 0
    assert abs(float(centred(4.0, 2.0, 2.0)) - np.log(2)) < 1e-6


def test_lengths_and_sizes_are_those_of_the_scaling():
    assert extents(SCALING).tolist() == [4, 10]
    spread, mean = sizes(SCALING, usual=0.5, unit=jnp.asarray(2.0))
    assert abs(float(spread) - np.log(2)) < 1e-6
    assert float(mean) == 3.0
