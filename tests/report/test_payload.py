"""What the maps are drawn from: thinned, packed, and what it was."""

import base64
import zlib

import numpy as np
import pytest
import report_cases as cases
import xarray as xr
from page_reader import text_of

from pgt.report.page import page
from pgt.report.payload import MISSING_CODE, VALUE_LEVELS, payload

# ------------------------------------------------------------------------------- payload


def codes_of(layer: dict, shape: tuple[int, ...]) -> np.ndarray:
    differences = np.frombuffer(zlib.decompress(base64.b64decode(layer["codes"])), "<u2")
    codes = differences.reshape(shape)
    for axis in range(max(codes.ndim - 2, 0), codes.ndim):
        codes = np.cumsum(codes, axis, dtype=np.uint16)
    return codes


@pytest.mark.parametrize("case", [cases.heat, cases.wake, cases.block])
def test_values_survive_the_packing(case):
    data = case()
    packed = payload(data)["viewers"]["field"]
    shape = tuple(len(axis["places"]) for axis in packed["axes"])
    assert [axis["name"] for axis in packed["axes"]] == [a for a in "tzyx" if a in data.field.dims]
    for layer in packed["layers"][: len(data.fields)]:
        truth = data.field[layer["name"]].transpose(*(axis["name"] for axis in packed["axes"]))
        found = layer["least"] + layer["step"] * codes_of(layer, shape)
        assert (
            np.abs(found - truth).max()
            <= 0.51 * float(truth.max() - truth.min()) / VALUE_LEVELS + 1e-6
        )


def test_holes_stay_holes_and_uneven_grids_become_even():
    x = np.array([0.0, 1.0, 4.0, 9.0])
    field = xr.Dataset(
        {"u": (("y", "x"), [x, 2 * x, np.full(4, np.nan)])}, {"x": x, "y": [2.0, 1, 0]}
    )
    data = cases.report(field, ("u",), 6)
    packed = payload(data)["viewers"]["field"]
    codes = codes_of(packed["layers"][0], (3, 4))
    assert (codes == MISSING_CODE).tolist() == [[True] * 4, [False] * 4, [False] * 4]
    layer = packed["layers"][0]
    assert np.allclose(layer["least"] + layer["step"] * codes[2], [0, 3, 6, 9], atol=0.01)


def test_a_large_grid_is_thinned_and_says_so():
    x, t = np.linspace(0, 1, 600), np.linspace(0, 1, 300)
    field = xr.Dataset({n: (("t", "x"), np.outer(t, x)) for n in "uv"}, {"x": x, "t": t})
    data = cases.report(field, ("u",), 3000)
    packed = payload(data)
    assert packed["viewers"]["field"]["note"] == (
        "Thinned for this page: 240 × 240 of 600 × 300 positions (x, t)."
    )
    assert packed["readings"]["u"]["note"] == "2000 of 3000 readings are drawn."
    assert len(page(data)) < 600_000


def test_what_lies_far_from_zero_is_drawn_where_it_is():
    """Metres of a national grid, over one metre."""
    far, field = 5412345.0, cases.heat().field
    data = cases.report(field.assign_coords(x=field.x + far), ("u",), 30)
    packed = payload(data)
    places = next(a["places"] for a in packed["viewers"]["field"]["axes"] if a["name"] == "x")
    np.testing.assert_allclose(np.array(places) - far, np.linspace(0, 1, len(places)), atol=1e-6)
    drawn = np.frombuffer(base64.b64decode(packed["readings"]["u"]["points"]["x"]), "<f8")
    np.testing.assert_array_equal(drawn[: len(data.fitted)], data.fitted.points[:, 0])
    assert "x from 5412345" in text_of(data)
