"""What a fit lets expect of its own error over the domain."""

import equinox as eqx
import numpy as np
import pytest

import pgt
from pgt.methods.finished_fit import Fit
from pgt.problem.assembly import assemble
from pgt.reconstruction import stated_error
from pgt.reconstruction.stated_error import combined_error, correlated_misfits, field_errors
from pgt.uncertainty.outcome import Outcome

DOMAIN, EQUATION = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(0.01)
TRUTH = pgt.datasets.heat({2: 1.0})
READINGS = pgt.sample(TRUTH, n=60, noise=0.05, seed=1)


@pytest.fixture
def followed(monkeypatch):
    """As if a network that nobody trained followed its readings: the posterior alone is asked."""
    monkeypatch.setattr(stated_error, "correlated_misfits", lambda outcome, task: {"u": 0.0})


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

    sure, unsure, noisy = expected(1e-4, 1e-6), expected(1e-4, 0.3), expected(0.9, 1e-6)
    assert sure == pytest.approx(unsure, rel=0.5)  # the misfit decides, whatever the posterior says
    assert sure > 1e3 * noisy
    assert sure > 10 * expected(1e-4, 1e-6, has_noise=True)  # the misfit may be noise


def test_a_network_without_a_posterior_is_judged_by_sines_and_by_held_out_readings():
    """A field that is zero everywhere is wrong by the spread of the readings."""
    network = pgt.PINN(pgt.Scaling.fit(READINGS, DOMAIN), width=4, layers=1)
    for training in (pgt.Training(), pgt.Training(hold_out=0.0)):
        task = assemble(READINGS, EQUATION, DOMAIN, model=network, training=training)
        found = field_errors(Outcome(Fit(network, EQUATION, 0.0), None), task)
        assert found is not None
        assert 0.3 < found["u"]["value"] < 1.5


def test_hidden_fields_of_a_network_without_a_posterior_have_an_error():
    pde, box = pgt.NavierStokes2D(0.1), pgt.Domain(x=(0, 1), y=(0, 1), t=(0, 1))
    points = np.random.default_rng(0).uniform(size=(60, 3))
    flow = pgt.Observations.from_arrays(
        points, np.sin(3 * points[:, :2]), coords=("x", "y", "t"), fields=("u", "v")
    )
    network = pgt.PINN(pgt.Scaling.fit(flow.aligned(pde.fields), box), width=4, layers=1)
    task = assemble(flow, pde, box, model=network)
    found = field_errors(Outcome(Fit(network, pde, 0.0), 1.0), task)
    assert found is not None
    assert set(found) == {"u", "v", "p"}
    assert found["p"]["value"] > 0.1


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


@pytest.mark.slow
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
