"""From what a user gave to the task that is fitted: what is refused, and what is decided here."""

import jax
import numpy as np
import pytest

import pgt
from pgt.data.splits import parts
from pgt.models.linearised import LinearisedModel
from pgt.nn.precision import is_double
from pgt.physics import Heat
from pgt.training.assemble import assemble, groups_of, held_out_rows

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
            "posterior of Features is known",
        ),
    ],
)
def test_what_cannot_give_error_bars(keywords, message):
    with pytest.raises(pgt.InputError, match=message):
        pgt.reconstruct(READINGS, Heat(0.1), DOMAIN, **keywords, progress=False)


def test_blocks_that_cannot_be_divided_are_refused():
    one_place = pgt.Observations.from_arrays(
        {"x": [0.5, 0.5]}, {"u": [1.0, np.nan], "v": [np.nan, 2.0]}
    )
    with pytest.raises(pgt.InputError, match=r"1 block.*hold_out_by"):
        held_out_rows(one_place, pgt.Training(hold_out_by="block"), 0)


def test_nothing_is_held_out_where_none_is_asked_for_or_one_is_all_there_is():
    for found, share in ((READINGS, 0.0), (READINGS.take([3]), 0.5)):
        fitted, held_out = parts(found, held_out_rows(found, pgt.Training(hold_out=share), seed=0))
        np.testing.assert_array_equal(fitted.points, found.points)
        assert len(held_out) == 0


def test_of_many_scattered_readings_a_hundred_are_held_out_unless_a_share_is_asked_for():
    x, t, u = np.random.default_rng(0).uniform(size=(3, 3000))
    many = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
    assert len(held_out_rows(many, pgt.Training(), seed=0)) == 100
    assert len(held_out_rows(many.take(np.arange(500)), pgt.Training(), seed=0)) == 50
    assert len(held_out_rows(many, pgt.Training(hold_out=0.1), seed=0)) == 300
    assert len(held_out_rows(many, pgt.Training(hold_out_by="block"), seed=0)) > 200


def test_readings_are_held_out_together_only_where_blocks_are_asked_for():
    assert groups_of(READINGS, pgt.Training()) is None
    groups = groups_of(READINGS, pgt.Training(hold_out_by="block"))
    assert groups is not None
    assert groups.shape == (30,)


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


def test_of_few_sensors_none_is_spared_unless_asked_for():
    readings = standing_still(5)
    assert groups_of(readings, pgt.Training()) is None
    held_out = parts(readings, held_out_rows(readings, pgt.Training(hold_out_by="sensor"), seed=0))[
        1
    ]
    assert len(np.unique(np.asarray(held_out.points)[:, 0])) == 1
    with pytest.raises(pgt.InputError, match="no sensor stands still"):
        held_out_rows(READINGS, pgt.Training(hold_out_by="sensor"), 0)


def test_a_task_says_what_was_held_out_together():
    for readings, by in ((standing_still(12), "sensor"), (READINGS, "reading")):
        task = assemble(readings, Heat(0.1), DOMAIN, model=network)
        assert task.training.hold_out_by == by


def test_each_member_has_a_network_and_with_a_bootstrap_a_draw_of_its_own():
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


def test_noise_is_counted_in_units_of_the_spread():
    quiet = assemble(READINGS, Heat(0.1), DOMAIN, model=network)
    loud = assemble(readings(noise=0.05), Heat(0.1), DOMAIN, model=network)
    assert quiet.noise is None
    assert loud.noise == pytest.approx(0.05 / float(SCALING.spread[0]), rel=1e-5)
    some = np.where(np.arange(30) < 10, 0.05, 0.0)[:, None]  # 0: not given, and no exact reading
    partly = assemble(readings(noise=some), Heat(0.1), DOMAIN, model=network)
    assert partly.noise == loud.noise


def test_a_model_that_was_moved_from_a_network_is_fitted_again_from_that_network():
    base = network(0)
    task = assemble(READINGS, Heat(0.1), DOMAIN, model=LinearisedModel(base, base.tunable()))
    assert type(task.model) is pgt.PINN
