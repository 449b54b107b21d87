"""Training on a small heat problem: reproducible, within its budget, and finite."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.data.reading_stream import ReadingStream
from pgt.data.sampling import ResidualAdaptive, Sobol
from pgt.methods.first_order import training_loop
from pgt.methods.first_order.training_step import TrainingProgram, run_steps, with_noise_floors
from pgt.nn.scaling import Scaling
from pgt.nn.trees import is_double
from pgt.physics import Heat, Initial
from pgt.reconstruction.race import JUDGING_SHARE
from pgt.training.optimisers import schedule
from pgt.training.weighting import Fixed, GradientNorm

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
CONDITIONS = (Initial(u="sin(pi*x)"),)


def readings(n=30, jitter=0.0, **options):
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (n, 2))
    u = np.sin(np.pi * points[:, 0]) * np.exp(-0.1 * np.pi**2 * points[:, 1])
    u = u + jitter * random.standard_normal(n)
    return pgt.Observations.from_arrays(
        points, u[:, None], coords=("x", "t"), fields=("u",), **options
    )


def small(observations=None, seed=0, **options):
    scaling = Scaling.fit(observations or readings(), DOMAIN)
    sizes = {"width": 8, "blocks": 1, "heads": 2, "decoder_width": 8, "decoder_layers": 1}
    return pgt.PGT(scaling, Heat(0.1).kernel(), seed=seed, **(sizes | options))


def network(observations, seed=0):
    """What compiles soonest: most of training is the same for every model."""
    return pgt.PINN(Scaling.fit(observations, DOMAIN), width=8, layers=2, seed=seed)


def fit(observations=None, model=None, seed=0, pde=None, **settings):
    observations = readings() if observations is None else observations
    settings = {"steps": 20, "collocation": 16, "condition_points": 4, "check_every": 10} | settings
    settings = {"polish": False, "patience": 2.0} | settings
    return pgt.reconstruct(
        observations,
        pde or Heat(0.1),
        DOMAIN,
        CONDITIONS,
        model=model or network(observations, seed),
        training=pgt.Training(**settings),
        seed=seed,
        progress=False,
    )


def arrays(result):
    return [np.asarray(leaf) for leaf in jax.tree.leaves((result.model, result.pde))]


def all_finite(result):
    leaves = [leaf for leaf in arrays(result) if leaf.dtype.kind == "f"]
    return all(np.isfinite(leaf).all() for leaf in leaves)


@pytest.fixture(scope="module")
def plain():
    return fit()


def test_the_loss_falls_and_history_is_kept(plain):
    history = plain.history
    assert history.step.values.tolist() == [1, 10, 20]
    assert set(history) == {"held_out", "loss", "weight", "coefficient"}
    assert history.loss.dims == history.weight.dims == ("step", "term")
    assert history.term.values.tolist() == ["data", "heat", "ic"]
    assert history.sizes["unknown"] == 0
    data = history.loss.sel(term="data")
    assert float(data[-1]) < float(data[0])
    assert plain.summary["stopped"] == "budget spent"
    assert plain.summary["training"]["steps"] == 20
    assert len(plain.held_out) == 3
    assert len(plain.observations) == 27


def test_same_seed_same_numbers(plain):
    for ours, again in zip(arrays(plain), arrays(fit()), strict=True):
        np.testing.assert_array_equal(ours, again)
    assert fit(seed=1).summary["held_out_error"] != plain.summary["held_out_error"]


def test_the_check_interval_changes_no_number(plain):
    """How often the host looks must not enter the result, with the noise given."""
    noisy = readings(jitter=0.1, noise=0.1)
    for ours, other in zip(arrays(fit(noisy)), arrays(fit(noisy, check_every=7)), strict=True):
        np.testing.assert_array_equal(ours, other)


def slow(settings):
    """Each compiles a program of its own: `make smoke` runs these."""
    return pytest.param(settings, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    "settings",
    [
        slow({"optimiser": "adam"}),
        slow({"weighting": Fixed(data=2.0, heat=1.0, ic=1.0)}),
        slow({"weighting": GradientNorm()}),
        slow({"sampler": Sobol()}),
        slow({"sampler": ResidualAdaptive()}),
        slow({"precision": "float64"}),
        slow({"batch": 8}),
        slow({"hold_out": 0.0}),
    ],
    ids=lambda s: "-".join(
        f"{k}={type(v).__name__ if k != 'optimiser' else v}" for k, v in s.items()
    ),
)
def test_training_runs_with_every_setting(plain, settings):
    result = fit(steps=12, **settings)
    assert all_finite(result)
    assert int(result.history.step[-1]) == 12
    assert np.isfinite(result.history.loss).all()
    assert is_double(result.model) == (settings.get("precision") == "float64")
    if settings.get("hold_out") == 0.0:
        assert result.summary["held_out_error"] is None
        assert np.isnan(result.history.held_out).all()


@pytest.mark.slow
def test_a_variance_head_trains():
    result = fit(model=small(variance_head=True))
    assert all_finite(result)
    assert "variance" not in result.history.term  # weighs nothing


def test_without_collocation_points_the_equation_is_not_fitted():
    result = fit(collocation=0, steps=12)
    assert result.history.term.values.tolist() == ["data", "ic"]
    assert result.history.weight.shape == result.history.loss.shape


@pytest.mark.slow
def test_without_collocation_points_a_polish_fits_readings_and_conditions():
    finish = pgt.Polish(iterations=2, points=16, evidence=False)
    polished = fit(collocation=0, steps=2, polish=finish)
    assert [len(stage.costs) for stage in polished.stages] == [3]


@pytest.mark.slow
def test_another_budget_compiles_nothing():
    fit(steps=3)
    before = run_steps._cached._cache_size()
    fit(steps=4, patience=1.5, polish=pgt.Polish(iterations=1, points=16))
    assert run_steps._cached._cache_size() == before


def test_seconds_are_respected():
    fit(seconds=3.0, steps=1, check_every=5)  # compiles, which counts as time spent
    began = time.monotonic()
    result = fit(seconds=3.0, steps=1, check_every=5)
    assert result.summary["stopped"] == "budget spent"
    assert result.summary["seconds"] >= (1 - JUDGING_SHARE) * 3.0 - 0.1
    assert int(result.history.step[-1]) > 1  # steps are no limit where seconds are given
    assert time.monotonic() - began < 25


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pgt.DoubtWarning")
def test_a_huge_learning_rate_ends_finite_and_reports_it():
    with pytest.raises(pgt.InputError, match="learning_rate"):
        fit(learning_rate=1e30, steps=30)
    result = fit(learning_rate=1e3, steps=30)
    assert all_finite(result)
    assert np.isfinite(result.grid(x=3, t=3).u).all()
    diverged = "diverged" in result.summary["stopped"]
    assert diverged or np.isfinite(result.history.loss.sel(term="data")).all()


def test_a_loss_that_is_never_finite_stops():
    class Broken(Heat):
        def residual(self, d):
            return {"heat": d("u_t") / (0.0 * d("u"))}

    with pytest.warns(pgt.DoubtWarning, match="the fit diverged"):
        result = fit(pde=Broken(0.1))
    assert "diverged" in result.summary["stopped"]
    assert all_finite(result)
    assert result.history.sizes.get("step", 0) == 0


def test_early_stop_keeps_the_best():
    """Pure noise: the held-out error cannot fall for long."""
    observations = readings(jitter=3.0)
    result = fit(observations, steps=400, patience=0.1, check_every=20, learning_rate=1e-2)
    assert result.summary["stopped"] == "held-out error stopped falling"
    assert int(result.history.step[-1]) < 400
    best = float(result.history.held_out.min())
    assert result.summary["held_out_error"] == pytest.approx(best, rel=1e-4)


def test_noise_floor_is_given_or_held_out():
    given = fit(readings(60, jitter=0.05, noise=0.05))
    spread = float(given.model.scaling.spread[0])
    assert given.summary["noise_floor"] == pytest.approx(0.05 / spread, rel=1e-4)
    guessed = fit(readings(60, jitter=0.05))
    assert guessed.summary["noise_floor"] == pytest.approx(
        float(guessed.history.held_out.min()), rel=1e-5
    )
    weight = float(given.history.weight.sel(term="data")[-1])
    assert given.summary["noise_floor"] ** 2 * weight <= 0.5001


def test_a_falling_error_is_not_noise(monkeypatch):
    """What is yet to be learnt of clean readings would else give the equation a weight as of noise."""
    seen = []

    def noted(state, errors):
        seen.append(errors[0])
        return with_noise_floors(state, errors)

    monkeypatch.setattr(training_loop, "with_noise_floors", noted)
    result = fit(readings(60), steps=100, learning_rate=1e-2)
    falling = result.history.held_out.to_numpy()
    still = int(np.argmin(falling[1:] < 0.95 * falling[:-1]))  # falls by more than 5 % up to there
    assert still >= 2
    assert seen[: still + 1] == [0.0] * (still + 1)
    assert seen[-1] == result.history.held_out.min(), "at the end nothing more is to be learnt"


def test_the_schedule_of_the_learning_rate():
    shares = [float(schedule(jnp.asarray(p))) for p in (0.0, 0.01, 0.02, 0.4, 0.7, 1.0)]
    np.testing.assert_allclose(shares, [0, 0.5, 1, 1, 0.5005, 1e-3], atol=1e-5)


# ------------------------------------------------------------------------------- streams


def test_batches_of_a_stream_train_like_readings_in_memory():
    everything = readings(3000, jitter=0.05)
    model = network(everything)
    settings = {"model": model, "steps": 120, "batch": 128, "hold_out": 0.02}
    streamed = fit(ReadingStream.of(everything, rows=500), **settings)
    in_memory = fit(everything, **settings)
    errors = [
        np.sqrt(np.mean((r.at(x=0.5, t=0.5).u - np.exp(-0.05 * np.pi**2)) ** 2))
        for r in (streamed, in_memory)
    ]
    assert errors[0] < 2 * errors[1] + 0.05
    assert streamed.summary["streamed_readings"] == 3000


def test_pools_differ_between_runs_of_steps_and_hold_no_held_out_reading(monkeypatch):
    pools = []
    kept = TrainingProgram.with_pool
    monkeypatch.setattr(
        TrainingProgram, "with_pool", lambda self, pool: (pools.append(pool), kept(self, pool))[1]
    )
    stream = ReadingStream.of(readings(400), rows=100)
    result = fit(stream, network(readings(400)), batch=20, hold_out=0.1)
    assert len(pools) == 3
    assert all(len(pool) == 200 for pool in pools)
    held_out = np.asarray(result.held_out.points)
    seen = np.concatenate([np.asarray(pool.points) for pool in pools])
    assert len(held_out) == 40
    assert not (seen[:, None] == held_out).all(axis=2).any()
    assert len(np.unique(seen, axis=0)) == 360


def test_an_ensemble_shares_its_pools():
    stream = ReadingStream.of(readings(200), rows=100)
    scaling = Scaling.fit(readings(200), DOMAIN)
    result = pgt.reconstruct(
        stream, Heat(0.1), DOMAIN, CONDITIONS,
        model=lambda seed: pgt.PINN(scaling, width=8, layers=1, seed=seed),
        training=pgt.Training(steps=4, batch=10, collocation=8, condition_points=4),
        error_bars=pgt.Ensemble(members=2), progress=False,
    )  # fmt: skip
    assert all_finite(result)
