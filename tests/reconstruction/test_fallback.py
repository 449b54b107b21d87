"""When a second model is asked, and which of the two answers is kept."""

import dataclasses
from functools import partial
from unittest import mock

import jax
import numpy as np
import pytest

import pgt
import pgt._reconstruct as reconstructing
from pgt.methods.closed_form.band_search import MIN_READINGS_TO_JUDGE
from pgt.methods.finished_fit import Fit
from pgt.methods.first_order.training_loop import _untrained
from pgt.methods.plan import CLOSED_FORM, SECOND_ORDER, choose
from pgt.nn.trees import cast
from pgt.problem.assembly import assemble
from pgt.reconstruction.candidates import fit_task
from pgt.reconstruction.fallback import (
    CORRELATED_MISFIT,
    has_time_left,
    predicts_better,
    why_poor,
    with_time_left,
)
from pgt.uncertainty.outcome import Outcome

DOMAIN, EQUATION = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(0.01)
READINGS = pgt.sample(pgt.datasets.heat(), n=MIN_READINGS_TO_JUDGE)


def plan_without_solver(*about, **settings):
    """The plan where the equation has no solution on a mesh."""
    with mock.patch("pgt.methods.plan.is_solvable", return_value=False):
        return choose(*about, **settings)


PLAN = plan_without_solver(READINGS, EQUATION, DOMAIN, training=pgt.Training(seconds=30.0))
TASK = PLAN.first


def expecting(value):
    return {"u": {"value": value, "low": value / 2, "high": 2 * value}}


def missing_by(error):
    return Outcome(Fit(TASK.model, EQUATION, 0.0), error)


SINES = missing_by(None)


def asks_next(task, outcome, errors=None, spent=0.0, method=CLOSED_FORM):
    return has_time_left(task, spent) and bool(why_poor(method, task, outcome, errors))


def test_a_network_is_asked_where_sines_are_poor_and_readings_can_tell():
    assert asks_next(TASK, SINES, expecting(0.1))
    assert not asks_next(TASK, SINES, expecting(1e-6))
    assert not asks_next(TASK, SINES)
    assert asks_next(TASK, SINES, expecting(0.1), spent=20.0)
    assert not asks_next(TASK, SINES, expecting(0.1), spent=25.0)  # of thirty seconds
    # A network would compile until the seconds are over.
    training = pgt.Training(seconds=20.0)
    hurried = plan_without_solver(READINGS, EQUATION, DOMAIN, training=training).first
    assert not asks_next(hurried, SINES, expecting(0.1))
    few = plan_without_solver(READINGS.take(np.arange(20)), EQUATION, DOMAIN).first
    assert not asks_next(few, SINES, expecting(0.1))


def test_a_model_or_method_that_the_user_named_is_the_only_candidate():
    for named in ({"model": TASK.model}, {"model": "pgt"}, {"method": "first-order"}):
        plan = choose(READINGS, EQUATION, DOMAIN, **named)
        assert len(plan.candidates) == 1
        assert not plan.first.has_fallback


def test_the_rival_is_a_network_for_the_same_readings_in_the_time_that_is_left():
    rival = PLAN.task(1)
    assert isinstance(rival.model, pgt.PINN)
    assert len(rival.problem.observations) + len(rival.held_out) == len(READINGS)
    for spent, left in ((10.0, 20.0), (29.0, 10.0)):  # a third of the time at least
        polish = with_time_left(rival, spent).training.polish
        assert polish
        assert polish.seconds == pytest.approx(left)
    unlimited = dataclasses.replace(rival, training=pgt.Training())
    assert with_time_left(unlimited, 10.0) is unlimited


def holding_out(count):
    """A rival that was not shown so many readings."""
    rows = np.arange(count)
    return dataclasses.replace(TASK, held_out=READINGS.take(rows), rows_held_out=rows)


def test_it_must_predict_better_than_chance_explains():
    eight, many = holding_out(8), holding_out(len(READINGS))
    assert predicts_better(missing_by(0.4), missing_by(1.0), eight)
    assert not predicts_better(missing_by(0.6), missing_by(1.0), eight)  # 1 - 2/√16 = 0.5
    assert predicts_better(missing_by(0.6), missing_by(1.0), many)
    assert not predicts_better(missing_by(None), missing_by(1.0), eight)


def test_sines_are_asked_about_the_readings_that_the_network_was_not_shown():
    asked = []
    sines = dataclasses.replace(
        missing_by(1.0), held_out_error_without=lambda rows: asked.append(rows) or 0.1
    )
    assert not predicts_better(missing_by(0.3), sines, holding_out(40))
    assert predicts_better(missing_by(0.03), sines, holding_out(40))
    np.testing.assert_array_equal(asked[0], np.arange(40))


def test_what_sines_say_of_these_is_what_a_fit_of_the_others_says():
    noisy = pgt.sample(pgt.datasets.heat(), n=MIN_READINGS_TO_JUDGE, noise=0.1)
    scaling = pgt.Scaling.fit(noisy, DOMAIN)
    build = pgt.Features(scaling, count=60, band=(10.0, 3.0))

    def sines(**settings):
        training = pgt.Training(seconds=30.0, **settings)
        return assemble(noisy, EQUATION, DOMAIN, model=build, training=training)

    without = fit_task(sines()).held_out_error_without
    others = sines(hold_out=0.1)
    assert without is not None
    assert others.rows_held_out is not None
    found = fit_task(others)
    assert found.held_out_error_without is None  # its own error is that of the same readings
    assert without(others.rows_held_out) == pytest.approx(found.held_out_error, rel=0.2)


# ------------------------------------------------------------------- after a small network

WAVES = pgt.sample(pgt.datasets.heat({1: 1.0, 4: 0.5}), n=120)


def small(**changes):
    training = pgt.Training(seconds=600.0)
    changes = {"training": training} | changes
    return plan_without_solver(WAVES, pgt.Burgers(0.01), DOMAIN, **changes)


def of_network(task, error):
    with jax.enable_x64(True):
        return Outcome(Fit(cast(task.model, np.float64), task.pde, 0.0), error)


def test_a_larger_network_is_asked_where_a_small_one_misses_neighbours_alike():
    plan = small()
    task, rival = plan.first, plan.task(1)
    asks = partial(asks_next, method=SECOND_ORDER)
    assert asks(task, of_network(task, 0.1), spent=360.0)  # untrained: misses waves
    assert not asks(task, of_network(task, 0.1), spent=500.0)
    assert not asks(task, of_network(task, 1e-3))
    assert isinstance(rival.model, pgt.SIREN)
    assert isinstance(rival.training.sampler, pgt.training.Sobol)
    assert not rival.has_fallback
    assert len(rival.held_out) == len(task.held_out)
    assert with_time_left(rival, 300.0).training.seconds == pytest.approx(270.0)  # less a twentieth
    assert with_time_left(rival, 590.0).training.seconds == pytest.approx(200.0)


def test_a_larger_network_is_asked_where_the_equation_is_missed_as_the_readings_are(monkeypatch):
    """Readings far from each other are missed as if by noise; noise would leave the equation alone."""
    monkeypatch.setattr(
        "pgt.reconstruction.fallback.has_correlated_residuals", lambda *about: False
    )
    task = small().first
    assert not why_poor(SECOND_ORDER, task, of_network(task, 0.1), None)  # hardly but a constant
    with jax.enable_x64(True):
        wild = cast(pgt.SIREN(task.model.scaling, frequency=30.0), np.float64)
    assert why_poor(SECOND_ORDER, task, Outcome(Fit(wild, task.pde, 0.0), 0.1), None)


@pytest.mark.parametrize(
    "changes",
    [
        {"error_bars": pgt.Posterior()},
        {"training": pgt.Training(polish=pgt.Polish(iterations=5))},
        {"training": pgt.Training(steps=10)},
        {"training": pgt.Training(seconds=120.0)},  # too few for two networks, on a processor
    ],
)
def test_whoever_asks_for_a_posterior_names_the_steps_or_is_in_a_hurry_gets_no_other_network(
    changes,
):
    assert len(small(**changes).candidates) == 1


@pytest.mark.parametrize(("of_larger", "winner"), [(0.1, pgt.SIREN), (0.9, pgt.PINN)])
def test_the_better_of_the_two_is_the_result(monkeypatch, of_larger, winner):
    """No fit is run: what each would have missed is given."""
    asked, missed = [], {pgt.PINN: 0.5, pgt.SIREN: of_larger}

    def fitted(task, *, is_kept, **_):
        outcome = Outcome(_untrained(task.model, task), missed[type(task.model)])
        asked.append((type(task.model), is_kept(outcome)))
        return outcome

    monkeypatch.setattr(reconstructing, "fit_task", fitted)
    monkeypatch.setattr(reconstructing, "with_posterior", lambda outcome, task: outcome)
    result = reconstructing.run_plan(small(), progress=False)
    assert asked == [
        (pgt.PINN, False),
        (pgt.SIREN, winner is pgt.SIREN),
    ]  # no posterior for a loser
    assert isinstance(result.model, winner)
    first, second = (one["outcome"] for one in result.summary["plan"])
    if winner is pgt.SIREN:
        assert (first, second) == (
            f"the next candidate is tried: {CORRELATED_MISFIT}; the next candidate is better",
            "kept",
        )
    else:
        assert first.endswith("this answer is kept")
        assert second.startswith("not kept")


def test_an_equation_that_has_no_solution_at_the_first_guess_is_left_to_another_model():
    """With its first coefficient, u grows without bound before the readings end."""
    t = np.linspace(0, 2, 15)
    readings = {"t": t, "u": 1 / (1 + 0.5 * t)}
    equation = pgt.Equation("u_t = k*u^2", k=pgt.Unknown(20.0))
    result = pgt.reconstruct(
        readings, equation, pgt.Domain(t=(0, 2)), training=pgt.Training(seconds=10.0)
    )
    assert result.summary["model"] != "Solver"
    assert [one["outcome"] for one in result.summary["plan"]][1] == "kept"


def test_unknown_coefficients_are_fitted_through_the_solution():
    t = np.linspace(0, 2, 15)
    readings = {"t": t, "u": np.exp(-0.7 * t)}
    equation = pgt.Equation("u_t = -k*u", k=pgt.Unknown(0.2, positive=True))
    result = pgt.reconstruct(readings, equation, pgt.Domain(t=(0, 2)))
    assert result.summary["model"] == "Solver"
    assert result.parameters["k"] == pytest.approx(0.7, abs=1e-4)


def test_a_local_optimum_that_interpolation_beats_is_left_to_another_model():
    """From a diffusivity sixty times too small, the solver comes to rest far from the readings."""
    random = np.random.default_rng(4)
    x, t = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 1, 20)))
    modes = ((1, 1.0, 0.0), (2, 0.4, 0.5))
    u = sum(
        a * np.exp(-0.25 * (k * np.pi) ** 2 * t) * np.sin(k * np.pi * x + b) for k, a, b in modes
    )
    readings = {"x": x, "t": t, "u": u + 0.01 * random.standard_normal(len(x))}
    equation = pgt.Heat(pgt.Unknown(0.25 / 60, positive=True))
    result = pgt.reconstruct(readings, equation, pgt.Domain(x=(0, 1), t=(0, 1)))
    assert result.parameters["diffusivity"] == pytest.approx(0.25, rel=0.1)
    assert [one["outcome"] for one in result.summary["plan"]][1] == "kept"
