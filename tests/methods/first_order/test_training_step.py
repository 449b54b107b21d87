"""The trained parameters of a training step, and several networks trained at once."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.core.progress import ProgressBar
from pgt.methods.finished_fit import BUDGET_SPENT, DIVERGED
from pgt.methods.first_order import training_step
from pgt.methods.first_order.training_loop import train
from pgt.methods.first_order.training_step import (
    join,
    split,
)
from pgt.methods.history import median
from pgt.problem.assembly import Task
from pgt.problem.field_scales import with_unknown_units
from pgt.problem.losses import Problem
from pgt.training.settings import member_seeds

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
READINGS = pgt.Observations.from_arrays(
    {"x": [0.0, 0.5, 1.0], "t": [0.0, 0.5, 1.0]}, {"u": [1.0, 2.0, 6.0]}
)
SCALING = pgt.Scaling.fit(READINGS, DOMAIN)


class Constant(pgt.models.field_model.AbstractFieldModel):
    """u = c everywhere."""

    scaling: pgt.Scaling
    c: jax.Array

    def encode(self, observations):
        return ()

    def decode(self, context, z):
        return jnp.full(1, self.c)

    def tunable(self):
        return self.c


def constant(c):
    return Constant(SCALING, jnp.asarray(c, jnp.float32))


def test_only_unknown_coefficients_of_an_equation_are_trained():
    pde = pgt.AdvectionDiffusion(2.0, pgt.Unknown(0.25))
    trained, fixed = split(constant(3.0), pde, {"weight": jnp.ones(())})
    assert len(jax.tree.leaves(trained[1])) == 1
    assert len(jax.tree.leaves(split(constant(3.0), pgt.Heat(0.1), None)[0][1])) == 0
    moved = eqx.tree_at(lambda t: t[0].c, trained, jnp.asarray(5.0))
    model, equation, learnt = join(moved, fixed)
    assert float(model.c) == 5.0
    assert eqx.tree_equal(equation, pde)
    assert learnt == {"weight": 1.0}


# ------------------------------------------------------------------------------- several networks

BATCH_DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1), units={"x": "m"})
SEEDS = member_seeds(7, 3)
TRAINING = pgt.Training(
    steps=13, collocation=16, check_every=4, hold_out=0.25, polish=False, precision="float64",
    patience=10.0,
)  # fmt: skip


def readings(n=24):
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (n, 2))
    u = np.sin(np.pi * points[:, :1]) * np.exp(-points[:, 1:]) + random.normal(0, 0.05, (n, 1))
    return pgt.Observations.from_arrays(
        points, u, coords=("x", "t"), fields=("u",), units={"u": "K"}
    )


BATCH_READINGS = readings()
FITTED, HELD_OUT = (
    BATCH_READINGS.take(np.arange(18)),
    BATCH_READINGS.take(np.arange(18, 24)),
)


def network(seed):
    """So narrow that SOAP's bases are unique: where a factor has a null space of more than one
    dimension they depend on rounding, and so does the path of training."""
    return pgt.PINN(SCALING, width=2, layers=2, seed=seed)


def equation():
    return with_unknown_units(pgt.Heat(pgt.Unknown(0.05, positive=True)), SCALING)


def train_ensemble(checkpoint=None, seeds=SEEDS):
    """Members, each with its own draw of the readings."""
    with jax.enable_x64(True):
        pde = equation()
        problem = Problem.build(FITTED, pde, (), BATCH_DOMAIN, SCALING)
        models = tuple(_double(network(seed)) for seed in seeds)
        bars = pgt.Ensemble(members=3, bootstrap=True)
        task = Task(
            models,
            tuple(seeds),
            pde,
            BATCH_DOMAIN,
            problem,
            HELD_OUT,
            TRAINING,
            bars,
            None,
        )
        return train(task, checkpoint=checkpoint, progress=ProgressBar(False))


def _double(tree):
    return jax.tree.map(lambda a: a.astype(np.float64) if eqx.is_inexact_array(a) else a, tree)


@pytest.fixture(scope="module")
def trained():
    return train_ensemble()


@pytest.fixture(scope="module")
def result():
    return reconstructed()


def reconstructed(training=TRAINING):
    return pgt.reconstruct(
        BATCH_READINGS, equation(), BATCH_DOMAIN, model=network, training=training, seed=7,
        error_bars=pgt.Ensemble(members=3, bootstrap=True), progress=False,
    )  # fmt: skip


def arrays(fit):
    return [
        np.asarray(leaf) for leaf in jax.tree.leaves((fit.model, fit.pde)) if eqx.is_array(leaf)
    ]


def assert_same(some, others, **tolerance):
    for one, other in zip(arrays(some), arrays(others), strict=True):
        np.testing.assert_allclose(one, other, **tolerance)


# ------------------------------------------------------------------------------- training


def test_members_equal_separate_trainings(trained):
    for seed, fit in zip(SEEDS, trained, strict=True):
        (alone,) = train_ensemble(seeds=[seed])
        assert_same(fit, alone, rtol=1e-7, atol=1e-9)
        assert fit.noise_floor == pytest.approx(alone.noise_floor, rel=1e-7)
        histories = (one.history.dataset() for one in (fit, alone))
        xr.testing.assert_allclose(*histories, rtol=1e-7, atol=1e-12)
        assert fit.stopped == alone.stopped == BUDGET_SPENT
    middle = median([fit.history for fit in trained])
    assert middle.step == [1, 4, 8, 12, 13]
    assert middle.loss["heat"][2] == np.median([fit.history.loss["heat"][2] for fit in trained])


def test_a_diverged_member_is_left_out(trained, monkeypatch):
    three = [trained[0], dataclasses.replace(trained[1], stopped=DIVERGED), trained[2]]
    monkeypatch.setattr("pgt.reconstruction.candidates.train", lambda *_, **__: three)
    fitted = reconstructed()
    assert len(fitted.members) == 2
    assert fitted.summary["members"]["diverged"] == [SEEDS[1]]
    assert fitted.summary["members"]["seeds"] == [SEEDS[0], SEEDS[2]]
    assert fitted.summary["stopped"] == BUDGET_SPENT
    np.testing.assert_array_equal(
        fitted.members.models.network.layers.readout[1], trained[2].model.network.layers.readout
    )


def test_a_killed_training_continues_bit_for_bit(trained, monkeypatch, tmp_path):
    real, calls = training_step.run_network_steps, []

    def killed(*arguments):
        calls.append(0)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(training_step, "run_network_steps", killed)
    with pytest.raises(KeyboardInterrupt):
        train_ensemble(tmp_path)
    fits = train_ensemble(tmp_path)
    assert len(calls) == 6  # five runs of steps, one of them begun twice
    for fit, other in zip(fits, trained, strict=True):
        assert_same(fit, other, rtol=0)
        assert fit.history == other.history


# ------------------------------------------------------------------------------- the result


def test_summary_and_coefficients(result):
    members = result.summary["members"]
    assert members["seeds"] == SEEDS
    assert len(members["held_out_errors"]) == 3
    table = result.members.coefficients()["diffusivity"]
    with jax.enable_x64(True):
        raw = np.asarray(result.members.pdes.diffusivity.raw)
    np.testing.assert_allclose(table, np.exp(raw))
    assert len(set(table)) == 3
    assert result.parameters == {"diffusivity": pytest.approx(np.median(table))}
    misfit = result.at(result.held_out.points).u - result.held_out.values[:, 0]
    error = np.sqrt(np.mean(misfit**2)) / SCALING.spread[0]
    assert result.summary["held_out_error"] == pytest.approx(float(error), rel=1e-6)
    # The error of a mean is at most the mean error: the triangle inequality.
    assert result.summary["held_out_error"] <= np.mean(members["held_out_errors"])
    assert set(result.history.term.values) == {"data", "heat"}
    assert result.history.unknown.values.tolist() == ["diffusivity"]


def test_members_are_saved_and_loaded(result, tmp_path):
    result.save(tmp_path)
    again = pgt.Reconstruction.load(tmp_path)
    for one, other in zip(
        jax.tree.leaves(again.members), jax.tree.leaves(result.members), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    asked = {"quantiles": (0.1, 0.9), "x": 4, "t": 3}
    assert again.grid(**asked).identical(result.grid(**asked))
    assert again.residual(x=3, t=3).identical(result.residual(x=3, t=3))
    assert again.summary == result.summary
