"""Headers of Tecplot's text files."""

import numpy as np
import pytest
from sensor_files import write

from pgt.ground.errors import InputError
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


def test_names_without_quotation_marks(tmp_path):
    path = write(tmp_path, "VARIABLES = X, Y, P\nZONE\n0 0 1\n1 0 2\n", "a.dat")
    assert survey([path]).columns["x"] == "X"


def test_blocks_and_further_zones_are_refused(tmp_path):
    header = 'VARIABLES = "x", "y", "u"\nZONE I=2, DATAPACKING=BLOCK\n'
    with pytest.raises(InputError, match=r"line 2: the values of each variable stand in a block"):
        survey([write(tmp_path, header + "0 1\n0 0\n1 2\n", "a.dat")])
    two = 'VARIABLES = "x", "y", "u"\n' + 2 * "ZONE I=2\n0 0 1\n1 0 2\n"
    with pytest.raises(InputError, match="line 5 begins another zone; write each zone to a file"):
        survey([write(tmp_path, two, "a.dat")])
