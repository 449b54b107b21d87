"""Shapes by their public names, as a user combines them."""

import numpy as np
import pytest

import pgt


def test_shapes_are_combined_by_operators():
    plate = pgt.shapes.Rectangle(x=(-2, 2), y=(-2, 2))
    hole = pgt.shapes.Disk(radius=1.0, name="hole")
    domain = pgt.Domain(x=(-2, 2), y=(-2, 2), shape=plate - hole)
    assert domain.contains(np.array([[0.0, 0.0], [1.5, 1.5]])).tolist() == [False, True]
    assert abs((plate - hole).measure() - (16 - np.pi)) < 1e-6


def test_a_wrong_shape_is_refused_in_words():
    with pytest.raises(pgt.InputError, match="radius"):
        pgt.shapes.Disk(radius=-1.0)
    with pytest.raises(pgt.InputError, match="nowhere"):
        pgt.shapes.read_shape("nowhere.stl")
