"""What is said of a field."""

import numpy as np
import pytest

import pgt
from pgt.families.field_bands import FieldBand, on_grid

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 2), periodic=("x",))


def at(points):
    mean = np.stack([points.sum(axis=1), points[:, 0]], axis=-1)
    return FieldBand(mean, mean - 1, mean + 2, [])


def test_a_grid_has_fields_and_bands():
    found = on_grid(at, DOMAIN, ("u", "v"), {"x": 4, "t": [0.5, 2.0]}, {"outside": ""})
    assert found.x.values.tolist() == [0, 0.25, 0.5, 0.75]  # the period is not closed
    assert float(found.u.sel(x=0.25, t=2.0)) == 2.25
    assert bool((found.v_high - found.v_low == 3).all())
    assert found.attrs == {"outside": ""}


def test_an_axis_that_is_none_is_named():
    with pytest.raises(pgt.InputError, match=r"grid\(y=\.\.\.\): the axes are x, t"):
        on_grid(at, DOMAIN, ("u", "v"), {"y": 4}, {})
