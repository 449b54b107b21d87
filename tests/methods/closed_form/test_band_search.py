"""The fit in closed form: exact where it can be, honest where it cannot.

Where the only unknown coefficient of an equation begins.
"""

import math
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import equinox as eqx
import numpy as np
import pytest
from two_modes import DIFFUSIVITY, field, heat_at, heat_readings

import pgt
from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations, sample
from pgt.datasets.analytic import heat
from pgt.inference.linear_gaussian import Peak
from pgt.methods.closed_form import band_search, band_solution
from pgt.methods.closed_form.band_posterior import Averaged, Found, cost_of_band, of_two
from pgt.methods.closed_form.band_search import (
    FEWEST_TO_CHOOSE,
    MOST_TRIALS,
    _Search,
    begun,
    fit_features,
    is_contested,
)
from pgt.methods.closed_form.band_solution import readings_alone
from pgt.methods.coefficients import AT_EDGE, MAX_LOG_DISTANCE, CoefficientEstimate
from pgt.methods.finished_fit import COEFFICIENT_NOT_AT_REST, SOLVED_IN_CLOSED_FORM
from pgt.methods.plan import choose
from pgt.models.features import FIRST_BAND, Features
from pgt.nn.scaling import Scaling
from pgt.physics import Dirichlet, Equation, Heat, Initial, UnknownFunction, Wave
from pgt.problem import budget
from pgt.problem.assembly import assemble
from pgt.problem.budget import Deadline
from pgt.training.settings import Training

DOMAIN, SPEED, BAND = pgt.Domain(x=(0, 1), t=(0, 1)), 1.3, (16.0, 8.0)


def string() -> pgt.Observations:
    """Three modes of a string of which nothing is known, read by four sensors."""
    x, t = np.meshgrid(np.linspace(0.13, 0.9, 4), np.linspace(0, 1, 40))
    waves = [(1, 1.0), (2, 0.6), (3, -0.4)]
    u = sum(a * np.cos(n * np.pi * x) * np.cos(n * np.pi * SPEED * t) for n, a in waves)
    return pgt.Observations.from_arrays({"x": x.ravel(), "t": t.ravel()}, {"u": np.ravel(u)})


def found(pde, deadline=None, **training):
    model = Features(pgt.Scaling.fit(string(), DOMAIN))
    task = assemble(string(), pde, DOMAIN, model=model, training=pgt.Training(**training))
    begins = begun(task.model, task, deadline or Deadline(None), BAND)
    return task, begins


def equation(first: float):
    return pgt.Equation("u_tt = c*c*u_xx", c=pgt.Unknown(first, positive=True))


@pytest.mark.parametrize("first", [0.8, 2.0])
def test_a_guess_that_is_far_off_is_moved(first):
    begins = found(equation(first))[1]
    assert named_unknowns(begins.pde)[0][1].value == pytest.approx(SPEED, rel=0.07)


def test_one_that_is_right_is_kept():
    task, begins = found(equation(SPEED))
    assert begins is task


@pytest.mark.parametrize("case", ["two", "none", "outliers", "late"])
def test_where_there_is_more_to_it_nothing_is_moved(case):
    pde, training, deadline = equation(1.0), {}, None
    if case == "two":
        pde = pgt.Equation("u_tt = c*u_xx - k*u", c=pgt.Unknown(1.0), k=pgt.Unknown(0.1))
    elif case == "none":
        pde = pgt.Equation("u_tt = 1.69*u_xx")
    elif case == "outliers":
        training = {"likelihood": "student"}
    else:
        deadline = Deadline(0.0)
    task, begins = found(pde, deadline, **training)
    assert begins is task


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


def test_conditions_count_as_much_as_the_equation():
    """Six readings alone say next to nothing; the walls make up for it."""
    walls = Dirichlet("x", u=0.0)
    _, fit = fitted(heat_readings(6), Heat(DIFFUSIVITY), SQUARE, walls, count=150, band=8.0)
    _, open_fit = fitted(heat_readings(6), Heat(DIFFUSIVITY), SQUARE, count=150, band=8.0)
    error, without = (np.abs(field(f.model, ASKED)[:, 0] - heat_at(ASKED)) for f in (fit, open_fit))
    edge = np.array([[0.0, 0.3], [1.0, 0.7]])
    np.testing.assert_allclose(field(fit.model, edge), 0.0, atol=1e-4)
    assert error.max() < without.max() / 3


def test_a_nonlinear_equation_is_linearised_again_and_again():
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
    assert len(found.solved.weights) == 121


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


def test_a_coefficient_at_the_edge_has_not_come_to_rest():
    """Ten million times the starting value is still too little."""
    pde = Heat(Unknown(1e-12, positive=True))
    _, fit = fitted(heat_readings(40), pde, SQUARE, count=60, band=(8.0, 4.0))
    assert fit.learnt["diffusivity"].unsettled == AT_EDGE
    assert fit.stopped == COEFFICIENT_NOT_AT_REST


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


def test_the_most_probable_band_is_kept_and_every_trial_written_down():
    positions = np.random.default_rng(1).uniform(size=14)
    readings = Observations.from_arrays({"x": positions}, {"u": np.sin(25 * positions)})
    pde, reports = Equation("u_xx + 625*u = 0", fields=("u",)), []
    options = {"count": 60, "report": lambda share, numbers: reports.append((share, numbers))}
    found, fit = fitted(readings, pde, Domain(x=(0, 1)), **options)
    assert 1 < len(reports) <= MOST_TRIALS
    assert found.evidence == max(numbers["evidence"] for _, numbers in reports)
    assert found.band[0] > 12.5  # the wave itself, in unit coordinates
    assert len(fit.history.step) == len(reports)
    assert [share for share, _ in reports] == sorted(share for share, _ in reports)
    asked = np.linspace(0, 1, 21)[:, None]
    np.testing.assert_allclose(field(fit.model, asked), np.sin(25 * asked), rtol=0, atol=1e-8)


# ------------------------------------------------------------------------- how long it takes


@pytest.fixture
def solves(monkeypatch):
    """The clock stands still but for a second in every solve; what each had to solve."""
    made, solve = [], band_solution.posterior_of

    def counted(rows, *options, **more):
        made.append(rows.readings.shape[1])
        return solve(rows, *options, **more)

    monkeypatch.setattr(band_solution, "posterior_of", counted)
    monkeypatch.setattr(budget, "seconds_of_solve", lambda size: 1e-3)
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: float(len(made))))
    monkeypatch.setattr(band_search, "AFTER", 0.0)  # what follows a search takes no time
    monkeypatch.setattr(band_search._Search, "_exact_model", lambda search: None)
    return made


def test_a_search_leaves_time_for_what_follows_it(solves, monkeypatch):
    monkeypatch.setattr(band_search, "AFTER", 0.5)
    pde = Heat(Unknown(1e-4, positive=True))
    fitted(heat_readings(30), pde, SQUARE, count=40, band=4.0, seconds=8.0)
    assert len(solves) == 4


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


def test_waves_that_satisfy_the_equation_are_taken_where_they_are_more_probable(monkeypatch):
    found, _, error = waves()
    assert error < 0.04
    with monkeypatch.context() as patch:
        patch.setattr(band_search._Search, "_exact_model", lambda search: None)
        sines, _, without = waves()
    assert found.evidence > sines.evidence + 10
    assert error < without / 2
    stated = np.sqrt(np.mean(found.spread(ASKED) ** 2))
    assert 0.3 < stated / error < 3


def test_sines_are_kept_where_they_are_more_probable():
    found, _ = fitted(heat_readings(60, noise=0.02), Heat(DIFFUSIVITY), SQUARE, count=200)
    best = found.parts[0] if isinstance(found, Averaged) else found
    assert not best.model.network.is_exact


def test_fields_of_several_bands_are_averaged_with_their_growth():
    readings = heat_readings(40)
    model = Features(Scaling.fit(readings, SQUARE), count=60)
    task = assemble(readings, Heat(DIFFUSIVITY), SQUARE, model=model)
    search = band_search._Search(task, lambda share, numbers: None)
    search.basis, search.other = search.other, search.basis
    parts = [search._try((band, band)) for band in (4.0, 6.0)]
    average = of_two(*parts)
    assert average.model.network.sines.growth is not None
    fields = [field(part.model, ASKED) for part in parts]
    np.testing.assert_allclose(field(average.model, ASKED), sum(fields) / 2, rtol=0, atol=1e-6)
    assert average.steps(6).shape == (6, average.model.network.readout.size)


def test_linearisations_end_with_the_seconds(solves):
    pde = Heat(Unknown(1e-4, positive=True))
    _, fit = fitted(heat_readings(30), pde, SQUARE, count=40, band=4.0, seconds=4.0)
    assert len(solves) == 4
    assert fit.seconds == 4.0
    assert fit.stopped == COEFFICIENT_NOT_AT_REST


def test_no_band_is_tried_for_which_there_is_no_time(solves, monkeypatch):
    monkeypatch.setattr(band_search, "ALONE", 0.3)
    monkeypatch.setattr(band_search, "CLEAN", 0.0)  # no other sines after the search
    _, fit = fitted(heat_readings(30), Heat(DIFFUSIVITY), SQUARE, count=40, seconds=20.0)
    assert len(solves) == len(fit.history.step) == 6  # 0.3 of the seconds


def test_bands_are_tried_for_longer_where_nothing_is_to_follow(solves, monkeypatch):
    def tried(followed: bool) -> int:
        solves.clear()
        monkeypatch.setattr(band_search._Search, "_is_followed", lambda search, best: followed)
        found = fitted(heat_readings(30), Heat(DIFFUSIVITY), SQUARE, count=24, seconds=10.0)
        return len(found[1].history.step)

    assert tried(followed=True) == 3
    assert 3 < tried(followed=False) <= 7


# ------------------------------------------------------------------------- what sines cannot follow


def test_clean_readings_are_fitted_with_other_sines_as_well(monkeypatch):
    monkeypatch.setattr(band_search, "BAND_FACTORS", ())
    monkeypatch.setattr(band_search._Search, "_exact_model", lambda search: None)
    found, fit = fitted(heat_readings(60), Heat(DIFFUSIVITY), SQUARE, count=80)
    assert isinstance(found, Averaged)
    first, second = (field(part.model, ASKED) for part in found.parts)
    np.testing.assert_allclose(field(fit.model, ASKED), (first + second) / 2, rtol=0, atol=1e-9)
    wrong = np.sqrt(np.mean((field(fit.model, ASKED)[:, 0] - heat_at(ASKED)) ** 2))
    assert 0.2 < wrong / np.sqrt(np.mean((first - second) ** 2) / 4) < 5


def test_noise_needs_no_other_sines(monkeypatch):
    monkeypatch.setattr(band_search, "BAND_FACTORS", ())
    found, _ = fitted(heat_readings(60, noise=0.1), Heat(DIFFUSIVITY), SQUARE, count=80)
    assert isinstance(found, Found)


def test_noise_that_says_less_than_walls_and_start_needs_other_sines_as_well(monkeypatch):
    """They alone determine the field: what is wrong with it is what sines cannot follow, not noise."""
    monkeypatch.setattr(band_search, "BAND_FACTORS", ())
    known = [Dirichlet("x", u=0.0), Initial(u="sin(pi*x) + 0.5*sin(2*pi*x)")]
    noisy = heat_readings(60, noise=0.1)
    found, _ = fitted(noisy, Heat(DIFFUSIVITY), SQUARE, *known, count=80)
    assert isinstance(found, Averaged)
    first, second = (field(part.model, ASKED) for part in found.parts)
    assert np.abs(first - second).max() > 0


def test_there_are_no_other_sines_where_there_is_no_time(solves, monkeypatch):
    monkeypatch.setattr(band_search, "BAND_FACTORS", ())
    found, _ = fitted(heat_readings(60), Heat(DIFFUSIVITY), SQUARE, count=80, seconds=1.5)
    assert isinstance(found, Found)
    assert len(solves) == 1


def test_there_are_as_many_sines_as_there_is_time_for(solves, monkeypatch):
    monkeypatch.setattr(budget, "seconds_of_solve", lambda size: 1.0)
    fitted(heat_readings(30), Heat(DIFFUSIVITY), SQUARE, count=90, band=4.0, seconds=0.5)
    assert solves == [56]  # 90 ∛(1/4)


def test_more_sines_are_not_kept_where_a_coefficient_did_not_settle(monkeypatch):
    search = slow_search(monkeypatch, is_followed=False)
    few = search._try((6.0, 6.0))
    moving = replace(
        few, learnt={"diffusivity": CoefficientEstimate(1.0, "it had not come to rest")}
    )

    def found(_, band, count=None, near=None):
        return few if count is None else moving

    monkeypatch.setattr(band_search._Search, "_try", found)
    monkeypatch.setattr(band_search, "BAND_FACTORS", ())
    monkeypatch.setattr(band_search, "averaged", lambda best, tried: best)
    assert search.best() is few


def test_equations_solved_in_turn_begin_with_a_band_that_the_readings_show():
    """Six years of a diffusivity: half a dozen waves, of which the usual band sees none."""
    depth, t = np.meshgrid([0.05, 0.2, 0.5, 0.9], np.linspace(0, 6, 60))
    points = np.column_stack([depth.ravel(), t.ravel()])
    rate = np.sqrt(np.pi / 0.1)
    wave = np.exp(-rate * points[:, 0]) * np.cos(2 * np.pi * points[:, 1] - rate * points[:, 0])
    readings = Observations.from_arrays(points, wave[:, None], coords=("x", "t"), fields=("u",))
    domain = Domain(x=(0, 1), t=(0, 6))
    model = Features(Scaling.fit(readings, domain), count=120)

    def first(diffusivity):
        task = assemble(readings, Heat(diffusivity), domain, model=model)
        return band_search._Search(task, lambda share, numbers: None)._first()

    band = first(Unknown(0.03, positive=True))
    assert 6 * np.pi < band[1] < 100
    assert first(0.1) == (FIRST_BAND, FIRST_BAND)


def cooling_search(**training):
    """A search in noisy readings of a rod that cools through its ends and its sides."""
    random = np.random.default_rng(1)
    x, t = random.uniform(size=(2, 150))
    waves = [(1, 60.0), (2, 25.0), (3, -15.0)]
    u = sum(
        a * np.sin(n * np.pi * x) * np.exp(-(0.25 * (n * np.pi) ** 2 + 1) * t) for n, a in waves
    )
    values = u + 0.02 * np.std(u) * random.normal(size=150)
    readings = Observations.from_arrays({"x": x, "t": t}, {"u": values})
    unknown = {"D": Unknown(0.75, positive=True), "k": Unknown(0.3, positive=True)}
    pde = Equation("u_t = D*u_xx - k*u", **unknown)
    model = Features(Scaling.fit(readings, SQUARE), count=100)
    task = assemble(readings, pde, SQUARE, model=model, training=Training(**training))
    return band_search._Search(task, lambda share, numbers: None)


def test_coefficients_are_looked_for_in_the_band_that_suits_them():
    """Where the field does not fit the band, the equation is hardly believed, and they are biased."""
    search = cooling_search()
    first = search._try((8.0, 8.0))
    better = search._better_seen(first)
    errors = [
        [abs(np.log(float(node.value) / truth)) for (_, node), truth in
         zip(named_unknowns(found.pde), (0.25, 1.0), strict=True)]
        for found in (first, better)
    ]  # fmt: skip
    assert better.evidence > first.evidence + 5
    assert np.less(errors[1], np.multiply(0.75, errors[0])).all()


def test_no_other_band_is_looked_at_where_a_solve_does_not_say_how_probable_it_is(monkeypatch):
    search = cooling_search(likelihood="student")
    monkeypatch.setattr(search, "_suited", lambda found: pytest.fail("looked at"))
    first = search._try((8.0, 8.0), 24)
    assert search._better_seen(first) is first


def slow_search(monkeypatch, *, is_followed, seconds: float | None = 60.0):
    """Half of the sines are searched with; every solve takes 3 s by the clock."""
    monkeypatch.setattr(band_search, "QUICK", 30)
    monkeypatch.setattr(band_search._Search, "_exact_model", lambda search: None)
    made, solve = [], band_solution.posterior_of
    monkeypatch.setattr(
        band_solution,
        "posterior_of",
        lambda rows, *options, **more: made.append(0) or solve(rows, *options, **more),
    )
    monkeypatch.setattr(budget, "seconds_of_solve", lambda size: 1e-3)
    clock = SimpleNamespace(monotonic=lambda: 3.0 * len(made))
    monkeypatch.setattr(budget, "time", clock)
    readings = heat_readings(FEWEST_TO_CHOOSE, noise=0.1)
    model = Features(Scaling.fit(readings, SQUARE), count=60)
    training = Training(seconds=seconds)
    task = assemble(readings, Heat(DIFFUSIVITY), SQUARE, model=model, training=training)
    return band_search._Search(replace(task, has_fallback=is_followed), lambda share, numbers: None)


def test_sines_leave_the_time_of_a_network_that_is_to_be_tried(monkeypatch):
    alone = slow_search(monkeypatch, is_followed=False).best()
    assert alone.model.count == 60
    search = slow_search(monkeypatch, is_followed=True)
    contested = search.best()
    assert is_contested(search.task)
    assert search._is_poor(contested)
    assert 30 <= (contested.model.count or 0) < 60
    assert search.deadline.spent < 0.5 * 60


def test_without_a_limit_all_sines_are_used(monkeypatch):
    search = slow_search(monkeypatch, is_followed=True, seconds=None)
    assert search.best().model.count == 60


def test_more_sines_of_a_band_look_for_the_stiffness_where_fewer_found_it(monkeypatch):
    search = slow_search(monkeypatch, is_followed=False)
    band = (6.0, 6.0)
    anew = search._try(band, 60).solved
    tried = []
    look = band_solution.most_probable

    def watched(rows, near, basis, **how):
        tried.append(near)
        return look(rows, near, basis, **how)

    monkeypatch.setattr(band_solution, "most_probable", watched)
    # At hand, and too far to be found from there.
    for near in (anew.exponent + 1, anew.exponent + 9):
        again = search._try(band, 60, near).solved
        assert again.exponent == anew.exponent
        assert again.evidence == pytest.approx(anew.evidence)
    assert tried == [anew.exponent + 1, anew.exponent + 9, None]


def test_an_equation_that_has_no_value_for_the_readings_says_so():
    domain = Domain(x=(0, 1), t=(0, 1))
    readings = sample(heat({1: 1.0}, x=7, t=7), n=10)
    pde = Equation("u_t = 0.01*u_xx + sqrt(u - 5)")
    with pytest.raises(InputError, match="no finite number for the field that the readings"):
        fitted(readings, pde, domain, count=6, band=3.0)


def test_two_steps_by_a_root_are_one_by_two():
    root = band_search.BAND_FACTORS[1]
    once = next(band_search._neighbours((2.0,), root, narrow_first=False))
    assert next(band_search._neighbours(once, root, narrow_first=False)) == (4.0,)


# ------------------------------- bands around which the search would see nothing of the field


def test_a_fast_oscillation_is_seen():
    """Bands around the first one show nothing of it: the search went to ever narrower ones."""
    times = np.random.default_rng(0).uniform(size=60)
    readings = Observations.from_arrays({"t": times}, {"u": np.sin(180 * times)})
    pde = Equation("u_tt = -32400*u", coords=("t",))
    domain, training = Domain(t=(0, 1)), Training(seconds=20.0)
    task = choose(readings, pde, domain, method="closed-form", training=training).first
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
    task = choose(readings, Wave(1.0), SQUARE, method="closed-form").first
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
            750 - 100 * (x - 6) ** 2 if x >= 4 else 900 - 100 * (x - 2) ** 2 - 50 * (t - 5.5) ** 2
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
