"""Sines with one band, whose equation has coefficients to be learnt.

Unknown functions between two linearisations: their prior, and when they rest.
"""

import jax
import numpy as np
import pytest

import pgt
from pgt.core.unknown import Unknown, named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.inference.linear_gaussian import Rows, most_probable
from pgt.methods.closed_form.band_posterior import PLAINLY, Found
from pgt.methods.closed_form.band_solution import (
    BENDS,
    RESTLESS,
    SMOOTH,
    SOFT,
    VEILS,
    Functions,
    posterior_of,
    solved_in_turn,
    symbol_of,
)
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics import Dirichlet, Equation, Heat, UnknownFunction
from pgt.problem.assembly import assemble
from pgt.problem.budget import Deadline
from pgt.reconstruction.evaluation import Evaluation

PLANE, SPACE = {"x": (0, 2), "t": (1, 4)}, {"x": (0, 2), "y": (0, 1), "t": (0, 3)}
MAXWELL = pgt.Equation(
    "e_t = b_x - a_y", "a_t = -e_y", "b_t = e_x", fields=("e", "a", "b"), coords=("x", "y", "t")
)


def features(pde, bounds, offset=0.0):
    domain, count = pgt.Domain(**bounds), 20
    points = np.random.default_rng(0).uniform(domain.lower, domain.upper, (count, len(bounds)))
    values = {name: offset + np.arange(count) ** 0.5 * (k + 1) for k, name in enumerate(pde.fields)}
    readings = pgt.Observations.from_arrays(dict(zip(bounds, points.T, strict=True)), values)
    return Features(pgt.Scaling.fit(readings, domain), count=60, band=5.0), readings, domain


@pytest.mark.parametrize(
    ("pde", "bounds"),
    [
        (pgt.Heat(0.3), PLANE),
        (pgt.Wave(2.0), PLANE),
        (pgt.Equation("u_tt = 4*u_xx - 9*u"), PLANE),
        (pgt.Equation("u_t + 0.3*u_x - 0.2*u_y = 0.1*(u_xx + u_yy) - u"), SPACE),
        (MAXWELL, SPACE),
    ],
)
def test_a_field_of_waves_satisfies_its_equation(pde, bounds):
    model, readings, domain = features(pde, bounds)
    symbol = symbol_of(pde, model.scaling)
    exact = model.satisfying(symbol)
    network = exact.network
    weights = np.random.default_rng(1).normal(size=(1, network.size))
    np.testing.assert_allclose(
        network.tied(network.readouts(weights).reshape(1, -1)), weights, atol=1e-12
    )
    fitted = jax.tree.map(np.asarray, network.readouts(weights)[0])
    with jax.enable_x64(True):
        exact = cast(exact, np.float64)
        exact = exact._but(
            network=type(network)(exact.network.sines, fitted, exact.network.amplitudes)
        )
        evaluation = Evaluation(exact, pde, readings, None, domain)
        left = evaluation.relative_residuals(np.asarray(domain.even(50)))
    assert max(left.values()) < 1e-10


@pytest.mark.parametrize(
    "pde",
    [
        pgt.Heat(pgt.Unknown(0.3, positive=True)),
        pgt.Heat(0.3, source="sin(x)"),
        pgt.Equation("u_t = x*u_xx"),
    ],
)
def test_others_have_no_symbol(pde):
    assert symbol_of(pde, features(pde, PLANE)[0].scaling) is None


def test_more_equations_than_fields_have_no_symbol():
    pde = pgt.Equation("u_x = 0", "u_t = 0", fields=("u",), coords=("x", "t"))
    assert symbol_of(pde, features(pde, PLANE)[0].scaling) is None


def test_a_field_far_from_zero_is_no_sum_of_waves_where_constants_are_no_solution():
    decaying, heat = pgt.Equation("u_t = 0.1*u_xx - u"), pgt.Heat(0.1)
    found = [symbol_of(pde, features(pde, PLANE, 1e4)[0].scaling) for pde in (decaying, heat)]
    assert [symbol is None for symbol in found] == [True, False]


def test_a_result_of_waves_survives_a_file_and_is_answered_on_grids(tmp_path):
    model, readings, domain = features(MAXWELL, SPACE)
    model = Features(model.scaling, count=40)
    training = pgt.Training(seconds=20.0)
    result = pgt.reconstruct(
        readings, MAXWELL, domain, model=model, error_bars=pgt.Posterior(4), training=training,
        progress=False,
    )  # fmt: skip
    result.save(tmp_path / "result")
    again = pgt.Reconstruction.load(tmp_path / "result")
    axes = {"x": 3, "y": 2, "t": 2}
    found, expected = again.grid(["e", "a_y"], **axes), result.grid(["e", "a_y"], **axes)
    x, y, t = (part.ravel() for part in np.meshgrid(*(expected[a] for a in "xyt"), indexing="ij"))
    points = result.at(np.stack([x, y, t], axis=-1), ["e", "a_y"])
    for name in ("e", "e_std", "a_y"):
        np.testing.assert_array_equal(found[name], expected[name])
        size = float(np.abs(points[name]).max())
        on_grid = expected[name].transpose("x", "y", "t").to_numpy().ravel()
        np.testing.assert_allclose(on_grid, points[name], rtol=0, atol=1e-9 * size)


# ------------------------------------------------------------------------------- the solution

SQUARE = Domain(x=(0, 1), t=(0, 1))


def functions(pde, count=12, band=(8.0, 2.0)):
    at = np.linspace(0.1, 0.9, 12)
    readings = Observations.from_arrays({"x": at, "t": at}, {"u": np.sin(at)})
    model = Features(Scaling.fit(readings.aligned(pde.fields), SQUARE), count=count, band=band)
    task = assemble(readings, pde, SQUARE, model=model)
    assert isinstance(task.model, Features)
    return Functions(task.model, task), task.model.network.sines


def test_short_waves_are_small_along_the_axes_of_the_function():
    k = UnknownFunction("x", positive=True)
    pde = Equation("u_t = c*div(k*grad(u))", k=k, c=Unknown(1.0, positive=True))
    found, sines = functions(pde)
    assert found.prior is not None
    waves = np.asarray(sines.frequencies)[:, 0] / 8.0
    expected = (1 + (BENDS * waves) ** 2) ** (-(SMOOTH + 0.5) / 2)
    np.testing.assert_allclose(found.prior, np.append(expected, 1.0))  # the last is c
    assert found.prior[0] == 1.0  # a constant is no wave


def test_an_equation_without_functions_has_no_such_prior():
    found, _ = functions(Heat(0.1))
    assert found.prior is None
    assert found.step(np.ones(12), np.ones(12)) == (1.0, False)


@pytest.mark.parametrize("positive", [True, False])
def test_steps_of_logarithms_are_cut_and_small_ones_are_the_last(positive):
    pde = Equation("u_t = k*u_xx", k=UnknownFunction("x", positive=positive))
    found, _ = functions(pde)
    weights, step = np.zeros(24), np.zeros(24)
    weights[12], step[12] = 5.0, 8.0 / found.units[0]
    share, restless = found.step(weights, step)
    assert share == pytest.approx(1 / 8 if positive else 1.0)
    assert restless
    step[12] = 0.5 * RESTLESS / found.units[0]
    assert found.step(weights, step) == (1.0, False)


SPEED, DAMPING, LAST = 1.3, 0.3, 5.0
STRING = Domain(x=(0, 1), t=(0, LAST))
TEXT = "u_tt = c**2*u_xx - g*u_t"


def plucked(x, t):
    """A damped string that is held at its ends."""
    total = 0.0
    for mode, amount in ((1, 1.0), (2, 0.5), (3, 0.3)):
        rate = np.sqrt((SPEED * mode * np.pi) ** 2 - DAMPING**2 / 4)
        swing = np.cos(rate * t) + DAMPING / (2 * rate) * np.sin(rate * t)
        total = total + amount * np.sin(mode * np.pi * x) * np.exp(-DAMPING * t / 2) * swing
    return total


def string_task(count, band, noise=0.0):
    """Four sensors on a string whose speed and damping are not known."""
    x, t = (a.ravel() for a in np.meshgrid([0.13, 0.37, 0.61, 0.86], np.linspace(0, LAST, 60)))
    values = plucked(x, t)
    values = values + noise * np.random.default_rng(0).normal(size=values.shape)
    readings = Observations.from_arrays({"x": x, "t": t}, {"u": values})
    unknown = {"c": Unknown(1.0, positive=True), "g": Unknown(0.1, positive=True)}
    pde = Equation(TEXT, coords=("x", "t"), **unknown)
    model = Features(Scaling.fit(readings, STRING), count=count, band=band)
    return assemble(readings, pde, STRING, [Dirichlet(u=0.0)], model=model)


def solution(task):
    model = task.model.with_sines(task.model.count, task.model.band)
    return solved_in_turn(model, task, Deadline(None))


def test_exact_readings_of_few_sensors_do_not_drop_the_equation():
    """To many digits each sensor is predicted by itself, and no equation is needed for that."""
    _, pde, solved, learnt, evidences = solution(string_task(200, (8.0, 32.0)))
    found = {name: float(node.value) for name, node in named_unknowns(pde)}
    assert found["c"] == pytest.approx(SPEED, rel=0.05)
    assert found["g"] == pytest.approx(DAMPING, rel=0.2)
    assert solved.exponent > SOFT
    assert max(evidences) == VEILS[0]
    assert not any(known.unsettled for known in learnt.values())


def test_noise_needs_no_veil():
    """It is one itself."""
    *_, solved, _, evidences = solution(string_task(120, (8.0, 32.0), noise=0.1))
    assert list(evidences) == [0.0]
    assert solved.sigma > VEILS[0]


@pytest.fixture(scope="module")
def small():
    return solution(string_task(30, (4.0, 4.0)))[:4]


@pytest.mark.parametrize(
    ("mine", "others", "is_better"),
    [
        ({0.03: 700.0}, {0.03: 470.0, 0.0: 2900.0}, True),  # which dropped the equation
        ({0.03: 700.0, 0.003: 1000.0}, {0.03: 700.0 + PLAINLY / 2}, True),  # under a thinner one
        ({0.03: 700.0}, {0.03: 700.0 + 2 * PLAINLY}, False),
    ],
)
def test_two_bands_are_compared_under_the_thickest_veil(small, mine, others, is_better):
    one, other = (Found((4.0, 4.0), *small, part) for part in (mine, others))
    assert one.is_better_than(other) is is_better


def test_without_coefficients_evidence_decides(small):
    narrow, wide = (Found((band, 4.0), *small) for band in (4.0, 8.0))
    assert narrow.is_better_than(wide)  # of the same evidence
    assert not wide.is_better_than(narrow)


def two_instruments(noise, given=None):
    """Rows of two fields that share eight weights, each read 40 times with a noise of its own."""
    random = np.random.default_rng(3)
    truth, seen = random.normal(size=8), random.normal(size=(80, 8)) / np.sqrt(8)
    kinds = np.repeat([0, 1], 40)
    values = seen @ truth + np.asarray(noise)[kinds] * random.normal(size=80)
    none = np.zeros((0, 8)), np.zeros(0)
    return truth, Rows(*none, seen, values, np.ones(80), given, kinds)


@pytest.mark.parametrize("noise", [(0.02, 0.4), (0.3, 0.01)])
def test_every_field_has_a_noise_of_its_own_where_readings_tell(noise):
    """Else the better instrument counts for too little, and the worse one is followed too closely."""
    truth, rows = two_instruments(noise)
    solved, at_once = posterior_of(rows, "gauss"), most_probable(rows)
    found = solved.sigma * solved.reduced.sigma[[0, -1]]
    np.testing.assert_allclose(found, noise, rtol=0.3)
    error, before = (np.linalg.norm(s.weights - truth) for s in (solved, at_once))
    assert error < before / 3


def test_one_noise_suits_all_where_it_is_given_or_the_same():
    for rows in (two_instruments((0.1, 0.12))[1], two_instruments((0.02, 0.4), given=0.1)[1]):
        assert posterior_of(rows, "gauss").evidence == most_probable(rows).evidence
