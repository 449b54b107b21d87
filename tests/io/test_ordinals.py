"""Days counted from the first of January."""

import pytest
from sensor_files import write

from pgt.ground.errors import InputError
from pgt.io.ordinals import is_ordinal, ordinal_parts, with_date
from pgt.io.survey import survey


@pytest.mark.parametrize(
    ("heading", "rows"),
    [
        ("Year,DOY,Hour", ("2024,72,10", "2024,72,11")),
        ("Year,Julian Day,HourMinute", ("2024,72,1000", "2024,72,1100")),
        ("yr,jday,hr,mn", ("2024,072,10,0", "2024,072,11,0")),
        ("Year,DOY", ("2024,72.4166667", "2024,72.4583333")),
        ("YEAR,DOY,TIME", ("2024,72,1000", "2024,72,1100")),
    ],
)
def test_a_year_a_day_and_a_time_of_day(tmp_path, heading, rows):
    text = f"{heading},x,T\n{rows[0]},0.1,20\n{rows[0]},0.5,21\n{rows[1]},0.1,22\n"
    found = survey([write(tmp_path, text)], measured=("T",), axes=("x", "t"))
    assert (found.coords, found.fields, found.unused) == (("x", "t"), ("T",), ())
    assert found.table.origin == {"t": "2024-03-12T10:00:00"}
    assert found.table.values["t"].tolist() == [0, 0, 3600]


def test_the_seventh_day_is_no_july(tmp_path):
    text = "Year,DOY,Hour,x,T\n2024,7,10,0.1,20\n2024,7,11,0.1,21\n"
    assert survey([write(tmp_path, text)]).table.origin == {"t": "2024-01-07T10:00:00"}


def test_what_is_no_day_of_a_year():
    for parts in (("2024", "367"), ("24", "7"), ("2024", "soon"), ("2024", "0")):
        with pytest.raises(InputError, match=r"line 5: .* is no year and day of the year"):
            with_date(parts, 5)
    assert with_date(("", "", ""), 5) == ""
    assert with_date(("2024", "366.0", "24"), 5) == "2024-12-31 24"


def test_other_columns_are_no_days_of_a_year():
    assert ordinal_parts(["Year", "Month", "DOY", "Hour"]) == []
    assert ordinal_parts(["Year", "Day", "Hour"]) == []  # of which month?
    assert not is_ordinal(["Date", "Time"])
