"""Casts of Sea-Bird."""

import numpy as np
from sensor_files import write

from pgt.io.casts import as_table
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


def test_a_reading_that_is_bad_is_none(tmp_path):
    found = survey([write(tmp_path, CAST, "cast.cnv")], measured=("T",), axes=("z", "t"))
    np.testing.assert_array_equal(found.table.values["T"], [12.5, 12.4375, np.nan])


def test_other_texts_are_let_alone():
    lines, rest = [(1, "*END*"), (2, "1 2")], iter(())
    assert as_table(lines, rest) == (lines, rest)


def test_the_clock_of_the_instrument_counts_from_2000(tmp_path):
    path = write(
        tmp_path, CAST.replace("timeS: Time, Elapsed", "timeK: Time, Instrument"), "cast.cnv"
    )
    found = survey([path], measured=("T",), axes=("z", "t"))
    assert found.table.units["t"] == "seconds since 2000-01-01"
