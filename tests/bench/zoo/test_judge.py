"""Errors are relative to the spread, and what an equation leaves open does not count."""

import numpy as np
import pytest
import xarray as xr

from pgt_bench.zoo import judge
from pgt_bench.zoo.catalogue import get


def _truth(name):
    problem = get(name)
    return problem, problem.truth.on(problem.domain)


def test_an_error_of_the_spread_is_one():
    problem, truth = _truth("vortices")
    flat = truth.assign(u=0 * truth.u + truth.u.mean())
    found = judge.errors(problem, flat)
    assert found["fields"] == pytest.approx({"u": 1.0, "v": 0.0})
    assert found["measured"] == pytest.approx(np.sqrt(0.5))


def test_a_pressure_is_known_up_to_a_function_of_time():
    problem, truth = _truth("vortices")
    shifted = truth.assign(p=truth.p + 3 + truth.t)
    assert judge.errors(problem, shifted)["hidden"]["p"] == pytest.approx(0, abs=1e-12)
    assert judge.errors(problem, truth.assign(p=truth.p * 1.1))["hidden"]["p"] == pytest.approx(0.1)


def test_what_a_condition_fixes_is_not_open():
    problem, truth = _truth("seiche")
    assert judge.errors(problem, truth.assign(u=truth.u + truth.u.std()))["hidden"]["u"] > 0.9


def test_coverage_counts_points_of_the_grid():
    problem, truth = _truth("layer")
    half = truth.x < 0.4999
    band = xr.Dataset({"u_lower": truth.u - 1, "u_upper": truth.u + xr.where(half, 1.0, -0.5)})
    assert judge.coverage(problem, band) == {"u": pytest.approx(200 / 401)}
