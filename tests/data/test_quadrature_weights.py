"""Weights of points, against integrals that are known."""

import numpy as np
import pytest

import pgt
from pgt.data.quadrature_weights import balanced

PLATE = pgt.Domain(x=(0, 2), y=(0, 1), shape=-pgt.shapes.Disk((1, 0.5), 0.2))


def test_polynomials_are_integrated_exactly_and_smooth_fields_nearly():
    points, weights = PLATE.quadrature(1000)
    x, y = points.T
    assert weights.sum() == pytest.approx(PLATE.volume, rel=1e-9)
    assert (weights > 0).all()
    # over the plate, less the disk: its second moment is π r⁴ / 4
    exact = 2 / 3 * 4 - np.pi * 0.04 * (1 + 0.04 / 4)
    assert x**2 @ weights == pytest.approx(exact, rel=1e-6)
    # the disk's share of a harmonic field is its value in the middle
    wave = np.exp(x) * np.cos(y)
    whole = (np.e**2 - 1) * np.sin(1)
    assert wave @ weights == pytest.approx(whole - np.pi * 0.04 * np.e * np.cos(0.5), rel=1e-5)


def test_in_space_too():
    points, weights = pgt.Domain(
        x=(-1, 1), y=(-1, 1), z=(-1, 1), shape=pgt.shapes.Ball()
    ).quadrature(2000)
    assert points[:, 2] ** 2 @ weights == pytest.approx(4 / 15 * np.pi, rel=1e-3)


def test_few_points_keep_even_weights():
    points, even = PLATE.even(50), np.full(50, 0.02)
    assert (balanced(points, even, PLATE.shape.walls()) == even).all()
