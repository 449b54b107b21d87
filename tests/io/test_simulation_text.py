"""Files of Tecplot and probes of OpenFOAM, read as tables."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import read_columns
from pgt.io.survey import survey

HEADER = 'TITLE = "run"\nVARIABLES = "x", "T"\n'
ZONE = 'ZONE T="Step", SOLUTIONTIME={}\n0.1 {}\n0.5 {}\n'


def test_zones_with_times_are_one_table(tmp_path):
    path = write(tmp_path, HEADER + ZONE.format(0, 20, 21) + ZONE.format(60, 22, 23), "a.dat")
    found = survey([path], measured=("T",), axes=("x", "t"))
    assert found.coords == ("x", "t")
    rows = zip(*(found.table.values[name] for name in ("x", "t", "T")), strict=True)
    assert [*rows] == [(0.1, 0, 20), (0.5, 0, 21), (0.1, 60, 22), (0.5, 60, 23)]
    assert found.table.lines.tolist() == [4, 5, 7, 8]


def test_a_header_in_one_line_and_units_without_brackets(tmp_path):
    text = 'TITLE = "a" VARIABLES = "X mm", "U m/s" ZONE I=2, J=1\n0, 1.5\n1, 2.5\n'
    found = read_columns(
        write(tmp_path, text, "a.vec"), coords=("x",), fields=("u",), columns={"x": "X", "u": "U"}
    )
    assert (found.values["u"].tolist(), found.units) == ([1.5, 2.5], {"x": "mm", "u": "m/s"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            HEADER + "ZONE I=2, DATAPACKING=BLOCK\n0 1\n20 21\n",
            "line 3: the values of each variable",
        ),
        (HEADER + "ZONE N=3, E=1\n0 1\n1 2\n2 3\n1 2 3\n", "line 3: .* or a mesh follows"),
        (HEADER + 'ZONE T="a"\n0 1\n1 2\nZONE T="b"\n0 3\n', "line 6: the zones do not all have"),
        (HEADER + ZONE.format(0, 1, 2) + "ZONE\n0 3\n", "line 6: the zones do not all have"),
    ],
)
def test_other_layouts_are_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_columns(write(tmp_path, text, "a.dat"), coords=("x",), fields=("T",))


def test_probes_have_positions_and_vectors_components(tmp_path):
    text = (
        "# Probe 0 (0.1 0 0)\n# Probe 1 (0.5 0 0)\n#  Time\n0 (1 2 3) (4 5 6)\n60 (7 8 9) (1 2 3)\n"
    )
    path = write(tmp_path, text, "U.dat")
    found = survey([path], measured=("u", "v"), axes=("x", "t"))
    assert (found.coords, found.columns["u"]) == (("x", "t"), "Ux")
    np.testing.assert_array_equal(found.table.values["v"], [2, 5, 8, 2])
    scalar = write(tmp_path, "# Probe 0 (0.1 0 0)\n# Time\n0 300\n60 301\n", "T.dat")
    assert survey([scalar], measured=("T",), axes=("x", "t")).table.values["T"].tolist() == [
        300,
        301,
    ]


def test_other_text_is_left_alone(tmp_path):
    text = "# Probe 7 was moved\nx,T\n0,1\n1,2\n"
    found = read_columns(write(tmp_path, text, "a.csv"), coords=("x",), fields=("T",))
    assert found.values["T"].tolist() == [1, 2]
