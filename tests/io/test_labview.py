"""Measurements of LabVIEW."""

import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io.survey import survey

HEADER = """\
LabVIEW Measurement\t
Separator\tTab
X_Columns\t{columns}
***End_of_Header***\t
\t
Channels\t2\t\t
X_Dimension\tTime\tTime\t
X0\t10.0\t10.0\t
Delta_X\t0.5\t{step}\t
***End_of_Header***\t\t\t
"""
ONE = "X_Value\tT@x=0.1\tT@x=0.5\tComment\n10.0\t20\t21\t\n10.5\t22\t23\t\n"
MULTI = "X_Value\tT@x=0.1\tX_Value\tT@x=0.5\tComment\n10\t20\t10\t21\t\n10.5\t22\t10.5\t23\t\n"
NO = "X_Value\tT@x=0.1\tT@x=0.5\tComment\n\t20\t21\t\n\t22\t23\t\n"


def test_the_time_of_a_value(tmp_path):
    for columns, table in {"One": ONE, "Multi": MULTI, "No": NO}.items():
        text = HEADER.format(columns=columns, step="0.5") + table
        found = survey([write(tmp_path, text, "a.lvm")], measured=("T",), axes=("x", "t"))
        assert (found.coords, found.fields) == (("x", "t"), ("T",))
        assert found.table.values["t"].tolist() == [10, 10, 10.5, 10.5]
        assert found.table.values["T"].tolist() == [20, 21, 22, 23]
        assert found.table.units == {"t": "s"}


def test_decimal_commas(tmp_path):
    text = (
        (HEADER.format(columns="No", step="0.5") + NO).replace("0.5", "0,5").replace("20", "20,5")
    )
    found = survey([write(tmp_path, text, "a.lvm")], measured=("T",), axes=("x", "t"))
    assert found.table.values["t"].tolist() == [10, 10, 10.5, 10.5]


def test_what_is_not_of_time_is_left_alone(tmp_path):
    text = HEADER.format(columns="One", step="0.5").replace("Time\tTime", "Frequency\tFrequency")
    with pytest.raises(InputError, match="no column is called"):
        survey([write(tmp_path, text + "X_Value\tA\tB\tComment\n1\t2\t3\t\n2\t3\t4\t\n", "a.lvm")])


def test_channels_with_times_of_their_own_are_refused(tmp_path):
    text = HEADER.format(columns="Multi", step="0.25") + MULTI
    with pytest.raises(InputError, match=r"times of their own \(Delta_X is 0.5 and 0.25\)"):
        survey([write(tmp_path, text, "a.lvm")])
