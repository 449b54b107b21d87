"""What solvers find solves the equation that is stated with it, and finer steps change nothing."""

import numpy as np
import pytest
from generated_truths import relative_residual

from pgt_bench.generator import draw_kind, evolved
from pgt_bench.generator.evolved import EvolvedTruth


@pytest.mark.slow
@pytest.mark.parametrize("kind", evolved.KINDS)
def test_the_truth_solves_its_equation(kind):
    assert relative_residual(draw_kind(kind, 0)) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("kind", evolved.KINDS)
def test_finer_steps_change_nothing(kind):
    truth = draw_kind(kind, 1).truth
    if isinstance(truth, EvolvedTruth):
        times = np.linspace(0, 1, 11)
        modes = (truth.evolution.at(times, finer) for finer in (1, 2))
        rough, fine = (np.fft.ifft(found) for found in modes)
        assert np.abs(rough - fine).max() < 1e-5 * np.abs(fine).max()


@pytest.mark.parametrize("kind", ["burgers", "fisher"])
def test_what_holds_at_the_ends_holds_in_the_truth(kind):
    for seed in range(5):
        problem = draw_kind(kind, seed)
        field = problem.truth.on(problem.domain)[problem.pde.fields[0]].to_numpy()
        words = problem.about
        if "ends held" in words:
            assert np.abs(field[:, [0, -1]]).max() < 1e-9 * np.abs(field).max()
        if "insulated" in words:
            near = np.abs(field[:, [1, -2]] - field[:, [0, -1]]).max()
            inside = np.abs(np.diff(field, axis=1)).max()
            assert near < 0.2 * inside
