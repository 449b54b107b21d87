"""The closed form with readings of a stream, against the same readings in memory."""

from dataclasses import replace

import numpy as np
import pytest

import pgt
from pgt.data.reading_stream import ReadingStream
from pgt.methods.closed_form.band_solution import solve_linear
from pgt.methods.closed_form.design_rows import field_rows
from pgt.methods.closed_form.streamed_readings import compress
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.problem.assembly import assemble

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def readings_of(
    count: int, sigma: float = 0.1, seed: int = 0, outliers: int = 0
) -> pgt.Observations:
    random = np.random.default_rng(seed)
    x, t = random.uniform(size=(2, count))
    u = truth(x, t) + sigma * random.standard_normal(count)
    u[:outliers] += 30.0
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})


def truth(x, t):
    return np.sin(np.pi * x) * np.exp(-0.1 * np.pi**2 * t)


def tasks(everything, likelihood="gauss", sampled=200):
    """The task with all readings in memory, and the one with a sample and a stream."""
    training = pgt.Training(likelihood=likelihood)
    model = Features(Scaling.fit(everything, DOMAIN), count=40, band=(6.0, 3.0))
    whole = assemble(everything, pgt.Heat(0.1), DOMAIN, model=model, training=training)
    sample = everything.take(np.arange(sampled))
    stream = ReadingStream.of(everything, rows=300)
    return whole, assemble(
        sample, pgt.Heat(0.1), DOMAIN, model=model, training=training, stream=stream
    )


def values_of(fit, points):
    """The first field at points."""
    scaling = fit.model.scaling
    unit_values = field_rows(fit.model, points) @ np.asarray(fit.model.network.readout)[0]
    return float(scaling.mean[0]) + float(scaling.spread[0]) * unit_values


def streamed_fit(task):
    sampled = solve_linear(task.model, task)
    (compressed,) = compress([sampled], task, task.stream)
    return solve_linear(task.model, replace(task, compressed=compressed))


def test_the_posterior_is_that_of_all_readings():
    whole, streamed = tasks(readings_of(1000))
    expected, found = solve_linear(whole.model, whole), streamed_fit(streamed)
    np.testing.assert_allclose(found.posterior.evidence, expected.posterior.evidence, atol=1e-5)
    np.testing.assert_allclose(found.sigma, expected.sigma, rtol=1e-7)
    points = np.random.default_rng(1).uniform(size=(50, 2))
    fields = [values_of(fit, points) for fit in (found, expected)]
    np.testing.assert_allclose(*fields, atol=1e-5)
    np.testing.assert_allclose(found.spread(points), expected.spread(points), rtol=1e-4)


def test_leave_one_out_errors_of_the_sample_are_those_with_all_readings():
    whole, streamed = tasks(readings_of(1000))
    fit = solve_linear(whole.model, whole)
    order = {
        tuple(point): row for row, point in enumerate(np.asarray(whole.problem.observations.points))
    }
    rows = [order[tuple(point)] for point in np.asarray(streamed.problem.observations.points)]
    for found, expected in zip(streamed_fit(streamed).left_out(), fit.left_out(), strict=True):
        np.testing.assert_allclose(found, expected[rows], atol=1e-6)


def test_outliers_have_little_weight():
    _, streamed = tasks(readings_of(2000, outliers=100), "student", sampled=600)
    fit = streamed_fit(streamed)
    points = np.random.default_rng(1).uniform(size=(50, 2))
    values = values_of(fit, points)
    assert np.sqrt(np.mean((values - truth(*points.T)) ** 2)) < 0.02


def test_each_field_has_a_noise_level_of_its_own():
    random = np.random.default_rng(0)
    x = random.uniform(size=3000)
    u, v = (
        np.sin(3 * x) + 0.01 * random.standard_normal(3000),
        np.cos(3 * x) + 0.3 * random.standard_normal(3000),
    )
    everything = pgt.Observations.from_arrays({"x": x}, {"u": u, "v": v})
    domain, pde = pgt.Domain(x=(0, 1)), pgt.Equation("u_x = 3*v", "v_x = -3*u")
    model = Features(Scaling.fit(everything, domain), count=20, band=6.0)
    sample, stream = everything.take(np.arange(300)), ReadingStream.of(everything, rows=1000)
    task = assemble(sample, pde, domain, model=model, stream=stream)
    fit = streamed_fit(task)
    fields = np.repeat([0, 1], 300)
    levels = [np.mean(fit.sigmas[fields == k]) * float(model.scaling.spread[k]) for k in (0, 1)]
    assert levels == pytest.approx([0.01, 0.3], rel=0.15)


def test_a_stream_is_more_accurate_than_its_sample():
    everything = readings_of(20_000, sigma=0.3)
    stream = ReadingStream.of(everything, rows=5000)
    model = Features(Scaling.fit(everything, DOMAIN), count=60, band=(5.0, 2.0))
    result = pgt.reconstruct(stream, pgt.Heat(0.1), DOMAIN, model=model, progress=False)
    x, t = np.random.default_rng(1).uniform(size=(2, 400))
    error = np.sqrt(np.mean((np.asarray(result.at(x=x, t=t).u) - truth(x, t)) ** 2))
    degrees = 10  # the waves of the equation that the readings determine
    assert error < 1.5 * 0.3 * np.sqrt(degrees / 20_000)
    assert result.summary["streamed_readings"] == 20_000
    assert len(result.observations) < 3000
