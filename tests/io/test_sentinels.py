"""Numbers that stand for no reading."""

import numpy as np
import pytest
from sensor_files import write

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io import read_columns
from pgt.io.sentinels import check_axis, hide, power_on


@pytest.mark.parametrize("number", [-9999.0, -999.9, 1e30, -1e30, 9.9e37, 99999.0, -99.99])
def test_sentinels_are_hidden_and_counted(number):
    values, found = hide("T", np.array([20.5, number, 21.0, number]), None)
    np.testing.assert_array_equal(values, [20.5, np.nan, 21.0, np.nan])
    assert found == {number: 2}


@pytest.mark.parametrize(
    "values",
    [
        [-998.0, -999.0, -1001.0],
        [0.0, 5e4, 99999.0, 2e5],
        [101325.0, 99999.0, 99990.0],
        [1e30, 1e30],
        [-9999.0],
        [1.0, np.nan, 3e25],
    ],
)
def test_readings_are_left_alone(values):
    found, hidden = hide("T", np.array(values), None)
    np.testing.assert_array_equal(found, values)
    assert hidden == {}


def test_what_is_open_is_asked_and_what_was_said_decides():
    values = np.array([-900.0, 100.0, -999.9])
    with pytest.raises(InputError, match=r"'T': -999.9 may be a reading.*missing=\[-999.9\]"):
        hide("T", np.array([-700.0, 100.0, -999.9]), None)
    assert hide("T", values, ())[1] == {}
    assert hide("T", values, (100.0,))[1] == {100.0: 1}


def test_some_count_only_where_no_reading_can_be_meant():
    assert hide("T", np.array([20.5, 999.0, 21.0]), None)[1] == {999.0: 1}
    assert hide("p", np.array([1001.0, 999.0, 1010.0]), None)[1] == {}
    for number in (-888.88, -999.25, -127.0, -99.0, 3276.7, 7999.0):
        assert hide("T", np.array([20.5, number, 21.0]), None)[1] == {number: 1}
    assert hide("T", np.array([-95.0, -99.0, 21.0]), None)[1] == {}


def test_what_buoys_write_may_be_a_percentage():
    with pytest.raises(InputError, match=r"'h': 99 may be a reading.*missing=\[99\]"):
        hide("h", np.array([1.2, 99.0, 1.4]), None)
    assert hide("h", np.array([1.2, 99.0, 1.4]), (99.0,))[1] == {99.0: 1}
    assert hide("RH", np.array([60.0, 99.0, 85.0]), None)[1] == {}


def test_a_position_that_stands_for_none_is_refused():
    with pytest.raises(
        InputError, match=r"coordinate 'x', row 1, is -9999, which stands for no value"
    ):
        check_axis("x", np.array([0.0, -9999.0, 1.0]))
    for fine in ([0.0, 9999.0, 10000.0], [-9999.0, -9000.0, -8000.0], [-9999.0], [np.nan, 1.0]):
        check_axis("x", np.array(fine))


def test_what_a_thermometer_says_before_it_has_measured_is_doubted(tmp_path):
    cold = [21.0, 85.0, 21.5, 22.0]
    assert "1 reading of exactly 85 °C" in str(power_on("T", np.array(cold), None))
    assert "missing = [185]" in str(power_on("u", np.array([185.0, 70, 71]), "degF"))
    for values, unit in (([80.0, 85.0, 90.0], "degC"), (cold, "kPa"), ([85.0, 85.0, 20.0], "degC")):
        assert power_on("T", np.array(values), unit) is None
    rows = "".join(f"{t},0.1,{T}\n" for t, T in enumerate(cold))
    path = write(tmp_path, f"t,x,T\n{rows}")
    kept = read_columns(path, coords=("x", "t"), fields=("T",))
    assert kept.values["T"].tolist() == cold
    assert any("DS18B20" in word for word in kept.said)
    told = {"dialect": Dialect(missing=(85.0,))}
    hidden = read_columns(path, coords=("x", "t"), fields=("T",), **told)
    assert np.isnan(hidden.values["T"]).tolist() == [False, True, False, False]
    assert not any("DS18B20" in word for word in hidden.said)
