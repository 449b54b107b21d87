"""What a fit lets expect of its own error over the domain."""

import equinox as eqx
import jax
import numpy as np
import pytest

import pgt
from pgt.methods.finished_fit import Fit
from pgt.problem.assembly import assemble
from pgt.reconstruction import stated_error
from pgt.reconstruction.evaluation import Evaluation
from pgt.reconstruction.stated_error import combined_error, correlated_misfits, field_errors
from pgt.uncertainty.field_error import (
    EXTRAPOLATION_FACTOR,
    KAPPA_RANGE,
    MODEL_ERROR_CLOSED_FORM,
    MODEL_ERROR_NETWORK,
    domain_points,
)
from pgt.uncertainty.outcome import Outcome

DOMAIN, EQUATION = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(0.01)
TRUTH = pgt.datasets.heat({2: 1.0})
READINGS = pgt.sample(TRUTH, n=60, noise=0.05, seed=1)


@pytest.fixture
def followed(monkeypatch):
    """As if a network that nobody trained followed its readings: the posterior alone is asked."""
    monkeypatch.setattr(stated_error, "correlated_misfits", lambda outcome, task: {"u": 0.0})


def test_the_error_expected_of_noisy_readings_is_about_the_true_one():
    scaling = pgt.Scaling.fit(READINGS, DOMAIN)
    model = pgt.Features(scaling, count=150, band=(8.0, 4.0))
    result = pgt.reconstruct(READINGS, EQUATION, DOMAIN, model=model)
    gap = result.grid(x=41, t=41).u - pgt.datasets.heat({2: 1.0}, x=41, t=41).u
    true = float(np.sqrt((gap**2).mean()) / TRUTH.u.std())
    expected = result.field_error["u"]
    assert expected.low < true < expected.high
    assert expected.value == pytest.approx(true, rel=1.0)  # within a factor of two
    assert result.summary["expected_error"]["value"] == pytest.approx(expected.value)


def test_one_reading_alone_tells_nothing_of_the_field_around_it():
    readings = pgt.Observations.from_arrays({"x": [0.3], "t": [0.2]}, {"u": [2.0]})
    model = pgt.Features(pgt.Scaling.fit(readings, DOMAIN), count=30, band=4.0)
    result = pgt.reconstruct(readings, EQUATION, DOMAIN, model=model)
    assert result.field_error["u"].value >= 1
    assert "undetermined_places" in {doubt.kind for doubt in result.doubts}


def test_what_neighbours_are_missed_by_alike_is_no_noise():
    """Of a field that a model had no time for; what it takes it for is noise, which it is sure of."""
    readings = pgt.sample(TRUTH, n=400, noise=0.05, seed=1)
    scaling = pgt.Scaling.fit(readings, DOMAIN)
    network = pgt.PINN(scaling, width=4, layers=1)
    network = eqx.tree_at(lambda m: m.scaling.spread, network, 1e-6 * scaling.spread)
    task = assemble(readings, EQUATION, DOMAIN, model=network)
    outcome = Outcome(
        Fit(network, EQUATION, 0.0), 1.0, noise=1e6,
        deviations_at=lambda points: np.full((2, len(points), 1), 1e-9),
    )  # fmt: skip
    size = correlated_misfits(outcome, task)["u"]
    assert size == pytest.approx(float(TRUTH.u.std()), rel=0.3)
    found = field_errors(outcome, task)
    assert found is not None
    assert found["u"]["value"] == pytest.approx(size / 1e-6 / float(scaling.spread[0]))
    followed = pgt.Features(scaling, count=150, band=(8.0, 4.0))
    result = pgt.reconstruct(readings, EQUATION, DOMAIN, model=followed, error_bars=pgt.Posterior())
    assert result.record["members"]["correlated_misfit"] == {"u": 0.0}


@pytest.mark.usefixtures("followed")
def test_readings_held_out_that_are_missed_raise_it():
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network)

    def deviations_at(points):
        return np.full((2, len(points), 1), 1e-2)

    found = [
        field_errors(
            Outcome(Fit(network, EQUATION, 0.0), 0.1, deviations_at=deviations_at, noise=n), task
        )
        for n in (0.1, 1e3)
    ]
    assert all(found)
    # The second is excused by a noise larger than any misfit.
    missed, excused = (error["u"]["value"] for error in found if error)
    assert missed > 3 * excused


@pytest.mark.parametrize("likelihood", ["student", "huber"])
def test_outliers_among_readings_held_out_are_not_taken_for_errors_of_the_field(likelihood):
    wrong = np.zeros((60, 1))
    wrong[::8] = 20.0
    readings = eqx.tree_at(lambda r: r.values, READINGS, READINGS.values + wrong)
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)

    def expected(readings, **deviations):
        training = pgt.Training(likelihood=likelihood, hold_out=0.5)
        task = assemble(readings, EQUATION, DOMAIN, model=network, training=training)
        found = field_errors(
            Outcome(Fit(network, EQUATION, 0.0), 0.1, noise=0.3, **deviations), task
        )
        assert found
        return found["u"]["value"]

    for known in ({"deviations_at": lambda points: np.full((2, len(points), 1), 0.1)}, {}):
        assert expected(readings, **known) < 2 * expected(READINGS, **known)


@pytest.mark.usefixtures("followed")
def test_what_exact_readings_are_missed_by_is_no_noise():
    """The posterior expects 1e-6 of a fit that misses readings by their spread."""
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network)

    def expected(noise, size, has_noise=False):
        fit = Fit(network, EQUATION, 0.0)
        outcome = Outcome(
            fit, 0.1, deviations_at=lambda points: np.full((2, len(points), 1), size), noise=noise,
            has_noise=has_noise,
        )  # fmt: skip
        found = field_errors(outcome, task)
        assert found
        return found["u"]["value"]

    sure, unsure = expected(1e-4, 1e-6), expected(1e-4, 0.3)
    noisy = expected(0.9, 1e-6)
    assert sure == pytest.approx(KAPPA_RANGE[1] * MODEL_ERROR_NETWORK * noisy, rel=0.5)
    assert unsure > 1e3 * sure
    # Readings with so little noise, where it shows, leave no error of the network's own.
    assert sure == pytest.approx(MODEL_ERROR_NETWORK * expected(1e-4, 1e-6, has_noise=True))


def test_without_a_posterior_readings_tell_that_were_not_fitted():
    """A field that is zero everywhere is wrong by the spread of the readings, in units of its own."""
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network)
    found = field_errors(Outcome(Fit(network, EQUATION, 0.0), 0.1), task)
    where = domain_points(DOMAIN)
    spread = float(np.sqrt(np.cov(
        Evaluation(network, EQUATION, READINGS, None, DOMAIN).values_at(where.points)[:, 0],
        aweights=where.weights, ddof=0,
    )))  # fmt: skip
    said = Evaluation(network, EQUATION, READINGS, None, DOMAIN).predict_readings(task.held_out)
    missed = float(np.sqrt(np.mean((said - np.asarray(task.held_out.values)) ** 2)))
    assert found is not None
    assert found["u"]["value"] <= EXTRAPOLATION_FACTOR * missed / spread
    assert found["u"]["high"] > missed / spread


@pytest.mark.parametrize(
    "known", [{"deviations_at": lambda points: np.full((2, len(points), 1), 0.1)}, {}]
)
def test_of_a_network_that_collapsed_all_that_was_read_is_missed(known):
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    flat = jax.tree.map(lambda leaf: 0 * leaf, network.network)
    network = eqx.tree_at(lambda m: m.network, network, flat)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network)
    found = field_errors(Outcome(Fit(network, EQUATION, 0.0), 1.0, noise=0.1, **known), task)
    assert found
    assert 0.1 < found["u"]["value"] < 3


@pytest.mark.parametrize(("value", "unit"), [(0.0, 1.0), (300.1, 300.1)])
def test_of_readings_that_are_all_the_same_the_error_is_counted_in_their_size(
    value, unit, followed
):
    same = np.full((60, 1), value)
    readings = eqx.tree_at(lambda r: r.values, READINGS, same)
    model = pgt.Features(pgt.Scaling.fit(readings, DOMAIN), count=20, band=(4.0, 4.0))
    task = assemble(readings, EQUATION, DOMAIN, model=model)
    outcome = Outcome(
        Fit(task.model, EQUATION, 0.0), 0.1, noise=0.1, standardized_residuals=np.ones(60),
        deviations_at=lambda points: np.full((2, len(points), 1), 1e-3),
    )  # fmt: skip
    found = field_errors(outcome, task)
    assert found
    assert found["u"]["value"] == pytest.approx(1e-3 / unit, rel=0.01)


def test_where_nothing_was_held_out_nothing_is_expected():
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    training = pgt.Training(hold_out=0.0)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network, training=training)
    assert field_errors(Outcome(Fit(network, EQUATION, 0.0), None), task) is None


def test_the_headline_is_that_of_the_measured_fields():
    pde = pgt.NavierStokes2D(0.1)
    box = pgt.Domain(x=(0, 1), y=(0, 1), t=(0, 1))
    points = np.random.default_rng(0).uniform(size=(9, 3))
    flow = pgt.Observations.from_arrays(
        points, points[:, :2], coords=("x", "y", "t"), fields=("u", "v")
    )
    task = assemble(flow, pde, box, model=lambda s: pgt.PINN(
        pgt.Scaling.fit(flow.aligned(pde.fields), box), width=2, layers=1, seed=s
    ))  # fmt: skip
    errors = {
        name: {"value": size, "low": size / 2, "high": 2 * size}
        for name, size in (("u", 0.3), ("v", 0.4), ("p", 9.0))
    }
    assert combined_error(errors, task)["value"] == pytest.approx(np.sqrt(0.125))


@pytest.mark.usefixtures("followed")
def test_what_different_sines_say_needs_no_factor():
    """How much the model itself gets wrong is in the draws already."""
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network)
    fit = Fit(network, EQUATION, 0.0)

    def expected(is_average):
        outcome = Outcome(
            fit, 0.1, deviations_at=lambda points: np.full((2, len(points), 1), 1e-3),
            standardized_residuals=np.ones(len(task.problem.observations)), noise=1e-9,
            is_average=is_average,
        )  # fmt: skip
        found = field_errors(outcome, task)
        assert found
        return found["u"]["value"]

    assert expected(False) == pytest.approx(MODEL_ERROR_CLOSED_FORM * expected(True))


@pytest.mark.usefixtures("followed")
def test_what_is_held_up_by_the_digits_of_readings_is_lowered():
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network)

    def expected(noise):
        outcome = Outcome(
            Fit(network, EQUATION, 0.0), 0.1, noise=noise,
            standardized_residuals=np.full(len(task.problem.observations), 0.25),
            deviations_at=lambda points: np.full((2, len(points), 1), 1e-3),
        )  # fmt: skip
        found = field_errors(outcome, task)
        assert found
        return found["u"]["value"]

    assert expected(1e-14) == pytest.approx(0.5 * expected(1e-12))


@pytest.mark.usefixtures("followed")
def test_readings_that_are_missed_at_one_place_only_raise_the_error_there():
    """As towards the instant of a jump: nine of ten readings are missed by nothing, and z² is 1."""
    model = pgt.Features(pgt.Scaling.fit(READINGS, DOMAIN), count=20, band=(4.0, 4.0))
    task = assemble(READINGS, EQUATION, DOMAIN, model=model)
    early = np.asarray(task.problem.observations.points)[:, 1] < 0.2
    there = np.where(early, 1.0, 0.01)
    everywhere = np.ones(len(early))

    def expected(misses):
        fit = Fit(task.model, EQUATION, 0.0)
        outcome = Outcome(
            fit, 0.1, deviations_at=lambda points: np.where(points[None, :, 1:] < 0.2, 1e-3, 1e-6),
            standardized_residuals=misses / np.sqrt(np.mean(misses**2)), noise=1e-9, is_average=True,
        )  # fmt: skip
        found = field_errors(outcome, task)
        assert found
        return found["u"]["value"]

    assert (
        2.5
        < expected(there) / expected(everywhere)
        < MODEL_ERROR_CLOSED_FORM / np.sqrt(early.mean())
    )


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize(("change", "expected"), [(1e-6, 1.0), (4e-3, 4.0), (1.0, None)])
def test_what_readings_change_is_no_more_than_the_error(change, expected):
    """At the first instants, where the posterior is as sure of the field as everywhere; but not without
    bounds: three times as much over the domain."""
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    task = assemble(READINGS, EQUATION, DOMAIN, model=network)
    pairs = np.array([1.0, -1.0])[:, None, None]

    def stated(**known):
        outcome = Outcome(
            Fit(network, EQUATION, 0.0), 0.1, noise=1e3,  # so that no reading judges
            deviations_at=lambda points: pairs * np.full((len(points), 1), 1e-3), **known,
        )  # fmt: skip
        found = field_errors(outcome, task)
        assert found
        return found["u"]["value"]

    def at_first(points):
        return pairs * np.where(points[:, 1:] < 0.2, change, 1e-9)

    where = domain_points(DOMAIN)
    early = where.weights[where.points[:, 1] < 0.2].sum() / where.weights.sum()
    times = expected or 3 / np.sqrt(early)
    # Of two draws, what is added and what was there go the same way.
    there = 1 + np.sqrt(times**2 - 1)
    share = np.sqrt(early * there**2 + 1 - early)
    assert stated(jackknife_at=at_first) / stated() == pytest.approx(share, rel=0.02)


def test_an_error_is_stated_no_smaller_than_a_contradicted_condition_changes_the_field():
    def truth(x, t):
        return np.exp(-0.45 * t) * np.sin(3 * x + 0.4) + 0.5 * x

    random = np.random.default_rng(0)
    x, t = random.uniform(size=(2, 12))
    readings = {"x": x, "t": t, "u": truth(x, t) + 0.02 * random.normal(size=12)}
    times = np.linspace(0, 1, 101)
    walls = [
        pgt.Dirichlet("x", side="lower", u=(times, truth(0, times) + 0.5)),
        pgt.Dirichlet("x", side="upper", u=(times, truth(1, times))),
        pgt.Initial(u=(times, truth(times, 0))),
    ]
    domain = {"x": (0, 1), "t": (0, 1)}
    result = pgt.reconstruct(readings, pgt.Heat(0.05), domain, walls, progress=False)
    verdict = result.verdict()
    (doubt,) = [doubt for doubt in verdict.doubts if doubt.kind == "contradicted_condition"]
    assert "lower end of x" in str(doubt)
    assert verdict.field_error["u"].value >= doubt.numbers["change"] > 0.01


def test_six_readings_that_tell_nothing_are_not_said_to_tell_the_field():
    """They were all taken for noise around a field that is flat, known to a hundredth."""
    random = np.random.default_rng(1000)
    x, t = random.uniform(size=(2, 6))
    k, phase, size = ([2.8, 5.4, 3.1, 5.9], [0.5, 2.0, 4.0, 1.0], [1.0, -0.8, 0.6, 1.2])
    parts = zip(k, phase, size, (-1, -1, 1, 1), strict=True)
    u = sum(a * np.sin(w * (x + sign * t) + p) for w, p, a, sign in parts)
    readings = {"x": x, "t": t, "u": u}
    result = pgt.reconstruct(readings, pgt.Wave(1.0), {"x": (0, 1), "t": (0, 1)}, progress=False)
    assert result.field_error["u"].value > 0.2
