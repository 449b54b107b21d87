"""What columns of words say of the rows beside them."""

import numpy as np
import pytest
from sensor_files import write

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io import read_columns
from pgt.io.headings import parse_heading
from pgt.io.survey import survey
from pgt.io.told import check_one_kind, flags, is_numeric, unit_of_all

HEADING = "x,t,T,Quality\n"


@pytest.mark.parametrize("bad", ["Bad", "bad_sensor", "ERROR", "fail", "invalid", "Missing"])
def test_rows_that_words_call_bad_are_hidden(tmp_path, bad):
    path = write(tmp_path, f"{HEADING}0.1,0,20,good\n0.5,0,21,OK\n0.9,0,-50,{bad}\n")
    found = survey([path])
    assert (found.hidden, found.dialect) == ({"T": (1, 3)}, Dialect(valid="Quality"))
    again = read_columns(path, coords=("x", "t"), fields=("T",), dialect=found.dialect)
    np.testing.assert_array_equal(again.values["T"], [20, 21, np.nan])


@pytest.mark.parametrize("word", ["Uncertain", "B", "2", ""])
def test_what_nobody_can_tell_is_not_used(tmp_path, word):
    path = write(tmp_path, f"{HEADING}0.1,0,20,good\n0.5,0,21,{word}\n")
    found = survey([path], measured=("T",))
    assert (found.hidden, found.dialect) == ({}, None)


def test_a_word_that_comes_later_is_said_with_its_line(tmp_path):
    path = write(tmp_path, f"{HEADING}0.1,0,20,good\n0.5,0,21,perhaps\n")
    with pytest.raises(InputError, match=r"line 3, column 'Quality': 'perhaps'"):
        read_columns(path, coords=("x", "t"), fields=("T",), dialect=Dialect(valid="Quality"))


def test_a_unit_of_all_rows():
    unit, note = parse_heading("unit"), parse_heading("note")
    assert unit_of_all([(note, {"m"}), (unit, {"degC"})]) == "degC"
    assert unit_of_all([(unit, {"a", "b"})]) is None
    with pytest.raises(InputError, match="rows are in 'degC', 'degF'"):
        unit_of_all([(unit, {"degC", "degF"})])


def test_several_kinds():
    kind = parse_heading("variable")
    check_one_kind([(kind, {"T"})], {})
    check_one_kind([(kind, {"T", "RH"})], {"u": "variable"})
    with pytest.raises(InputError, match="several quantities"):
        check_one_kind([(kind, {"T", "RH"})], {})


def test_words_and_numbers():
    assert flags({"Status": "a", "note": "b"}, None) == [
        "what 'Status' says of the rows is not used"
    ]
    assert flags({"Status": "a"}, "Status") == []
    assert (is_numeric(["1", "2", "OVER"]), is_numeric(["a", "1"]), is_numeric([])) == (
        True, False, False,
    )  # fmt: skip


@pytest.mark.parametrize("names", ["S1 S2", "1 2"])
def test_sensors_without_places_are_not_averaged(tmp_path, names):
    rows = "".join(f"{t},{name},20\n" for t in (0, 60) for name in names.split())
    with pytest.raises(
        InputError, match=r"'sensor' tells sensors apart.*sensors=\"positions.csv\""
    ):
        survey([write(tmp_path, f"time,sensor,value\n{rows}")])


@pytest.mark.parametrize("column", ["name", "Bezeichnung", "tag"])
def test_readings_that_words_tell_apart_are_not_averaged(tmp_path, column):
    rows = "".join(f"{t},0.1,{name},{20 + t}\n" for t in (0, 60, 120) for name in ("temp", "hum"))
    path = write(tmp_path, f"time,x,{column},value\n{rows}")
    with pytest.raises(InputError, match=rf"differ in '{column}' \(hum, temp ...\)"):
        survey([path], measured=("T",), axes=("x", "t"))
    again = write(tmp_path, f"time,x,{column},value\n{rows.replace('hum', 'temp')}")
    assert survey([again], measured=("T",)).repeated == 3  # nothing tells them apart
    moved = "".join(f"{t},0.{n},n{n},{20 + t}\n" for t in (0, 60) for n in (1, 2))
    assert survey([write(tmp_path, f"time,x,{column},value\n{moved}")]).repeated == 0
