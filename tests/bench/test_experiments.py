"""Which runs make which table: complete and quick to show."""

import pytest

import pgt
from pgt_bench.experiments import TABLES, has_recipe, runs
from pgt_bench.methods import METHODS, REFERENCES
from pgt_bench.presets import scale_of
from pgt_bench.runner import training_for


def test_smoke_leaves_out_no_method_and_compiles_quickly():
    todo = [run for table in TABLES for run in runs(table, "smoke")]
    assert {run.method for run in todo} == {**METHODS, **REFERENCES}.keys()
    assert {run.recipe for run in todo} == {"ours", "newton", "authors"}
    # Runs of one shape share a program: as many readings everywhere, and as many of them fitted.
    assert len({run.problem.readings for run in todo}) == 1
    fitted = [run for run in todo if has_recipe(run.method)]
    scales = {kind: scale_of(kind, "smoke") for kind in ("heat", "wake")}
    held_out = {training_for(r, METHODS[r.method], scales[r.problem.kind]).hold_out for r in fitted}
    assert held_out == {0.0}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("nope", "cpu"), "there is no table 'nope'; choose one of heat"),
        (("heat", "cpu", ("nope",)), "no method is called nope"),
    ],
)
def test_wrong_names_are_listed(wrong, message):
    with pytest.raises(pgt.InputError, match=message):
        runs(*wrong)
