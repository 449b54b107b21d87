"""A fit that is trapped in a local minimum restarts from a fit of the readings, and no other does."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pgt
from pgt.methods.second_order import continuation
from pgt.methods.second_order.continuation import (
    MIN_BUDGET_ITERATIONS,
    MIN_ITERATIONS_TO_CHECK,
    RAMP_BUDGET_SHARE,
    RAMP_WEIGHTS,
    READINGS_SECONDS_SHARE,
    TRAP_CHECK_SHARES,
    HeldOutCheck,
    restart_if_trapped,
)
from pgt.methods.second_order.descent import DescentState
from pgt.methods.second_order.gauss_newton import polish
from pgt.methods.second_order.least_squares import Residuals
from pgt.methods.second_order.residual_rows import RowBlock, RowBlocks
from pgt.physics.equation import Equation
from pgt.problem.assembly import assemble
from pgt.problem.checkpoint import StageStates
from pgt.training.settings import Polish

SPAN = (0.0, 20.0)


def swing():
    """The angle of a pendulum that starts near its highest point."""
    found = solve_ivp(
        lambda t, y: [y[1], -np.sin(y[0])], SPAN, [2.8, 0.0], rtol=1e-10, atol=1e-12,
        dense_output=True,
    )  # fmt: skip
    return lambda t: found.sol(t)[0]


@pytest.fixture(scope="module")
def trapped():
    """The task of a network that is trapped where the pendulum rests for one period."""
    t = np.sort(np.random.default_rng(1).uniform(*SPAN, 40))
    readings = pgt.Observations.from_arrays({"t": t}, {"u": swing()(t)})
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
def restarted(trapped):
    return polished(trapped)


def test_a_trapped_pendulum_is_fitted_after_a_restart(trapped, restarted):
    model, _, stages = restarted
    ramp = [f"equation weight {weight:g}" for weight in RAMP_WEIGHTS]
    assert [stage.name for stage in stages] == [
        "Gauss-Newton", "readings alone", *ramp, "Gauss-Newton after restart"
    ]  # fmt: skip
    assert stages[0].ended == "restart"
    assert {stage.ended for stage in stages[1:]} <= {"converged", "patience", "iterations"}
    assert all(stage.seconds > 0 for stage in stages)
    t = np.linspace(*SPAN, 400)
    with jax.enable_x64(True):
        context = model.encode(trapped.problem.observations)
        seen = jax.vmap(lambda z: model.decode(context, z))(t[:, None])
    truth = swing()(t)
    assert np.std(np.asarray(seen)[:, 0] - truth) < 1e-4 * np.std(truth)


SLOW = pytest.mark.slow


@SLOW
def test_a_restart_fits_a_hidden_field():
    """With the full weight of the equation at once, the oscillator would come to rest."""

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
def test_a_killed_fit_continues_bit_for_bit(trapped, restarted, tmp_path, calls):
    seen = []

    def killing(iteration, cost):
        seen.append(iteration)
        if len(seen) == calls:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        polished(trapped, StageStates(tmp_path, {}), killing)
    later = []
    model, _, stages = polished(
        trapped, StageStates(tmp_path, {}), lambda iteration, cost: later.append(iteration)
    )
    assert [(s.name, s.costs, s.ended) for s in stages] == [
        (s.name, s.costs, s.ended) for s in restarted[2]
    ]
    for a, b in zip(*(jax.tree.leaves(m) for m in (model, restarted[0])), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert seen == sorted(seen)  # reported iterations never decrease
    assert later[0] <= seen[-1]


# ----------------------------------------------------------------------- when a fit restarts


def block():
    return RowBlock(lambda theta, x: theta * x, np.ones((1, 1)), np.ones(1))


WITH_EQUATION = Residuals(RowBlocks((block(), block()), 1, lambda number: block()))
START = DescentState(np.zeros(1))
SETTINGS = Polish(iterations=300, seconds=60.0)


def check_fit(
    monkeypatch, errors, *, residuals=WITH_EQUATION, settings=SETTINGS, count=20, took=10.0,
    done=MIN_ITERATIONS_TO_CHECK, should_yield=False,
):  # fmt: skip
    """(state, stages, calls of descend) of `restart_if_trapped` if descents end with these held-out
    errors."""
    stages = []

    def descend(residuals, state, settings, held_out_error, report, keep, *, share=1.0, **options):
        error = [*errors, *[0.0] * len(RAMP_WEIGHTS)][len(stages)]
        stages.append((len(residuals.row_blocks.blocks), settings, share))
        ended = replace(
            state,
            theta=np.full(1, float(len(stages))),
            seconds=took,
            first_seconds=1.0,
            is_finished=True,
        )
        return replace(
            ended, best=ended.theta, best_error=error, iteration=done, best_iteration=done,
            costs=(2.0, 1.0),
        )  # fmt: skip

    monkeypatch.setattr(continuation, "descend", descend)
    held_out = HeldOutCheck(
        lambda theta: 0.03, count, 0.01, should_yield=lambda state: should_yield
    )
    found = restart_if_trapped(
        residuals, START, settings, held_out, lambda iteration, cost: None, StageStates()
    )
    return *found, stages


def test_a_fit_that_predicts_readings_continues(monkeypatch):
    state, before, stages = check_fit(monkeypatch, [0.009])
    assert (float(state.theta[0]), state.is_finished, before) == (1.0, False, [])
    assert [share for *_, share in stages] == [TRAP_CHECK_SHARES[0]]


def test_a_fit_continues_if_the_readings_alone_predict_no_better(monkeypatch):
    state, before, stages = check_fit(monkeypatch, [0.05, 0.045])
    assert (float(state.theta[0]), state.is_finished, before) == (1.0, False, [])
    assert state.seconds == 20.0  # of both fits
    assert len(stages) == 2


def test_a_fit_restarts_if_the_readings_alone_predict_better(monkeypatch):
    state, before, stages = check_fit(monkeypatch, [0.4, 0.05])
    count = 2 + len(RAMP_WEIGHTS)
    assert float(state.theta[0]) == count
    seconds = 10.0 * count
    assert (state.iteration, state.seconds, state.costs, state.is_finished) == (
        MIN_ITERATIONS_TO_CHECK,
        seconds,
        (),
        False,
    )
    assert [stage.costs for stage in before] == [(2.0, 1.0)] * count
    (with_equation, _, _), (without, short, _), *ramp = stages
    assert (with_equation, without, {blocks for blocks, *_ in ramp}) == (2, 1, {2})
    assert (short.seconds, short.fresh) == (READINGS_SECONDS_SHARE * 60.0, 0.0)
    assert {settings.seconds for _, settings, _ in ramp} == {RAMP_BUDGET_SHARE * 60.0}


def test_a_restarted_state_is_a_result_by_itself(monkeypatch):
    """On a slow machine no time may be left for another step."""
    state, *_ = check_fit(monkeypatch, [0.4, 0.05])
    assert state.best is state.theta
    assert (state.best_error, state.best_iteration) == (0.03, MIN_ITERATIONS_TO_CHECK)


@pytest.mark.parametrize(("error", "descents"), [(0.05, 1), (0.4, 2)])
def test_a_fit_that_yields_to_a_fallback_restarts_only_if_it_may_be_trapped(
    monkeypatch, error, descents
):
    state, before, stages = check_fit(monkeypatch, [error, error], should_yield=True)
    assert (float(state.theta[0]), before, len(stages)) == (1.0, [], descents)


def test_two_held_out_readings_are_too_few_for_a_restart(monkeypatch):
    state, before, _ = check_fit(monkeypatch, [0.4, 0.05], count=2)
    assert (float(state.theta[0]), before) == (1.0, [])


def test_a_restart_needs_time(monkeypatch):
    _, before, stages = check_fit(monkeypatch, [0.4, 0.05], took=40.0)
    assert (len(stages), before) == (1, [])


def test_a_fit_with_few_iterations_is_checked_later_or_not_at_all(monkeypatch):
    """Compilation took the first share of the seconds."""
    state, before, stages = check_fit(monkeypatch, [0.4, 0.4, 0.4, 0.05], done=1)
    assert [share for *_, share in stages] == list(TRAP_CHECK_SHARES)
    assert (float(state.theta[0]), state.is_finished, before) == (3.0, False, [])


@pytest.mark.parametrize(
    "changes",
    [
        {"residuals": Residuals([block()])},
        {"count": 0},
        {"settings": Polish(iterations=MIN_BUDGET_ITERATIONS - 1)},
    ],
    ids=["no equation", "nothing held out", "few iterations"],
)
def test_where_there_is_nothing_to_compare_nothing_is_check_fit(monkeypatch, changes):
    state, before, stages = check_fit(monkeypatch, [0.4, 0.05], **changes)
    assert state is START
    assert (before, stages) == ([], [])
