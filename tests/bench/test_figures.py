"""Figures draw what the records hold, and nothing where there is none."""

import numpy as np
import pytest
from made_records import made, store

from pgt.bench.figures import FIGURES, heat_contributions, heat_convergence, heat_losses
from pgt.bench.records import Records


def stored(folder, methods):
    """The first problem of table 1, by these methods with our recipe in equal seconds."""
    shown = Records(folder)
    for run in shown.runs("heat"):
        first = run.problem == shown.runs("heat")[0].problem
        if first and run.method in methods and (run.recipe, run.budget) == ("ours", "seconds"):
            store(folder, run, made(run))
    return shown


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_without_records_there_is_no_figure(make, tmp_path):
    assert make(Records(tmp_path)) is None


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


def test_terms_of_the_loss_are_named_in_words(tmp_path):
    shown = stored(tmp_path, ("pgt",))
    for make in (heat_losses, heat_contributions):
        figure = make(shown)
        assert figure is not None
        names = {text.get_text() for text in figure.axes[0].texts}
        assert names == {"data", "equation", "boundary", "initial"}
