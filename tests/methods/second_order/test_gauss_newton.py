"""A second-order fit: its cost, what it changes, when it ends, and how it divides its budget."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import pgt
from pgt.methods.second_order import gauss_newton
from pgt.methods.second_order.descent import (
    ITERATIONS_TO_STALL,
    has_stopped_improving,
    is_budget_spent,
)
from pgt.methods.second_order.gauss_newton import (
    ERROR_BAR_FIRST_ITERATIONS,
    ERROR_BAR_ITERATIONS,
    NO_PRIOR_BUDGET_SHARE,
    polish,
)
from pgt.methods.second_order.least_squares import Residuals
from pgt.methods.second_order.residual_rows import RowBlock
from pgt.nn import trees
from pgt.nn.scaling import Scaling
from pgt.physics import Heat, Initial
from pgt.problem import budget
from pgt.problem.losses import Problem
from pgt.training.settings import Polish

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


@pytest.fixture(scope="module")
def polished():
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (30, 2))
    u = np.sin(np.pi * points[:, 0]) * np.exp(-0.1 * np.pi**2 * points[:, 1])
    readings = pgt.Observations.from_arrays(points, u[:, None], coords=("x", "t"), fields=("u",))
    pde = Heat(pgt.Unknown(0.3, positive=True))
    scaling = Scaling.fit(readings, DOMAIN)
    model = pgt.PGT(
        scaling, pde.kernel(), width=8, blocks=1, heads=2, decoder_width=10, decoder_layers=1,
        frequency=4.0,
    )  # fmt: skip
    problem = Problem.build(readings, pde, (Initial(u="sin(pi*x)"),), DOMAIN, scaling)
    seen = []
    settings = Polish(iterations=25, points=100, weights="decoder")
    result = polish(
        model,
        pde,
        problem,
        settings,
        readings.take(np.zeros(0, int)),
        lambda i, c: seen.append((i, c)),
    )
    return model, result, seen


def test_cost_never_rises_and_falls_far(polished):
    _, (_, _, (stage,), _), seen = polished
    costs = stage.costs
    assert all(b <= a for a, b in itertools.pairwise(costs))
    assert costs[-1] < 1e-3 * costs[0]
    assert [i for i, _ in seen] == list(range(1, len(costs)))
    assert [c for _, c in seen] == list(costs[1:])


def test_an_unknown_coefficient_is_found(polished):
    _, (_, pde, *_), _ = polished
    with jax.enable_x64(True):
        assert float(pde.diffusivity.value) == pytest.approx(0.1, rel=0.1)


def test_only_the_decoder_changes(polished):
    before, (after, *_), _ = polished

    def fixed(model):
        network = model.network
        parts = network.blocks, network.embed_value, network.query, network.keys, model.scaling
        return jax.tree.leaves(parts)

    for old, new in zip(fixed(before), fixed(after), strict=True):
        np.testing.assert_allclose(np.asarray(new), np.asarray(old), atol=0)
    old, new = (jax.tree.leaves(m.tunable())[0] for m in (before, after))
    assert np.abs(np.asarray(old) - np.asarray(new)).max() > 1e-3
    assert all(leaf.dtype == np.float64 for leaf in jax.tree.leaves(after.tunable()))
    assert trees.count_parameters(after) == trees.count_parameters(before)


@pytest.mark.slow
def test_all_weights_are_fitted_with_fresh_points():
    """With fewer rows than weights, so that JJᵀ is solved."""
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (12, 2))
    u = np.sin(np.pi * points[:, :1])
    readings = pgt.Observations.from_arrays(points, u, coords=("x", "t"), fields=("u",))
    pde = Heat(0.01)
    scaling = Scaling.fit(readings, DOMAIN)
    model = pgt.PGT(
        scaling, pde.kernel(), width=4, blocks=1, heads=1, decoder_width=4, decoder_layers=1
    )
    problem = Problem.build(readings, pde, (), DOMAIN, scaling)
    settings = Polish(iterations=20, points=16, weights="all", fresh=0.5)
    after, _, (stage, *_), _ = polish(
        model, pde, problem, settings, readings.take(np.zeros(0, int))
    )
    costs = stage.costs
    assert costs[-1] < 0.1 * costs[0]
    old, new = (jax.tree.leaves(m.network.embed_value)[0] for m in (model, after))
    assert np.abs(np.asarray(old) - np.asarray(new)).max() > 1e-4


# ------------------------------------------------------------------------------- seconds


# Seconds of a stage's first iteration, and of each later one, by the clock below.
FIRST_SECONDS, STEP_SECONDS = 3.0, 0.25
RESERVED = (
    ERROR_BAR_FIRST_ITERATIONS * FIRST_SECONDS + ERROR_BAR_ITERATIONS * STEP_SECONDS
)  # seconds of error bars


def timed(monkeypatch, seconds, held_out_error, has_fallback=False, fall=1.0, best_error=np.inf):
    """(seconds of a fit by a clock that only iterations advance, seconds given to each stage).

    Held-out errors `fall` by that factor with every iteration; `best_error` is the smallest of them.
    """
    clock, seconds_given = SimpleNamespace(now=0.0), []

    def descend(
        residuals,
        state,
        settings,
        held_out_error,
        report,
        keep,
        *,
        is_over=lambda state: False,
        **options,
    ):
        began = clock.now - state.seconds
        seconds_given.append(settings.seconds)
        while not state.is_finished:
            clock.now += STEP_SECONDS if state.iteration else FIRST_SECONDS
            iteration, passed = state.iteration + 1, clock.now - began
            first = state.first_seconds or passed
            state = replace(
                state, iteration=iteration, seconds=passed, first_seconds=first, best=state.theta
            )
            errors = (*state.best_errors, fall**iteration)
            state = replace(state, best_iteration=iteration, costs=(1.0,), best_errors=errors)
            state = replace(state, best_error=best_error)
            spent = is_budget_spent(state, settings) or is_over(state)
            state = replace(state, is_finished=has_stopped_improving(state, settings) or spent)
        return state

    readings = pgt.sample(pgt.datasets.heat(), n=6)
    model, pde = pgt.PINN(Scaling.fit(readings, DOMAIN), width=2, layers=1), Heat(0.1)
    problem = Problem.build(readings, pde, (), DOMAIN, model.scaling)
    rows = RowBlock(lambda theta, x: theta * x, np.ones((1, 1)), np.ones(1))
    parameters = SimpleNamespace(theta=np.zeros(1), rebuild=lambda theta: (model, pde))
    found = parameters, Residuals([rows]), lambda theta: held_out_error
    monkeypatch.setattr(gauss_newton, "build_system", lambda *_: found)
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(gauss_newton, "descend", descend)
    monkeypatch.setattr(Residuals, "normal_at", lambda residuals, theta: None)
    settings = Polish(iterations=10**6, seconds=seconds, fresh=0.0)
    polish(model, pde, problem, settings, readings, has_fallback=has_fallback)
    return clock.now, seconds_given


UNTIL_CHECKED = (ITERATIONS_TO_STALL + 2) * STEP_SECONDS
NO_PRIOR_SHARE = NO_PRIOR_BUDGET_SHARE * (
    1 - RESERVED / 100.0
)  # the share of the seconds without those of error bars


@pytest.mark.parametrize(
    ("best_error", "fall", "noise", "share"),
    [
        (0.05, 1.0, True, 0.2),
        (0.05, 0.9, True, NO_PRIOR_SHARE),
        (0.05, 1.0, False, NO_PRIOR_SHARE),
        (0.4, 1.0, True, NO_PRIOR_SHARE),
    ],
)
def test_a_prior_is_used_as_soon_as_readings_are_known_to_be_noisy(
    monkeypatch, best_error, fall, noise, share
):
    """Not while the error falls, nor if residuals are correlated, nor while they are large."""
    monkeypatch.setattr(gauss_newton, "resembles_noise", lambda model, problem: noise)
    _, given = timed(monkeypatch, 100.0, 0.1, fall=fall, best_error=best_error)
    under_prior = next(seconds for seconds in given if seconds != 100.0)
    left = 100.0 - 100.0 * share - RESERVED
    assert under_prior == pytest.approx(left, abs=UNTIL_CHECKED)
