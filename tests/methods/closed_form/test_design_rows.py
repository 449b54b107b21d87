"""Rows of a sum of sines against the field itself: its residuals, conditions and averages."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.core.unknown import Unknown, resolve
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.methods.closed_form.design_rows import (
    field_rows,
    nodes_of,
    rows_of,
    weights_of,
    with_weights,
)
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics import (
    Dirichlet,
    Equation,
    Gauge,
    Heat,
    Initial,
    NavierStokes2D,
    Neumann,
    Periodic,
)
from pgt.physics.derivatives import residual
from pgt.problem.losses import Problem, condition_rows

POINTS = 30
DOMAIN = Domain(x=(0, 2), t=(1, 4))
BOX = Domain(x=(0, 2), y=(0, 1), t=(0, 3))


def readings(domain=DOMAIN, fields=("u",), hidden=(), n=12, **options):
    random = np.random.default_rng(0)
    points = random.uniform(domain.lower, domain.upper, (n, domain.dimension))
    values = random.normal(3.0, 2.0, (n, len(fields)))
    for name in hidden:
        values[:, fields.index(name)] = np.nan
    return Observations.from_arrays(points, values, coords=domain.axes, fields=fields, **options)


class Case:
    """A model, an equation and their weights, all by chance."""

    def __init__(self, pde, conditions=(), domain=DOMAIN, hidden=(), **options):
        seen = readings(domain, pde.fields, hidden, **options)
        scaling = Scaling.fit(seen, domain)
        self.problem = Problem.build(seen, pde, conditions, domain, scaling)
        self.model, self.pde = Features(scaling, count=9, band=2.5), pde
        random = np.random.default_rng(1)
        weights = weights_of(self.model, pde)
        weights[: self.model.network.readout.size] = random.normal(size=(self.sines))
        self.weights, self.step = weights, random.normal(size=len(weights))
        self.step[self.sines :] *= 1e-3  # hundredths of a coefficient's own unit
        self.rows = rows_of(*self.at(weights), self.problem, POINTS)

    @property
    def sines(self):
        return self.model.network.readout.size

    def at(self, weights):
        return with_weights(self.model, self.pde, weights)

    def direct(self, weights):
        """(n, k) residuals, then those of each condition, of the field with these weights."""
        with jax.enable_x64(True):
            return [np.asarray(part) for part in self.program(jnp.asarray(weights))]

    @functools.cached_property
    def program(self):
        problem = cast(self.problem, np.float64)
        return jax.jit(lambda weights: _direct(*self.at(weights), problem))


def _direct(model, pde, problem):
    model, pde = cast((model, resolve(pde)), jnp.float64)

    def field(z):
        return model.decode((), z)

    def equation(z):
        found = residual(pde, field, z)
        return jnp.stack([found[name] for name in problem.equation_scales])

    parts = [jax.vmap(equation)(nodes_of(problem.domain, POINTS))]
    per_axis, dimension = max(round(POINTS ** (1 / problem.domain.dimension)), 8), len(model.band)
    for condition, scale in zip(problem.conditions, problem.condition_scales, strict=True):
        rows = functools.partial(condition_rows, field, condition, scale, pde)
        nodes = np.asarray(condition.nodes(2 * per_axis ** (dimension - 1)), float)
        parts.append(jax.vmap(rows)(nodes))
    return parts


def parts(stacked, like):
    """Rows one below the other as (n, k, ...) of equation and conditions."""
    sizes = np.cumsum([part.size for part in like])[:-1]
    split = np.split(stacked, sizes)
    return [s.reshape(*p.shape, *stacked.shape[1:]) for s, p in zip(split, like, strict=True)]


def assert_proportional(found, expected, rtol=1e-9):
    """Column for column, with a factor above 0; those factors."""
    factor = np.sum(found * expected, axis=0) / np.sum(expected**2, axis=0)
    assert (factor > 0).all()
    size = np.sqrt(np.mean(found**2, axis=0))
    assert (np.abs(found - factor * expected) <= rtol * size).all()
    return factor


VARIABLE = "u_t = (0.1 + x^2)*u_xx + exp(-t)*u_x + sin(3*x)"
LINEAR = {
    "constant": (Heat(0.03, source="x*t"), (Dirichlet("x", u="sin(t)"), Initial(u="x^2"))),
    "variable": (Equation(VARIABLE), (Neumann("x", u="cos(t)"), Periodic("x", order=2))),
    "third_order": (Equation("u_t + 0.2*u_xxx = u_xt"), (Initial(u_t="x"),)),
}


@pytest.mark.parametrize("name", LINEAR)
def test_rows_of_a_linear_problem_are_its_residuals_with_any_weights(name):
    case = Case(*LINEAR[name])
    other = case.weights + case.step
    factors = []
    for weights in (case.weights, other):
        expected = case.direct(weights)
        found = parts(case.rows.equation @ weights - case.rows.target, expected)
        factors += [[assert_proportional(*pair) for pair in zip(found, expected, strict=True)]]
    for one, another in zip(*factors, strict=True):
        np.testing.assert_allclose(one, another, rtol=1e-8)


UNKNOWN = Equation(
    "u_t + c*u*u_x = nu*u_xx + r*sin(x)",
    c=Unknown(0.8, bounds=(0.0, 2.0)),
    nu=Unknown(0.05, positive=True),
    r=Unknown(0.4),
)
NONLINEAR = {
    "three_fields": (NavierStokes2D(0.02), (Gauge("p"), Dirichlet("y", u=0.0, v="x")), BOX, ("p",)),
    "coefficients": (UNKNOWN, (Dirichlet("x", u=1.0),)),
}


@pytest.mark.parametrize("name", NONLINEAR)
def test_rows_are_the_first_order_of_a_nonlinear_problem(name):
    """Values and slopes at the weights given, the slopes by central differences."""
    case = Case(*NONLINEAR[name])
    expected = case.direct(case.weights)
    found = parts(case.rows.equation @ case.weights - case.rows.target, expected)
    factors = [assert_proportional(*pair) for pair in zip(found, expected, strict=True)]
    ahead, behind = (case.direct(case.weights + h * case.step) for h in (1e-4, -1e-4))
    slopes = parts(case.rows.equation @ case.step, expected)
    for slope, factor, up, down in zip(slopes, factors, ahead, behind, strict=True):
        numeric = factor * (up - down) / 2e-4
        np.testing.assert_allclose(slope, numeric, rtol=0, atol=1e-6 * np.abs(numeric).max())


def test_columns_of_unknown_coefficients():
    """Each by itself, by central differences."""
    case = Case(*NONLINEAR["coefficients"])
    assert len(case.weights) == case.sines + 3
    expected = case.direct(case.weights)[0]
    count = expected.size
    factor = assert_proportional(
        (case.rows.equation @ case.weights - case.rows.target)[:count, None], expected
    )
    for column in range(case.sines, len(case.weights)):
        step = 1e-6 * np.eye(len(case.weights))[column]
        up, down = (case.direct(case.weights + s)[0] for s in (step, -step))
        numeric = factor * (up - down)[:, 0] / 2e-6
        found = case.rows.equation[:count, column]
        assert np.abs(found).max() > 0
        np.testing.assert_allclose(found, numeric, rtol=0, atol=1e-6 * np.abs(numeric).max())
        # A wall of given values has nothing to do with them.
        np.testing.assert_array_equal(case.rows.equation[count:, column], 0.0)
        np.testing.assert_array_equal(case.rows.readings[:, column], 0.0)


# ------------------------------------------------------------------------------- readings


def field_at(case, points):
    model, _ = cast(case.at(case.weights), np.float64)
    unit = (points - np.asarray(model.scaling.middle)) / np.asarray(model.scaling.half_extent)
    sines = model.network.sines
    sums = np.sin(unit @ sines.frequencies.T + sines.phases) @ model.network.readout.T
    return sums * np.asarray(model.scaling.spread) + np.asarray(model.scaling.mean)


def misfits(case, predicted):
    """In units of the spread, field after field, as the rows come."""
    seen, scaling = case.problem.observations, case.model.scaling
    misfit = (predicted - np.asarray(seen.values)) / np.asarray(scaling.spread, float)
    return np.concatenate([misfit[seen.mask[:, k], k] for k in range(misfit.shape[1])])


def test_rows_of_readings_are_their_misfits():
    case = Case(NavierStokes2D(0.02), (), BOX, ("p",))
    found = case.rows.readings @ case.weights - case.rows.values
    points = np.asarray(case.problem.observations.points, float)
    np.testing.assert_allclose(found, misfits(case, field_at(case, points)), rtol=1e-9, atol=1e-9)
    assert case.rows.readings.shape == (24, 27)
    assert case.rows.given is None
    np.testing.assert_array_equal(case.rows.sigma, 1.0)


def test_a_reading_may_be_an_average_over_a_box():
    case = Case(Heat(0.03), n=5, width={"x": 0.2, "t": 0.3})
    steps = (np.arange(40) + 0.5) / 40 - 0.5
    offsets = np.stack(np.meshgrid(0.2 * steps, 0.3 * steps), -1).reshape(-1, 2)
    points = np.asarray(case.problem.observations.points, float)
    averages = np.stack([field_at(case, p + offsets).mean(axis=0) for p in points])
    found = case.rows.readings @ case.weights - case.rows.values
    np.testing.assert_allclose(found, misfits(case, averages), rtol=0, atol=2e-5)
    # The middle of a box is not its average.
    assert np.abs(found - misfits(case, field_at(case, points))).max() > 1e-3


# ------------------------------------------------------------------------------- where


def test_field_rows_are_the_sines_in_float64():
    case = Case(Heat(0.03))
    points = np.random.default_rng(2).uniform(DOMAIN.lower, DOMAIN.upper, (6, 2))
    unit = (points - [1.0, 2.5]) / [1.0, 1.5]
    sines = case.model.network.sines
    expected = np.sin(unit @ sines.frequencies.T + sines.phases)
    np.testing.assert_allclose(field_rows(case.model, points), expected, rtol=0, atol=1e-14)
