"""Times that count from a moment which nobody says."""

import numpy as np
import pytest
from sensor_files import write

from pgt.io import read_columns
from pgt.io.epochs import doubt

MOMENT = 1710237600.0  # 2024-03-12 10:00 UTC


@pytest.mark.parametrize(
    ("first", "step", "unit"),
    [
        (MOMENT, 60.0, "seconds since 1970-01-01"),
        (1e3 * MOMENT, 6e4, "milliseconds since 1970-01-01"),
        (MOMENT / 86400 + 25569, 1 / 1440, "days since 1899-12-30"),
        (MOMENT + 2082844800, 60.0, "seconds since 1904-01-01"),
    ],
)
def test_what_is_said_can_be_written(tmp_path, first, step, unit):
    rows = "".join(f"0,{first + n * step!r},{n}\n" for n in range(3))
    path, names = write(tmp_path, f"x,t,u\n{rows}"), {"coords": ("x", "t"), "fields": ("u",)}
    found = read_columns(path, **names)
    assert found.said[-1].endswith(f"if so, write units = {{t = '{unit}'}}")
    said = read_columns(path, **names, units={"t": unit})
    assert said.units["t"].endswith(unit.partition(" ")[2])
    assert not any("may" in word for word in said.said)


def test_days_of_matlab():
    assert "t - 719529 are days since 1970" in str(
        doubt(MOMENT / 86400 + np.array([719529.0, 719530]))
    )


@pytest.mark.parametrize(("zero", "name"), [(2440587.5, "Julian"), (40587, "modified Julian")])
def test_days_of_astronomers(zero, name):
    found = str(doubt(MOMENT / 86400 + np.array([zero, zero + 1])))
    assert f"the {name} number of the day: if so, t - {zero} are days since 1970" in found


@pytest.mark.parametrize(
    "times", [[0, 60], [0.0, 1e9], [45000, 90000], [np.nan, np.nan], [-5, 5], []]
)
def test_times_from_zero_raise_no_doubt(times):
    assert doubt(np.array(times, float)) is None


def test_dates_without_a_century_are_doubted():
    assert "write them as 2024-03-12" in (doubt(np.array([240312.0, 240313.0])) or "")
    for times in ([100000.0, 100060.0], [240312.0, 240332.0], [240312.5, 240313.0], [240312.0]):
        assert doubt(np.array(times)) is None


def test_numbers_with_a_unit_are_doubted_too(tmp_path):
    path = write(tmp_path, f"time [s],x,T\n{MOMENT},1,20\n{MOMENT + 60},1,21\n", "a.csv")
    found = read_columns(path, coords=("x", "t"), fields=("T",), columns={"t": "time"})
    assert "seconds since 1970-01-01" in found.said[-1]
    assert doubt(np.array([45363.0, 45364.0]), "h") is None
