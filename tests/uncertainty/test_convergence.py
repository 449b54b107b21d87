"""Whether a fit had come to rest, from how it came down alone."""

import numpy as np
import pytest

from pgt.core.stage import Stage
from pgt.methods.finished_fit import (
    BUDGET_SPENT,
    COEFFICIENT_NOT_AT_REST,
    DIVERGED,
    HELD_OUT_ERROR_STALLED,
    SOLVED_IN_CLOSED_FORM,
)
from pgt.uncertainty.convergence import Descent, convergence


def staged(*costs, ended="iterations"):
    """A stage for each of these lists of costs."""
    return [Stage(f"stage {k}", tuple(one), 1.0, ended) for k, one in enumerate(costs, 1)]


def falling(rate, checks=40):
    """Errors that fall by `rate` e-foldings in all."""
    return np.exp(-rate * np.arange(1, checks + 1) / checks)


@pytest.mark.parametrize(
    ("stopped", "rate", "costs", "converged"),
    [
        (HELD_OUT_ERROR_STALLED, 5.0, [], True),
        (BUDGET_SPENT, 5.0, [], False),
        (BUDGET_SPENT, 0.1, [], True),
        (BUDGET_SPENT, 5.0, [3.0, 0.2, 0.1, 0.1, 0.1, 0.1], True),
        (BUDGET_SPENT, 0.1, [16.0, 8.0, 4.0, 2.0, 1.0], False),
        (BUDGET_SPENT, 5.0, [16e-8, 8e-8, 4e-8, 2e-8, 1e-8], True),
        (SOLVED_IN_CLOSED_FORM, 5.0, [], True),
        (COEFFICIENT_NOT_AT_REST, 0.1, [], False),
        (DIVERGED, 0.1, [], False),
        (DIVERGED, 0.1, [3.0, 0.2, 0.1, 0.1, 0.1, 0.1], False),
    ],
)
def test_convergence_is_judged(stopped, rate, costs, converged):
    found, reason = convergence(Descent(stopped, falling(rate), staged(costs) if costs else []))
    assert found is converged
    assert reason.endswith(".")


def test_a_stage_that_the_clock_ended_at_once_has_not_levelled_off():
    """One iteration under a prior, and the cost is what it was: nothing had begun to converge."""
    stages = staged([1.0, 0.1, *[0.04] * 30], [0.05, 0.05], [0.5, 0.5])
    assert convergence(Descent(BUDGET_SPENT, stages=stages))[0] is True
    cut_short = Descent(BUDGET_SPENT, stages=stages, exhausted_seconds=30.0)
    found, reason = convergence(cut_short)
    assert found is False
    assert "levelled off" not in reason
    assert "seconds=120" in cut_short.advice


@pytest.mark.parametrize(
    ("map_estimate_cost", "converged"), [(None, False), (1e-9, True), (1e-4, False)]
)
def test_a_field_that_was_moved_is_judged_by_where_it_was_moved_to(map_estimate_cost, converged):
    """Unless it misses readings or equation there, too: then more seconds are needed still."""
    falling_still = [16.0, 8.0, 4.0, 2.0, 1.0]
    descent = Descent(
        BUDGET_SPENT,
        stages=staged(falling_still),
        exhausted_seconds=30.0,
        map_estimate_cost=map_estimate_cost,
    )
    found, reason = convergence(descent)
    assert found is converged
    assert ("moved" in reason) is converged


def test_a_call_that_took_far_longer_than_asked_says_what_it_needs():
    assert Descent(SOLVED_IN_CLOSED_FORM, given=10.0, took=12.0).overrun == ""
    assert Descent(SOLVED_IN_CLOSED_FORM, took=12.0).overrun == ""
    said = Descent(SOLVED_IN_CLOSED_FORM, given=4.0, took=28.0).overrun
    assert "28 of 4 s" in said
    assert "at least 28 s" in said
