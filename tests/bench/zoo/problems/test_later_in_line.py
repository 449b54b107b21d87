"""Every truth solves its equation."""

import pytest
import zoo_truths

from pgt_bench.zoo.problems import later_in_line


@pytest.mark.slow
@pytest.mark.parametrize("problem", later_in_line.PROBLEMS, ids=lambda problem: problem.name)
def test_the_truth_solves_its_equation(problem):
    assert zoo_truths.residual(problem) < zoo_truths.allowed(problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    "solve", [later_in_line.stripes, later_in_line.alloy, later_in_line.pulses]
)
def test_a_finer_step_changes_nothing(solve):
    rough, fine = solve(), solve(steps=30)
    for name in rough.data_vars:
        assert float(abs(rough[name] - fine[name]).max()) < 1e-4
