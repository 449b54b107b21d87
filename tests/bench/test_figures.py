"""Figures draw what the records hold, and nothing where there is none."""

import dataclasses

import numpy as np
from made_records import made, store

from pgt_bench.experiments import GAMMA
from pgt_bench.figures import (
    COLOURS,
    gamma_ratios,
    heat_convergence,
)
from pgt_bench.records import Records


def stored(folder, methods):
    """The first problem of table 1, by these methods with our recipe in equal seconds."""
    shown = Records(folder)
    for run in shown.runs("heat"):
        first = run.problem == shown.runs("heat")[0].problem
        if first and run.method in methods and (run.recipe, run.budget) == ("ours", "seconds"):
            store(folder, run, made(run))
    return shown


def test_curves_are_roots_of_the_data_loss_over_steps_and_seconds(tmp_path):
    figure = heat_convergence(stored(tmp_path, ("pgt", "siren")))
    assert figure is not None
    by_step, by_second = figure.axes
    for axes, across in ((by_step, [10, 100]), (by_second, [2.5, 25.0])):  # 25 s for 100 steps
        assert [line.get_linestyle() for line in axes.lines] == ["-", "--"]  # SIREN: data only
        for line in axes.lines:
            np.testing.assert_allclose(line.get_xdata(), across)
            np.testing.assert_allclose(line.get_ydata(), [0.1**0.5, 1e-3])
    assert {text.get_text() for text in by_second.texts} == {
        "PGT, exact attention", "SIREN, data only",
    }  # fmt: skip


def store_seed(folder, run, seed, error):
    seeded = dataclasses.replace(run, seed=seed)
    store(folder, seeded, made(seeded, error))


def test_a_kernel_is_compared_with_none_seed_by_seed(tmp_path):
    shown = Records(tmp_path)
    runs = {r.method: r for r in shown.runs("gamma") if r.problem == shown.runs("gamma")[0].problem}
    for seed, error in ((0, 2e-3), (1, 8e-3), (2, 1.0)):
        store_seed(tmp_path, runs["gamma-heat"], seed, error)
    for seed, error in ((0, 4e-3), (1, 1e-3)):  # the third seed has nothing to stand beside
        store_seed(tmp_path, runs[GAMMA[0]], seed, error)
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
