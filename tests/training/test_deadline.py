"""The seconds of a sum of sines."""

import math

import pytest

from pgt.training import deadline
from pgt.training.deadline import FEWEST, LAST, PROBE, TURNS, Deadline


class Clock:
    """Stands still, until it is put forward."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(deadline, "time", made)
    return made


def test_without_a_limit_everything_is_allowed(clock):
    free = Deadline(None)
    clock.now += 1e9
    assert free.allows(1e9)
    assert free.sines(2400, 1, at_once=True) == 2400
    assert free.sines_left(300, 600, took=1e9) == 600


def test_what_is_expected_counts(clock):
    limited = Deadline(10.0)
    clock.now += 4.0
    assert limited.spent == 4.0
    assert limited.allows(6.0)
    assert not limited.allows(6.1)
    assert not limited.allows(0.0, share=0.3)


@pytest.mark.parametrize(("fields", "at_once"), [(1, True), (3, True), (3, False)])
def test_as_many_sines_as_a_small_solve_lets_expect(monkeypatch, fields, at_once):
    monkeypatch.setattr(deadline, "seconds_of_solve", lambda size: 0.1)
    found = Deadline(40.0).sines(2400, fields, at_once)
    expected = 0.1 * (found * fields / PROBE) ** 3 * (1 if at_once else TURNS)
    assert 0.9 * LAST * 40 < expected <= LAST * 40


def test_few_sines_are_never_fewer_than_asked_for(monkeypatch):
    monkeypatch.setattr(deadline, "seconds_of_solve", lambda size: 1e3)
    assert Deadline(1.0).sines(600, 2, at_once=True) == FEWEST
    assert Deadline(1.0).sines(10, 2, at_once=True) == 10


def test_the_last_band_has_the_sines_that_there_is_time_for(clock):
    limited = Deadline(10.0)
    assert limited.sines_left(100, 200, took=1.0) == 200
    clock.now += 6.0
    assert limited.sines_left(100, 200, took=1.0) == int(100 * math.cbrt(4.0))
    clock.now += 60.0
    assert limited.sines_left(100, 200, took=1.0) == 0


def test_a_solve_is_timed():
    assert 0 < deadline.seconds_of_solve(20) < 5


def test_one_slow_solve_among_quick_ones_does_not_count(clock, monkeypatch):
    """On cores that are shared one solve takes thirty times as long as the next."""
    took = iter([6.0, 0.2, 9.0])
    monkeypatch.setattr(
        deadline, "most_probable", lambda rows: setattr(clock, "now", clock.now + next(took))
    )
    assert deadline.seconds_of_solve(20) == pytest.approx(0.2)
