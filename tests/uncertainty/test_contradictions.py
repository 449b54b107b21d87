"""A condition that readings contradict is named; one that holds is not."""

import numpy as np
import pytest

import pgt
from pgt.methods.closed_form.band_solution import MIN_NODES, solve_linear
from pgt.methods.plan import choose
from pgt.uncertainty.contradictions import find_contradicted_conditions, find_displaced_sensor

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
BAND = (4.0, 2.0)


def truth(x, t):
    return np.exp(-0.05 * 9 * t) * np.sin(3 * x + 0.4) + 0.5 * x


def found(count, *, left=0.0, noise=0.02, sides=("lower", "upper"), seed=0, band=BAND):
    """What is found of readings with conditions at the walls, the left one off by so much."""
    random = np.random.default_rng(seed)
    x, t = random.uniform(size=(2, count))
    u = truth(x, t) + noise * random.normal(size=count)
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
    times = np.linspace(0, 1, 101)
    walls = {
        "lower": pgt.Dirichlet("x", side="lower", u=(times, truth(0, times) + left)),
        "upper": pgt.Dirichlet("x", side="upper", u=(times, truth(1, times))),
    }
    return evidence_in(readings, [walls[side] for side in sides], band)


def evidence_in(readings, conditions, band, count=80):
    task = choose(readings, pgt.Heat(0.05), DOMAIN, conditions, method="closed-form").first
    found = solve_linear(task.model.with_sines(count, band), task)
    return find_contradicted_conditions(found.model, found.pde, task.problem, MIN_NODES)


def test_a_wrong_boundary_value_is_named_and_the_right_one_beside_it_is_not():
    worst, *others = found(12, left=0.5)
    assert worst.condition == "Dirichlet at the lower end of x"
    assert worst.sigmas > 3
    assert worst.changes[0] > 0.05
    assert all(other.evidence < worst.evidence for other in others)


@pytest.mark.parametrize("seed", range(4))
def test_a_wall_that_the_field_passes_by_is_named_where_the_evidence_is_silent(seed):
    """In a band of next to straight lines, which is the most probable one, equation and walls are
    soft."""
    (wrong,) = found(12, left=0.5, seed=seed, band=(0.125, 0.03125))
    assert wrong.condition == "Dirichlet at the lower end of x"
    assert wrong.evidence == 0.0
    assert wrong.violation > 1


@pytest.mark.parametrize(
    ("count", "noise", "band"),
    [(12, 0.02, (8.0, 8.0)), (40, 0.02, (2.0, 2.0)), (40, 0.0, (4.0, 16.0))],
)
def test_conditions_that_disagree_in_a_corner_alone_are_not_doubted(count, noise, band):
    """A rod at 1 between ends at 0, by its Fourier series, in the bands that a search finds."""
    random = np.random.default_rng(0)
    x, t = random.uniform(size=(2, count))
    odd = np.pi * np.arange(1, 120, 2)[:, None]
    u = np.sum(4 / odd * np.sin(odd * x) * np.exp(-0.05 * odd**2 * t), axis=0)
    u += noise * random.normal(size=count)
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
    walls = [pgt.Dirichlet("x", u=0.0), pgt.Initial(u=1.0)]
    assert evidence_in(readings, walls, band, 300) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("count", "noise"), [(6, 0.02), (40, 0.02), (40, 0.0)])
def test_conditions_that_hold_are_not_doubted(seed, count, noise):
    assert found(count, noise=noise, seed=seed) == []


# ------------------------------------------------------------------------------- sensor check


def displaced(*, late=0.0, moved=0.0, noise=0.01, seed=0):
    """What is found of a wave that four sensors read, the second one late or elsewhere by so much."""
    random = np.random.default_rng(seed)
    places, times = np.array([0.11, 0.41, 0.62, 0.87]), np.linspace(0, 1, 12)
    x, t = (part.ravel() for part in np.meshgrid(places, times, indexing="ij"))
    is_second = x == places[1]
    at, when = x + moved * is_second, t - late * is_second
    u = np.exp(-0.02 * 25 * when) * np.sin(5 * (at - 0.5 * when) + 1)
    u += 0.7 * np.exp(-0.02 * 9 * when) * np.sin(3 * (at - 0.5 * when))
    u += noise * random.normal(size=len(u))
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
    pde = pgt.Equation("u_t + 0.5*u_x = 0.02*u_xx")
    task = choose(readings, pde, DOMAIN, method="closed-form").first
    found = solve_linear(task.model.with_sines(120, (4.0, 2.8)), task)
    return find_displaced_sensor(found.model, found.pde, task.problem, MIN_NODES)


@pytest.mark.parametrize("wrong", [{"late": 0.1}, {"moved": 0.06}])
def test_a_sensor_that_is_late_or_elsewhere_is_found(wrong):
    assert displaced(**wrong).place == pytest.approx((0.41,))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_sensors_that_are_right_are_not_doubted(seed, noise):
    assert displaced(noise=noise, seed=seed) is None
