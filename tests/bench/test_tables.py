"""Tables and figures say what the stored records say, and say when there is none."""

import copy
import dataclasses
import json
from pathlib import Path

import fresh_python
import numpy as np
import pytest
import xarray as xr

from pgt.bench import experiments, paper, records, results, tables
from pgt.bench.figures import FIGURES
from pgt.bench.methods import REFERENCES
from pgt.bench.records import Records, cell
from pgt.bench.runner import record_path
from pgt.ground.errors import InputError
from pgt.training.loop import DIVERGED

ROOT = fresh_python.ROOT
STORED = ROOT / "benchmarks" / "results" / "tables"
PAGE = ROOT / "docs" / "results.md"


def measures(error: float) -> dict:
    return {
        "relative_l2": {"u": error, "v": 3 * error, "p": 2 * error},
        "overall": {"stacked": error, "mean": 2 * error},
        "p_without_mean": 4 * error,
    }


def made(run: experiments.Run, error: float = 1e-3) -> dict:
    """A record as the runner writes it, with numbers of our choice."""
    steps = [1, 10, 100]
    about = {
        "run": {"method": run.method, "seed": run.seed, "name": run.name},
        "device": "gpu: H", "processor": "P", "cpu_count": 2, "commit": "abc",
        "errors": {"snapshot": measures(error), "volume": measures(error / 2)},
    }  # fmt: skip
    if run.method in REFERENCES:
        return about | {"seconds": {"all": 1.25}}
    terms = ("data", "heat", "bc", "ic")
    curves = {name: [1.0, 0.1, error**2] for name in terms}
    weights = {name: [1.0, 2.0, 3.0] for name in terms}
    return about | {
        "parameters": 12345,
        "cost": {"flops": 2.5e9, "peak_bytes": 3e6},
        "seconds": {"compile": 5.0, "train": 25.0, "polish": 0.0, "all": 26.0},
        "steps": 100,
        "stopped": "budget spent",
        "residual": 2e-6,
        "train_error": 7e-7,
        "sigma_ratio": {"u": 1.1, "v": 0.9} if run.method == "pgt-uw" else None,
        "history": {"step": steps, "held_out": [None] * 3, "loss": curves, "weight": weights},
    }


def store(folder: Path, run: experiments.Run, record: dict) -> None:
    path = record_path(folder, run)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")


@pytest.fixture(scope="module")
def everything(tmp_path_factory) -> Path:
    """A record for every run of every table, three seeds for the kernels."""
    folder = tmp_path_factory.mktemp("records")
    shown = Records(folder)
    for table in experiments.TABLES:
        seeds = records.SEEDS if table == "gamma" else (0,)
        for run in shown.runs(table):
            for seed in seeds:
                seeded = dataclasses.replace(run, seed=seed)
                store(folder, seeded, made(seeded, 1e-3 * (seed + 1)))
    for run in shown.runs("wake"):
        if run.method == "pgt-anchors":
            fields = dict.fromkeys(("u", "v", "p"), np.zeros((50, 100), np.float32))
            np.savez(shown.path(run).with_suffix(".npz"), **fields)
    return folder


def row(text: str, start: str) -> list[str]:
    """The cells of the first row that starts like this."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start} |"))
    return [entry.strip() for entry in line.strip("|").split("|")]


def a_run(method="pinn") -> experiments.Run:
    return next(r for r in Records(Path()).runs("wake") if r.method == method)


def test_a_history_is_read_as_it_is_written_now_and_as_it_once_was():
    """Side by side, a prefix for the weights; null is what was no finite number."""
    new = made(a_run())["history"]
    weights = {f"weight_{name}": column for name, column in new["weight"].items()}
    old = {"step": new["step"], "held_out": new["held_out"]} | new["loss"] | weights
    ours, theirs = (records.history_of({"history": stored}) for stored in (new, old))
    xr.testing.assert_identical(ours, theirs)
    assert np.isnan(ours.held_out).all()
    assert ours.loss.sel(term="heat").values.tolist() == [1.0, 0.1, 1e-6]
    assert records.history_of({"failed": "?"}).sizes["step"] == 0


# ------------------------------------------------------------------------------- one cell


def test_a_cell_is_the_mean_with_its_spread_and_owns_up_to_what_went_wrong():
    good, better = made(a_run(), 2e-3), made(a_run(), 1e-3)
    error = "errors.snapshot.overall.stacked"
    assert cell([], error) == "–"
    assert cell([good], error) == "2.0e-03"
    assert cell([good, better], error) == "1.5e-03 (1.0e-03–2.0e-03)"
    assert cell([good, better], error, spread=False) == "1.5e-03"
    assert cell([good], "cost.flops", ".3g", unit=1e9) == "2.5"
    diverged = good | {"stopped": DIVERGED}
    assert cell([diverged], error) == "2.0e-03, diverged"
    assert cell([diverged, better], error).endswith("1 of 2 diverged")
    failed = {"run": good["run"], "failed": "out of memory"}
    assert cell([failed], error) == "failed"
    assert cell([failed], tables.velocity_error) == "failed"
    assert cell([failed, good], error) == "2.0e-03, 1 of 2 failed"
    empty = copy.deepcopy(good)
    empty["errors"]["snapshot"]["overall"]["stacked"] = None
    assert cell([empty], error) == "not finite"
    assert cell([good | {"residual": None}], "residual") == "not finite"


def test_a_number_without_meaning_is_left_empty():
    reference = made(a_run("rbf"))
    assert cell([reference], "residual") == ""
    assert cell([reference], "cost.flops") == ""
    assert cell([made(a_run())], "sigma_ratio.u") == ""


# ------------------------------------------------------------------------------- tables


def test_rows_of_table_one(everything):
    text = tables.heat(Records(everything))
    ours = [
        "PGT, exact attention",
        "ours",
        "seconds",
        "7.0e-07",
        "2.0e-06",
        "5.0e-04",
        "2.5",
        "100",
    ]
    assert row(text, "PGT, exact attention | ours | seconds") == [*ours, "5", "25", "0", "12,345"]
    assert text.count("| PINN | authors' | steps |") == 3
    theirs = ["paper: PGT", "", "", "7.6e-05", "6.6e-02", "5.9e-03", "116", "", "", "9.5 min", ""]
    assert row(text, "paper: PGT") == [*theirs, "405,000,000"]
    assert row(text, "RBF (scipy)")[3:6] == ["", "", "5.0e-04"]
    assert "three modes, readings only, 5 % noise" in text
    assert "Measured on gpu: H (P, 2 cores), commit `abc`. 1 seed per run." in text
    assert "Missing" not in text


def test_rows_of_table_two(everything):
    text = tables.wake(Records(everything))
    errors = ["1.0e-03", "2.0e-03", "1.0e-03", "3.0e-03", "2.0e-03", "5.0e-04"]
    ours = ["PINN", "12,345", "2.5", "5", "25", "100", *errors, "2.0e-06", "7.0e-07", "3"]
    assert row(text, "PINN") == ours
    theirs = ["", "1.1e-01", "4.0e-02", "1.4e-01", "1.6e-01", "", "8.4e-04", "1.2e-03", ""]
    assert row(text, "paper: PINN") == ["paper: PINN", "336,000", "1.6", "", "2.6 min", "", *theirs]
    assert len([line for line in text.splitlines() if line.startswith("| paper")]) == 7
    hidden = text.split("Pressure never observed")[1]
    assert row(hidden, "PINN")[1:4] == ["1.0e-03", "3.0e-03", "4.0e-03"]
    ways = text.split("Both recipes, both budgets")[1]
    assert row(ways, "FNO")[1:9] == ["1.0e-03", "2.0e-06"] * 4


def test_rows_of_tables_three_four_and_ours(everything):
    shown = Records(everything)
    text = tables.ablation(shown)
    cells = ["1.0e-03", "7.0e-07", "3.00e-04", "2.0e-06", "1.30e-02", "100"]
    assert row(text, "No attention bias")[1:] == cells
    cells = ["2.0e-03", "5.12e-02", "2.0e-03", "1.55e-01", "2.0e-06", "1.92e-03"]
    noisy = row(tables.noise(shown), "0.1")
    assert noisy[1:] == [*cells, "2.0e-06", "7.74e-03", "1.10", "0.90"]
    text = tables.gamma(shown)
    assert row(text, "5 % | heat, non-causal")[2:] == ["1.0e-03 (5.0e-04–1.5e-03)"] * 4
    assert text.count("advection–diffusion") == 2, "nothing drifts in the heat equation"
    assert "3 seeds per run." in text


@pytest.mark.parametrize("make", results.SECTIONS.values(), ids=results.SECTIONS)
def test_every_row_has_all_cells_and_missing_runs_are_counted(make, everything, tmp_path):
    text = make(Records(tmp_path))
    assert "| – |" in text
    assert "Missing: " in text
    assert "makes them" in text
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
    assert "Missing: 5 of 7 runs; `pgt bench ablation --preset gpu` makes them." in text
    assert "Failed: no-pde: ?." in text
    assert row(text, "No PDE loss")[1] == "failed"
    second = dataclasses.replace(runs[0], seed=1)
    store(tmp_path, second, made(second, 3e-3))
    text = tables.ablation(shown)
    assert row(text, "PGT (full)")[1] == "2.0e-03 (1.0e-03–3.0e-03)"
    assert "Seeds: 1 for 1 runs, 2 for 1 runs." in text


def test_overall_of_the_paper_is_the_mean_of_the_fields_in_five_rows():
    means = {n: (r["u"] + r["v"] + r["p"]) / 3 for n, r in paper.WAKE.items()}
    agree = {n for n, r in paper.WAKE.items() if abs(means[n] / r["overall"] - 1) < 0.04}
    assert agree == set(paper.WAKE) - {"FNO", "PI-DeepONet"}
    assert paper.ABLATION["pgt-anchors"]["train_error"] == paper.WAKE["PGT"]["train_error"]


# ------------------------------------------------------------------------------- the page


def blank() -> str:
    return "\n".join(f"<!-- {name}:begin -->old<!-- {name}:end -->" for name in results.SECTIONS)


def test_the_page_and_its_figures(everything, tmp_path):
    page = tmp_path / "results.md"
    page.write_text(f"before\n{blank()}\nafter", encoding="utf-8")
    written = results.write(everything, page, tmp_path / "figures")
    assert [path.stem for path in written] == [*FIGURES, "results"]
    assert all(path.read_bytes()[1:4] == b"PNG" for path in written[:-1])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter")
    assert "old" not in text
    assert all(f"](figures/{name}.png)" in text for name in FIGURES)
    assert set(results.CAPTIONS) == set(FIGURES)
    results.write(everything, page, tmp_path / "figures")
    assert page.read_text(encoding="utf-8") == text, "writing twice changes nothing"


def test_without_records_there_are_tables_and_no_figures(tmp_path):
    page = tmp_path / "results.md"
    page.write_text(blank(), encoding="utf-8")
    assert results.write(tmp_path, page, tmp_path / "figures") == [page]
    assert "![" not in page.read_text(encoding="utf-8")


def test_a_page_without_markers_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"<!-- heat:begin -->"):
        results.rewritten("nothing here", Records(tmp_path), {}, "figures")


def test_the_committed_page_says_what_the_stored_records_say():
    page = PAGE.read_text(encoding="utf-8")
    shown = Records(STORED)
    drawn = results.draw(shown)
    assert results.rewritten(page, shown, drawn, "figures") == page
    assert {path.stem for path in (PAGE.parent / "figures").glob("*.png")} >= set(drawn)
