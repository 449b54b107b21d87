"""What sensors see of a system."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_pretrained import FAMILY

import pgt
from pgt.families.family import SampledSystem
from pgt.families.sensing import (
    KernelGuide,
    NodeGrid,
    Sensing,
    SensorBatch,
    sense,
)

SENSING = Sensing(min_readings=5, max_readings=20, max_noise=0.1, station_share=0.0)


def seen(seed=0, sensing=SENSING, exactly=None, guide="none"):
    return _seen(jax.random.key(seed), sensing, exactly, KernelGuide(guide))


@eqx.filter_jit
def _seen(key, sensing, exactly, guide):
    return sense(key, FAMILY.draw(key), FAMILY, NodeGrid.of(FAMILY), sensing, 7, guide, exactly)


def test_clean_readings_are_the_standardised_truth():
    key = jax.random.key(0)
    system, nodes = FAMILY.draw(key), NodeGrid.of(FAMILY)
    found = seen(exactly=(jnp.asarray(12), jnp.asarray(0.0))).readings
    assert int(found.mask.sum()) == 12
    flat = np.asarray(system.values).reshape(-1)
    places = [int(np.argmin(((nodes.points - p) ** 2).sum(1))) for p in np.asarray(found.points)]
    read = flat[places][:12]
    expected = (read - read.mean()) / read.std()
    np.testing.assert_allclose(found.values[:12, 0], expected, atol=1e-4)


def test_stations_stand_still():
    points = np.asarray(
        seen(1, Sensing(min_readings=20, max_readings=20, station_share=0.999)).readings.points
    )
    assert len(np.unique(points[:, 0])) < 12
    assert len(np.unique(points[:, 1])) > 4


def test_what_nobody_measures_is_hidden():
    family = pgt.families.get("darcy", nodes=8)
    system = SampledSystem({"recharge": jnp.ones(())}, jnp.arange(128.0).reshape(8, 8, 2))

    @eqx.filter_jit
    def mask(sensing):
        key = jax.random.key(0)
        return sense(
            key, system, family, NodeGrid.of(family), sensing, 3, KernelGuide()
        ).readings.mask

    found = mask(Sensing(min_readings=9, max_readings=9, hidden_share=0.0, reads=("h",)))
    np.testing.assert_array_equal(found, np.tile([False, True], (9, 1)))
    with pytest.raises(pgt.InputError, match="no field 'w', but k, h"):
        mask(Sensing(reads=("w",)))


HEAT, RING = pgt.families.get("heat"), pgt.families.get("burgers")
POINTS, VALUES = np.full((2, 3, 2), 0.5), np.ones((2, 3, 1))
GIVEN, AT = {"diffusivity": [0.01, 0.02]}, np.zeros((4, 2))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"points": POINTS[..., :1]}, r"points has shape \(2, 3, 1\); its axes are .*\(x, t\)"),
        ({"points": POINTS + 1}, r"6 reading\(s\) outside the domain x = \(0, 1\)"),
        ({"points": POINTS * np.nan}, "points has a number that is not finite"),
        ({"values": VALUES[:1]}, r"values has shape \(1, 3, 1\)"),
        ({"values": VALUES * np.inf}, "write NaN"),
        ({"values": VALUES * np.nan}, "system 0 has no reading"),
        ({"coefficients": {}}, "needs the coefficient 'diffusivity'"),
        ({"coefficients": {"diffusivity": [0.01]}}, "for each of the 2 systems"),
        ({"coefficients": {"diffusivity": [0.01, -1]}}, "a number above 0"),
        ({"at": "here"}, "at has shape"),
    ],
)
def test_what_is_wrong_is_said(changed, words):
    right = {"points": POINTS, "values": VALUES, "coefficients": GIVEN, "at": AT}
    with pytest.raises(pgt.InputError, match=words):
        SensorBatch.of(HEAT, **right | changed)
