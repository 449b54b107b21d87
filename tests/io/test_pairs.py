"""Names and values in every line."""

import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io.survey import survey


@pytest.mark.parametrize(
    "row",
    ["t:{t}\tx:{x}\tT:{T}", "t={t}, x={x}, T={T}", "2024-03-12T10:0{m}:00Z x=0.1 T={T}",
     "t: {t} x: {x} T: {T}"],
)  # fmt: skip
def test_names_in_every_line_are_the_heading(tmp_path, row):
    lines = [row.format(t=60 * m, m=m, x=0.1, T=20.5 + m) for m in range(3)]
    found = survey([write(tmp_path, "\n".join(lines) + "\n\n")], measured=("T",))
    assert found.table.values["t"].tolist() == [0, 60, 120]
    assert found.table.values["x"].tolist() == [0.1] * 3
    assert found.table.values["T"].tolist() == [20.5, 21.5, 22.5]


def test_a_line_that_differs_is_named(tmp_path):
    good = "".join(f"t:{n} x:1 T:5\n" for n in range(30))
    with pytest.raises(
        InputError, match="line 31 does not have the names of the lines above, t, x"
    ):
        survey([write(tmp_path, good + "t:5 T:5 x:1\n")])
