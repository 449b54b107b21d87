"""A descent goes on from where it was left, and sees new points where it should."""

import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.training.descent import GIVE_UP, State, descend, why_ended
from pgt.training.least_squares import Prior, Search
from pgt.training.rows import Block, Rows
from pgt.training.settings import Polish


def waves(number: int) -> Block:
    """Rows of a small network that should be a wave, at points that depend on the draw."""
    x = np.random.default_rng(number).uniform(-1, 1, 12)

    def row(theta, x):
        hidden = jnp.tanh(theta[:4] * x + theta[4:8])
        return (hidden @ theta[8:12] - jnp.sin(3 * x))[None]

    return Block(row, x, np.full(12, 12**-0.5))


def search():
    blocks = (Block(waves(0).function, np.array([0.1, 0.7, -0.5]), np.ones(3)), waves(0))
    return Search(Rows(blocks, 1, waves))


START = np.linspace(-1, 1, 12)


@pytest.mark.parametrize("prior", [None, Prior(1e-4, 3, 3.0, 0.0)])
@pytest.mark.parametrize("fresh", [0.0, 0.5, 1.0])
def test_it_goes_on_bit_for_bit(fresh, prior):
    with jax.enable_x64(True):
        settings = Polish(iterations=40, patience=100, fresh=fresh)
        states = []
        start = State(START) if prior is None else State(START, prior)
        revised = {"is_revised": prior is not None}
        end = descend(
            search(), start, settings, lambda t: float(t @ t), keep=states.append, **revised
        )
        again = descend(search(), states[31], settings, lambda t: float(t @ t), **revised)
    assert end.over
    assert states[31].iteration == 32
    np.testing.assert_array_equal(end.theta, again.theta)
    np.testing.assert_array_equal(end.best, again.best)
    assert (end.costs, end.damping, end.prior) == (again.costs, again.damping, again.prior)
    assert descend(search(), end, settings, None) is end


def test_points_are_new_after_every_step_and_fixed_at_last():
    with jax.enable_x64(True):
        states = []
        settings = Polish(iterations=30, patience=100, fresh=0.5)
        descend(search(), State(START), settings, None, keep=states.append)
    draws = [state.draw for state in states]
    fresh = [state for state in states if state.draw]
    accepted = sum(np.any(a.theta != b.theta) for a, b in itertools.pairwise(fresh))
    assert accepted > 3
    assert max(draws) - draws[0] == accepted
    assert draws[-1] == 0
    assert np.all(np.asarray(states[-1].momentum) == 0.0)
    later = [s.costs[-1] for s in states if s.draw == 0]
    assert all(b <= a for a, b in itertools.pairwise(later))


def test_when_fresh_points_no_longer_help_it_goes_on_from_the_best_at_the_fixed_ones():
    """The judge likes nothing after the fifth step: patience is over in the fresh stage, then anew."""
    with jax.enable_x64(True):
        states, asked = [], itertools.count()
        settings = Polish(iterations=200, patience=8, fresh=0.9)
        end = descend(
            search(),
            State(START),
            settings,
            lambda theta: abs(5.0 - next(asked)),
            keep=states.append,
        )
    fresh = [state for state in states if not state.settled]
    settled = [state for state in states if state.settled]
    assert 10 < len(fresh) < 100
    assert all(state.draw for state in fresh)
    assert not any(state.draw for state in settled)
    assert settled[-1].costs[-1] < settled[1].costs[-1]  # at points that stay
    assert end.over
    assert end.iteration < 200


def test_points_that_are_always_new_are_so_after_the_last_step():
    with jax.enable_x64(True):
        end = descend(search(), State(START), Polish(iterations=5, fresh=1.0), None)
    assert end.best_iteration == 5
    assert end.draw > 0


def test_where_it_is_enough_no_fixed_points_are_asked():
    with jax.enable_x64(True):
        asked, settings = itertools.count(), Polish(iterations=200, patience=8, fresh=0.9)
        end = descend(
            search(), State(START), settings, lambda theta: abs(5.0 - next(asked)),
            is_enough=lambda state: True,
        )  # fmt: skip
    assert end.over
    assert not end.settled


def test_a_step_that_does_not_help_stiffens_the_damping():
    stuck = Block(lambda t, x: (1 + t**2) * x, np.ones((1, 1)), np.ones(1))
    with jax.enable_x64(True):
        end = descend(Search([stuck]), State(np.zeros(1)), Polish(iterations=5), None)
    assert end.damping > State(np.zeros(1)).damping
    assert end.costs == (1.0,) * 6


def test_of_a_first_step_that_bends_too_much_a_share_is_gone():
    """exp θ = e^1.5 from 0: Newton's step to 3.5 bends after a fifth of it."""
    steep = Block(lambda t, x: jnp.exp(t) * x - jnp.exp(1.5), np.ones((1, 1)), np.ones(1))
    states = []
    with jax.enable_x64(True):
        settings = Polish(iterations=12, fresh=0.0)
        descend(Search([steep]), State(np.zeros(1)), settings, None, keep=states.append)
    first = states[0]
    assert not first.moved
    assert first.costs[1] < first.costs[0]
    assert first.damping > State(np.zeros(1)).damping
    assert states[-1].costs[-1] < 1e-6 * first.costs[0]


def test_a_short_descent_revises_its_prior_too():
    prior = Prior(1e-4, 3, 3.0, 0.0)
    with jax.enable_x64(True):
        end = descend(
            search(), State(START, prior), Polish(iterations=6, fresh=0.0), None, is_revised=True
        )
    assert end.prior.hold != prior.hold


def test_seconds_count_from_where_it_was_left():
    with jax.enable_x64(True):
        spent = replace(State(START), seconds=100.0)
        end = descend(search(), spent, Polish(iterations=50, seconds=50.0), None)
    assert end.iteration == 1


@pytest.mark.parametrize(
    ("changes", "ended"),
    [
        ({}, "seconds"),
        ({"iteration": 50, "best_iteration": 45}, "iterations"),
        ({"iteration": 50}, "patience"),
        ({"damping": 2 * GIVE_UP}, "converged"),
        ({"costs": (1.0, np.nan)}, "diverged"),
    ],
)
def test_why_a_descent_ended(changes, ended):
    state = replace(State(START, iteration=5, costs=(2.0, 1.0)), **changes)
    settings = Polish(iterations=50, seconds=1.0, patience=40)
    assert why_ended(state, settings, lambda theta: 0.1) == ended
    without = "converged" if ended == "patience" else ended
    assert why_ended(state, settings, None) == without
