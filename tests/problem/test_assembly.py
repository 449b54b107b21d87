"""The task assembled from the arguments of the user: errors, held-out readings and defaults."""

import jax
import numpy as np
import pytest

import pgt
from pgt.data.splits import parts
from pgt.nn.trees import is_double
from pgt.physics import Heat
from pgt.problem.assembly import assemble, held_out_rows

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def readings(n=30, **options):
    points = np.random.default_rng(0).uniform(0, 1, (n, 2))
    u = np.sin(np.pi * points[:, 0]) * np.exp(-0.1 * np.pi**2 * points[:, 1])
    return pgt.Observations.from_arrays(
        points, u[:, None], coords=("x", "t"), fields=("u",), **options
    )


READINGS = readings()
SCALING = pgt.Scaling.fit(READINGS, DOMAIN)


def network(seed):
    return pgt.PINN(SCALING, width=2, layers=1, seed=seed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domain": pgt.Domain(x=(0, 1))}, "axes"),
        ({"domain": pgt.Domain(x=(0, 0.5), t=(0, 1))}, "x"),
        ({"domain": pgt.Domain(x=(0, 1), t=(0, 1), y=(0, 1))}, "axes"),
    ],
)
def test_wrong_problems_are_named(change, message):
    with pytest.raises(pgt.InputError, match=message):
        pgt.reconstruct(readings(), Heat(0.1), **change)


def test_a_lost_origin_is_named():
    far = pgt.Observations.from_arrays(
        np.array([[0.5, 2.4e12], [0.2, 2.4e12 + 1]]),
        np.ones((2, 1)),
        coords=("x", "t"),
        fields=("u",),
    )
    with pytest.raises(pgt.InputError, match="Count t from an origin nearer by"):
        pgt.reconstruct(far, Heat(0.1), pgt.Domain(x=(0, 1), t=(2.4e12, 2.4e12 + 1)))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"model": network(0), "error_bars": pgt.Ensemble()}, "lambda seed: PINN"),
        ({"model": lambda seed: None}, "gives a NoneType"),
        (
            {
                "model": network,
                "error_bars": pgt.Posterior(),
                "training": pgt.Training(polish=False),
            },
            "polish",
        ),
        (
            {
                "model": lambda seed: pgt.Features(SCALING, seed=seed),
                "error_bars": pgt.Ensemble(),
            },
            r"Features.*Posterior\(\)",
        ),
    ],
)
def test_settings_without_error_bars_are_refused(keywords, message):
    with pytest.raises(pgt.InputError, match=message):
        pgt.reconstruct(READINGS, Heat(0.1), DOMAIN, **keywords, progress=False)


def test_blocks_that_cannot_be_divided_are_refused():
    one_place = pgt.Observations.from_arrays(
        {"x": [0.5, 0.5]}, {"u": [1.0, np.nan], "v": [np.nan, 2.0]}
    )
    with pytest.raises(pgt.InputError, match=r"1 block.*hold_out_by"):
        held_out_rows(one_place, pgt.Training(hold_out_by="block"), 0)


def test_no_reading_is_held_out_if_none_is_requested_or_there_is_only_one():
    for found, share in ((READINGS, 0.0), (READINGS.take([3]), 0.5)):
        fitted, held_out = parts(found, held_out_rows(found, pgt.Training(hold_out=share), seed=0))
        np.testing.assert_array_equal(fitted.points, found.points)
        assert len(held_out) == 0


def standing_still(count):
    x, t = (a.ravel() for a in np.meshgrid(np.linspace(0.1, 0.9, count), np.linspace(0, 1, 6)))
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": x * t})


def test_readings_of_one_sensor_are_held_out_together():
    readings = standing_still(12)
    fitted, held_out = parts(readings, held_out_rows(readings, pgt.Training(), seed=0))
    assert len(held_out) == 6
    assert len(np.unique(np.asarray(held_out.points)[:, 0])) == 1
    assert not set(np.asarray(held_out.points)[:, 0]) & set(np.asarray(fitted.points)[:, 0])
    scattered = parts(
        readings, held_out_rows(readings, pgt.Training(hold_out_by="reading"), seed=0)
    )[1]
    assert len(np.unique(np.asarray(scattered.points)[:, 0])) > 1


def test_members_have_their_own_networks_and_bootstrap_draws():
    training = pgt.Training(precision="float64", polish=False)
    bars = pgt.Ensemble(members=2, bootstrap=True)
    task = assemble(
        READINGS, Heat(0.1), DOMAIN, model=network, training=training, error_bars=bars, seed=4
    )
    assert len(set(task.seeds)) == len(task.networks) == 2
    assert all(is_double(model) for model in task.networks)
    one, two = (jax.tree.leaves(model.tunable())[0] for model in task.networks)
    assert np.abs(np.asarray(one) - np.asarray(two)).max() > 0
    drawn = [problem.observations.points for problem in task.problems]
    assert not np.array_equal(*drawn)
    assert len(drawn[0]) == len(task.problem.observations) == 27
    assert len(task.held_out) == 3
