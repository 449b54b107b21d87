"""Intervals of coefficients: the transforms they go through, and when they say nothing.

Coefficients of which a fit says nothing, however well it follows the readings.
"""

import functools

import equinox as eqx
import jax
import numpy as np
import pytest
from scipy import stats

import pgt
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.uncertainty.intervals import (
    interval_of_fit,
    intervals,
)
from pgt.uncertainty.members import Members

READINGS = pgt.Observations.from_arrays({"x": [0.0, 1.0], "t": [0.0, 1.0]}, {"u": [1.0, 2.0]})
SCALING = pgt.Scaling.fit(READINGS, pgt.Domain(x=(0, 1), t=(0, 1)))


@functools.cache
def fields(count: int, posterior: bool):
    """Some models, the same again and again: only the coefficients matter here."""
    model = jax.tree.map(np.asarray, pgt.PINN(SCALING, width=2, layers=1))
    models = batched.stack([model] * count)
    return LinearisedModel(models, models.tunable()) if posterior else models


def members(pde, raws: dict, posterior: bool = True) -> Members:
    """Members whose learnt numbers are given, one list per coefficient."""
    count = len(next(iter(raws.values())))

    def moved(k: int):
        return eqx.tree_at(
            lambda p: [p.coefficients[name].raw for name in raws],
            pde,
            [np.asarray(values[k], float) for values in raws.values()],
        )

    pdes = batched.stack([moved(k) for k in range(count)])
    return Members.of(fields(count, posterior), pdes, batched.stack([READINGS] * count))


def mirrored(middle: float, deviation: float, pairs: int = 8, seed: int = 0) -> np.ndarray:
    steps = np.random.default_rng(seed).standard_normal(pairs)
    steps *= deviation / np.sqrt(np.mean(steps**2))
    return np.concatenate([middle + steps, middle - steps])


def equation(**unknowns):
    names = list(unknowns)
    right = " + ".join(f"{name}*u_{'x' * (k + 1)}" for k, name in enumerate(names))
    return pgt.Equation(f"u_t = {right}", **unknowns)


def test_a_positive_coefficient_has_a_lognormal_interval():
    pde = equation(nu=pgt.Unknown(0.1, positive=True))
    found = intervals(members(pde, {"nu": mirrored(np.log(0.02), 0.1)}), level=0.9)["nu"]
    exact = stats.lognorm(0.1, scale=0.02)
    assert found.value == pytest.approx(0.02, rel=1e-6)
    assert found.lower == pytest.approx(exact.ppf(0.05), rel=1e-6)
    assert found.upper == pytest.approx(exact.ppf(0.95), rel=1e-6)
    assert found.determined
    assert found.note == ""


def test_bounds_are_never_left():
    pde = equation(c=pgt.Unknown(2.0, bounds=(1.0, 3.0)))
    known = intervals(members(pde, {"c": mirrored(0.0, 0.2)}))["c"]
    reach = np.tanh(0.2 * stats.norm.ppf(0.95) / 2)  # the logistic curve between the bounds
    assert known[:3] == pytest.approx((2.0, 2.0 - reach, 2.0 + reach), rel=1e-5)
    assert known.determined
    open_ = intervals(members(pde, {"c": mirrored(0.0, 6.0)}))["c"]
    assert 1.0 <= open_.lower < 1.01
    assert 2.99 < open_.upper <= 3.0
    assert not open_.determined
    assert "bounds 1 and 3" in open_.note


def test_of_an_ensemble_student_allows_for_few_members():
    pde = equation(nu=pgt.Unknown(0.1, positive=True))
    raws = np.log([0.010, 0.011, 0.013])
    found = intervals(members(pde, {"nu": raws}, posterior=False), level=0.9)["nu"]
    reach = stats.t(2).ppf(0.95) * np.std(raws, ddof=1)
    expected = 0.011 * np.exp([0, -reach, reach])
    assert found[:3] == pytest.approx(tuple(expected), rel=1e-5)


@pytest.mark.parametrize(("deviation", "determined"), [(0.3, True), (0.8, False), (6.0, False)])
def test_a_wide_posterior_is_called_undetermined(deviation, determined):
    pde = equation(nu=pgt.Unknown(0.1, positive=True))
    found = intervals(members(pde, {"nu": mirrored(0.0, deviation)}))["nu"]
    assert found.determined == determined
    assert ("not determined by the readings" in found.note) == (not determined)


def test_coefficients_that_can_only_change_together_are_named():
    pde = equation(b=pgt.Unknown(1.0, positive=True), c=pgt.Unknown(1.0, positive=True))
    steps = mirrored(0.0, 1.0)
    together = intervals(members(pde, {"b": steps, "c": -steps}))
    assert "tied to c" in together["b"].note
    apart = intervals(members(pde, {"b": steps, "c": mirrored(0.0, 1.0, seed=1)}))
    assert "tied" not in apart["b"].note


@pytest.mark.parametrize(
    ("unknown", "deviation", "words"),
    [
        (pgt.Unknown(0.01, positive=True), 0.1, ""),
        (pgt.Unknown(0.01, positive=True), 1.3, "its logarithm has the standard deviation 1.3"),
        (pgt.Unknown(0.0199, bounds=(0.0, 0.02)), 2.0, "at its bound"),
        (pgt.Unknown(0.01, bounds=(0.0, 0.02)), 9.0, "most of what the bounds 0 and 0.02 allow"),
        (pgt.Unknown(2.0), 0.1, ""),
    ],
)
def test_a_standard_deviation_alone_says_what_is_to_be_doubted(unknown, deviation, words):
    found = interval_of_fit(unknown, deviation).note
    assert words in found
    assert bool(found) is bool(words)


def test_wrong_questions_are_answered_with_the_way_out():
    with pytest.raises(pgt.InputError, match=r"error_bars=Posterior\(\)"):
        intervals(None)
    pde = equation(nu=pgt.Unknown(0.1, positive=True))
    for level in (0, 1, 90, float("nan")):
        with pytest.raises(pgt.InputError, match="between 0 and 1"):
            intervals(members(pde, {"nu": mirrored(0.0, 0.1)}), level)


@pytest.mark.parametrize(
    "unknown",
    [pgt.Unknown(2.0, positive=True), pgt.Unknown(2.0), pgt.Unknown(2.0, bounds=(0.0, 10.0))],
    ids=["positive", "plain", "bounds"],
)
def test_an_interval_is_as_wide_as_what_is_left_of_the_equation_may_move_the_coefficient(unknown):
    sure = interval_of_fit(unknown, 1e-3)
    same, wide = (interval_of_fit(unknown, 1e-3, shift=share) for share in (1e-6, 0.1))
    assert same == sure
    assert wide.upper - wide.lower == pytest.approx(2 * 1.645 * 0.1 * 2.0, rel=0.02)
    assert wide.determined
    lost = interval_of_fit(unknown, 1e-3, shift=3.0)
    assert not lost.determined
    assert "300" in lost.note
