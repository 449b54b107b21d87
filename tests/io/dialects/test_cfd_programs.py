"""Probes of OpenFOAM. Curves that Fluent plots to files. Exports of CFX in sections."""

import numpy as np
import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import text
from pgt.io.dialects.cfd_programs import convert_openfoam_probes
from pgt.io.survey import survey

HEADER = "# Probe 0 (0.1 0 0)\n# Probe 1 (0.5 0.2 0)\n#  Probe  0  1\n#  Time\n"


def test_vectors_are_components(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "SAMPLE_LINES", 6)  # the rest is read when it is asked for
    rows = [f" {n} ({n + 0.5} -1 0) ({n + 1.5} -2 0)\n" for n in range(5)]
    path = write(tmp_path, HEADER + "".join(rows), "U.dat")
    found = survey([path], measured=("u", "v", "p"), axes=("x", "y", "t"))
    assert (found.coords, found.columns["u"]) == (("x", "y", "t"), "Ux")
    assert "z left out, since it is 0 everywhere" in found.table.notes
    np.testing.assert_array_equal(found.table.values["u"][:4], [0.5, 1.5, 1.5, 2.5])
    np.testing.assert_array_equal(found.table.values["v"], [-1, -2] * 5)
    np.testing.assert_array_equal(found.table.values["y"], [0, 0.2] * 5)


def test_other_comments_are_let_alone():
    lines, rest = [(1, "# Probe 0 (here)"), (2, "0 1")], iter(())
    assert convert_openfoam_probes(lines, rest, "T.dat") == (lines, rest)
    assert convert_openfoam_probes(lines[:1], rest, "T.dat") == (lines[:1], rest)


HEADER_curves = '(title "Static Temperature")\n(labels "Position" "Static Temperature")\n\n'
CURVE = '((xy/key/label "centreline")\n0\t300\n0.00999999978\t301.5\n0.0199999996\t303.25\n)\n'


def test_one_curve_is_a_table(tmp_path):
    found = survey([write(tmp_path, HEADER_curves + CURVE, "t.xy")], measured=("T",), axes=("x",))
    assert found.columns == {"x": "Position", "T": "Static Temperature"}
    assert found.table.values["x"].tolist() == [0.0, 0.00999999978, 0.0199999996]
    assert found.table.values["T"].tolist() == [300.0, 301.5, 303.25]
    assert found.table.lines.tolist() == [5, 6, 7]


def test_of_several_nothing_says_where_each_is(tmp_path):
    with pytest.raises(InputError, match="line 9 begins another curve"):
        survey([write(tmp_path, HEADER_curves + 2 * CURVE, "t.xy")])


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


def test_labels_may_be_times(tmp_path):
    curve = '((xy/key/label "t={} s")\n0\t300\n0.25\t301\n)\n'
    path = write(tmp_path, HEADER_curves + curve.format(0) + curve.format(10), "t.xy")
    found = survey([path], measured=("T",), axes=("x", "t"))
    assert found.table.values["t"].tolist() == [0, 0, 10, 10]
    assert found.table.units == {"t": "s"}


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
