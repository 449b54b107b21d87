"""Casts of Sea-Bird. Measurements of LabVIEW."""

import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io.survey import survey

CAST = """\
* Sea-Bird SBE 9 Data File:
* FileName = C:\\CTD\\2024\\cast017.hex
* Software Version Seasave V 7.26.7.121
* System UpLoad Time = Mar 12 2024 10:00:00
** Ship: Elisabeth
** Station: x=7
# nquan = 6
# nvalues = 3
# units = specified
# name 0 = prDM: Pressure, Digiquartz [db]
# name 1 = depSM: Depth [salt water, m]
# name 2 = t090C: Temperature [ITS-90, deg C]
# name 3 = sal00: Salinity, Practical [PSU]
# name 4 = timeS: Time, Elapsed [seconds]
# name 5 = flag:  0.000e+00
# span 0 =      1.000,      3.000
# interval = seconds: 0.0416667
# start_time = Mar 12 2024 10:00:00 [Instrument's time stamp, first data scan]
# bad_flag = -9.990e-29
# <Sensors count="2" >
# file_type = ascii
*END*
      1.000      0.993    12.5000    34.9100      0.000  0.000e+00
      2.000      1.986    12.4375    34.9200      0.042  0.000e+00
      3.000      2.979 -9.990e-29    34.9300      0.083  0.000e+00
"""


def test_a_header_names_the_columns(tmp_path):
    found = survey([write(tmp_path, CAST, "cast.cnv")], measured=("T",), axes=("z", "t"))
    assert (found.coords, found.fields) == (("z", "t"), ("T",))
    assert found.table.units == {"z": "m", "t": "seconds", "T": "deg C"}
    assert found.table.values["z"].tolist() == [0.993, 1.986, 2.979]
    assert found.table.values["t"].tolist() == [0.0, 0.042, 0.083]
    assert found.table.lines.tolist() == [23, 24, 25]


def test_the_clock_of_the_instrument_counts_from_2000(tmp_path):
    path = write(
        tmp_path, CAST.replace("timeS: Time, Elapsed", "timeK: Time, Instrument"), "cast.cnv"
    )
    found = survey([path], measured=("T",), axes=("z", "t"))
    assert found.table.units["t"] == "seconds since 2000-01-01"


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
MULTI = "X_Value\tT@x=0.1\tX_Value\tT@x=0.5\tComment\n10\t20\t10\t21\t\n10.5\t22\t10.5\t23\t\n"


def test_what_is_not_of_time_is_left_alone(tmp_path):
    text = HEADER.format(columns="One", step="0.5").replace("Time\tTime", "Frequency\tFrequency")
    with pytest.raises(InputError, match="no column is called"):
        survey([write(tmp_path, text + "X_Value\tA\tB\tComment\n1\t2\t3\t\n2\t3\t4\t\n", "a.lvm")])


def test_channels_with_times_of_their_own_are_refused(tmp_path):
    text = HEADER.format(columns="Multi", step="0.25") + MULTI
    with pytest.raises(InputError, match=r"times of their own \(Delta_X is 0.5 and 0.25\)"):
        survey([write(tmp_path, text, "a.lvm")])
