"""Fits of what equations leave open, against least squares on exact solutions."""

import numpy as np
import pytest
from mesh_problems import LINE, decay, heat_readings
from scipy.integrate import solve_ivp
from scipy.optimize import curve_fit
from scipy.special import erfc, exp1

import pgt
from pgt.problem.budget import Deadline

CONDITIONS = (pgt.Initial(u="sin(pi*x)"), pgt.Dirichlet("x", u=0.0))


def unknown_heat(first=0.5):
    return pgt.Equation("u_t = D*u_xx", D=pgt.Unknown(first, positive=True))


def fitted(readings, pde, domain, conditions=(), **options):
    fields = pde.fields
    model = pgt.Solver(pgt.Scaling.fit(readings.aligned(fields), domain))
    return pgt.reconstruct(
        readings, pde, domain, conditions, model=model, progress=False, **options
    )


def interval(result, name):
    found = result.intervals()[name]
    return found.lower, found.value, found.upper


def test_a_coefficient_is_that_of_least_squares_on_the_exact_solution():
    readings = heat_readings()
    result = fitted(readings, unknown_heat(), LINE, CONDITIONS)
    at, read = np.asarray(readings.points), np.asarray(readings.values)[:, 0]
    (best,), ((variance,),) = curve_fit(lambda z, d: decay(*z, d), at.T, read, [0.2])
    lower, value, upper = interval(result, "D")
    assert value == pytest.approx(best, rel=1e-3)
    assert (upper - lower) / 2 == pytest.approx(1.645 * np.sqrt(variance), rel=0.1)
    assert result.summary["stopped"] == "solved on a mesh"


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    held = [
        lower < 0.1 < upper
        for seed in range(20)
        for lower, _, upper in [
            interval(fitted(heat_readings(30, seed=seed), unknown_heat(), LINE, CONDITIONS), "D")
        ]
    ]
    assert 15 <= sum(held) <= 20


def test_nothing_is_given_but_readings_of_eight_sensors():
    places, times = np.meshgrid(np.linspace(0.06, 0.94, 8), np.linspace(0, 1, 20))
    x, t = places.ravel(), times.ravel()
    noise = 0.01 * np.random.default_rng(0).normal(size=len(x))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": decay(x, t) + noise})
    result = fitted(readings, unknown_heat(), LINE)
    lower, value, upper = interval(result, "D")
    assert abs(value - 0.1) < 2 * (upper - lower)
    at = LINE.even(300)
    error = np.sqrt(np.mean((result.at(at).u.values - decay(*at.T)) ** 2)) / 0.25
    stated = result.summary["expected_error"]
    assert error < 0.03
    assert stated["value"] / 3 < error < 3 * stated["value"]


@pytest.mark.slow
def test_sensors_with_an_offset_are_found_and_named():
    """Two of eight sensors are off by five noise levels, in opposite directions."""
    places, times = np.meshgrid(np.linspace(0.06, 0.94, 8), np.linspace(0, 1, 25))
    x, t = places.ravel(), times.ravel()
    right = decay(x, t) + 0.02 * np.random.default_rng(0).normal(size=len(x))
    wrong = right + 0.1 * (x == places[0, 2]) - 0.1 * (x == places[0, 5])
    at, errors = LINE.even(300), []
    for read in (right, wrong):
        readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": read})
        result = fitted(readings, unknown_heat(), LINE)
        errors.append(np.sqrt(np.mean((result.at(at).u.values - decay(*at.T)) ** 2)))
        doubts = [d for d in result.verdict().doubts if d.kind == "drifting_sensors"]
        assert len(doubts) == (read is wrong)
    assert errors[1] < 1.3 * errors[0]
    assert doubts[0].numbers["sensors"] == 2
    assert "x = 0.3114: u 0.09" in doubts[0].sentence
    assert "x = 0.6886: u 0.09" in doubts[0].sentence


@pytest.mark.slow
def test_a_pumping_test_gives_conductivity_and_storage():
    """Theis' solution: drawdown around a well of known rate."""
    rate, thickness, k, storage = 788.0, 7.0, 66.0, 2.5e-5
    r = np.repeat([30.0, 90.0], 15)
    t = np.tile(np.geomspace(2e-3, 0.5, 15), 2)
    drawdown = rate / (4 * np.pi * k * thickness) * exp1(storage * r**2 / (4 * k * t))
    readings = pgt.Observations.from_arrays({"r": r, "t": t}, {"s": drawdown})
    unknown = {name: pgt.Unknown(first, positive=True) for name, first in (("k", 10), ("S", 1e-4))}
    pde = pgt.Equation("S*s_t = k*lap(s)", **unknown)
    domain = pgt.Domain(r=(0.1, 100), t=(0, 0.5), coordinates="polar")
    conditions = (
        pgt.Initial(s=0.0),
        pgt.Well(s=rate / thickness),
        pgt.Dirichlet("r", side="far", s=0.0),
    )
    result = fitted(readings, pde, domain, conditions)
    assert result.parameters["k"] == pytest.approx(k, rel=0.003)
    assert result.parameters["S"] == pytest.approx(storage, rel=0.01)


@pytest.mark.slow
def test_first_guesses_may_be_off_by_far():
    """A front of Fisher's equation, from a diffusivity and a rate ten times too large or small."""
    random = np.random.default_rng(1)
    x, t = random.uniform(-10, 20, 150), random.uniform(0, 5, 150)
    read = (1 + np.exp((x - 5 / np.sqrt(6) * t) / np.sqrt(6))) ** -2
    read = read + 0.005 * random.normal(size=150)
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": read})
    pde = pgt.Equation(
        "u_t = D*u_xx + r*u*(1-u)", D=pgt.Unknown(8.0, positive=True), r=pgt.Unknown(0.1, positive=True)
    )  # fmt: skip
    result = fitted(readings, pde, pgt.Domain(x=(-10, 20), t=(0, 5)))
    for name in ("D", "r"):
        lower, value, upper = interval(result, name)
        assert abs(value - 1.0) < 1.5 * (upper - lower)


def test_a_result_is_saved_drawn_and_differentiated(tmp_path):
    result = fitted(
        heat_readings(), unknown_heat(), LINE, CONDITIONS, error_bars=pgt.Posterior(samples=8)
    )
    result.save(tmp_path / "rod")
    again = pgt.Reconstruction.load(tmp_path / "rod")
    places = {"x": [0.3, 0.6], "t": [0.2, 0.9]}
    found = again.at(places, ["u", "u_t", "u_xx"])
    assert np.allclose(found.u, result.at(places).u, rtol=1e-12)
    assert float(np.abs(found.u_t - result.parameters["D"] * found.u_xx).max()) < 1e-2
    assert (found.u_std > 0).all()


def test_an_equation_without_a_solution_says_so():
    readings = pgt.Observations.from_arrays({"t": [0.0, 0.5, 3.0]}, {"u": [1.0, 2.0, 3.0]})
    pde = pgt.Equation("u_t = a*u^2", a=pgt.Unknown(9.0, positive=True))
    with pytest.raises(pgt.InputError, match="could not be solved"):
        fitted(readings, pde, pgt.Domain(t=(0, 3)), [pgt.Initial(u=1.0)])


def test_members_of_an_ensemble_would_be_the_same():
    with pytest.raises(pgt.InputError, match="Solver"):
        fitted(heat_readings(), unknown_heat(), LINE, error_bars=pgt.Ensemble(2))


@pytest.mark.slow
def test_many_readings_of_a_sharp_front_come_to_rest():
    """Breakthrough curves of a tracer in a column; first guesses are off by 2.5 and 2."""
    x, t = (part.ravel() for part in np.meshgrid(np.linspace(0.2, 1, 5), np.linspace(0.02, 2, 400)))
    width = 2 * np.sqrt(0.02 * t)
    later = np.exp(x / 0.02) * erfc(np.minimum((x + t) / width, 26.0))
    read = 0.5 * (erfc((x - t) / width) + later)
    read = read + 0.01 * np.random.default_rng(0).standard_normal(len(x))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"c": read})
    unknown = {name: pgt.Unknown(first, positive=True) for name, first in (("D", 0.05), ("v", 0.5))}
    pde = pgt.Equation("c_t = D*c_xx - v*c_x", **unknown)
    result = fitted(readings, pde, pgt.Domain(x=(0.2, 1), t=(0, 2)))
    assert result.summary["stopped"] == "solved on a mesh"
    for name, truth in (("D", 0.02), ("v", 1.0)):
        lower, value, upper = interval(result, name)
        assert abs(value - truth) < upper - lower < 0.05 * truth


def test_seconds_end_a_step_that_takes_longer(monkeypatch):
    """The clock is asked within a solution, and the answer is the last one that was finished."""
    asked = []

    class Clock(Deadline):
        def allows(self, expected, share=1.0):
            asked.append(share)
            return len(asked) < 20

    monkeypatch.setattr("pgt.methods.solver.solution_fit.Deadline", Clock)
    result = fitted(heat_readings(), unknown_heat(), LINE)
    assert len(asked) == 20
    assert asked[-1] < 1  # a solution asked, and not the search between two of them
    assert result.summary["stopped"] == "a coefficient had not come to rest"


def test_a_hidden_population_is_found_although_its_first_guess_grows_without_bound():
    prey = pgt.Equation(
        ["a_t = 12*a*(1 - b)", "b_t = 4*b*(a - 1)"], fields=("a", "b"), coords=("t",)
    )
    path = solve_ivp(
        lambda _, y: [12 * y[0] * (1 - y[1]), 4 * y[1] * (y[0] - 1)],
        (0, 1.4), [1.4, 0.6], rtol=1e-10, atol=1e-12, dense_output=True,
    ).sol  # fmt: skip
    times = np.linspace(0, 1.4, 60)
    readings = pgt.Observations.from_arrays({"t": times}, {"a": path(times)[0]})
    result = pgt.reconstruct(
        readings, prey, pgt.Domain(t=(0, 1.4)), method="solver", progress=False
    )
    np.testing.assert_allclose(result.at(t=times)["b"], path(times)[1], atol=1e-3)
