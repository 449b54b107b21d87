"""Figures that compare runs: seed with seed, and the spread over the seeds."""

import dataclasses

import numpy as np
import pytest
from made_records import made, store

from pgt.bench._comparisons import COLOURS, gamma_ratios, noise_curves
from pgt.bench.experiments import GAMMA, NOISE
from pgt.bench.records import Records


def stored(folder, run, seed, error):
    seeded = dataclasses.replace(run, seed=seed)
    store(folder, seeded, made(seeded, error))


def test_a_mean_has_bars_from_the_smallest_to_the_largest(tmp_path):
    shown = Records(tmp_path)
    run = next(r for r in shown.runs("noise") if r.method == NOISE[0] and r.problem.noise == 0.05)
    for seed, error in enumerate((1e-3, 2e-3, 6e-3)):
        stored(tmp_path, run, seed, error)
    figure = noise_curves(shown)
    assert figure is not None
    (drawn,) = figure.axes[0].containers
    line, _, (bars,) = drawn.lines
    np.testing.assert_allclose(line.get_xydata(), [[0.05, 6e-3]])  # u and 3u: twice the mean of u
    np.testing.assert_allclose(bars.get_segments()[0], [[0.05, 2e-3], [0.05, 12e-3]])


def test_a_kernel_is_compared_with_none_seed_by_seed(tmp_path):
    shown = Records(tmp_path)
    runs = {r.method: r for r in shown.runs("gamma") if r.problem == shown.runs("gamma")[0].problem}
    for seed, error in ((0, 2e-3), (1, 8e-3), (2, 1.0)):
        stored(tmp_path, runs["gamma-heat"], seed, error)
    for seed, error in ((0, 4e-3), (1, 1e-3)):  # the third seed has nothing to stand beside
        stored(tmp_path, runs[GAMMA[0]], seed, error)
    figure = gamma_ratios(shown)
    assert figure is not None
    ours = [
        line.get_ydata()
        for axes in figure.axes
        for line in axes.lines
        if line.get_color() == COLOURS["gamma-heat"] and len(line.get_ydata())
    ]
    dots, mean = ours
    np.testing.assert_allclose(dots, [0.5, 8.0])
    np.testing.assert_allclose(mean, [2.0])  # geometric


@pytest.mark.parametrize("make", [noise_curves, gamma_ratios])
def test_without_records_nothing_is_drawn(make, tmp_path):
    assert make(Records(tmp_path)) is None
