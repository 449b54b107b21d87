"""Tables of R with names of rows, and of EasyLog with a serial number. Names and values in every line."""

import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import text
from pgt.io.survey import survey


@pytest.mark.parametrize("looked_at", [2, 5000])
@pytest.mark.parametrize("mark", [" ", "\t", ","])
def test_r_names_its_rows(tmp_path, monkeypatch, looked_at, mark):
    monkeypatch.setattr(text, "SAMPLE_LINES", looked_at)
    lines = '"x" "t" "u"\n"1" 0.1 0 20.5\n"2" 0.5 0 21\n"3" 0.1 60 NA\n'
    found = survey([write(tmp_path, lines.replace(" ", mark), "a.txt")])
    assert (found.coords, found.fields, found.unused) == (("x", "t"), ("u",), ())
    assert found.table.values["x"].tolist() == [0.1, 0.5, 0.1]
    assert found.hidden == {"u": (1, 3)}


def test_the_serial_number_stands_in_the_first_row_alone(tmp_path):
    rows = "1,2024-03-12 10:00:00,20.5,010012345\n2,2024-03-12 10:01:00,22.0\n"
    path = write(tmp_path, "EL-USB-TC x=0.1,Time,Celsius(°C),Serial Number\n" + rows, "a.txt")
    found = survey([path], measured=("T",))
    assert found.columns["T"] == "Celsius(°C)"
    assert found.table.values["T"].tolist() == [20.5, 22.0]
    full = "x,t,T,Serial Number\n0.1,0,20,7\n0.5,0,21,7\n"
    assert survey([write(tmp_path, full, "b.csv")]).unused == ()


def test_binary_tables_are_named(tmp_path):
    path = tmp_path / "a.dat"
    path.write_bytes(b'"TOB1","CR1000"\n"SECONDS","RECORD"\n\x00\x01\x02\xff\xfe')
    with pytest.raises(InputError, match=r"binary table of Campbell.*TOA5"):
        survey([path])


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
