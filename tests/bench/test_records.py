"""Stored records: their history, and what one cell says of them."""

import copy

import numpy as np
import xarray as xr
from made_records import a_run, made

from pgt.methods.finished_fit import DIVERGED
from pgt_bench import records, tables
from pgt_bench.records import cell


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


def test_a_cell_is_the_mean_and_says_what_went_wrong():
    good, better = made(a_run(), 2e-3), made(a_run(), 1e-3)
    error = "errors.snapshot.overall.stacked"
    assert cell([], error) == "–"
    assert cell([good], error) == "2.0e-03"
    assert cell([good, better], error) == "1.5e-03"
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
