"""Stored records: their history, and what one cell says of them."""

import copy

from made_records import a_run, made

from pgt.methods.finished_fit import DIVERGED
from pgt_bench import tables
from pgt_bench.records import cell


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
