"""How candidates are scored, when the next one is fitted, and which answer is kept."""

import dataclasses
from typing import Any
from unittest import mock

import jax
import numpy as np
import pytest

import pgt
import pgt._reconstruct as reconstructing
from pgt.methods.finished_fit import COEFFICIENT_NOT_AT_REST, Fit
from pgt.methods.first_order.training_loop import _untrained
from pgt.methods.plan import MIN_ERROR_FOR_LARGER, ROUNDING, choose
from pgt.nn.trees import cast
from pgt.reconstruction import race
from pgt.reconstruction.race import (
    NOT_CONVERGED,
    equation_residual,
    is_better,
    is_noise,
    why_next,
)
from pgt.uncertainty.outcome import Outcome

DOMAIN, EQUATION = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(0.01)
READINGS = pgt.sample(pgt.datasets.heat(), n=80)


def plan_without_solver(*about, **settings):
    """The plan where the equation has no solution on a mesh."""
    with mock.patch("pgt.methods.plan.is_solvable", return_value=False):
        return choose(*about, **settings)


PLAN = plan_without_solver(READINGS, EQUATION, DOMAIN, training=pgt.Training(seconds=30.0))
TASK = PLAN.first


def missing_by(error, task=TASK, **known):
    with jax.enable_x64(True):
        return Outcome(Fit(cast(task.model, np.float64), task.pde, 0.0), error, **known)


@pytest.fixture
def fulfilled(monkeypatch):
    """The equation holds, as it does not for networks that are not trained."""
    monkeypatch.setattr(race, "equation_residual", lambda outcome, task: 0.0)


def test_a_model_or_method_that_the_user_named_is_the_only_candidate():
    choices: list[dict[str, Any]]
    choices = [{"model": TASK.model}, {"model": "pgt"}, {"method": "first-order"}]
    for named in choices:
        plan = choose(READINGS, EQUATION, DOMAIN, **named)
        assert len(plan.candidates) == 1
        assert not plan.first.has_fallback


# ------------------------------------------------------------------- after a small network

WAVES = pgt.sample(pgt.datasets.heat({1: 1.0, 4: 0.5}), n=120)


def small(**changes):
    training = pgt.Training(seconds=600.0)
    changes = {"training": training} | changes
    return plan_without_solver(WAVES, pgt.Burgers(0.01), DOMAIN, **changes)


def why(plan, outcome, spent=0.0):
    return why_next(outcome, plan.first, plan.candidates[1], spent)


@pytest.mark.usefixtures("fulfilled")
def test_the_next_candidate_is_fitted_while_seconds_are_left_and_the_misfit_is_no_noise():
    plan = small()
    poor = missing_by(0.1, plan.first)  # untrained: it misses waves
    assert why(plan, poor)
    assert why(plan, poor, spent=449.0)
    assert not why(plan, poor, spent=451.0)  # less than a quarter of 600 s
    assert why(plan, missing_by(1e-5, plan.first))
    assert not why(plan, missing_by(1e-8, plan.first))
    assert not why(plan, missing_by(None, plan.first))  # nothing judges
    stuck = dataclasses.replace(poor.fit, stopped=COEFFICIENT_NOT_AT_REST)
    assert why(plan, dataclasses.replace(poor, fit=stuck)) == NOT_CONVERGED


@pytest.mark.usefixtures("fulfilled")
def test_without_seconds_a_candidate_that_takes_long_has_to_be_worth_it():
    free, limited = small(training=pgt.Training()), small()
    assert (limited.candidates[1].min_error, free.candidates[1].min_error) == (
        ROUNDING,
        MIN_ERROR_FOR_LARGER,
    )
    assert not why(free, missing_by(1e-3, free.first))
    assert why(free, missing_by(0.1, free.first))


def noisy_task(noise):
    """A task whose network predicts the readings up to noise of such a size."""
    task = small().first
    readings, held_out = task.problem.observations, task.held_out
    with jax.enable_x64(True):
        model = cast(task.model, np.float64)
        random = np.random.default_rng(1)

        def spoiled(part):
            own = jax.vmap(lambda z: model.decode((), z))(np.asarray(part.points, float))
            values = np.asarray(own) + noise * random.normal(size=own.shape)
            return dataclasses.replace(part, values=values)

        problem = dataclasses.replace(task.problem, observations=spoiled(readings))
        return dataclasses.replace(task, problem=problem, held_out=spoiled(held_out))


def test_a_misfit_like_noise_ends_the_race():
    task = noisy_task(0.3)
    spread = float(task.model.scaling.spread[0])
    quiet = dataclasses.replace(task, problem=dataclasses.replace(task.problem, equation_scales={}))
    assert is_noise(missing_by(0.3 / spread, quiet), quiet)
    assert not is_noise(missing_by(0.9 / spread, quiet), quiet)  # others are missed by far more
    # An untrained network violates the equation as much as it misses the readings.
    wild = dict.fromkeys(task.problem.equation_scales, np.array(1e-6))
    broken = dataclasses.replace(task.problem, equation_scales=wild)
    assert not is_noise(missing_by(0.3 / spread, task), dataclasses.replace(task, problem=broken))


def test_an_answer_that_violates_the_equation_does_not_replace_one_that_fulfills_it():
    plan = small()
    task = plan.first
    follows_readings = missing_by(0.05, task)  # untrained: it violates the equation
    fulfills = missing_by(0.1, task)
    assert equation_residual(follows_readings, task) > 0.05
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(race, "equation_residual", lambda outcome, task: 0.0)
        assert is_better(follows_readings, task, fulfills, task)
    residuals = {id(fulfills): 0.0, id(follows_readings): 0.5}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(race, "equation_residual", lambda outcome, task: residuals[id(outcome)])
        assert not is_better(follows_readings, task, fulfills, task)


@pytest.mark.usefixtures("fulfilled")
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
        assert first.startswith("the next candidate is tried: ")
        assert first.endswith("; the next candidate is better")
        assert second == "kept"
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
    result = pgt.reconstruct(readings, equation, pgt.Domain(t=(0, 2)), method="solver")
    assert result.parameters["k"] == pytest.approx(0.7, abs=1e-4)
