"""Functions on walls against exact solutions, and what their prior is."""

import numpy as np
import pytest

import pgt
from pgt.methods.closed_form.smoothness_average import DERIVATIVES, LENGTHS, _priors
from pgt.physics.unknown_conditions import bordered

SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))
RATE, DIFFUSIVITY = 6.0, 0.1
WAVE = np.sqrt(RATE / (2 * DIFFUSIVITY))


def periodic_rod(x, t):
    """A wave of heat that decays into a long rod: u = exp(-kx) cos(wt - kx)."""
    return np.exp(-WAVE * x) * np.cos(RATE * t - WAVE * x)


def fitted(condition, noise=0.01, **settings):
    places, times = np.meshgrid([0.06, 0.15, 0.3, 0.5], np.linspace(0.0, 1.0, 12))
    x, t = places.ravel(), times.ravel()
    u = periodic_rod(x, t)
    u = u + noise * u.std() * np.random.default_rng(0).standard_normal(len(u))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
    start = (np.linspace(0, 1, 401), periodic_rod(np.linspace(0, 1, 401), 0.0))
    end = (np.linspace(0, 1, 401), periodic_rod(1.0, np.linspace(0, 1, 401)))
    known = [pgt.Initial(u=start), pgt.Dirichlet("x", side="upper", u=end), condition]
    return pgt.reconstruct(
        readings, pgt.Heat(DIFFUSIVITY), SQUARE, known, progress=False, **settings
    )


def test_a_prior_for_every_smoothness_as_large_as_that_of_a_field():
    pde, _ = bordered(pgt.Heat(0.1), [pgt.Dirichlet("x", u=pgt.UnknownFunction("t"))])
    readings = pgt.sample(pgt.datasets.heat(), n=20).aligned(pde.fields)
    model = pgt.Features(pgt.Scaling.fit(readings, SQUARE), count=60, band=(8.0, 32.0))
    found = list(_priors(model.network.sines, pde))
    assert len(found) == len(DERIVATIVES) * len(LENGTHS)
    waves = np.asarray(model.network.sines.frequencies)[:, 1]
    for prior in found:
        assert np.mean(prior**2) == pytest.approx(1.0)
        np.testing.assert_array_equal(np.argsort(-prior, kind="stable")[0], np.argmin(abs(waves)))
    steep = found[-1]  # of the longest functions, with most derivatives
    expected = (1 + (LENGTHS[-1] * waves) ** 2) ** (-(DERIVATIVES[-1] + 0.5) / 2)
    np.testing.assert_allclose(steep / steep[0], expected / expected[0])


def test_the_function_is_the_trace_of_the_field():
    wall = pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("t"))
    result = fitted(wall, model=_small(wall))
    found = result.grid(["u", "x_lower_u"], x=[0.0], t=21).squeeze()
    assert float(np.abs(found.u - found.x_lower_u).max()) < 0.02
    away = result.grid(["x_lower_u"], x=[0.0, 1.0], t=21).x_lower_u
    assert float(np.abs(away.diff("x")).max()) < 1e-3
    np.testing.assert_allclose(found.x_lower_u, np.cos(RATE * found.t), atol=0.1)


def _small(wall):
    """Sines of one band: quick, and not averaged."""
    pde, _ = bordered(pgt.Heat(DIFFUSIVITY), [wall])
    nowhere = pgt.Observations.from_arrays({"x": [0.1], "t": [0.1]}, {"u": [0.0]})
    scaling = pgt.Scaling.fit(nowhere.aligned(pde.fields), SQUARE)
    return pgt.Features(scaling, count=80, band=(6.0, 6.0))
