"""Axes along which readings differ."""

import numpy as np

from pgt.io.columns import Columns
from pgt.io.varying import without_constant

FLAT = Columns(
    {"x": np.array([0.0, 1.0]), "y": np.full(2, 0.5), "t": np.ones(2), "u": np.ones(2)},
    {"x": "m", "y": "m"},
)


def test_what_is_the_same_everywhere_is_left_out():
    left, axes = without_constant(FLAT, ("x", "y", "t"), ("x",))
    assert (axes, set(left.values), left.units) == (("x",), {"x", "u"}, {"x": "m"})
    assert left.said[0] == "y left out, since it is 0.5 everywhere"


def test_what_the_equation_has_stays():
    assert without_constant(FLAT, ("x", "y", "t"), ("x", "y", "t")) == (FLAT, ("x", "y", "t"))
    assert without_constant(FLAT, ("y",), ("x",)) == (FLAT, ("y",))


def test_what_is_not_finite_is_not_the_same():
    odd = Columns({"x": np.array([np.inf, np.inf, 1]), "y": np.full(3, np.nan), "u": np.ones(3)})
    assert without_constant(odd, ("x", "y"), ()) == (odd, ("x", "y"))
