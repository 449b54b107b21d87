"""Grids: places or instants in the heading."""

import numpy as np
import pytest
from logger_files import ROWS
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io import read_columns
from pgt.io.headings import parse_headings
from pgt.io.pivots import pivoted, with_corner
from pgt.io.survey import survey


def places(*names, axes=("x", "t")):
    return [heading.places for heading in pivoted(parse_headings(names), axes)][1:]


def test_numbers_beside_a_time_are_places():
    assert places("t", "0,1", "0.5") == [{"x": (0.1, None)}, {"x": (0.5, None)}]
    assert places("Depth [m]", "0", "60", axes=("z", "t")) == [{"t": (0, None)}, {"t": (60, None)}]


@pytest.mark.parametrize(
    "names",
    [
        ("t", "101", "102", "103"),  # channels
        ("t", "0.1", "T"),
        ("t", "0.1", "0.1"),
        ("t", "0.1"),
        ("T", "0.1", "0.5"),
        ("scan", "0.1", "0.5"),
        ("t", "2024-03-12", "2024-03-13"),
    ],
)
def test_other_headings_stay_as_they_are(names):
    assert not any(places(*names))


def test_one_axis_has_to_be_left():
    assert not any(places("x", "0.1", "0.5", axes=("x", "y", "t")))
    assert not any(places("x", "0.1", "0.5", axes=()))


def test_a_corner_names_both_axes():
    found = with_corner(parse_headings(["t [s] / x [mm]", "1", "2"]))
    assert (found[0].name, found[0].unit) == ("t", "s")
    assert [heading.places for heading in found[1:]] == [{"x": (1, "mm")}, {"x": (2, "mm")}]
    for names in (["p / kPa", "1", "2"], ["x/x", "1", "2"], ["t/x", "a", "b"]):
        assert not any(heading.places for heading in with_corner(parse_headings(names)))


def test_times_of_day_in_the_heading_are_seconds():
    found = pivoted(parse_headings(["x", "10:00:00", "10:01:00"]), ("x", "t"))
    assert [heading.places["t"] for heading in found[1:]] == [(36000, "s"), (36060, "s")]


def test_what_is_written_in_a_run_file_reads_the_same(tmp_path):
    path = write(tmp_path, "time,0.1,0.5\n0,20.5,21\n60,22.25,23.5\n120,24,25.75\n")
    found = survey([path], measured=("T",), axes=("x", "t"))
    again = read_columns(path, coords=("x", "t"), fields=("T",), columns=found.columns)
    rows = zip(*(again.values[name] for name in ("x", "t", "T")), strict=True)
    np.testing.assert_allclose(sorted(rows), sorted(ROWS))


def test_without_an_equation_x_and_y_are_as_likely(tmp_path):
    path = write(tmp_path, "x,0.1,0.5\n0,20.5,21\n60,22.25,23.5\n")
    assert survey([path]).coords == ("x",)
    assert survey([write(tmp_path, path.read_text().replace("x", "t"))]).coords == ("x", "t")


def test_a_table_on_its_side_is_still_refused(tmp_path):
    path = write(tmp_path, "x,0.1,0.5,0.1\nt,0,0,60\nT,20.5,21,22.25\n")
    with pytest.raises(InputError, match="lies on its side"):
        survey([path], measured=("T",), axes=("x", "t"))
