"""What readings say of patterns, and how well patterns do on what they have not seen."""

import numpy as np
import pytest

from pgt.families.gaussian import conditioned, floor, judged, kinds, patterns_of, spreads


def systems(count=60, rank=4, nodes=30, fields=2, seed=0):
    """Fields of a few patterns with normal amounts."""
    draw = np.random.default_rng(seed)
    ways = np.random.default_rng(1).normal(size=(rank, nodes * fields))
    return (1 + draw.normal(size=(count, rank)) @ ways).reshape(count, nodes, fields)


def test_patterns_are_those_of_the_systems():
    values = systems()
    mean, table = patterns_of(values, 4)
    covariance = np.einsum("ncr,mdr->ncmd", table, table)
    flat = (values - values.mean(axis=0)).reshape(len(values), -1)
    expected = (flat.T @ flat / len(values)).reshape(covariance.shape)
    np.testing.assert_allclose(covariance, expected, atol=1e-4 * np.abs(expected).max())
    np.testing.assert_allclose(mean, values.mean(axis=0))


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_readings_are_conditioned_on(noise):
    mean, table = patterns_of(systems(count=400), 4)
    truth = systems(count=1, seed=7)[0]
    read = truth + noise * truth.std() * np.random.default_rng(3).normal(size=truth.shape)
    read[:, 1] = np.nan
    amounts, root, level = conditioned(read, mean, table, np.isfinite(read))
    found, spread = mean + table @ amounts, spreads(table, root, floor(table))
    assert level < 1e-3 if noise == 0 else 0.1 < level < 0.4
    assert np.abs(found - truth).max() < (0.02 if noise == 0 else 1.0) * truth.std()
    assert (np.abs(found - truth) < 4 * spread + 1e-3).all()


def test_kinds_are_sets_of_coefficients_but_for_the_ends():
    few = np.repeat([[1.0], [2.0], [3.0], [4.0]], 15, axis=0)
    assert kinds(few).tolist() == [-1] * 15 + [1] * 15 + [2] * 15 + [-1] * 15
    many = np.arange(60.0)[:, None]
    assert set(kinds(many).tolist()) == set(range(5))


def test_no_simulation_is_left_out_and_kept_at_once():
    stored = np.random.default_rng(0).integers(0, 50, 60)
    for coefficients in (np.zeros((60, 0)), stored[:, None] / 7):
        found = kinds(coefficients, stored)
        assert set(found.tolist()) == set(range(5))
        assert all(len(set(found[stored == file])) == 1 for file in set(stored))


def test_an_error_is_relative_to_the_spread_and_not_to_the_zero():
    near, far = (
        judged(systems(count=60) + shift, np.arange(60) % 3, 2, np.array([True, True]), 12, 1)
        for shift in (0.0, 100.0)
    )
    assert far.median == pytest.approx(near.median, rel=0.05)


def test_what_was_left_out_is_judged():
    found = judged(systems(count=60), np.arange(60) % 3, 4, np.array([True, False]), 12, 1)
    assert found.median < 0.01
    assert found.tenth >= found.median
    assert found.factor(0.0) == found.factors[0]
    assert found.factor(0.1) == found.factors[1] > 0
