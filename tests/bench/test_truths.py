"""Every truth of the zoo and of the generator solves the equation that is stated with it."""

import numpy as np
import pytest
import zoo_truths
from generated_truths import relative_residual

from pgt_bench.generator import draw_kind, evolved, linear, planes
from pgt_bench.generator.evolved import EvolvedTruth
from pgt_bench.zoo.catalogue import ALL
from pgt_bench.zoo.problems import chaotic, later_in_line, reaction
from pgt_bench.zoo.truth import Formula

FORMULAS = [problem for problem in ALL.values() if isinstance(problem.truth, Formula)]
SOLVED = [problem for problem in ALL.values() if not isinstance(problem.truth, Formula)]


@pytest.mark.parametrize(
    "problem",
    [*FORMULAS, *(pytest.param(problem, marks=pytest.mark.slow) for problem in SOLVED)],
    ids=lambda problem: problem.name,
)
def test_a_truth_of_the_zoo_solves_its_equation(problem):
    assert zoo_truths.residual(problem) < zoo_truths.allowed(problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solve", "steps"),
    [(solve, 15) for solve in (chaotic.kuramoto, chaotic.ginzburg_landau)]
    + [(getattr(reaction, name), 15) for name in ("phases", "domains", "nerve", "brusselator")]
    + [(getattr(later_in_line, name), 30) for name in ("stripes", "alloy", "pulses")],
)
def test_a_finer_step_changes_nothing(solve, steps):
    rough, fine = solve(), solve(steps=steps)
    for name in rough.data_vars:
        assert float(abs(rough[name] - fine[name]).max()) < 1e-4


@pytest.mark.parametrize("kind", [*linear.KINDS, *planes.KINDS])
def test_a_drawn_formula_solves_its_equation(kind):
    assert relative_residual(draw_kind(kind, 0)) < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("kind", evolved.KINDS)
def test_a_drawn_evolution_solves_its_equation_and_finer_steps_change_nothing(kind):
    assert relative_residual(draw_kind(kind, 0)) < 1e-4
    truth = draw_kind(kind, 1).truth
    if isinstance(truth, EvolvedTruth):
        modes = (truth.evolution.at(np.linspace(0, 1, 11), finer) for finer in (1, 2))
        rough, fine = (np.fft.ifft(found) for found in modes)
        assert np.abs(rough - fine).max() < 1e-5 * np.abs(fine).max()
