"""Tables say what the stored records say, and say when there is none."""

import dataclasses

import pytest
from made_records import a_run, made, store, store_everything

from pgt_bench import paper, results, tables
from pgt_bench.records import Records
from pgt_bench.tables import PARAMETERS, PRESSURE_COLUMNS, WAKE_COLUMNS, Column, velocity_error


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return store_everything(tmp_path_factory.mktemp("records"))


def row(text: str, start: str) -> list[str]:
    """The cells of the first row that starts like this."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start} |"))
    return [entry.strip() for entry in line.strip("|").split("|")]


def test_rows_of_table_one(everything):
    text = tables.heat(Records(everything))
    ours = ["PGT, exact attention", "ours", *["5.0e-04"] * 3, "12,345"]
    assert row(text, "PGT, exact attention | ours") == ours
    theirs = ["paper: PGT", "", "5.9e-03", "2.8e-03", "2.6e-03", "405,000,000"]
    assert row(text, "paper: PGT") == theirs
    for closed in ("RBF (scipy)", "Features (sines, one solve)"):
        assert row(text, closed)[1:5] == ["", *["5.0e-04"] * 3]
    assert "three modes, readings only, 5 % noise" in text
    assert "Measured on H, `abc`. 3 seeds per run." in text
    assert "Missing" not in text


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


def test_rows_of_tables_three_four_and_ours(everything):
    shown = Records(everything)
    text = tables.ablation(shown)
    cells = ["1.0e-03", "7.0e-07", "3.0e-04", "2.0e-06", "1.3e-02"]
    assert row(text, "No attention bias")[1:] == cells
    noisy = row(tables.noise(shown), "0.1")
    assert noisy[1:] == ["2.0e-03", "5.1e-02", "2.0e-03", "1.6e-01", "1.10", "0.90"]
    text = tables.gamma(shown)
    assert row(text, "5 % | heat, non-causal")[2:] == ["1.00e-03"] * 4
    assert text.count("advection–diffusion") == 2, "nothing drifts in the heat equation"
    assert "seeds of a cell: 3.0 in the median, 3 at most" in text


def test_every_row_has_all_cells_and_missing_runs_are_counted(everything, tmp_path):
    for make in results.SECTIONS.values():
        text = make(Records(tmp_path))
        assert "| – |" in text
        assert "Missing: " in text
        for part in (make(Records(everything)) + "\n\n" + text).split("\n\n"):
            lines = [line for line in part.splitlines() if line.startswith("|")]
            assert len({line.count("|") for line in lines}) <= 1


def test_missing_runs_are_named_with_the_command_that_makes_them(tmp_path):
    shown = Records(tmp_path)
    runs = shown.runs("ablation")
    store(tmp_path, runs[0], made(runs[0]))
    store(
        tmp_path,
        runs[1],
        {k: v for k, v in made(runs[1]).items() if k != "errors"} | {"failed": "?"},
    )
    text = tables.ablation(shown)
    assert "Missing: 19 of 21 runs; `pgt bench ablation --preset gpu --seeds 3` makes them." in text
    assert "Failed: no-pde: ?." in text
    assert row(text, "No PDE loss")[1] == "failed"
    second = dataclasses.replace(runs[0], seed=1)
    store(tmp_path, second, made(second, 3e-3))
    text = tables.ablation(shown)
    assert row(text, "PGT (full)")[1] == "2.0e-03"
    assert "seeds of a cell: 3.0 in the median" in text
    assert "Seeds: 1 for 1 runs, 2 for 1 runs." in text


def test_overall_of_the_paper_is_the_mean_of_the_fields_in_five_rows():
    means = {n: (r["u"] + r["v"] + r["p"]) / 3 for n, r in paper.WAKE.items()}
    agree = {n for n, r in paper.WAKE.items() if abs(means[n] / r["overall"] - 1) < 0.04}
    assert agree == set(paper.WAKE) - {"FNO", "PI-DeepONet"}
    assert paper.ABLATION["pgt-anchors"]["train_error"] == paper.WAKE["PGT"]["train_error"]


def test_a_column_writes_theirs_as_printed():
    assert PARAMETERS.of_paper({"parameters": 405_000_000}) == "405,000,000"
    assert Column("time", "seconds", paper="seconds").of_paper({"seconds": "9.5 min"}) == "9.5 min"
    assert Column("nothing of theirs", "steps").of_paper({"steps": 3}) == ""


def test_the_error_of_table_four_is_the_mean_of_both_velocities():
    assert velocity_error(made(a_run(), 1e-3)) == pytest.approx(2e-3)
    assert velocity_error({"errors": {"snapshot": {"relative_l2": {"u": 1.0}}}}) is None


def test_every_column_finds_its_number_and_has_a_title_of_its_own():
    record = made(a_run())
    for columns in (WAKE_COLUMNS, PRESSURE_COLUMNS):
        assert all(column.of([record]) for column in columns)
        assert len({column.title for column in columns}) == len(columns)
