"""What a verdict on a result rests on: readings beside predictions, how training went, what is open."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pgt.data.cells import cells
from pgt.ground.stage import stages_of
from pgt.ground.unknown import named_unknowns
from pgt.nn.precision import is_double, precision
from pgt.physics.gauge import freedom
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.reconstruction.functions import untold_places
from pgt.reconstruction.learnt import known_intervals
from pgt.trust import suspicion
from pgt.trust.convergence import Descent
from pgt.trust.field_error import places
from pgt.trust.held_out import Unseen, interpolated, left_out_in_turn
from pgt.trust.lost import far_from, why_lost
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
        unseen = Unseen(result.held_out, held_out, simple)
    points = places(result.domain).points
    learnt = _learnt(result, points)
    return Evidence(
        result.observations, result.held_out, unseen, descent_of(result),
        misfits=suspicion.misfit_table((result.observations, fitted), (result.held_out, held_out)),
        values=dict(zip(result.pde.fields, said.T, strict=True)),
        free_fields=_free_fields(result), untold_functions=untold_places(result),
        coefficient_notes=learnt.notes,
        lost_coefficients=learnt.lost, field_error=result.field_error,
        unfulfilled=result.evaluation.unfulfilled(
            points, result.record.get("typical_residuals")
        ),
        cells=cells(np.concatenate([r.points for r in readings]), result.domain),
        conditions=result.record.get("conditions", ()),
        contradicted_conditions=result.record.get("contradicted_conditions", ()),
        displaced_sensor=result.record.get("displaced_sensor"),
        likelihood=result.record.get("likelihood", "gauss"),
        extent=np.asarray(result.domain.extent, float),
        named=partial(suspicion.named, origins=result.record.get("origins", ())),
    )  # fmt: skip


def descent_of(result: "Reconstruction") -> Descent:
    """How the fit came down; without held-out readings the history knows no error of theirs."""
    errors = result.history.get("held_out", ()) if len(result.held_out) else ()
    known = (result.record.get(key) for key in ("stopped", "ran_out_of", "moved_to"))
    stopped, ran_out_of, moved_to = known
    stages = stages_of(result.record)
    return Descent(str(stopped or ""), np.asarray(errors, float), stages, ran_out_of, moved_to)


def _free_fields(result: "Reconstruction") -> dict[str, str]:
    """Hidden fields of which the equations hold only derivatives, and what they leave open."""
    fixed = result.record.get("fixed_fields", ())
    hidden = set(result.observations.hidden_fields) & set(result.held_out.hidden_fields)
    open_ = {n: freedom(result.pde, n) for n in result.pde.fields if n in hidden - set(fixed)}
    return {name: free for name, free in open_.items() if free is not None}


class _Learnt(NamedTuple):
    """What is to be known of coefficients, by name: not determined, at a bound, still on their way; and
    why some mean nothing at all."""

    notes: dict[str, str]
    lost: dict[str, str]


def _learnt(result: "Reconstruction", points: np.ndarray) -> _Learnt:
    known, first = result.record.get("learnt", {}), result.record.get("first_guesses", {})
    nodes = dict(named_unknowns(result.pde))
    estimates = known_intervals(result)
    shares = result.evaluation.shares_of_coefficients(points) if nodes else {}
    lost, notes = {}, {}
    for name, node in nodes.items():
        with precision(is_double(node)):
            estimate = estimates.get(name)
            lost[name] = why_lost(node, shares.get(name), estimate, first.get(name))
            note = known.get(name, {}).get("unsettled") or (estimate.note if estimate else "")
            notes[name] = "" if lost[name] else note or far_from(node, first.get(name))
    return _Learnt(*({n: said for n, said in part.items() if said} for part in (notes, lost)))
