"""A fit that was caught begins again from the readings alone, and no other does."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pgt
from pgt.physics.equation import Equation
from pgt.training import restart
from pgt.training.assemble import assemble
from pgt.training.checkpoint import States
from pgt.training.descent import State
from pgt.training.least_squares import Search
from pgt.training.polish import polish
from pgt.training.restart import ALONE, FEWEST, LOOKS, RAMP, RAMPED_SHARE, SEEN, HeldOut, begun
from pgt.training.rows import Block, Rows
from pgt.training.settings import Polish

SPAN = (0.0, 20.0)


def swings():
    """Three of a pendulum that is let go near its highest point, read at forty instants."""
    found = solve_ivp(
        lambda t, y: [y[1], -np.sin(y[0])], SPAN, [2.8, 0.0], rtol=1e-10, atol=1e-12,
        dense_output=True,
    )  # fmt: skip
    return lambda t: found.sol(t)[0]


@pytest.fixture(scope="module")
def caught():
    """The task of a network that settles where the pendulum rests for a swing."""
    t = np.sort(np.random.default_rng(1).uniform(*SPAN, 40))
    readings = pgt.Observations.from_arrays({"t": t}, {"u": swings()(t)})
    pde = Equation("u_tt = -sin(u)", coords=("t",))
    domain = pgt.Domain(t=SPAN)
    model = pgt.PINN(pgt.Scaling.fit(readings, domain), width=16, layers=3)
    training = pgt.Training(polish=Polish(iterations=120, patience=120, fresh=0.7))
    return assemble(readings, pde, domain, model=model, training=training)


def polished(task, states=None, report=lambda iteration, cost: None):
    assert task.training.polish
    return polish(
        task.model, task.pde, task.problem, task.training.polish, task.held_out, report,
        states=states,
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(caught):
    return polished(caught)


def test_a_pendulum_swings_as_it_was_read(caught, found):
    """It was missed by half of its spread, with readings that any spline follows."""
    model, _, stages = found
    # caught, on the readings alone, with the equation that comes in softly, and as it is
    ramp = [f"equation weight {weight:g}" for weight in RAMP]
    assert [stage.name for stage in stages] == [
        "Gauss-Newton", "readings alone", *ramp, "Gauss-Newton after restart"
    ]  # fmt: skip
    assert stages[0].ended == "restart"
    assert {stage.ended for stage in stages[1:]} <= {"converged", "patience", "iterations"}
    assert all(stage.seconds > 0 for stage in stages)
    t = np.linspace(*SPAN, 400)
    with jax.enable_x64(True):
        context = model.encode(caught.problem.observations)
        seen = jax.vmap(lambda z: model.decode(context, z))(t[:, None])
    truth = swings()(t)
    assert np.std(np.asarray(seen)[:, 0] - truth) < 1e-4 * np.std(truth)


SLOW = pytest.mark.slow


@SLOW
def test_a_hidden_field_follows_the_readings():
    """With the whole equation at once, after the readings alone, the oscillator came to rest: missed by
    all of its spread."""

    def rate(t, y):
        return y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]

    span = (0.0, 20.0)
    truth = solve_ivp(rate, span, [1.0, 0.0], rtol=1e-10, atol=1e-12, dense_output=True).sol
    t = np.random.default_rng(0).uniform(*span, 80)
    readings = pgt.Observations.from_arrays({"t": t}, {"a": truth(t)[0]})
    pde, domain = Equation("a_t = b", "b_t = 5*(1 - a^2)*b - a"), pgt.Domain(t=span)
    training = pgt.Training(polish=Polish(iterations=600, patience=120, fresh=0.7))
    model = pgt.PINN(pgt.Scaling.fit(readings.aligned(pde.fields), domain), width=20, layers=3)
    task = assemble(readings, pde, domain, model=model, training=training)
    fitted, times = polished(task).model, np.linspace(*span, 400)
    with jax.enable_x64(True):
        context = fitted.encode(task.problem.observations)
        seen = np.asarray(jax.vmap(lambda z: fitted.decode(context, z))(times[:, None])).T
    for found, true in zip(seen, truth(times), strict=True):
        assert np.std(found - true) < 1e-2 * np.std(true)


@pytest.mark.parametrize(  # in each of the three stages
    "calls", [pytest.param(10, marks=SLOW), pytest.param(60, marks=SLOW), 170]
)
def test_killed_at_any_stage_it_goes_on_bit_for_bit(caught, found, tmp_path, calls):
    seen = []

    def killing(iteration, cost):
        seen.append(iteration)
        if len(seen) == calls:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        polished(caught, States(tmp_path, {}), killing)
    later = []
    model, _, stages = polished(
        caught, States(tmp_path, {}), lambda iteration, cost: later.append(iteration)
    )
    assert [(s.name, s.costs, s.ended) for s in stages] == [
        (s.name, s.costs, s.ended) for s in found[2]
    ]
    for a, b in zip(*(jax.tree.leaves(m) for m in (model, found[0])), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert seen == sorted(seen)  # progress never falls back
    assert later[0] <= seen[-1]


# ----------------------------------------------------------------------- when it does begin again


def block():
    return Block(lambda theta, x: theta * x, np.ones((1, 1)), np.ones(1))


WITH_EQUATION = Search(Rows((block(), block()), 1, lambda number: block()))
START = State(np.zeros(1))
LONG = Polish(iterations=300, seconds=60.0)


def looked_at(
    monkeypatch, errors, *, search=WITH_EQUATION, settings=LONG, count=20, took=10.0, done=SEEN,
    gives_way=False,
):  # fmt: skip
    """What `begun` says where the fit and the readings alone are missed by so much; and the stages."""
    stages = []

    def descend(search, state, settings, judge, report, keep, *, share=1.0, **options):
        error = [*errors, *[0.0] * len(RAMP)][len(stages)]
        stages.append((len(search.points.blocks), settings, share))
        ended = replace(
            state, theta=np.full(1, float(len(stages))), seconds=took, first=1.0, over=True
        )
        return replace(
            ended, best=ended.theta, best_error=error, iteration=done, best_iteration=done,
            costs=(2.0, 1.0),
        )  # fmt: skip

    monkeypatch.setattr(restart, "descend", descend)
    held_out = HeldOut(lambda theta: 0.03, count, 0.01, gives_way=lambda state: gives_way)
    found = begun(search, START, settings, held_out, lambda iteration, cost: None, States())
    return *found, stages


def test_what_predicts_readings_goes_on(monkeypatch):
    state, before, stages = looked_at(monkeypatch, [0.009])
    assert (float(state.theta[0]), state.over, before) == (1.0, False, [])
    assert [share for *_, share in stages] == [LOOKS[0]]


def test_noise_is_no_reason_to_begin_again(monkeypatch):
    state, before, stages = looked_at(monkeypatch, [0.05, 0.045])
    assert (float(state.theta[0]), state.over, before) == (1.0, False, [])
    assert state.seconds == 20.0  # of both
    assert len(stages) == 2


def test_what_readings_alone_predict_better_begins_again(monkeypatch):
    state, before, stages = looked_at(monkeypatch, [0.4, 0.05])
    count = 2 + len(RAMP)
    assert float(state.theta[0]) == count
    seconds = 10.0 * count
    assert (state.iteration, state.seconds, state.costs, state.over) == (SEEN, seconds, (), False)
    assert [stage.costs for stage in before] == [(2.0, 1.0)] * count
    (with_equation, _, _), (without, short, _), *ramp = stages
    assert (with_equation, without, {blocks for blocks, *_ in ramp}) == (2, 1, {2})
    assert (short.seconds, short.fresh) == (ALONE * 60.0, 0.0)
    assert {settings.seconds for _, settings, _ in ramp} == {RAMPED_SHARE * 60.0}


def test_what_begins_again_can_be_taken_as_it_is(monkeypatch):
    """On a slow machine all seconds may be spent by then: no further step says what is best."""
    state, *_ = looked_at(monkeypatch, [0.4, 0.05])
    assert state.best is state.theta
    assert (state.best_error, state.best_iteration) == (0.03, SEEN)


@pytest.mark.parametrize(("error", "looks"), [(0.05, 1), (0.4, 2)])
def test_a_fit_that_gives_way_begins_again_only_where_it_may_have_been_caught(
    monkeypatch, error, looks
):
    state, before, stages = looked_at(monkeypatch, [error, error], gives_way=True)
    assert (float(state.theta[0]), before, len(stages)) == (1.0, [], looks)


def test_two_readings_do_not_tell(monkeypatch):
    state, before, _ = looked_at(monkeypatch, [0.4, 0.05], count=2)
    assert (float(state.theta[0]), before) == (1.0, [])


def test_there_must_be_time_left(monkeypatch):
    _, before, stages = looked_at(monkeypatch, [0.4, 0.05], took=40.0)
    assert (len(stages), before) == (1, [])


def test_a_fit_that_has_hardly_begun_is_looked_at_later_or_not_at_all(monkeypatch):
    """What was compiled took the first share of the seconds: nothing is known of the fit yet."""
    state, before, stages = looked_at(monkeypatch, [0.4, 0.4, 0.4, 0.05], done=1)
    assert [share for *_, share in stages] == list(LOOKS)
    assert (float(state.theta[0]), state.over, before) == (3.0, False, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"search": Search([block()])},
        {"count": 0},
        {"settings": Polish(iterations=FEWEST - 1)},
    ],
    ids=["no equation", "nothing held out", "few iterations"],
)
def test_where_there_is_nothing_to_compare_nothing_is_looked_at(monkeypatch, changes):
    state, before, stages = looked_at(monkeypatch, [0.4, 0.05], **changes)
    assert state is START
    assert (before, stages) == ([], [])
