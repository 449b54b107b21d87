"""Columns that are fields of an equation."""

from sensor_files import write

from pgt.io.fields import of_columns, of_sensors
from pgt.io.headings import parse_headings
from pgt.io.survey import survey


def test_numbered_sensors_are_all_of_one_field(tmp_path):
    text = "t,Temp 1 @ x=0.1,Temp 2 @ x=0.5,RH 1 @ x=0.1\n0,20,21,50\n60,22,23,51\n"
    found = survey([write(tmp_path, text, "a.csv")], measured=("T",), axes=("x", "t"))
    assert found.columns == {"T": "Temp*"}
    assert found.table.values["T"].tolist() == [20, 21, 22, 23]
    assert found.unused == ("RH 1 @ x=0.1",)


def test_fields_by_their_names():
    assert of_sensors(parse_headings(["TC1@x=1", "TC2@x=2"]), ("T",)) == {"T": "T"}
    assert of_sensors(parse_headings(["Temp@x=1", "p@x=1"]), ("p", "T")) == {"p": "p", "T": "Temp"}
    headings = parse_headings(["U", "Ux", "Uy", "hours"])
    assert of_columns(headings, ("u", "v"), ()) == {"u": "Ux", "v": "Uy"}
    assert of_columns(parse_headings(["hours", "C"]), ("u",), ()) == {"u": "C"}
