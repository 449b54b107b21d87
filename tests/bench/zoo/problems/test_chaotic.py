"""Every truth solves its equation."""

import pytest
import zoo_truths

from pgt_bench.zoo.problems import chaotic


@pytest.mark.parametrize("problem", chaotic.PROBLEMS, ids=lambda problem: problem.name)
def test_the_truth_solves_its_equation(problem):
    assert zoo_truths.residual(problem) < zoo_truths.allowed(problem)


@pytest.mark.parametrize("solve", [chaotic.kuramoto, chaotic.ginzburg_landau])
def test_a_finer_step_changes_nothing(solve):
    rough, fine = solve(), solve(steps=15)
    for name in rough.data_vars:
        assert float(abs(rough[name] - fine[name]).max()) < 1e-4
