"""Readings and sensors that the field contradicts, found where they were planted."""

import dataclasses
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import verdict_cases as cases

import pgt
from pgt.core.errors import InputError
from pgt.data import Observations
from pgt.uncertainty.misfits import (
    drifting_sensors,
    largest_misfits,
    misfit_table,
)
from pgt.uncertainty.verdict import judge

SIGMA = 0.02
COLUMNS = ["x", "t", "field", "reading", "predicted", "sigma", "misfit", "held_out"]


def field(points):
    return np.sin(3 * points[:, :1]) * np.exp(-points[:, 1:])


def table_of(fitted, held_out, said=field):
    """Readings beside what a field says of them."""
    return misfit_table(*((part, part.read(said)) for part in (fitted, held_out)))


def probes(count=8, times=30, seed=0, **options):
    """Readings of some probes at many times, with noise."""
    random = np.random.default_rng(seed)
    x = np.repeat(np.linspace(0.1, 0.9, count), times)
    t = np.tile(np.linspace(0, 1, times), count)
    values = field(np.stack([x, t], 1))[:, 0] + SIGMA * random.standard_normal(x.size)
    return Observations.from_arrays({"x": x, "t": t}, {"u": values}, **options)


def changed(readings: Observations, rows, by) -> Observations:
    values = np.array(readings.values)
    values[rows, 0] += by
    return dataclasses.replace(readings, values=values)


NOBODY = probes().take(np.zeros(0, int))


def test_planted_outliers_come_first_with_their_sign():
    readings = changed(changed(probes(), [7], 0.4), [101], -0.3)
    fitted, held_out = readings.take(np.arange(0, 200)), readings.take(np.arange(200, 240))
    table = table_of(fitted, held_out)
    assert list(table.columns) == COLUMNS
    assert len(table) == 240
    assert table["held_out"].sum() == 40
    first, second, third = largest_misfits(table, 3).itertuples()
    place = np.asarray(readings.points)
    assert (first.x, first.t) == tuple(place[7])
    assert (second.x, second.t) == tuple(place[101])
    assert first.misfit == pytest.approx(-0.4 / SIGMA, rel=0.4)
    assert second.misfit > 8 > 5 > abs(third.misfit)


def test_a_drifting_and_an_offset_sensor_are_found_and_no_other():
    readings, times = probes(), np.linspace(0, 1, 30)
    readings = changed(readings, slice(30, 60), 0.1 * times)  # the second probe drifts
    readings = changed(readings, slice(150, 180), -0.05)  # the sixth reads too little
    found = drifting_sensors(table_of(readings, NOBODY), ("x", "t"))
    assert sorted(found["x"]) == pytest.approx(sorted(np.linspace(0.1, 0.9, 8)[[1, 5]]))
    drifts = found[found["x"] < 0.5].iloc[0]
    assert drifts["trend"] == pytest.approx(0.1, abs=4 * SIGMA / np.sqrt(30 / 12))
    assert drifts["trend_t"] > 4
    offset = found[found["x"] > 0.5].iloc[0]
    assert offset["offset"] == pytest.approx(-0.05, abs=4 * SIGMA / np.sqrt(30))
    assert abs(offset["trend_t"]) < 4
    assert found["readings"].tolist() == [30, 30]


def test_chance_makes_no_drift_of_a_few_readings_whose_scatter_differs_from_place_to_place():
    """At a front the fit is off by more than elsewhere: 500 places of six readings each, whose scatter
    is theirs alone."""
    random = np.random.default_rng(0)
    x, t = np.repeat(np.arange(500.0), 6), np.tile(np.arange(6.0), 500)
    scatter = 10 ** np.repeat(random.uniform(-3, 0, 500), 6)
    said = random.normal(size=(3000, 1))
    readings = Observations.from_arrays(
        {"x": x, "t": t}, {"u": said[:, 0] + scatter * random.normal(size=3000)}
    )
    assert (
        len(drifting_sensors(misfit_table((readings, said), (NOBODY, said[:0])), ("x", "t"))) == 0
    )


def test_a_result_knows_its_suspicious_readings():
    readings = changed(probes(), [7], 3.0)
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    result = pgt.reconstruct(
        readings, pgt.Heat(0.1), domain,
        model=pgt.PINN(pgt.Scaling.fit(readings, domain), width=6, layers=2),
        training=pgt.Training(steps=60, collocation=30, polish=False, likelihood="student"),
    )  # fmt: skip
    worst = result.suspicious(1).iloc[0]
    assert (worst["x"], worst["t"]) == tuple(np.asarray(readings.points)[7])
    assert worst["reading"] == pytest.approx(float(np.asarray(readings.values)[7, 0]))
    assert set(result.noise) == {"u"}
    assert result.noise["u"] > 0
    assert isinstance(result.drifting(), pd.DataFrame)
    with pytest.raises(InputError, match="n must be a whole number from 1 up"):
        result.suspicious(0)


# ------------------------------------------------------------------------------- given noise


def known(given: float, n: int = 120, **more):
    """A field that is known exactly, read with σ = 0.05 of its spread; `given` times that is said."""
    field = cases.heat_field()
    sigma = given * 0.05 * float(field.u.std())
    fitted, held_out = cases.readings_of(field, ("u",), n)
    fitted, held_out = (
        replace(part, noise=np.full_like(part.values, sigma)) for part in (fitted, held_out)
    )
    return cases.evidence(field, fitted, held_out, **more)


@pytest.mark.parametrize("given", [0.1, 0.2, 5.0, 20.0])
def test_a_noise_that_readings_contradict_is_doubted(given):
    (doubt,) = judge(known(given, n=1000)).doubts
    assert doubt.kind == "contradicted_noise"
    ratio = doubt.numbers["observed"] / doubt.numbers["given"]
    assert ratio == pytest.approx(1 / given, rel=0.3)
    said = " times the noise that was given" if given < 1 else "the field is smoother"
    assert said in doubt.sentence
    assert " K" in doubt.sentence
    assert not doubt.is_grave


@pytest.mark.parametrize("given", [0.7, 1.0, 1.5])
def test_a_noise_that_is_about_right_is_not(given):
    assert judge(known(given, n=1000)).doubts == ()
