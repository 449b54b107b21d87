"""What was found with one band or with several: how wrong it may be, and what it says of its readings."""

import equinox as eqx
import jax
import numpy as np
import pytest
from two_modes import DIFFUSIVITY, field, heat_at, heat_readings

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.splits import in_canonical_order
from pgt.methods.closed_form.band_posterior import (
    BandAverage,
    average_bands,
    deviations,
    draw_members,
    left_out_predictions,
)
from pgt.methods.closed_form.band_search import fit_features
from pgt.methods.closed_form.design_rows import field_rows
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.physics import Dirichlet, Equation, Heat, UnknownFunction
from pgt.problem.assembly import assemble
from pgt.training.settings import Posterior

SQUARE = Domain(x=(0, 1), t=(0, 1))
ASKED = np.random.default_rng(5).uniform(size=(50, 2))


def fitted(readings, pde, domain, **options):
    """With so few sines, and a band that is given, a fit takes a moment."""
    model = Features(Scaling.fit(readings.aligned(pde.fields), domain), **options)
    return fit_features(assemble(readings, pde, domain, model=model), lambda share, numbers: None)


@pytest.fixture(scope="module")
def noisy():
    readings = in_canonical_order(heat_readings(60, noise=0.05))  # as a problem holds them
    found, fit = fitted(readings, Heat(DIFFUSIVITY), SQUARE, count=100, band=(8.0, 4.0))
    return readings, found, fit


def test_the_error_is_as_large_as_the_posterior_says(noisy):
    _, found, fit = noisy
    spread = float(fit.model.scaling.spread[0])
    assert fit.noise_floor == pytest.approx(0.05 / spread, rel=0.35)
    error = field(fit.model, ASKED)[:, 0] - heat_at(ASKED)
    share = np.sqrt(np.mean((error / (spread * found.spread(ASKED)[:, 0])) ** 2))
    assert 0.4 < share < 1.8


def test_members_are_drawn_from_the_posterior(noisy):
    _, found, fit = noisy
    points = ASKED[:8]
    models, pdes = draw_members(found, Posterior(samples=400))
    with jax.enable_x64(True):
        over = eqx.filter_vmap(lambda m: jax.vmap(lambda z: m.decode((), z))(points))
        fields = np.asarray(over(models))
    assert fields.shape == (400, 8, 1)
    np.testing.assert_allclose(fields.mean(axis=0), field(fit.model, points), rtol=0, atol=1e-10)
    expected = _spread_of_all_scales(found, fit, points)
    # 200 pairs know a spread to 5 %.
    np.testing.assert_allclose(fields.std(axis=0), expected, rtol=0.2)
    np.testing.assert_allclose(deviations(found, points).std(axis=0), expected, rtol=0.4)
    assert jax.tree.structure(pdes) == jax.tree.structure(fit.pde)


def _spread_of_all_scales(found, fit, points):
    """The standard deviation of a mixture: of every ρ and σ/s, as probable as the readings make it, the
    variance times n/(n - 2), the mean of n/χ² where s² is not known, and the square of how far its mean
    is from the fit."""
    sines = field_rows(found.model, points)
    evidences, parts = zip(*found.posterior.plausible(), strict=True)
    shares = np.exp(np.array(evidences) - max(evidences))
    count = found.posterior.reduced.count
    variances = [
        count / (count - 2) * part.spread(sines) ** 2
        + (sines @ (part.weights - found.posterior.weights)) ** 2
        for part in parts
    ]
    mean = np.average(variances, axis=0, weights=shares)
    return float(fit.model.scaling.spread[0]) * np.sqrt(mean)[:, None]


def test_left_out_predictions_do_not_know_their_reading(noisy):
    readings, found, fit = noisy
    said = left_out_predictions(found, readings)
    assert said.shape == readings.values.shape
    assert np.isfinite(said).all()
    misfit = np.std(field(fit.model, readings.points) - readings.values)
    left_out = np.std(said - readings.values)
    assert misfit < left_out < 1.5 * misfit
    assert np.std(said[:, 0] - heat_at(np.asarray(readings.points))) < 0.05


# ------------------------------------------------------------------------------ several bands


@pytest.fixture(scope="module")
def several(noisy):
    """Three bands that the noise hardly tells apart, averaged."""
    readings, *_ = noisy
    tried = {}
    for band in ((8.0, 4.0), (8.0, 5.0), (9.0, 4.0)):
        found, _ = fitted(readings, Heat(DIFFUSIVITY), SQUARE, count=100, band=band)
        tried[band] = found
    best = max(tried.values(), key=lambda found: found.evidence)
    return readings, tried, average_bands(best, tried)


def test_bands_are_averaged_by_their_evidence(several):
    _, tried, average = several
    assert isinstance(average, BandAverage)
    assert average.shares.sum() == pytest.approx(1)
    assert average.band == max(tried, key=lambda band: tried[band].evidence)
    means = [field(part.model, ASKED) for part in average.parts]
    expected = np.tensordot(average.shares, means, 1)
    np.testing.assert_allclose(field(average.model, ASKED), expected, rtol=0, atol=1e-9)


def test_the_spread_of_an_average_is_that_of_its_parts_and_of_their_difference(several):
    _, tried, average = several
    assert average.spread(ASKED).min() >= min(f.spread(ASKED).min() for f in tried.values())
    spread = float(average.model.scaling.spread[0]) * average.spread(ASKED[:8])
    steps = np.concatenate([deviations(average, ASKED[:8]), -deviations(average, ASKED[:8])])
    np.testing.assert_allclose(steps.std(axis=0), spread, rtol=0.4)


def wave(x):
    return 1 + 0.5 * np.sin(2 * np.pi * x)


def bump(x):
    return 1 + 1.5 * np.exp(-(((x - 0.4) / 0.12) ** 2))


def rod_of_varying_conductivity(conductivity, seed, count=60, noise=0.01):
    """Readings of (k u')' + 5 = 0 between cold ends, and the logarithm of k at places."""
    x = np.linspace(0, 1, 20_001)
    k = conductivity(x)
    flow, drop = (np.append(0, np.cumsum((f[1:] + f[:-1]) / 2) * x[1]) for f in (1 / k, x / k))
    u = 5 * (flow * drop[-1] / flow[-1] - drop)
    draw = np.random.default_rng(seed)
    at = draw.uniform(size=count)
    values = np.interp(at, x, u)
    values = values + noise * values.std() * draw.standard_normal(count)
    return Observations.from_arrays({"x": at}, {"u": values}), lambda z: np.log(np.interp(z, x, k))


@pytest.mark.parametrize(("conductivity", "seed"), [(wave, 0), (bump, 1), (bump, 2)])
def test_a_function_that_multiplies_a_field_is_not_known_better_than_it_is(conductivity, seed):
    readings, true = rod_of_varying_conductivity(conductivity, seed)
    unknown = UnknownFunction("x", positive=True, initial=1.0)
    pde = Equation("div(k*grad(u)) + heat = 0", coords=("x",), heat=5.0, k=unknown)
    line = Domain(x=(0, 1))
    model = Features(Scaling.fit(readings.aligned(pde.fields), line), count=80, band=16.0)
    cold = [Dirichlet("x", u=0.0)]
    found, _ = fit_features(assemble(readings, pde, line, cold, model=model), lambda *_: None)
    at = np.linspace(0.02, 0.98, 49)[:, None]
    scale = float(found.model.scaling.spread[1])
    spread = scale * found.spread(at)[:, 1]
    missed = field(found.model, at)[:, 1] - true(at[:, 0])
    assert np.sqrt(np.mean(missed**2)) < 0.05
    assert (np.abs(missed) < 1.645 * spread).mean() > 0.8
    assert spread.mean() < 0.1
