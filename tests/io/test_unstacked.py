"""Several quantities below each other in one column."""

import numpy as np
import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io import read_columns
from pgt.io.survey import survey

READINGS = [(t, s, 20 + s + t / 60, 45 + s) for t in (0, 60, 120) for s in (1, 2)]
LONG = "time,sensor,quantity,value,unit\n" + "".join(
    f"{t},S{s},temperature,{T},degC\n{t},S{s},humidity,{h},%\n" for t, s, T, h in READINGS
)
PLACES = "sensor,x [m]\nS1,0.1\nS2,0.5\n"
EXPECTED = [T for _, _, T, _ in READINGS]


def test_each_quantity_is_a_column(tmp_path):
    files = [write(tmp_path, LONG), write(tmp_path, PLACES, "places.csv")]
    found = survey(files, measured=("T",), axes=("x", "t"))
    assert (found.columns, found.unused) == ({"t": "time", "T": "temperature"}, ("humidity",))
    assert found.table.values["T"].tolist() == EXPECTED
    assert found.table.values["x"].tolist() == [0.1, 0.5] * 3
    assert (found.table.units["T"], found.repeated, found.hidden) == ("degC", 0, {})
    assert "2 quantities below each other, by 'quantity'" in found.table.said
    assert survey(files, measured=("u",), axes=("x", "t")).columns["u"] == "temperature"
    both = survey(files)
    assert both.fields == ("temperature", "humidity")
    assert both.table.values["humidity"].tolist() == [h for *_, h in READINGS]  # in shared rows


def test_what_is_there_twice_and_what_is_lost_have_rows(tmp_path):
    path = write(tmp_path, "t,x,parameter,value\n0,0,a,1\n0,0,a,2\n0,0,b,3\n1,0,b,4\n1,0,,5\n")
    found = read_columns(path, coords=("x", "t"), fields=("a", "b"))
    np.testing.assert_array_equal(found.values["a"], [1, 2, np.nan])
    np.testing.assert_array_equal(found.values["b"], [3, np.nan, 4])
    assert found.lines is not None
    assert found.lines.tolist() == [2, 3, 5]


def test_other_languages_have_quantities(tmp_path):
    rows = "0;0,1;Temperatur [°C];20,5\n0;0,1;Feuchte [%];45\n1;0,1;Feuchte [%];46\n"
    text = f"Zeit;x;Messgröße;Wert\n{rows}"
    found = survey([write(tmp_path, text)], measured=("T",))
    assert (found.table.values["T"].tolist(), found.table.units["T"]) == ([20.5], "°C")


def test_names_of_sensors_may_stand_for_quantities(tmp_path):
    rows = "".join(f"{t},TC{s},{20 + s + t}\n" for t in (0, 60) for s in (1, 2))
    files = [
        write(tmp_path, f"t,variable,value\n{rows}"),
        write(tmp_path, "name,x\nTC1,0\nTC2,1\n", "p.csv"),
    ]
    found = survey(files, measured=("T",), axes=("x", "t"))
    assert found.table.values["T"].tolist() == [21, 22, 81, 82]
    assert found.table.values["x"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,x,metric,value\n0,0,rpm,20\n0,0,hum,45\n", "none of them is called 'T'; say which"),
        ("t,x,metric,value\n0,0,T,a\n0,0,h,45\n0,1,T,5\n1,0,T,6\n", "line 2, column 'T': 'a' is"),
        ("t,x,metric,a,b\n0,0,temp,1,2\n0,0,hum,45,6\n", "several quantities stand below each other"),
        ("t,x,metric,value,unit\n0,0,temp,1,K\n0,0,hum,4,%\n0,1,temp,6,degC\n", "line 4: 'temp' is in"),
    ],
)  # fmt: skip
def test_what_nobody_can_tell_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, text)], measured=("T",))


def test_the_column_of_all_values_is_no_field(tmp_path):
    with pytest.raises(InputError, match=r"no column 'value'.*temperature, humidity"):
        read_columns(
            write(tmp_path, LONG), coords=("t",), fields=("T",), columns={"t": "time", "T": "value"}
        )
