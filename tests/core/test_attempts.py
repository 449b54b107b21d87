"""What fails is kept as a sentence, and the rest is made."""

import pytest

from pgt.core.attempts import Attempts
from pgt.core.errors import DoubtWarning, InputError


def fail(error):
    raise error


def test_what_fails_is_kept_and_the_rest_is_made():
    attempts = Attempts()
    assert attempts("one", lambda: 1) == 1
    assert attempts("two", lambda: fail(ValueError("odd\n  lines")), 2) == 2
    assert attempts("three", lambda: fail(InputError("no grid."))) is None
    odd, empty = attempts.failures
    assert odd.startswith("two could not be made: ValueError: odd lines (test_attempts.py, line ")
    assert empty == "three could not be made: no grid."
    with pytest.warns(DoubtWarning) as caught:
        attempts.warn()
    assert [str(one.message) for one in caught] == attempts.failures


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_is_no_failure(error):
    with pytest.raises(type(error)):
        Attempts()("one", lambda: fail(error))
