"""Tables say what the stored records say, and say when there is none."""

import pytest
from made_records import store_everything

from pgt_bench import results, tables
from pgt_bench.records import Records


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return store_everything(tmp_path_factory.mktemp("records"))


def row(text: str, start: str) -> list[str]:
    """The cells of the first row that starts like this."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start} |"))
    return [entry.strip() for entry in line.strip("|").split("|")]


def test_rows_of_table_two(everything):
    text = tables.wake(Records(everything))
    errors = ["1.0e-03", "2.0e-03", "1.0e-03", "3.0e-03", "2.0e-03"]
    assert row(text, "PINN") == ["PINN", "12,345", "100", *errors, "2.0e-06"]
    theirs = ["", "", "1.1e-01", "4.0e-02", "1.4e-01", "1.6e-01", "8.4e-04"]
    assert row(text, "paper: PINN") == ["paper: PINN", "336,000", *theirs]
    assert len([line for line in text.splitlines() if line.startswith("| paper")]) == 7
    hidden = text.split("Pressure never observed")[1]
    assert row(hidden, "PINN")[1:] == ["1.0e-03", "3.0e-03", "4.0e-03", "2.0e-06"]
    ways = text.split("All recipes, both budgets")[1]
    assert row(ways, "FNO")[1:] == ["1.0e-03"] * 5
    data_only = row(ways, "SIREN, data only")
    assert data_only[1:] == ["1.0e-03", "", *["1.0e-03"] * 3]


def test_every_row_has_all_cells_and_missing_runs_are_counted(everything, tmp_path):
    for make in results.SECTIONS.values():
        text = make(Records(tmp_path))
        assert "| – |" in text
        assert "Missing: " in text
        for part in (make(Records(everything)) + "\n\n" + text).split("\n\n"):
            lines = [line for line in part.splitlines() if line.startswith("|")]
            assert len({line.count("|") for line in lines}) <= 1
