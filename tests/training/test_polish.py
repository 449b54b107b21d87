"""The least-squares finish: never uphill, learns a coefficient, moves what it was told to."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import pgt
from pgt.ground.stage import Stage
from pgt.nn import frozen
from pgt.nn.scaling import Scaling
from pgt.physics import Heat, Initial
from pgt.training import deadline
from pgt.training import polish as polishing
from pgt.training.descent import State, is_over, is_spent
from pgt.training.least_squares import Search
from pgt.training.losses import Problem
from pgt.training.polish import PLAIN_SHARE, polish
from pgt.training.rows import Block
from pgt.training.settings import Polish
from pgt.training.shares import AFTER, AFTER_STEPS

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
    _, (_, _, (stage,)), seen = polished
    costs = stage.costs
    assert all(b <= a for a, b in itertools.pairwise(costs))
    assert costs[-1] < 1e-3 * costs[0]
    assert [i for i, _ in seen] == list(range(1, len(costs)))
    assert [c for _, c in seen] == list(costs[1:])


def test_an_unknown_coefficient_is_found(polished):
    _, (_, pde, *_), _ = polished
    with jax.enable_x64(True):
        assert float(pde.diffusivity.value) == pytest.approx(0.1, rel=0.1)


def test_only_the_decoder_moves(polished):
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
    assert frozen.count_parameters(after) == frozen.count_parameters(before)


def test_without_a_prior_a_polish_makes_all_of_its_iterations():
    readings = pgt.sample(pgt.datasets.heat(), n=8)
    scaling = Scaling.fit(readings, DOMAIN)
    model, problem = (
        pgt.SIREN(scaling, width=4, layers=2, frequency=4.0),
        Problem.build(readings, Heat(0.01), (), DOMAIN, scaling),
    )
    settings = Polish(iterations=6, points=16, evidence=False)
    done = polish(model, Heat(0.01), problem, settings, readings.take([0, 1]))
    assert [len(stage.costs) for stage in done.stages] == [7]  # the first is that of the start


@pytest.mark.slow
def test_all_weights_may_move_and_some_points_are_new_every_time():
    """The encoder too; with fewer rows than weights, so that JJᵀ is what is solved."""
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
    after, _, (stage, *_) = polish(model, pde, problem, settings, readings.take(np.zeros(0, int)))
    costs = stage.costs
    assert costs[-1] < 0.1 * costs[0]
    old, new = (jax.tree.leaves(m.network.embed_value)[0] for m in (model, after))
    assert np.abs(np.asarray(old) - np.asarray(new)).max() > 1e-4


# ------------------------------------------------------------------------------- seconds


# Seconds by the clock below, of a stage's first iteration and of another.
COMPILED, SOLVED = 3.0, 0.25
RESERVED = AFTER * COMPILED + AFTER_STEPS * SOLVED  # for error bars


def timed(monkeypatch, seconds, held_out_error, gives_way=False, fall=1.0, known=np.inf):
    """How long a polish takes by a clock that only iterations put forward, and what stages are given.
    Held-out errors `fall` by that factor with every iteration; `known` is the least of them."""
    clock, given = SimpleNamespace(now=0.0), []

    def descend(search, state, settings, judge, report, keep, *, share=1.0, **options):
        began = clock.now - state.seconds
        given.append(settings.seconds)
        while not state.over:
            clock.now += SOLVED if state.iteration else COMPILED
            iteration, passed = state.iteration + 1, clock.now - began
            first = state.first or passed
            state = replace(
                state, iteration=iteration, seconds=passed, first=first, best=state.theta
            )
            errors = (*state.errors, fall**iteration)
            state = replace(state, best_iteration=iteration, costs=(1.0,), errors=errors)
            state = replace(state, best_error=known)
            spent = is_spent(state, settings, share)
            state = replace(state, over=is_over(state, settings) or spent)
        return state

    readings = pgt.sample(pgt.datasets.heat(), n=6)
    model, pde = pgt.PINN(Scaling.fit(readings, DOMAIN), width=2, layers=1), Heat(0.1)
    problem = Problem.build(readings, pde, (), DOMAIN, model.scaling)
    rows = Block(lambda theta, x: theta * x, np.ones((1, 1)), np.ones(1))
    numbers = SimpleNamespace(theta=np.zeros(1), rebuild=lambda theta: (model, pde))
    found = numbers, Search([rows]), lambda theta: held_out_error
    monkeypatch.setattr(polishing, "system", lambda *_: found)
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(polishing, "descend", descend)
    monkeypatch.setattr(polishing, "revised", lambda prior, normal, rounds: (prior, 0.0))
    monkeypatch.setattr(Search, "normal_at", lambda search, theta: None)
    settings = Polish(iterations=10**6, seconds=seconds, fresh=0.0)
    polish(model, pde, problem, settings, readings, gives_way=gives_way)
    return clock.now, given


@pytest.mark.parametrize("held_out_error", [1e-6, 0.1])
def test_a_polish_keeps_its_seconds_and_leaves_those_of_error_bars(monkeypatch, held_out_error):
    took, _ = timed(monkeypatch, 80.0, held_out_error)
    assert 80.0 - RESERVED - 2 * SOLVED < took <= 80.0 - RESERVED + SOLVED


def test_a_fit_that_has_not_come_far_is_not_taken_for_noise(monkeypatch):
    _, given = timed(monkeypatch, 80.0, 0.8)
    later = next(seconds for seconds in given if seconds != 80.0)
    assert later == 80.0 - RESERVED  # without a prior, to the end


def test_seconds_that_are_spent_leave_later_stages_one_iteration(monkeypatch):
    took, given = timed(monkeypatch, 4.0, 0.1)
    assert len(given) == 3
    assert took == pytest.approx(3 * COMPILED)  # all that is compiled, and nothing else


LEFT = PLAIN_SHARE * (1 - RESERVED / 100.0)  # the share of what error bars leave


@pytest.mark.parametrize(
    ("fall", "overtaxed", "share"), [(1.0, True, 0.2), (0.9, True, LEFT), (1.0, False, None)]
)
def test_a_fit_that_goes_nowhere_leaves_its_seconds_to_another_model(
    monkeypatch, fall, overtaxed, share
):
    """As soon as that is known; one that still comes closer has its time, and so has one whose misses
    are noise."""
    monkeypatch.setattr(polishing, "is_overtaxed", lambda model, problem: overtaxed)
    took, _ = timed(monkeypatch, 100.0, 0.1, gives_way=True, fall=fall)
    expected = 100.0 - RESERVED if share is None else 100.0 * share
    assert expected - 2 * SOLVED < took <= expected + 2 * SOLVED


@pytest.mark.parametrize(
    ("known", "fall", "noise", "share"),
    [(0.05, 1.0, True, 0.2), (0.05, 0.9, True, LEFT), (0.05, 1.0, False, LEFT), (0.4, 1.0, True, LEFT)],
)  # fmt: skip
def test_noise_is_fitted_under_a_prior_as_soon_as_it_is_known(
    monkeypatch, known, fall, noise, share
):
    """Not while the error falls, nor where neighbours are missed alike, nor before it has come far."""
    monkeypatch.setattr(polishing, "misses_noise", lambda model, problem: noise)
    _, given = timed(monkeypatch, 100.0, 0.1, fall=fall, known=known)
    under_prior = next(seconds for seconds in given if seconds != 100.0)
    left = 100.0 - 100.0 * share - RESERVED
    assert under_prior == pytest.approx((1 - polishing.STIFF_SHARE) * left, abs=2 * SOLVED)


@pytest.mark.parametrize(("best_error", "stands"), [(0.030, True), (0.010, False)])
def test_noisy_readings_do_not_choose_by_chance_where_to_go_on(best_error, stands):
    """Ten of them know their own error to a fifth."""
    end = State(np.ones(1), best=np.zeros(1), best_error=best_error)
    found = _known(lambda theta: 0.04, 10).standing(end)
    assert bool(found[0] == 1.0) is stands


def _known(judge, count) -> polishing.Known:
    scaling = Scaling.fit(pgt.sample(pgt.datasets.heat(), n=6), DOMAIN)
    model = pgt.PINN(scaling, width=2, layers=1)
    problem, numbers = SimpleNamespace(), SimpleNamespace(rebuild=lambda theta: (model, None))
    return polishing.Known(judge, count, None, Polish(), problem, numbers, False)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("stands", "is_noise"), [(0.02, True), (0.009, False), (0.08, False)])
def test_a_lucky_look_at_few_readings_does_not_hide_their_noise(monkeypatch, stands, is_noise):
    """Six of them are missed by less than a per cent at one θ of many, and by two where it rests."""
    monkeypatch.setattr(polishing, "misses_noise", lambda model, problem: True)
    end = State(np.ones(1), best=np.zeros(1), best_error=0.009, errors=(0.009,) * 60)
    known = _known(lambda theta: stands if theta[0] == 1.0 else 0.009, 6)
    assert known.is_noise(end) is is_noise  # missed by nine times as much, it is no chance


def test_a_fit_under_a_prior_counts_where_it_predicts_no_worse(monkeypatch):
    """Weights that vanish fulfil a prior best, and many an equation as well."""
    x = np.linspace(0, 1, 40)[:, None]
    readings = pgt.Observations.from_arrays(x, np.sin(5 * x), coords=("x",), fields=("u",))
    domain, pde = pgt.Domain(x=(0, 1)), pgt.Equation("u_xx = -25*u")
    model = pgt.PINN(Scaling.fit(readings, domain), width=8, layers=2)
    problem = Problem.build(readings, pde, (), domain, model.scaling)

    def under_prior(search, start, *rest):
        return 0.0 * start.theta, [Stage("under a prior", (1.0,), 0.0, "converged")]

    monkeypatch.setattr(polishing, "_fit_noisy", under_prior)
    monkeypatch.setattr(polishing, "_is_noisy", lambda *known: True)
    settings = Polish(iterations=12, points=60, weights="all")
    found = polish(model, pde, problem, settings, readings.take(np.arange(0, 40, 2)))
    assert [stage.ended for stage in found.stages] == ["noise", "converged"]
    sizes = [float(np.abs(leaf).max()) for leaf in jax.tree.leaves(found.model.tunable())]
    assert max(sizes) > 0
