"""What sensors see of a system."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_pretrained import FAMILY

import pgt
from pgt.families.sensing import Guide, Nodes, Sensing, look, scaling_of
from pgt.families.system import System

SENSING = Sensing(least=5, most=20, noise=0.1, stations=0.0)


def seen(seed=0, sensing=SENSING, exactly=None, guide="none"):
    return _seen(jax.random.key(seed), sensing, exactly, Guide(guide))


@eqx.filter_jit
def _seen(key, sensing, exactly, guide):
    return look(key, FAMILY.draw(key), FAMILY, Nodes.of(FAMILY), sensing, 7, guide, exactly)


def test_the_nodes_are_those_of_the_grid():
    nodes = Nodes.of(FAMILY)
    x, t = FAMILY.axes.values()
    assert nodes.points.shape == (len(x) * len(t), 2)
    np.testing.assert_allclose(nodes.points[1], [2 * x[0] - 1, 2 * t[1] - 1], atol=1e-6)


def test_clean_readings_are_the_standardised_truth():
    key = jax.random.key(0)
    system, nodes = FAMILY.draw(key), Nodes.of(FAMILY)
    found = seen(exactly=(jnp.asarray(12), jnp.asarray(0.0))).readings
    assert int(found.mask.sum()) == 12
    flat = np.asarray(system.values).reshape(-1)
    places = [int(np.argmin(((nodes.points - p) ** 2).sum(1))) for p in np.asarray(found.points)]
    read = flat[places][:12]
    expected = (read - read.mean()) / read.std()
    np.testing.assert_allclose(found.values[:12, 0], expected, atol=1e-4)


def test_numbers_of_readings_stay_within_their_bounds():
    counts = [int(seen(k).readings.mask.sum()) for k in range(12)]
    assert min(counts) >= 5
    assert max(counts) <= 20
    assert len(set(counts)) > 3


def test_noise_is_as_large_as_asked():
    many = Sensing(least=400, most=400, stations=0.0)
    clean, noisy = (seen(3, many, (jnp.asarray(400), jnp.asarray(level))) for level in (0.0, 0.1))
    spread = float(
        jnp.std(noisy.readings.values * noisy.size**-1 - clean.readings.values * clean.size**-1)
    )
    assert 0.05 < spread < 0.2


def test_stations_stand_still():
    points = np.asarray(seen(1, Sensing(least=20, most=20, stations=0.999)).readings.points)
    assert len(np.unique(points[:, 0])) < 12
    assert len(np.unique(points[:, 1])) > 4


def test_the_scaling_is_that_of_the_library():
    readings = pgt.sample(FAMILY.dataset(FAMILY.draw(jax.random.key(2))), n=15)
    ours = scaling_of(FAMILY, jnp.asarray(readings.values), jnp.asarray(readings.mask))
    expected = pgt.Scaling.fit(readings, FAMILY.domain)
    for name in ("middle", "half_extent", "mean", "spread", "resolution"):
        np.testing.assert_allclose(getattr(ours, name), getattr(expected, name), rtol=1e-5)


def test_the_equation_may_guide():
    readings = seen(guide="equation").readings
    points = readings.points[:3]
    assert float(jnp.ptp(readings.gamma(points, points))) > 0


def test_many_places_are_read_at_every_instant():
    sensing = Sensing(least=27, most=27, stations=0.0, every=0.999)
    points = np.asarray(seen(2, sensing).readings.points)
    instants = len(FAMILY.axes["t"])
    places, times = points.reshape(-1, instants, 2).transpose(2, 0, 1)
    assert (places == places[:, :1]).all()
    assert (times == times[:1]).all()
    assert len(np.unique(times)) == instants


def test_what_nobody_measures_is_hidden():
    family = pgt.families.get("darcy", nodes=8)
    system = System({"recharge": jnp.ones(())}, jnp.arange(128.0).reshape(8, 8, 2))

    @eqx.filter_jit
    def mask(sensing):
        key = jax.random.key(0)
        return look(key, system, family, Nodes.of(family), sensing, 3, Guide()).readings.mask

    found = mask(Sensing(least=9, most=9, hidden=0.0, reads=("h",)))
    np.testing.assert_array_equal(found, np.tile([False, True], (9, 1)))
    with pytest.raises(pgt.InputError, match="no field 'w', but k, h"):
        mask(Sensing(reads=("w",)))
