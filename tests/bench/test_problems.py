"""Problems load into readings, noise and truth that are what they say."""

import pytest

from pgt_bench.problems import WakeProblem


def test_noise_of_the_wake_is_the_papers():
    """One σ = η std(u) on u and v, none on p; the same places as without noise."""
    clean, noisy = (WakeProblem(400, noise=n).load(3) for n in (0.0, 0.2))
    added = noisy.observations.values - clean.observations.values
    sigma = 0.2 * clean.observations.values[:, 0].std()
    assert noisy.noise["u"] == noisy.noise["v"] == pytest.approx(sigma)
    assert added[:, :2].std() == pytest.approx(sigma, rel=0.1)
    assert (added[:, 2] == 0).all()
    assert (clean.observations.points == noisy.observations.points).all()
