"""Curves that Fluent plots to files."""

import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io.survey import survey

HEADER = '(title "Static Temperature")\n(labels "Position" "Static Temperature")\n\n'
CURVE = '((xy/key/label "centreline")\n0\t300\n0.00999999978\t301.5\n0.0199999996\t303.25\n)\n'


def test_one_curve_is_a_table(tmp_path):
    found = survey([write(tmp_path, HEADER + CURVE, "t.xy")], measured=("T",), axes=("x",))
    assert found.columns == {"x": "Position", "T": "Static Temperature"}
    assert found.table.values["x"].tolist() == [0.0, 0.00999999978, 0.0199999996]
    assert found.table.values["T"].tolist() == [300.0, 301.5, 303.25]
    assert found.table.lines.tolist() == [5, 6, 7]


def test_of_several_nothing_says_where_each_is(tmp_path):
    with pytest.raises(InputError, match="line 9 begins another curve"):
        survey([write(tmp_path, HEADER + 2 * CURVE, "t.xy")])


def test_labels_say_where_each_is(tmp_path):
    curve = '((xy/key/label "line-x={}")\n0\t{}\n0.25\t301\n)\n\n'
    text = HEADER + curve.format(0.5, 300) + curve.format(1.5, 310)
    path = write(tmp_path, text, "t.xy")
    found = survey([path], measured=("T",), axes=("x", "y"))
    assert found.coords == ("x", "y")
    values = found.table.values
    assert values["x"].tolist() == [0.5, 0.5, 1.5, 1.5]
    assert values["y"].tolist() == [0, 0.25, 0, 0.25]
    assert values["T"].tolist() == [300, 301, 310, 301]
    with pytest.raises(InputError, match=r'line 9 begins another curve.*"x=0.5"'):
        survey([write(tmp_path, text.replace("line-x=1.5", "outlet"), "t.xy")])


def test_labels_may_be_times(tmp_path):
    curve = '((xy/key/label "t={} s")\n0\t300\n0.25\t301\n)\n'
    path = write(tmp_path, HEADER + curve.format(0) + curve.format(10), "t.xy")
    found = survey([path], measured=("T",), axes=("x", "t"))
    assert found.table.values["t"].tolist() == [0, 0, 10, 10]
    assert found.table.units == {"t": "s"}
