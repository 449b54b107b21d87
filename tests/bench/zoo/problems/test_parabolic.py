"""Every truth solves its equation."""

import pytest
import zoo_truths

from pgt_bench.zoo.problems import parabolic


@pytest.mark.parametrize("problem", parabolic.PROBLEMS, ids=lambda problem: problem.name)
def test_the_truth_solves_its_equation(problem):
    assert zoo_truths.residual(problem) < zoo_truths.allowed(problem)
