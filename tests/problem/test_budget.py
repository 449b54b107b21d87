"""The budget of a fit: seconds, the number of sines, and memory."""

import numpy as np
import pytest

import pgt
from pgt.problem import budget
from pgt.problem.assembly import assemble
from pgt.problem.budget import (
    FIRST_ORDER_SECONDS_SHARE,
    LAST_BAND_SECONDS_SHARE,
    LINEARIZATIONS_PER_BAND,
    PROBE_WEIGHTS,
    Deadline,
    with_budget,
)

READINGS = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
SCALING = pgt.Scaling.fit(READINGS, pgt.Domain(x=(0, 1), t=(0, 1)))
SMALL = pgt.PINN(SCALING, width=8, layers=2)
LARGE = pgt.PINN(SCALING, width=100, layers=3)
ENCODING = pgt.PGT(
    SCALING, pgt.kernels.HeatKernel(0.01), width=16, decoder_width=12, decoder_layers=2
)


def test_training_and_polish_share_the_seconds():
    small, encoding = (with_budget(pgt.Training(seconds=10.0), m) for m in (SMALL, ENCODING))
    assert small.polish
    assert encoding.polish
    assert (small.steps, small.polish.seconds) == (0, 10.0)
    assert (encoding.seconds, encoding.polish.seconds) == (
        pytest.approx(10 * FIRST_ORDER_SECONDS_SHARE),
        pytest.approx(10 * (1 - FIRST_ORDER_SECONDS_SHARE)),
    )
    assert with_budget(pgt.Training(seconds=10.0), LARGE).seconds == 10.0


@pytest.mark.parametrize(("fields", "is_linear"), [(1, True), (3, True), (3, False)])
def test_the_number_of_sines_follows_from_the_time_of_a_small_solve(monkeypatch, fields, is_linear):
    monkeypatch.setattr(budget, "seconds_of_solve", lambda size: 0.1)
    found = Deadline(40.0).affordable_sines(2400, fields, is_linear)
    expected = (
        0.1 * (found * fields / PROBE_WEIGHTS) ** 3 * (1 if is_linear else LINEARIZATIONS_PER_BAND)
    )
    assert 0.9 * LAST_BAND_SECONDS_SHARE * 40 < expected <= LAST_BAND_SECONDS_SHARE * 40


POINTS = np.random.default_rng(0).uniform(0, 1, (12, 2))
READINGS_OF_LINE = pgt.Observations.from_arrays(
    POINTS, POINTS[:, :1], coords=("x", "t"), fields=("u",)
)
DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
MODEL = pgt.PINN(pgt.Scaling.fit(READINGS_OF_LINE, DOMAIN), width=4, layers=2)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": 3, "collocation": 10**9}, r"Training\(collocation=1000000000\)"),
        ({"steps": 3, "condition_points": 10**9}, r"Training\(condition_points=1000000000\)"),
        ({"polish": pgt.Polish(points=10**9)}, r"Polish\(points=1000000000\)"),
    ],
)
def test_too_many_points_for_the_memory_are_refused(settings, words, monkeypatch):
    monkeypatch.setattr("pgt.core.machine.available_memory", lambda: 16e9)
    with pytest.raises(
        pgt.InputError, match=f"{words}: this needs .* GB are free; write some thou"
    ):
        assemble(
            READINGS_OF_LINE,
            pgt.Burgers(0.1),
            DOMAIN,
            model=MODEL,
            training=pgt.Training(**settings),
        )
