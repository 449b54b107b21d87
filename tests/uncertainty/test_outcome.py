"""From trained networks to an outcome, with the training itself left out.

Draws beside the answer that they were drawn around.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.methods.finished_fit import BUDGET_SPENT, Fit
from pgt.methods.first_order.training_step import held_out_error
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.nn.trees import cast
from pgt.problem.assembly import assemble
from pgt.reconstruction import candidates
from pgt.reconstruction.candidates import fit_task
from pgt.uncertainty import outcome as outcomes
from pgt.uncertainty.members import PosteriorSamples
from pgt.uncertainty.outcome import linearized_deviations

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def test_draws_are_as_far_from_the_answer_wherever_it_was_moved_to():
    readings = pgt.sample(pgt.datasets.heat({1: 1.0}), n=30)
    model = pgt.PINN(pgt.Scaling.fit(readings, DOMAIN), width=4, layers=2)
    task = assemble(readings, pgt.Heat(0.01), DOMAIN, model=model)
    points = np.asarray(readings.points, float)[:5]
    with jax.enable_x64(True):
        base = cast(model, jnp.float64)
        steps = [
            jax.tree.map(lambda leaf, k=k: (k - 2.5) * jnp.cos(leaf), base.tunable())
            for k in range(6)
        ]
        bases = batched.repeat(base, 6)

        def drawn(moved: float) -> LinearisedModel:
            shifted = [jax.tree.map(lambda leaf: leaf + moved, step) for step in steps]
            return LinearisedModel(bases, batched.stack(shifted))

        here, there = (linearized_deviations(drawn(moved), task, points) for moved in (0.0, 3.0))
    assert here.shape == (6, 5, 1)
    np.testing.assert_allclose(here.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(there, here, atol=1e-9)
    assert np.abs(here).max() > 1e-3


SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))
POINTS = np.random.default_rng(0).uniform(0, 1, (8, 2))
READINGS = pgt.Observations.from_arrays(POINTS, POINTS[:, :1] + 1, coords=("x", "t"), fields=("u",))
SCALING = pgt.Scaling.fit(READINGS, SQUARE)


def network(seed):
    return pgt.PINN(SCALING, width=2, layers=1, seed=seed)


def fitted(monkeypatch, ended=(BUDGET_SPENT,), **options):
    """(task, outcome) where training changes nothing and ends as told."""
    training = pgt.Training(polish=False, hold_out=options.pop("hold_out", 0.25))
    task = assemble(READINGS, pgt.Heat(0.1), SQUARE, model=network, training=training, **options)
    fits = [
        Fit(model, task.pde, float(k), stopped=why)
        for k, (model, why) in enumerate(zip(task.networks, ended, strict=True))
    ]
    monkeypatch.setattr(candidates, "train", lambda *_, **__: fits)
    return task, fit_task(task, progress=False)


def test_the_error_is_that_of_readings_held_out(monkeypatch):
    task, outcome = fitted(monkeypatch)
    assert outcome.fit.model is task.networks[0]
    assert outcome.members is None
    expected = float(held_out_error(task.model, task.problem, task.held_out))
    assert outcome.held_out_error == pytest.approx(expected)


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_fit_that_is_not_kept_gets_no_posterior(monkeypatch, is_kept):
    task = assemble(READINGS, pgt.Heat(0.1), SQUARE, model=network)
    fit = Fit(task.model, task.pde, 0.0, stopped=BUDGET_SPENT)
    monkeypatch.setattr(candidates, "train", lambda *_, **__: [fit])
    monkeypatch.setattr(candidates, "_polished", lambda fit, *_: fit)
    record = {"noise": 0.5, "noise_of_fields": [0.5], "exact_readings": False, "cost": None}
    record["remaining_step"] = 0.0
    samples = PosteriorSamples(([], [], []), record)
    monkeypatch.setattr(outcomes, "_posterior_samples", lambda *_: samples)
    errors = []

    def ask(outcome):
        errors.append(outcome.held_out_error)
        return is_kept

    outcome = fit_task(task, progress=False, is_kept=ask)
    assert (outcome.deviations_at is not None) is is_kept
    assert errors == [outcome.held_out_error]
