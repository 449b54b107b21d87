"""Readings of a known field: values, noise, holes."""

import numpy as np
import pytest

from pgt import datasets
from pgt.core.errors import InputError
from pgt.data import sample


def test_sample_reads_the_truth():
    truth = datasets.taylor_green(x=9, y=8, t=7)
    readings = sample(truth, n=50, fields=("v", "u"), seed=3)
    assert readings.fields == ("v", "u")
    for (x, y, t), (v, u) in zip(readings.points, readings.values, strict=True):
        here = truth.sel(x=x, y=y, t=t)
        assert (float(here.u), float(here.v)) == (u, v)
    assert len(np.unique(readings.points, axis=0)) == 50
    assert not np.array_equal(readings.points, sample(truth, n=50, seed=4).points)
    assert not readings.noise.any()


def test_sample_noise_has_the_stated_size():
    truth = datasets.heat(x=101, t=101)
    clean = sample(truth, n=5000, seed=0)
    noisy = sample(truth, n=5000, seed=0, noise=0.1, record_noise=True)
    np.testing.assert_array_equal(clean.points, noisy.points)
    sigma = 0.1 * clean.values.std()
    np.testing.assert_allclose(noisy.noise, sigma)
    assert (noisy.values - clean.values).std() == pytest.approx(sigma, rel=0.05)
    absolute = sample(truth, n=5000, seed=0, noise={"u": 0.02})
    assert (absolute.values - clean.values).std() == pytest.approx(0.02, rel=0.05)
    assert not absolute.noise.any()


def test_sample_skips_holes_and_refuses_nonsense():
    truth = datasets.heat(x=5, t=4)
    truth["u"] = truth.u.where(truth.x != 0.5)
    assert sample(truth, n=16, noise=0.1).mask.all()
    for n in (0, 17):
        with pytest.raises(InputError, match="16 grid points"):
            sample(truth, n=n)
    with pytest.raises(InputError, match="`noise` of 'u'"):
        sample(truth, n=3, noise=-0.1)
    with pytest.raises(InputError, match="`noise` names 'v'"):
        sample(truth, n=3, noise={"v": 0.1})
