"""Headers of Tecplot's text files."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import text
from pgt.io.survey import survey

NAMES = '"x [mm]", "y [mm]", "Velocity u [m/s]", "Vy [m/s]", "isValid"'
ROWS = "0 0 1.5 2.5 1\n1 0 1.25 2.25 1\n0 1 9 9 0\n"


@pytest.mark.parametrize(
    "header",
    [
        f'TITLE = "B00001"\nVARIABLES = {NAMES}\nZONE T="Frame 0", I=2, J=2, F=POINT\n',
        f"variables = {NAMES.replace(',', '')}\nzone i=2, j=2\nSTRANDID=1, SOLUTIONTIME=0\n",
        "VARIABLES = " + NAMES.replace(", ", "\n") + "\nZONE T=\"a\"\n I=2, J=2\n DT=(SINGLE SINGLE )\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mark", [" ", "\t", ", "])
def test_variables_are_the_heading(tmp_path, header, mark):
    found = survey(
        [write(tmp_path, header + ROWS.replace(" ", mark), "a.dat")], measured=("u", "v")
    )
    assert (found.coords, found.fields) == (("x", "y"), ("u", "v"))
    assert found.table.units == {"x": "mm", "y": "mm", "u": "m/s", "v": "m/s"}
    np.testing.assert_array_equal(found.table.values["v"], [2.5, 2.25, np.nan])


def test_blocks_and_further_zones_are_refused(tmp_path):
    header = 'VARIABLES = "x", "y", "u"\nZONE I=2, DATAPACKING=BLOCK\n'
    with pytest.raises(InputError, match=r"line 2: the values of each variable stand in a block"):
        survey([write(tmp_path, header + "0 1\n0 0\n1 2\n", "a.dat")])
    two = 'VARIABLES = "x", "y", "u"\n' + 2 * "ZONE I=2\n0 0 1\n1 0 2\n"
    with pytest.raises(InputError, match=r"above line 6 begins .*SOLUTIONTIME"):
        survey([write(tmp_path, two, "a.dat")])


IN_TIME = """\
TITLE     = "Time series of a wake"
VARIABLES = "X [mm]"
"Y [mm]"
"U [m/s]"
ZONE T="Snapshot 1"
 STRANDID=1, SOLUTIONTIME=0.25
 I=2, J=1, K=1, ZONETYPE=Ordered
 DATAPACKING=POINT
 DT=(SINGLE SINGLE SINGLE )
 0.0000E+00 0.0000E+00 1.5000E+00
 1.0000E+00 0.0000E+00 1.2500E+00
ZONE T="Snapshot 2"
 STRANDID=1, SOLUTIONTIME=5.0000000000E-01
 I=2, J=1, K=1, ZONETYPE=Ordered
 DATAPACKING=POINT
 DT=(SINGLE SINGLE SINGLE )
 0.0000E+00 0.0000E+00 2.5000E+00
 1.0000E+00 0.0000E+00 2.2500E+00
"""


@pytest.mark.parametrize("looked_at", [12, 5000])
def test_a_zone_for_each_time(tmp_path, monkeypatch, looked_at):
    monkeypatch.setattr(text, "SAMPLE_LINES", looked_at)  # the rest is read when it is asked for
    found = survey([write(tmp_path, IN_TIME, "a.dat")], measured=("u", "v"), axes=("x", "y", "t"))
    assert found.coords == ("x", "y", "t")
    assert found.table.values["t"].tolist() == [0.25, 0.25, 0.5, 0.5]
    assert found.table.values["u"].tolist() == [1.5, 1.25, 2.5, 2.25]
    assert found.table.lines.tolist() == [10, 11, 17, 18]


def test_titles_say_when_and_where(tmp_path):
    zone = 'ZONE T="{0}"\n0 1\n1 2\n'
    text = 'VARIABLES = "y", "T"\n' + zone.format("t = 0.25 s") + zone.format("Time=0.5 s")
    found = survey([write(tmp_path, text, "a.dat")], measured=("T",), axes=("y", "t"))
    assert found.table.values["t"].tolist() == [0.25, 0.25, 0.5, 0.5]
    text = 'VARIABLES = "y", "T"\n' + zone.format("x=0.5 m") + zone.format("x=1.5 m")
    found = survey([write(tmp_path, text, "a.dat")], measured=("T",), axes=("x", "y"))
    assert found.table.values["x"].tolist() == [0.5, 0.5, 1.5, 1.5]
    assert found.table.units == {"x": "m"}


def test_blocks_of_one_mesh_are_taken_together(tmp_path):
    text = 'VARIABLES = "x", "y", "u"\nZONE T="a"\n0 0 1\n1 0 2\nZONE T="b"\n1 1 3\n2 0 4\n'
    found = survey([write(tmp_path, text, "a.dat")])
    assert found.table.values["x"].tolist() == [0, 1, 1, 2]
    assert found.table.lines.tolist() == [3, 4, 6, 7]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SOLUTIONTIME=5.0000000000E-01", "", "line 17 .* SOLUTIONTIME"),
        ('ZONE T="Snapshot 2"', 'VARIABLES = "X [mm]" "Y [mm]" "P"\nZONE', "has other variables"),
        ("DATAPACKING=POINT\n DT=(SINGLE SINGLE SINGLE )\n 0.0000E+00 0.0000E+00 2",
         "DATAPACKING=BLOCK\n 0.0000E+00 0.0000E+00 2", "line 15: the values of each variable"),
    ],
)  # fmt: skip
def test_zones_that_are_not_alike(tmp_path, old, new, message):
    assert IN_TIME.count(old) == 1
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, IN_TIME.replace(old, new), "a.dat")])
