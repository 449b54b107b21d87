"""Discrepancies in numbers and words."""

import numpy as np
import pytest

from pgt.discovery.discrepancy import Discrepancy

X = np.linspace(0, 1, 101)


def summary(values, deviation, **options):
    return Discrepancy.of("heat", {"x": X}, values, np.full(101, deviation), 12.0, **options)


def test_size_place_and_sense():
    found = summary(2 * np.exp(-100 * (X - 0.3) ** 2), 0.1)
    assert found.peak == pytest.approx(2.0)
    assert found.place == {"x": pytest.approx(0.3)}
    assert found.positive == 1.0
    # The integral of the square is 4 sqrt(π/200).
    assert found.size == pytest.approx((4 * np.sqrt(np.pi / 200)) ** 0.5, rel=0.01)
    assert "positive source" in found.in_words


def test_the_peak_is_a_significant_value():
    values, deviations = np.array([5.0, -1.0, 0.1]), np.array([10.0, 0.1, 0.1])
    found = Discrepancy.of("heat", {"x": X[:3]}, values, deviations, 12.0)
    assert found.peak == -1.0
    assert "sink" in found.in_words


def test_a_discrepancy_of_both_signs_is_a_source():
    words = summary(np.sin(2 * np.pi * X), 0.1).in_words
    assert words.startswith("a source of")


def test_dates_are_shown_as_dates():
    noon = Discrepancy("heat", 1.0, 2.0, 0.1, {"t": 1714564800.0}, 1.0, 9.0, {"t": "s since 1970"})
    assert "1714564800" in noon.in_words.replace(" ", "") or "10⁹" in noon.in_words
    from pgt.data.dates import UNIT

    dated = Discrepancy("heat", 1.0, 2.0, 0.1, {"t": 1714564800.0}, 1.0, 9.0, {"t": UNIT})
    assert "2024-05-01T12:00:00" in dated.in_words
