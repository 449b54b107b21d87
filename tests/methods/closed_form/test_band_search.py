"""The search over bands: exact where it can be, with an honest posterior where it cannot, and in time."""

import equinox as eqx
import numpy as np
import pytest
from two_modes import DIFFUSIVITY, field, heat_at, heat_readings

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations, sample
from pgt.datasets.analytic import heat
from pgt.methods.closed_form import band_search
from pgt.methods.closed_form.band_posterior import (
    BandAverage,
)
from pgt.methods.closed_form.band_search import (
    MAX_TRIALS,
    _Search,
    fit_features,
)
from pgt.methods.coefficients import MAX_LOG_DISTANCE
from pgt.methods.finished_fit import SOLVED_IN_CLOSED_FORM
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.physics import Dirichlet, Equation, Heat, UnknownFunction
from pgt.problem.assembly import assemble
from pgt.training.settings import Training

SQUARE = Domain(x=(0, 1), t=(0, 1))


def fitted(readings, pde, domain, *conditions, report=lambda share, numbers: None, **options):
    """With so few sines, and a band that is given, a fit takes a moment."""
    settings = {name: options.pop(name) for name in ("likelihood", "seconds") if name in options}
    training = Training(**settings)
    observations = readings.aligned(pde.fields)
    model = Features(Scaling.fit(observations, domain), **options)
    task = assemble(readings, pde, domain, conditions, model=model, training=training)
    return fit_features(task, report)


ASKED = np.random.default_rng(5).uniform(size=(50, 2))


def test_heat_from_sixty_readings():
    truth = heat(x=41, t=41)
    found, fit = fitted(sample(truth, n=60), Heat(0.01), SQUARE, count=200, band=(10.0, 4.0))
    points = np.stack(np.meshgrid(truth.x, truth.t), -1).reshape(-1, 2)
    error = field(fit.model, points)[:, 0] - truth.u.values.ravel()
    assert np.sqrt(np.mean(error**2) / np.mean(truth.u.values**2)) < 1e-6
    assert found.model is fit.model
    assert found.band == (10.0, 4.0)


def test_fields_that_nobody_measured_follow_from_the_equations():
    """Darcy's flow: the pressure was measured, the flow is its gradient."""
    pde = Equation("u + p_x = 0", "v + p_y = 0", "u_x + v_y = 0", fields=("p", "u", "v"))
    points = np.random.default_rng(0).uniform(size=(30, 2))
    x, y = points.T
    seen = {"p": np.exp(x) * np.sin(y)}
    readings = Observations.from_arrays({"x": x, "y": y}, seen)
    domain = Domain(x=(0, 1), y=(0, 1))
    _, fit = fitted(readings, pde, domain, count=100, band=2.0)
    x, y = ASKED.T
    size = np.exp(x)
    expected = np.stack([size * np.sin(y), -size * np.sin(y), -size * np.cos(y)], axis=1)
    np.testing.assert_allclose(field(fit.model, ASKED), expected, rtol=0, atol=1e-5)


def test_a_nonlinear_equation_is_solved_by_gauss_newton():
    times = np.array([0.1, 0.9, 1.7])
    readings = Observations.from_arrays({"t": times}, {"u": 1 / (1 + times)})
    pde, domain = Equation("u_t = -u^2", fields=("u",)), Domain(t=(0, 2))
    _, fit = fitted(readings, pde, domain, count=40, band=4.0)
    asked = np.linspace(0, 2, 21)[:, None]
    np.testing.assert_allclose(field(fit.model, asked), 1 / (1 + asked), rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_positive_source_is_found_whatever_the_first_guess():
    """A rod that exp(x) heats, its ends held at zero."""
    positions = np.linspace(0.05, 0.95, 15)
    steady = np.exp(positions) - 1 - positions * (np.e - 1)
    readings = Observations.from_arrays({"x": positions}, {"u": -steady})
    fields = []
    for initial in (0.05, 50.0):
        source = UnknownFunction("x", positive=True, initial=initial)
        pde = Equation("u_xx + q = 0", q=source)
        found, _ = fitted(
            readings, pde, Domain(x=(0, 1)), Dirichlet("x", u=0.0), count=40, band=6.0
        )
        asked = np.linspace(0.1, 0.9, 9)[:, None]
        fields.append(initial * np.exp(field(found.model, asked)[:, 1]))
        np.testing.assert_allclose(fields[-1], np.exp(asked[:, 0]), rtol=0.02)


def test_an_unknown_diffusivity_is_found():
    pde = Heat(Unknown(0.2, positive=True))
    found, fit = fitted(heat_readings(50), pde, SQUARE, count=120, band=(8.0, 4.0))
    ((_, node),) = named_unknowns(fit.pde)
    assert float(node.value) == pytest.approx(DIFFUSIVITY, rel=1e-3)
    assert np.abs(field(fit.model, ASKED)[:, 0] - heat_at(ASKED)).max() < 1e-3
    assert len(found.posterior.weights) == 121


@pytest.mark.parametrize("start", [0.001, 1.0])
def test_an_unknown_diffusivity_does_not_run_away_with_noise(start):
    """From 0.001 one step in the logarithm would be a factor of e⁴⁹."""
    readings, pde = heat_readings(60, noise=0.03), Heat(Unknown(start, positive=True))
    _, fit = fitted(readings, pde, SQUARE, count=60, band=(8.0, 2.0))
    ((name, node),) = named_unknowns(fit.pde)
    off = np.log(float(node.value) / DIFFUSIVITY)
    assert abs(off) < 3 * fit.learnt[name].deviation < 0.3
    assert fit.stopped == SOLVED_IN_CLOSED_FORM


@pytest.mark.parametrize("level", [0.0, 2.0])
def test_a_coefficient_that_no_reading_tells_is_not_determined(level):
    """Of a constant field every diffusivity is the right one, whatever the prior says."""
    readings = heat_readings(30)
    flat = eqx.tree_at(lambda r: r.values, readings, np.full_like(readings.values, level))
    _, fit = fitted(flat, Heat(Unknown(0.01, positive=True)), SQUARE, count=40, band=4.0)
    assert fit.learnt["diffusivity"].deviation == MAX_LOG_DISTANCE


@pytest.mark.parametrize("likelihood", ["student", "huber"])
def test_gross_outliers_are_survived(likelihood):
    readings = heat_readings(80, noise=0.01)
    values = np.array(readings.values)
    values[::10] += 5.0
    spoilt = eqx.tree_at(lambda r: r.values, readings, values)
    options = {"count": 100, "band": (8.0, 4.0)}

    def error(**more):
        _, fit = fitted(spoilt, Heat(DIFFUSIVITY), SQUARE, **options, **more)
        return np.sqrt(np.mean((field(fit.model, ASKED)[:, 0] - heat_at(ASKED)) ** 2))

    assert error(likelihood=likelihood) < {"student": 0.01, "huber": 0.05}[likelihood]
    assert error() > 0.1


# ------------------------------------------------------------------------- which band


def test_the_most_probable_band_is_kept_and_every_trial_recorded():
    positions = np.random.default_rng(1).uniform(size=14)
    readings = Observations.from_arrays({"x": positions}, {"u": np.sin(25 * positions)})
    pde, reports = Equation("u_xx + 625*u = 0", fields=("u",)), []
    options = {"count": 60, "report": lambda share, numbers: reports.append((share, numbers))}
    found, fit = fitted(readings, pde, Domain(x=(0, 1)), **options)
    assert 1 <= len(reports) <= 2 * MAX_TRIALS
    assert found.evidence == max(numbers["evidence"] for _, numbers in reports)
    assert found.model.network.is_exact or found.band[0] > 12.5  # the wave itself
    assert len(fit.history.step) == len(reports)
    asked = np.linspace(0, 1, 21)[:, None]
    np.testing.assert_allclose(field(fit.model, asked), np.sin(25 * asked), rtol=0, atol=1e-8)


# ------------------------------------------------------------------------- the scan


def test_the_scan_finds_the_band_of_a_fast_oscillation():
    """Bands around the first one show nothing of it."""
    times = np.random.default_rng(0).uniform(size=60)
    readings = Observations.from_arrays({"t": times}, {"u": np.sin(180 * times)})
    pde = Equation("u_tt = -32400*u", coords=("t",))
    found, fit = fitted(readings, pde, Domain(t=(0, 1)), count=100)
    assert found.band[0] > 80
    asked = np.linspace(0, 1, 300)
    np.testing.assert_allclose(
        field(fit.model, asked[:, None])[:, 0], np.sin(180 * asked), atol=1e-8
    )


# ------------------------------------------------------------------------- how long it takes


def test_an_equation_that_has_no_value_for_the_readings_says_so():
    domain = Domain(x=(0, 1), t=(0, 1))
    readings = sample(heat({1: 1.0}, x=7, t=7), n=10)
    pde = Equation("u_t = 0.01*u_xx + sqrt(u - 5)")
    with pytest.raises(InputError, match="no finite number for the field that the readings"):
        fitted(readings, pde, domain, count=6, band=3.0)


# ------------------------------------------------------------- functions that satisfy the equation


def waves(noise=0.02):
    """Helmholtz's equation with seven waves across, from plane waves in many directions."""
    random, k = np.random.default_rng(0), 14 * np.pi
    angles, sizes = random.uniform(0, 2 * np.pi, 8), random.normal(size=(8, 2))

    def truth(points):
        phase = k * points @ np.array([np.cos(angles), np.sin(angles)])
        return np.cos(phase) @ sizes[:, 0] + np.sin(phase) @ sizes[:, 1]

    x, y = random.uniform(size=(2, 160))
    u = truth(np.stack([x, y], axis=-1))
    u = u + noise * np.std(u) * random.normal(size=160)
    readings = Observations.from_arrays({"x": x, "y": y}, {"u": u})
    pde = Equation(f"u_xx + u_yy + {k**2}*u = 0", coords=("x", "y"))
    found, fit = fitted(readings, pde, Domain(x=(0, 1), y=(0, 1)), count=300)
    expected = truth(ASKED)
    error = np.sqrt(np.mean((field(fit.model, ASKED)[:, 0] - expected) ** 2)) / np.std(expected)
    return found, fit, error


@pytest.mark.slow
def test_waves_that_satisfy_the_equation_are_taken_where_they_are_more_probable(monkeypatch):
    found, _, error = waves()
    assert error < 0.04
    with monkeypatch.context() as patch:
        patch.setattr(band_search._Search, "_exact_waves", lambda search: None)
        sines, _, without = waves()
    assert found.evidence > sines.evidence + 10
    assert error < without / 2
    stated = np.sqrt(np.mean(found.spread(ASKED) ** 2))
    assert 0.3 < stated / error < 3


# ------------------------------------------------------------------------- the error of the basis


def test_clean_readings_are_fitted_with_other_sines_as_well(monkeypatch):
    monkeypatch.setattr(band_search, "BAND_FACTORS", ())
    monkeypatch.setattr(band_search._Search, "_exact_waves", lambda search: None)
    monkeypatch.setattr(_Search, "_scan", lambda search, basis: (8.0, 8.0))
    found, fit = fitted(heat_readings(60), Heat(DIFFUSIVITY), SQUARE, count=80)
    assert isinstance(found, BandAverage)
    first, second = (field(part.model, ASKED) for part in found.parts)
    np.testing.assert_allclose(field(fit.model, ASKED), (first + second) / 2, rtol=0, atol=1e-9)
    wrong = np.sqrt(np.mean((field(fit.model, ASKED)[:, 0] - heat_at(ASKED)) ** 2))
    assert 0.2 < wrong / np.sqrt(np.mean((first - second) ** 2) / 4) < 5
