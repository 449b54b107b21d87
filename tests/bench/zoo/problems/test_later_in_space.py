"""Every truth solves its equation."""

import pytest
import zoo_truths

from pgt_bench.zoo.problems import later_in_space


@pytest.mark.parametrize("problem", later_in_space.PROBLEMS, ids=lambda problem: problem.name)
def test_the_truth_solves_its_equation(problem):
    assert zoo_truths.residual(problem) < zoo_truths.allowed(problem)
