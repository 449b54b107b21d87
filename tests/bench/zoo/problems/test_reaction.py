"""Every truth solves its equation."""

import pytest
import zoo_truths

from pgt_bench.zoo.problems import reaction


@pytest.mark.parametrize("problem", reaction.PROBLEMS, ids=lambda problem: problem.name)
def test_the_truth_solves_its_equation(problem):
    assert zoo_truths.residual(problem) < zoo_truths.allowed(problem)


@pytest.mark.parametrize(
    "solve", [reaction.phases, reaction.domains, reaction.nerve, reaction.brusselator]
)
def test_a_finer_step_changes_nothing(solve):
    rough, fine = solve(), solve(steps=15)
    for name in rough.data_vars:
        assert float(abs(rough[name] - fine[name]).max()) < 1e-4
