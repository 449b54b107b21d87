"""Columns pick a number of a record and write it as the table does."""

import pytest
from made_records import a_run, made

from pgt.bench.columns import (
    GIGAFLOPS,
    HEAT_COLUMNS,
    PARAMETERS,
    PRESSURE_COLUMNS,
    TRAIN,
    WAKE_COLUMNS,
    Column,
    training_seconds,
    velocity_error,
)


def test_a_column_writes_ours_in_its_unit_and_theirs_as_printed():
    assert GIGAFLOPS.of([made(a_run())]) == "2.5"
    assert PARAMETERS.of_paper({"parameters": 405_000_000}) == "405,000,000"
    assert TRAIN.of_paper({"seconds": "9.5 min"}) == "9.5 min"
    assert Column("nothing of theirs", "steps").of_paper({"steps": 3}) == ""


def test_a_reference_has_only_the_seconds_of_everything():
    assert training_seconds(made(a_run())) == 25.0
    assert training_seconds(made(a_run("rbf"))) == 1.25
    assert training_seconds({"failed": "?"}) is None


def test_the_error_of_table_four_is_the_mean_of_both_velocities():
    assert velocity_error(made(a_run(), 1e-3)) == pytest.approx(2e-3)
    assert velocity_error({"errors": {"snapshot": {"relative_l2": {"u": 1.0}}}}) is None


@pytest.mark.parametrize("columns", [HEAT_COLUMNS, WAKE_COLUMNS, PRESSURE_COLUMNS])
def test_every_column_finds_its_number_and_has_a_title_of_its_own(columns):
    record = made(a_run())
    assert all(column.of([record]) for column in columns)
    assert len({column.title for column in columns}) == len(columns)
