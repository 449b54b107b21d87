"""Training on a small heat problem: reproducible, within its budget, and finite."""

import jax
import numpy as np
import pytest

import pgt
from pgt.data.reading_stream import ReadingStream
from pgt.data.sampling import ResidualAdaptive, Sobol
from pgt.methods.first_order.training_step import TrainingProgram
from pgt.nn.scaling import Scaling
from pgt.nn.trees import is_double
from pgt.physics import Heat, Initial
from pgt.reconstruction.race import JUDGING_SHARE
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


def test_seconds_are_respected():
    fit(seconds=1.0, steps=1, check_every=5)  # compiles, which counts as time spent
    result = fit(seconds=1.0, steps=1, check_every=5)
    assert result.summary["stopped"] == "budget spent"
    assert result.summary["seconds"] >= (1 - JUDGING_SHARE) * 1.0 - 0.1
    assert int(result.history.step[-1]) > 1  # steps are no limit where seconds are given


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
