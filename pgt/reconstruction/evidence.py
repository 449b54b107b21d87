"""What a verdict on a result rests on: readings beside predictions, how training went, what is open."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pgt.data.cells import cells
from pgt.ground.unknown import named_unknowns
from pgt.physics.gauge import freedom
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.trust import suspicion
from pgt.trust.convergence import Descent
from pgt.trust.field_error import places
from pgt.trust.held_out import Unseen, interpolated, left_out_in_turn
from pgt.trust.intervals import doubt
from pgt.trust.references.process import by_process
from pgt.trust.verdict import Evidence

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction


def evidence_of(result: "Reconstruction", folds: CrossValidation | None = None) -> Evidence:
    """All that there is; with `folds`, their readings are those that were not seen."""
    readings = (result.observations, result.held_out)
    fitted, held_out = (result.predict_readings(part) for part in readings)
    said = np.concatenate([fitted, held_out])
    if folds is not None:
        unseen = folds.unseen(result.domain)
    elif result.left_out is not None and not len(result.held_out):
        unseen = left_out_in_turn(result.observations, result.left_out, result.domain)
    else:
        simple = interpolated(result.observations, result.held_out, result.domain)
        asked = np.asarray(result.held_out.points, float)
        process = by_process(result.observations, result.domain, asked) if len(asked) else None
        unseen = Unseen(result.held_out, held_out, simple, process=process)
    return Evidence(
        result.observations, result.held_out, unseen, descent_of(result),
        misfits=suspicion.misfit_table((result.observations, fitted), (result.held_out, held_out)),
        values=dict(zip(result.pde.fields, said.T, strict=True)),
        free_fields=_free_fields(result), coefficient_notes=_coefficient_notes(result),
        field_error=result.field_error,
        unfulfilled=result.evaluation.unfulfilled(
            places(result.domain).points, result.record.get("typical_residuals")
        ),
        cells=cells(np.concatenate([r.points for r in readings]), result.domain),
        conditions=result.record.get("conditions", ()),
        likelihood=result.record.get("likelihood", "gauss"),
        named=partial(suspicion.named, origins=result.record.get("origins", ())),
    )  # fmt: skip


def descent_of(result: "Reconstruction") -> Descent:
    """How the fit came down; without held-out readings the history knows no error of theirs."""
    errors = result.history.get("held_out", ()) if len(result.held_out) else ()
    costs = result.record.get("polish_costs") or ()
    stopped, ran_out_of = (result.record.get(key) for key in ("stopped", "ran_out_of"))
    return Descent(str(stopped or ""), np.asarray(errors, float), costs, ran_out_of)


def _free_fields(result: "Reconstruction") -> dict[str, str]:
    """Hidden fields of which the equations hold only derivatives, and what they leave open."""
    fixed = result.record.get("fixed_fields", ())
    hidden = set(result.observations.hidden_fields) & set(result.held_out.hidden_fields)
    open_ = {n: freedom(result.pde, n) for n in result.pde.fields if n in hidden - set(fixed)}
    return {name: free for name, free in open_.items() if free is not None}


def _coefficient_notes(result: "Reconstruction") -> dict[str, str]:
    """What is to be known of coefficients: not determined, at a bound, still on their way."""
    learnt = result.record.get("learnt", {})
    if result.members is not None:
        found = {name: estimate.note for name, estimate in result.intervals().items()}
    else:
        nodes = dict(named_unknowns(result.pde))
        found = {name: doubt(nodes[name], known["deviation"]) for name, known in learnt.items()}
    notes = {name: learnt.get(name, {}).get("unsettled") or note for name, note in found.items()}
    return {name: note for name, note in notes.items() if note}
