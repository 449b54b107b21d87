"""Probes of OpenFOAM. Curves that Fluent plots to files. Exports of CFX in sections."""

import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import text
from pgt.io.survey import survey

HEADER_curves = '(title "Static Temperature")\n(labels "Position" "Static Temperature")\n\n'


def test_labels_say_where_each_is(tmp_path):
    curve = '((xy/key/label "line-x={}")\n0\t{}\n0.25\t301\n)\n\n'
    text = HEADER_curves + curve.format(0.5, 300) + curve.format(1.5, 310)
    path = write(tmp_path, text, "t.xy")
    found = survey([path], measured=("T",), axes=("x", "y"))
    assert found.coords == ("x", "y")
    values = found.table.values
    assert values["x"].tolist() == [0.5, 0.5, 1.5, 1.5]
    assert values["y"].tolist() == [0, 0.25, 0, 0.25]
    assert values["T"].tolist() == [300, 301, 310, 301]
    with pytest.raises(InputError, match=r'line 9 begins another curve.*"x=0.5"'):
        survey([write(tmp_path, text.replace("line-x=1.5", "outlet"), "t.xy")])


HEADING = "X [ m ], Y [ m ], Temperature [ K ]\n"
LINE = "\n[Name]\nLine {}\n\n[Data]\n{}{}\n[Lines]\n0, 1\n"


@pytest.mark.parametrize("looked_at", [9, 5000])
def test_all_data_are_one_table(tmp_path, monkeypatch, looked_at):
    monkeypatch.setattr(text, "SAMPLE_LINES", looked_at)
    lines = LINE.format(1, HEADING, "0,0.5,300\n1,0.5,null\n")
    lines += LINE.format(2, HEADING, "0,1.5,302\n1,1.5,303\n")
    found = survey([write(tmp_path, lines)], measured=("T",), axes=("x", "y"))
    assert found.table.values["y"].tolist() == [0.5, 0.5, 1.5, 1.5]
    assert found.hidden == {"T": (1, 4)}
    assert found.table.units == {"x": "m", "y": "m", "T": "K"}
    assert found.table.lines.tolist() == [7, 8, 18, 19]


def test_other_data_are_refused(tmp_path):
    lines = LINE.format(1, HEADING, "0,0.5,300\n1,0.5,301\n")
    lines += LINE.format(2, HEADING.replace("Temperature [ K ]", "Pressure [ Pa ]"), "0,1.5,302\n")
    with pytest.raises(InputError, match="line 17 is another heading than that of the first"):
        survey([write(tmp_path, lines)])
