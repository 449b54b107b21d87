"""Where the search for a band would end in one that says nothing of the field."""

import math
from copy import copy

import numpy as np
import pytest
from two_modes import field

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.physics import Equation, Wave
from pgt.training.assemble import assemble
from pgt.training.features import MOST_TRIALS, _Search, fit_features
from pgt.training.found import Found, cost_of_band
from pgt.training.gaussian import Peak
from pgt.training.one_band import readings_alone
from pgt.training.settings import Training


def test_a_fast_oscillation_is_seen():
    """Bands around the first one show nothing of it: the search went to ever narrower ones."""
    times = np.random.default_rng(0).uniform(size=60)
    readings = Observations.from_arrays({"t": times}, {"u": np.sin(180 * times)})
    pde = Equation("u_tt = -32400*u", coords=("t",))
    task = assemble(readings, pde, Domain(t=(0, 1)), training=Training(seconds=20.0))
    _, fit = fit_features(task, lambda share, numbers: None)
    asked = np.linspace(0, 1, 300)
    np.testing.assert_allclose(
        field(fit.model, asked[:, None])[:, 0], np.sin(180 * asked), atol=1e-8
    )


@pytest.fixture
def search():
    """Of a band for a string, of which each sensor is followed by itself in a band of 64 across them."""
    random = np.random.default_rng(0)
    points = {"x": random.uniform(size=30), "t": random.uniform(size=30)}
    readings = Observations.from_arrays(points, {"u": random.normal(size=30)})
    task = assemble(readings, Wave(1.0), Domain(x=(0, 1), t=(0, 1)))
    return _Search(task, lambda share, numbers: None)


def tried_by(search, monkeypatch, evidence, sigmas=()):
    """Nothing is solved for: a band has its evidence, and the equation is heard in narrow ones."""
    few, sigmas = search.model.with_sines(4, (8.0, 8.0)), list(sigmas)
    some = readings_alone(few, search.task)

    def attempt(band):
        solved = copy(some)
        solved.peak = Peak(evidence(band) + cost_of_band(band), 0.0)
        solved.sigma = sigmas.pop(0) if sigmas else 0.02
        found = search.tried[band] = Found(band, few, search.task.pde, solved, {})
        return found

    monkeypatch.setattr(search, "_try", attempt)
    monkeypatch.setattr(search, "_is_heard", lambda found: found.band[0] <= 8)
    monkeypatch.setattr(search, "_is_followed", lambda best: False)
    monkeypatch.setattr(search, "_is_exact", lambda best: False)
    return attempt


def test_where_the_equation_is_not_heard_narrower_bands_are_tried(search, monkeypatch):
    def evidence(band):
        x, t = map(math.log2, band)
        return (
            750 - 100 * (x - 6) ** 2 if x >= 4 else 900 - 100 * (x - 2) ** 2 - 100 * (t - 5.5) ** 2
        )

    best = search._heard(tried_by(search, monkeypatch, evidence)((64.0, 32.0)))
    assert best.band == pytest.approx((4.0, 32 * math.sqrt(2)))
    assert len(search.tried) <= 1 + MOST_TRIALS


def test_where_it_is_heard_nothing_more_is_tried(search, monkeypatch):
    best = tried_by(search, monkeypatch, lambda band: 0.0)((8.0, 32.0))
    assert search._heard(best) is best
    assert len(search.tried) == 1


def test_what_no_longer_follows_the_readings_is_not_narrowed_further(search, monkeypatch):
    attempt = tried_by(search, monkeypatch, lambda band: 0.0, [0.02, 0.03, 0.1])
    search._narrow(attempt((64.0, 32.0)), 0)
    assert list(search.tried) == [(64.0, 32.0), (32.0, 32.0), (16.0, 32.0)]


def test_a_search_goes_on_in_the_direction_that_was_better(search, monkeypatch):
    """In three dimensions, trying wider bands again after each narrower one used up all trials."""
    attempt = tried_by(search, monkeypatch, lambda band: -abs(math.log2(band[0] * band[1]) - 2))
    best = search._climb(attempt((8.0, 8.0)), 2.0)
    assert best.band == (2.0, 2.0)
    bands = list(search.tried)
    assert bands[bands.index((4.0, 4.0)) + 1] == (2.0, 2.0)
