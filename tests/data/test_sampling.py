import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, qmc

from pgt.data import Domain, ResidualAdaptive, Sobol, Uniform
from pgt.data.evenly import evenly
from pgt.ground.errors import InputError

BOX = Domain(x=(-1, 1), y=(0, 0.5), t=(2, 7))
ALL_SAMPLERS = (Uniform(), Sobol(), ResidualAdaptive())


def draw(sampler, n, seed=0, **options):
    return np.asarray(sampler.draw(jax.random.key(seed), BOX, n, **options))


@pytest.mark.parametrize("sampler", ALL_SAMPLERS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_points_lie_in_the_box_and_follow_the_key(sampler, n):
    points = draw(sampler, n)
    assert points.shape == (n, 3)
    assert (points >= BOX.lower).all()
    assert (points <= BOX.upper).all()
    np.testing.assert_array_equal(points, draw(sampler, n))
    assert not np.array_equal(points, draw(sampler, n, seed=1))
    jitted = jax.jit(lambda key: sampler.draw(key, BOX, n))(jax.random.key(0))
    np.testing.assert_allclose(jitted, points, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("sampler", ALL_SAMPLERS, ids=lambda s: type(s).__name__)
def test_every_axis_is_uniform(sampler):
    unit = (draw(sampler, 2000) - BOX.lower) / BOX.extent
    for column in unit.T:
        assert kstest(column, "uniform").pvalue > 1e-3


def test_shifted_sobol_is_still_a_net():
    unit = (draw(Sobol(), 256) - BOX.lower) / BOX.extent
    for column in unit.T:  # one point in each of 256 equal intervals
        np.testing.assert_array_equal(np.sort(np.floor(column * 256)), np.arange(256))
    independent = (draw(Uniform(), 256) - BOX.lower) / BOX.extent
    assert qmc.discrepancy(np.clip(unit, 0, 1)) < qmc.discrepancy(independent) / 5


def test_sobol_is_unbiased_over_draws():
    keys = jax.random.split(jax.random.key(0), 2000)
    square = Domain(x=(0, 1), y=(0, 1))
    first = jax.vmap(lambda key: Sobol().draw(key, square, 4)[0])(keys)
    for column in np.asarray(first).T:
        assert kstest(column, "uniform").pvalue > 1e-3


def test_residual_adaptive_follows_the_residual():
    def residual(points):
        return jnp.where(
            points[:, 0] > 0, 1e30, 0.0
        )  # half the box; large enough to overflow squared

    sampler = ResidualAdaptive(candidates_per_point=50, power=2.0, floor=0.5)
    right = (draw(sampler, 2000, residual=residual)[:, 0] > 0).mean()
    # weights 2 + 0.5 against 0.5, barely changed by drawing 1 in 50 without replacement
    assert right == pytest.approx(2.5 / 3.0, abs=0.03)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_residual_adaptive_survives_useless_residuals(value):
    points = draw(ResidualAdaptive(), 500, residual=lambda p: jnp.full(len(p), value))
    assert np.isfinite(points).all()
    assert kstest((points[:, 0] + 1) / 2, "uniform").pvalue > 1e-3


def test_residual_adaptive_refuses_nonsense():
    with pytest.raises(InputError, match="candidates_per_point=1"):
        ResidualAdaptive(candidates_per_point=1)
    with pytest.raises(InputError, match="power"):
        ResidualAdaptive(power=0.0)


# ---------------------------------------------------------------------------------- evenly


def largest_gap(points):
    return np.diff(np.sort(np.concatenate([[0.0], points, [1.0]]))).max()


def largest_hole(points):
    """Distance from somewhere in the unit square to the nearest point, where that is largest."""
    side = np.linspace(0.02, 0.98, 25)
    places = np.stack(np.meshgrid(side, side), -1).reshape(-1, 1, 2)
    return np.linalg.norm(places - points, axis=2).min(axis=1).max()


@pytest.mark.parametrize("seed", range(3))
def test_evenly_leaves_no_gaps(seed):
    random = np.random.default_rng(seed).uniform(size=(200, 2))
    # Along a line no two neighbours are further apart than (golden ratio)²/n.
    assert largest_gap(evenly(200, 1, seed)[:, 0]) < 2.62 / 200 < largest_gap(random[:, 0]) / 1.5
    assert largest_hole(evenly(200, 2, seed)) < 0.085 < largest_hole(random) / 1.2


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_evenly_stays_in_the_cube_and_integrates_well(dimension):
    points = evenly(500, dimension)
    assert points.shape == (500, dimension)
    assert ((points >= 0) & (points < 1)).all()
    # The mean of cos²(πx) + ... is d/2; 500 random points miss it by some 0.016 √d.
    mean = np.mean(np.sum(np.cos(np.pi * points) ** 2, axis=1))
    assert abs(mean - dimension / 2) < 0.004 * dimension
