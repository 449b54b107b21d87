"""Probes of OpenFOAM."""

import numpy as np
from sensor_files import write

from pgt.io import text
from pgt.io.probes import as_table
from pgt.io.survey import survey

HEADER = "# Probe 0 (0.1 0 0)\n# Probe 1 (0.5 0.2 0)\n#  Probe  0  1\n#  Time\n"


def test_vectors_are_components(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "LOOKED_AT", 6)  # the rest is read when it is asked for
    rows = [f" {n} ({n + 0.5} -1 0) ({n + 1.5} -2 0)\n" for n in range(5)]
    path = write(tmp_path, HEADER + "".join(rows), "U.dat")
    found = survey([path], measured=("u", "v", "p"), axes=("x", "y", "t"))
    assert (found.coords, found.columns["u"]) == (("x", "y", "t"), "Ux")
    assert "z left out, since it is 0 everywhere" in found.table.said
    np.testing.assert_array_equal(found.table.values["u"][:4], [0.5, 1.5, 1.5, 2.5])
    np.testing.assert_array_equal(found.table.values["v"], [-1, -2] * 5)
    np.testing.assert_array_equal(found.table.values["y"], [0, 0.2] * 5)


def test_other_comments_are_let_alone():
    lines, rest = [(1, "# Probe 0 (here)"), (2, "0 1")], iter(())
    assert as_table(lines, rest, "T.dat") == (lines, rest)
    assert as_table(lines[:1], rest, "T.dat") == (lines[:1], rest)
