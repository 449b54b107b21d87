"""The network that is built where the user names none."""

import numpy as np
import pytest

import pgt
from pgt.methods.plan import (
    FIRST_SHARE,
    MIN_ERROR_FOR_LARGER,
    RECORDED,
    ROUNDING,
    choose,
    large_network,
    sizes,
)
from pgt.models.pgt import MANY_READINGS, PGT
from pgt.nn.trees import count_parameters
from pgt.problem.budget import MAX_POLISHED_WEIGHTS, is_polishable

SIZES = {"width": 4, "heads": 1, "blocks": 1}


def built(n=5, axes=("x", "t"), pde=None, **sizes):
    random = np.random.default_rng(0)
    places = {axis: random.uniform(0, 1, n) for axis in axes}
    readings = pgt.Observations.from_arrays(places, {"u": random.normal(size=n)})
    domain = pgt.Domain(**dict.fromkeys(axes, (0, 1)))
    return PGT.for_problem(readings, pde or pgt.Heat(0.1), domain, **(SIZES | sizes))


@pytest.mark.parametrize(("n", "anchors"), [(MANY_READINGS, 0), (MANY_READINGS + 1, 64)])
def test_anchors_gather_the_readings_when_they_are_many(n, anchors):
    found = built(n).network.anchors
    assert (0 if found is None else len(found.points)) == anchors


def test_a_decoder_is_fit_for_a_polish_in_two_coordinates_and_not_beyond():
    assert count_parameters(built(width=32).tunable()) <= MAX_POLISHED_WEIGHTS
    plane = pgt.Equation("u_t = u_xx + u_yy")
    assert count_parameters(built(axes=plane.coords, pde=plane).tunable()) > MAX_POLISHED_WEIGHTS


def test_the_kernel_is_that_of_the_equation_unless_another_is_asked_for():
    assert built().kernel == pgt.Heat(0.1).kernel()
    assert built(kernel=pgt.kernels.NoKernel()).kernel == pgt.kernels.NoKernel()


def test_the_larger_network_has_no_second_order_steps_and_keeps_periodic_axes():
    places = {"x": [0.1, 0.5, 0.9], "t": [0.0, 0.5, 1.0]}
    readings = pgt.Observations.from_arrays(places, {"u": [0.0, 1.0, 2.0]})
    domain = pgt.Domain(x=(0, 1), t=(0, 1), periodic=("x",))
    model = large_network(readings, pgt.Burgers(0.01), domain)
    assert not is_polishable(model)
    ends = [model.decode((), np.array([x, 0.3])) for x in (0.0, 1.0)]
    np.testing.assert_allclose(*ends, rtol=1e-4)


def described(**changes):
    readings = pgt.sample(pgt.datasets.heat(), n=40)
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    return choose(readings, pgt.Burgers(0.01), domain, **changes).described()


def test_a_plan_is_data():
    found = described()
    assert [one["model"] for one in found] == ["Solver", "PINN", "SIREN"]
    assert [one["min_error"] for one in found] == [ROUNDING, ROUNDING, MIN_ERROR_FOR_LARGER]
    assert [one["share"] for one in found] == [FIRST_SHARE, 1.0, 1.0]
    assert all(set(one) == set(RECORDED) for one in found)


def test_with_few_seconds_the_larger_network_is_a_wider_small_one():
    short, long = (
        described(training=pgt.Training(seconds=seconds))
        for seconds in (sizes().min_seconds - 1, sizes().min_seconds)
    )
    assert [one["model"] for one in short] == ["Solver", "PINN", "PINN"]
    assert [one["model"] for one in long] == ["Solver", "PINN", "SIREN"]
    assert {one["min_error"] for one in (*short, *long)} == {ROUNDING}
