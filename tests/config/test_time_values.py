"""Dates in [domain]."""

import pytest

from pgt.config import load_run
from pgt.config.parts import Parts
from pgt.core.errors import InputError

RUN = """
[observations]
file = "rod.csv"
coords = ["x", "t"]
fields = ["u"]
{units}
[domain]
x = [0, 1]
t = {t}
[pde]
name = "heat"
diffusivity = 0.01
[output]
grid = {{t = [0.0, 60.0]}}
"""
STAMPS = "2024-03-01 06:00", "2024-03-04 00:00"
DAYS = '["2024-03-01", "2024-03-08"]'


@pytest.fixture
def parts_of(tmp_path):
    def build(t, units="", stamps=STAMPS):
        lines = [f"{x},{stamp},1" for x, stamp in zip((0.1, 0.5), stamps, strict=True)]
        (tmp_path / "rod.csv").write_text("\n".join(["x,t,u", *lines]))
        (tmp_path / "run.toml").write_text(RUN.format(t=t, units=units))
        return Parts(load_run(tmp_path / "run.toml"))

    return build


@pytest.mark.parametrize(
    "t", [DAYS, "[2024-03-01, 2024-03-08]", '["2024-03-01T01:00+01:00", "2024-03-08T00:00Z"]']
)
def test_dates_count_as_the_readings_do(parts_of, t):
    parts = parts_of(t)
    low, high = parts.domain.bounds("t")
    assert (low, high) == pytest.approx((-6 * 3600, (7 * 24 - 6) * 3600))  # from the first reading
    parts.observations.check_inside(parts.domain)


def test_they_are_in_the_unit_and_from_the_moment_asked_for(parts_of):
    parts = parts_of(DAYS, 'units = {t = "d since 2024-02-29"}')
    assert tuple(parts.domain.bounds("t")) == pytest.approx((1.0, 8.0))


@pytest.mark.parametrize(
    ("t", "stamps", "words"),
    [
        (DAYS, ("0", "1"), r"run.toml, line 9, domain.t: .*the time of the readings is a number"),
        ('["2024-03-08", "2024-03-01"]', STAMPS, "2024-03-08 is not before 2024-03-01"),
        ('["2024-03-01", "soon"]', STAMPS, '"soon" is no date'),
        ('["2024-03-41", "2024-04-01"]', STAMPS, '"2024-03-41" is no date'),
        ('["now", "later"]', STAMPS, r"write a number, such as 0.1, or dates, such as \["),
        ('["2024-03-01"]', STAMPS, "write at least 2"),
    ],
)
def test_mistakes_name_file_line_and_key(parts_of, t, stamps, words):
    with pytest.raises(InputError, match=words):
        _ = parts_of(t, stamps=stamps).domain


def test_readings_outside_the_dates_are_refused(parts_of):
    with pytest.raises(InputError, match="outside"):
        _ = parts_of('["2024-03-01", "2024-03-02"]').observations
