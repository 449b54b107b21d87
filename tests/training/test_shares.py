"""What of its budget a polish leaves to what comes after."""

import numpy as np
import pytest

from pgt.training.deadline import Deadline
from pgt.training.descent import State
from pgt.training.settings import Polish
from pgt.training.shares import AFTER, AFTER_STEPS, LEAST_UNDER_PRIOR, MOST_AFTER, left_of, shared
from pgt.training.shares import seconds_after as after

ENDED = State(np.zeros(1), iteration=11, seconds=4.0, first=3.0)  # a tenth of a second each


def test_error_bars_are_left_what_they_compile_and_factor_and_no_more_than_a_share():
    assert after(ENDED, 1e3) == pytest.approx(3.0 * AFTER + 0.1 * AFTER_STEPS)
    assert after(ENDED, 20.0) == MOST_AFTER * 20.0


def test_what_is_left_is_counted_in_iterations_and_in_seconds():
    plain = left_of(Polish(iterations=40), ENDED, Deadline(None))
    assert (plain.iterations, plain.seconds) == (29, None)
    left = left_of(Polish(iterations=40, seconds=1e3), ENDED, Deadline(1e3)).seconds
    assert left == pytest.approx(1e3 - 4.0 - after(ENDED, 1e3))
    late = left_of(Polish(iterations=40, seconds=5.0), ENDED, Deadline(5.0)).seconds
    assert late == pytest.approx(LEAST_UNDER_PRIOR * 5.0)  # nothing is, and a fit needs some


def test_a_share_of_a_budget_is_one_iteration_at_least():
    part = shared(Polish(iterations=1, seconds=9.0), 1 / 3)
    assert (part.iterations, part.seconds) == (1, 3.0)
