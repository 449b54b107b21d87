"""Names of columns in several rows."""

from pgt.io.stacked import named


def test_merged_cells_take_the_name_above():
    assert named(["", "x=0.1"], [["Date", "Temperature"]]) == ["Date", "x=0.1"]
    assert named(["", "x"], [["Title"]]) == ["", "x"]
    groups = [["", "T", "", "p", ""]]
    assert named(["t", "x=0.1", "x=0.5", "x=0.1", "x=0.5"], groups)[3] == "p x=0.1"
    assert named(["t", "x=0.1"], [["Rod 3", ""]]) == ["t", "x=0.1"]
