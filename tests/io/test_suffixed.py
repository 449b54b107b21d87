"""Numbers with their units in the cells."""

import numpy as np
import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io.suffixed import amount
from pgt.io.survey import survey

HEADING = "t;x;T\n"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("0 s;0,1 m;21,5 °C\n60 s;0,5 m;22,5 °C\n", "semicolons, units in cells, decimal commas"),
        ("0 s;0.1m;21.5°C\n1 min;50 cm;295.65 K\n", "semicolons, units in cells"),
    ],
)
def test_units_in_cells_are_those_of_their_column(tmp_path, rows, said):
    found = survey([write(tmp_path, "made by hand\n\n" + HEADING + rows)], measured=("T",))
    assert found.table.units == {"x": "m", "t": "s", "T": "°C"}
    assert ", ".join(word for word in found.table.said if "above" not in word) == said
    np.testing.assert_allclose(found.table.values["T"], [21.5, 22.5])
    np.testing.assert_allclose(found.table.values["x"], [0.1, 0.5])
    np.testing.assert_allclose(found.table.values["t"], [0, 60])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t;x;T\n0;1;20 °C\n0;2;21\n", r"line 3, column 'T': '21' is not in '°C', as others are"),
        ("t;x;T\n0;1;20 °C\n0;2;21 Pa\n", r"'21 Pa' is not in '°C'"),
        ("t;x;T [K]\n0;1;20 °C\n0;2;21 °C\n", r"says 'K', and its cells '°C', as in '20 °C'"),
        ("t;x;T\n0;1;20 °C\n0;2;warm\n0;3;5 °C\n", r"line 3, column 'T': 'warm' is not a number"),
    ],
)
def test_cells_that_do_not_fit_are_named(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, text)], measured=("T",))


def test_no_reading_among_them_is_hidden(tmp_path):
    found = survey([write(tmp_path, "t;x;T\n0;1;20 °F\n0;2;OVER\n0;3;\n0;4;70 F\n")])
    np.testing.assert_allclose(found.table.values["T"], [20, np.nan, np.nan, 70])
    assert found.table.units["T"] == "°F"


def test_lengths_in_headings_stay_places(tmp_path):
    found = survey([write(tmp_path, "t;5 cm;10 cm\n0;20 °C;21 °C\n60;22 °C;23 °C\n")])
    assert (found.coords, found.table.units["x"]) == (("x", "t"), "cm")
    assert found.table.values[found.fields[0]].tolist() == [20, 21, 22, 23]


@pytest.mark.parametrize(
    "cell", ["1A", "TC 1", "12:30", "2024-03-12", "5", "", "3 apples", "1d 02:00:00"]
)
def test_what_is_no_amount(cell):
    assert amount(cell) is None
