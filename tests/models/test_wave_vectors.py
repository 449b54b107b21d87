"""Frequencies of random sines."""

import numpy as np
import pytest

from pgt.models.wave_vectors import wave_vectors


def test_they_fill_the_band_of_ordinary_axes():
    vectors = wave_vectors(400, (5.0, 3.0), (False, False), seed=1)
    assert vectors.shape == (400, 2)
    assert not vectors[0].any()
    assert (np.abs(vectors) <= [5.0, 3.0]).all()
    cells = np.floor((vectors / [5.0, 3.0] + 1) * 2).astype(int)  # of 4 x 4
    _, counts = np.unique(cells, axis=0, return_counts=True)
    assert len(counts) == 16
    assert counts.min() > 20


def test_every_whole_wave_is_there_with_its_share_of_the_other_axis():
    vectors = wave_vectors(800, (2 * np.pi, 2 * np.pi, 2 * np.pi, 8.0), (True, True, True, False))
    waves, which = np.unique(np.round(vectors[:, :3] / np.pi), axis=0, return_inverse=True)
    assert len(waves) == 63  # of 5 x 5 x 5, each without its negative, and zero
    for number in range(len(waves)):
        own = np.sort(vectors[which == number, 3])
        assert len(own) >= 12
        assert np.diff(np.concatenate([[-8.0], own, [8.0]])).max() < 16 / 12 * 2.5


def test_no_wave_stands_there_twice():
    waves = wave_vectors(1000, (3 * np.pi, 2 * np.pi), (True, True)) / np.pi
    assert len(waves) == (7 * 5 + 1) // 2
    both = np.concatenate([waves, -waves[1:]])
    assert len(np.unique(np.round(both), axis=0)) == 7 * 5


def test_of_too_many_the_longest_waves_are_taken():
    """However wide the band is, at once."""
    waves = wave_vectors(300, (1e6, 1e6, 1e6), (True, True, True)) / np.pi
    assert len(waves) == 300
    ball = 4 / 3 * np.pi * np.sum(waves**2, axis=1).max() ** 1.5 / 2
    assert ball == pytest.approx(300, rel=0.15)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_few_are_enough(count):
    assert wave_vectors(count, (9.5, 4.0), (True, False)).shape == (count, 2)
