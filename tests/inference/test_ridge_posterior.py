"""The posterior by Cholesky factors, against dense formulas of Gaussian processes."""

import numpy as np
import pytest

import pgt
from pgt.inference.ridge_posterior import RidgePosterior


def example(count: int = 60, size: int = 8, sigma: float = 0.3, seed: int = 0):
    random = np.random.default_rng(seed)
    rows = random.standard_normal((count, size))
    return rows, rows @ random.standard_normal(size) + sigma * random.standard_normal(count)


def blocks(rows, values):
    parts = np.array_split(np.arange(len(values)), 3)
    return [(rows[part], values[part]) for part in parts]


def covariance(posterior, rows):
    scale = posterior.sigma / posterior.ratio
    return scale**2 * rows @ rows.T + posterior.sigma**2 * np.eye(len(rows))


def test_blocks_give_what_all_rows_give():
    rows, values = example()
    whole, parts = RidgePosterior.of([(rows, values)]), RidgePosterior.of(blocks(rows, values))
    np.testing.assert_allclose(parts.weights, whole.weights, atol=1e-12)
    assert parts.evidence == pytest.approx(whole.evidence)


def test_the_mean_and_the_spread_are_those_of_the_process():
    rows, values = example()
    posterior = RidgePosterior.of(blocks(rows, values))
    scale, places = posterior.sigma / posterior.ratio, example(10, seed=1)[0]
    across = scale**2 * places @ rows.T
    inverse = np.linalg.inv(covariance(posterior, rows))
    np.testing.assert_allclose(places @ posterior.weights, across @ inverse @ values, atol=1e-8)
    variance = np.diagonal(scale**2 * places @ places.T - across @ inverse @ across.T)
    np.testing.assert_allclose(posterior.spread(places), np.sqrt(variance), rtol=1e-6)


def test_the_evidence_is_the_density_of_the_readings():
    pairs = [RidgePosterior.of(blocks(*example(seed=seed))) for seed in (0, 1)]
    densities = []
    for posterior, seed in zip(pairs, (0, 1), strict=True):
        rows, values = example(seed=seed)
        matrix = covariance(posterior, rows)
        square = values @ np.linalg.solve(matrix, values)
        densities.append(-0.5 * (np.linalg.slogdet(matrix)[1] + square))
    assert pairs[0].evidence - pairs[1].evidence == pytest.approx(densities[0] - densities[1])


def test_left_out_readings_are_predicted_from_the_others():
    rows, values = example()
    posterior = RidgePosterior.of(blocks(rows, values))
    errors, deviations = posterior.left_out(rows[:5], values[:5])
    matrix = covariance(posterior, rows)
    gains = np.linalg.solve(matrix[5:, 5:], matrix[5:, :5]).T
    np.testing.assert_allclose(errors, values[:5] - gains @ values[5:], atol=1e-8)
    variance = np.diagonal(matrix[:5, :5] - gains @ matrix[5:, :5])
    np.testing.assert_allclose(deviations, np.sqrt(variance), rtol=1e-6)


def test_no_rows_are_an_error():
    with pytest.raises(pgt.InputError, match="there are no rows"):
        RidgePosterior.of([])
