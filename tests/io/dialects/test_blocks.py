"""Rows below lines that say their time or place."""

import pytest
from sensor_files import write

from pgt.core.errors import InputError
from pgt.io import text
from pgt.io.survey import survey

ROWS = [(0.1, 0, 20.5), (0.5, 0, 21.5), (0.1, 60, 22.5), (0.5, 60, 23.5)]


def blocks(marker, heading, mark=" ", top=""):
    said = {t: marker.format(t=t, clock=f"10:0{t // 60}:00") for t in (0, 60)}
    rows = {t: "".join(f"{x}{mark}{T}\n" for x, at, T in ROWS if at == t) for t in (0, 60)}
    return top + "".join(f"{said[t]}\n{heading}{rows[t]}\n" for t in (0, 60))


@pytest.mark.parametrize(
    ("content", "unit"),
    [
        (blocks("# t = {t}", "# x T\n"), None),
        (blocks("# snapshot at t={t} s", "# x T\n"), "s"),
        (blocks("% time: {t} s", "", ",", "x,T\n"), "s"),
        (blocks("Time = {t}", "x T\n"), None),
        (blocks("TIMESTEP 3 TIME = {t}.0", "", top="x T\n"), None),
        (blocks("# t = {t},0 s", "x;T\n", ";").replace(".", ","), "s"),
        (blocks("# 2024-03-12 {clock}", "", ";", "x;T\n"), "seconds since 2024-03-12T10:00:00"),
        (blocks("# Time: 2024-03-12 {clock}", "# x T\n"), "seconds since 2024-03-12T10:00:00"),
    ],
)
def test_the_time_of_a_block_is_that_of_its_rows(tmp_path, content, unit):
    found = survey([write(tmp_path, content)], measured=("T",), axes=("x", "t"))
    values = found.table.values
    assert [*zip(values["x"], values["t"], values["T"], strict=True)] == ROWS
    assert found.table.units.get("t") == unit
    assert found.repeated == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("t,T\n0,20\n# moved to x=0.5\n1,21\n", r"line 3 gives x = 0\.5"),
        ("# x = 1 m\nt,T\n0,20\n# x = 5 cm\n1,21\n", r"line 4 gives x = 5 cm"),
    ],
)
def test_what_is_said_of_some_rows_only_is_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        survey([write(tmp_path, content)])


def test_another_place_far_below_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "SAMPLE_LINES", 4)
    path = write(tmp_path, "# x = 0.1\nt,T\n0,20\n1,21\n2,22\n# x = 0.5\n0,20\n")
    with pytest.raises(InputError, match=r"line 6 gives x = 0\.5"):
        survey([path])
