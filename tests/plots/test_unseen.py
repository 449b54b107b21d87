"""The figure of systems that a network has not seen."""

import numpy as np
import pytest

import pgt
from pgt.plots import unseen

ROW = {"clean_median": 0.01, "clean_tenth": 0.03, "noisy_median": 0.02, "noisy_tenth": 0.05}
ERRORS = {"64": {k: v / 2 for k, v in ROW.items()}, "16": ROW}


def test_errors_are_drawn_in_the_order_of_their_numbers():
    axes = unseen(ERRORS).axes[0]
    clean, noisy = axes.lines
    np.testing.assert_allclose(clean.get_xdata(), [16, 64])
    np.testing.assert_allclose(clean.get_ydata(), [0.01, 0.005])
    np.testing.assert_allclose(noisy.get_ydata(), [0.02, 0.01])
    assert [text.get_text() for text in axes.texts] == ["clean readings", "5 % noise"]


def test_each_system_has_a_row_with_its_error():
    truth = pgt.datasets.heat(x=9, t=9)
    figure = unseen(ERRORS, [(truth, 1.1 * truth, pgt.sample(truth, n=5))] * 2)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles.count("answer") == 1
    assert sum("|error|" in title for title in titles) == 2


def test_answers_on_another_grid_are_refused():
    truth = pgt.datasets.heat(x=9, t=9)
    with pytest.raises(pgt.InputError, match="different grids"):
        unseen(ERRORS, [(truth, truth.isel(x=slice(1, None)), pgt.sample(truth, n=5))])


@pytest.mark.parametrize(
    "errors", [{}, {"a": ROW}, {"16": {}}, {"16": {"clean_median": 0.1}}, {"0": ROW}]
)
def test_a_card_without_errors_is_refused(errors):
    with pytest.raises(pgt.InputError, match="card's errors"):
        unseen(errors)
