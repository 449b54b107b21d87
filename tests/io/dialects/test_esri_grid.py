"""Grids of ESRI."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import text
from pgt.io.survey import survey

HEADER = """\
ncols         3
nrows         2
xllcorner     378923
yllcorner     4072345.5
cellsize      30
NODATA_value  -9999
"""


@pytest.mark.parametrize("looked_at", [7, 5000])
def test_cells_from_north_to_south(tmp_path, monkeypatch, looked_at):
    monkeypatch.setattr(text, "SAMPLE_LINES", looked_at)
    path = write(tmp_path, HEADER + "43 2 45\n3 -9999 100\n", "head.asc")
    found = survey([path], measured=("h",), axes=("x", "y"))
    assert (found.coords, found.fields) == (("x", "y"), ("h",))
    values = found.table.values
    assert values["x"].tolist() == [378938, 378968, 378998] * 2
    assert values["y"].tolist() == [4072390.5] * 3 + [4072360.5] * 3
    np.testing.assert_array_equal(values["h"], [43, 2, 45, 3, np.nan, 100])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cellsize      30\n", "", "cellsize"),
        ("xllcorner     378923\n", "", "xllcorner"),
        ("ncols         3", "ncols  0", "ncols is '0', but has to be a whole number above 0"),
        ("xllcorner     378923", "xllcorner  37,5", "xllcorner is '37,5', but has to be a number"),
        (
            "nrows         2",
            "nrows  3",
            "line 8 with 6 cells.* 3 columns",
        ),
    ],
)
def test_headers_that_do_not_fit(tmp_path, old, new, message):
    whole = (HEADER + "43 2 45\n3 -9999 100\n").replace(old, new)
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, whole, "a.asc")])


def test_degrees_are_doubted(tmp_path):
    said = "x and y may be degrees, which are no lengths: write distances in metres"
    header = HEADER.replace("378923", "7.5").replace("4072345.5", "50.25").replace("30", "0.0083")
    assert said in survey([write(tmp_path, header + "1 2 3\n4 5 6\n", "a.asc")]).table.notes
    assert said not in survey([write(tmp_path, HEADER + "1 2 3\n4 5 6\n", "a.asc")]).table.notes
