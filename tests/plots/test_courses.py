"""What is drawn over the steps of a training."""

import numpy as np
import pytest
import xarray as xr

from pgt.core.errors import InputError
from pgt.plots import courses


def history():
    loss = np.array([[4.0, 2.0, 1.0], [np.nan, 0.0, 3.0]])
    return xr.Dataset(
        {"loss": (("term", "step"), loss)}, {"term": ["data", "heat"], "step": [0, 5, 9]}
    )


def test_terms_are_all_or_those_asked_for():
    assert courses.loss_terms(history(), None) == ["data", "heat"]
    assert courses.loss_terms(history(), ["heat"]) == ["heat"]
    with pytest.raises(InputError, match=r"terms \['wall'\]: the history holds \['data', 'heat'\]"):
        courses.loss_terms(history(), ["wall"])
    with pytest.raises(InputError, match="no `loss` over step and term"):
        courses.loss_terms(history().rename(loss="cost"), None)


def test_a_course_has_the_steps_at_which_it_has_a_logarithm():
    steps, values = courses.recorded(history().loss.sel(term="heat"), "heat")
    assert (steps.tolist(), values.tolist()) == ([9], [3.0])
    assert courses.steps(history()).tolist() == [0, 5, 9]
    with pytest.raises(InputError, match="'data' has no positive value"):
        courses.recorded(0 * history().loss.sel(term="data"), "data")


def test_a_running_mean_keeps_a_short_series_and_the_mean_of_a_line():
    short = np.random.default_rng(0).uniform(size=courses.MANY)
    np.testing.assert_allclose(courses.running_mean(short), short)
    line = np.arange(300.0)
    smooth = courses.running_mean(line)
    np.testing.assert_allclose(smooth[3:-3], line[3:-3])
    assert smooth[0] == pytest.approx(1.5)  # of 0, 1, 2 and 3
