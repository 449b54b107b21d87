import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import qmc

from pgt.core.errors import InputError
from pgt.data import Domain
from pgt.data.sampling import ResidualAdaptive, Sobol, Uniform

BOX = Domain(x=(-1, 1), y=(0, 0.5), t=(2, 7))


def draw(sampler, n, seed=0, **options):
    return np.asarray(sampler.draw(jax.random.key(seed), BOX, n, **options))


def test_shifted_sobol_is_still_a_net():
    unit = (draw(Sobol(), 256) - BOX.lower) / BOX.extent
    for column in unit.T:  # one point in each of 256 equal intervals
        np.testing.assert_array_equal(np.sort(np.floor(column * 256)), np.arange(256))
    independent = (draw(Uniform(), 256) - BOX.lower) / BOX.extent
    assert qmc.discrepancy(np.clip(unit, 0, 1)) < qmc.discrepancy(independent) / 5


def test_residual_adaptive_follows_the_residual():
    def residual(points):
        return jnp.where(
            points[:, 0] > 0, 1e30, 0.0
        )  # half the box; large enough to overflow squared

    sampler = ResidualAdaptive(candidates_per_point=50, power=2.0, floor=0.5)
    right = (draw(sampler, 2000, residual=residual)[:, 0] > 0).mean()
    # weights 2 + 0.5 against 0.5, barely changed by drawing 1 in 50 without replacement
    assert right == pytest.approx(2.5 / 3.0, abs=0.03)


def test_residual_adaptive_refuses_nonsense():
    with pytest.raises(InputError, match="candidates_per_point=1"):
        ResidualAdaptive(candidates_per_point=1)
    with pytest.raises(InputError, match="power"):
        ResidualAdaptive(power=0.0)
