"""Guesses about columns."""

from pgt.io.guessed import Guess


def test_a_guess_begins_with_nothing():
    assert Guess() == Guess({}, [], [], None, [], set(), {})
