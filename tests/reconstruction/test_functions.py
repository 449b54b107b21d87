"""Unknown functions over their own coordinates."""

import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.reconstruction.functions import _stretches, function_grids

DOMAIN = pgt.Domain(x=(0, 2), y=(0, 1), t=(0, 4))
PDE = pgt.Equation(
    "u_t = div(k*grad(u)) + q",
    k=pgt.UnknownFunction("x", "y", positive=True), q=pgt.UnknownFunction("t"),
)  # fmt: skip


def grid(names, quantiles, **axes):
    """As a result answers: x + 10 t, with a standard deviation."""
    positions = {a: n if isinstance(n, list) else np.linspace(0, 1, n) for a, n in axes.items()}
    shape = {a: len(p) for a, p in positions.items()}
    table = xr.Dataset(coords=positions)
    values = (table.x + 10 * table.t).broadcast_like(
        xr.DataArray(np.zeros(tuple(shape.values())), dims=tuple(shape))
    )
    return xr.Dataset({names[0]: values, f"{names[0]}_std": 0 * values}, attrs={"seed": 0})


def test_each_over_its_own_coordinates_in_the_middle_of_the_others():
    found = function_grids(PDE, DOMAIN, grid, {"x": 3, "y": 2, "t": 5})
    assert set(found.k.dims) == {"x", "y"}
    assert found.q.dims == ("t",)
    assert {"k_std", "q_std"} <= set(found)
    np.testing.assert_allclose(found.k.isel(y=0), found.x + 10 * 2.0)
    np.testing.assert_allclose(found.q, 1.0 + 10 * found.t)


def test_there_must_be_one():
    with pytest.raises(pgt.InputError, match="has no unknown function"):
        function_grids(pgt.Heat(0.1), DOMAIN, grid, {})


def test_stretches_that_are_vague_are_named():
    along = xr.DataArray(np.linspace(0, 1, 6), dims="t", name="t")
    vague = np.array([True, False, False, False, True, True])
    assert _stretches(along, vague) == "t at 0 and from 0.8 to 1"
    assert _stretches(along, np.zeros(6, bool)) == _stretches(along, np.ones(6, bool)) == ""
