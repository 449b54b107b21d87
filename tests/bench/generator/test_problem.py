"""What is drawn from a seed: the same each time, of every kind, and readings of the truth."""

import jax
import numpy as np
import pytest

from pgt.physics import Dirichlet, Initial
from pgt_bench.generator import KINDS, draw_kind
from pgt_bench.generator.draws import Draw
from pgt_bench.generator.problem import PLACED, PLACEMENTS
from pgt_bench.zoo.truth import Formula


def test_the_same_seed_is_the_same_problem():
    one, two = (draw_kind("transport", 5) for _ in range(2))
    assert one.about == two.about
    first, second = one.load(5), two.load(5)
    np.testing.assert_array_equal(first.observations.values, second.observations.values)
    assert draw_kind("transport", 6).about != one.about


def problems(seeds=range(40)):
    return [draw_kind("heat", seed) for seed in seeds]


def test_readings_are_the_truth_and_the_noise_that_is_said():
    for problem in problems():
        setup = problem.load(0)
        truth, readings = setup.truth.u.to_numpy(), setup.observations
        clean = truth[tuple(problem.places.T)]
        misfit = readings.values[:, 0] - clean
        scale = np.abs(truth).max()
        if not setup.noise["u"]:
            np.testing.assert_allclose(misfit, 0, atol=1e-6 * scale)
        else:
            assert 0.4 < np.std(misfit) / setup.noise["u"] < 1.7
        assert 10 <= len(readings) <= 400
        readings.check_inside(setup.domain)


@pytest.mark.parametrize("kind", KINDS)
def test_some_field_is_always_read(kind):
    problem = draw_kind(kind, 0)
    assert problem.measured
    assert set(problem.measured) | set(problem.readings.hidden) == set(problem.pde.fields)


@pytest.mark.parametrize(
    "kind", ["heat", "transport", "schroedinger", "plume", "vortices", "heat-2d"]
)
def test_conditions_hold_in_the_truth(kind):
    seen = set()
    for seed in range(10):
        problem = draw_kind(kind, seed)
        for condition in problem.conditions:
            if isinstance(problem.truth, Formula) and isinstance(condition, Dirichlet | Initial):
                seen.add(type(condition))
                assert missed(problem, condition) < 1e-9
    assert seen


def missed(problem, condition):
    """How far the truth is from given values, relative to its largest."""
    fields = problem.pde.fields
    with jax.enable_x64(True):
        bound = condition.bind(problem.domain, fields)
        worst = 0.0
        for point in np.asarray(bound.nodes(9), np.float64):
            values = problem.truth.at(problem.domain, point)

            def evaluate(z, name, values=values):
                return values[fields.index(name)]

            rows = np.asarray(bound.rows(evaluate, point))
            worst = max(worst, float(np.abs(rows).max()))
    largest = max(float(np.abs(f).max()) for f in problem.truth.on(problem.domain).values())
    return worst / largest


@pytest.mark.parametrize("name", PLACEMENTS)
def test_places_are_on_the_grid_and_where_they_should_be(name):
    source = Draw(np.random.default_rng(1))
    sizes, axes = (121, 101), ("x", "t")
    places = PLACED[name](source, sizes, 100, axes)
    assert len(np.unique(places, axis=0)) == len(places) <= 100
    assert (places >= 0).all()
    assert (places < np.array(sizes)).all()
    columns = [np.unique(column) for column in places.T]
    if name == "sensors":
        assert len(columns[0]) * len(columns[1]) == len(places)
    if name == "part":
        assert min(np.ptp(columns[0]) / 120, np.ptp(columns[1]) / 100) <= 0.71
