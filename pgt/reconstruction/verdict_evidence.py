"""The evidence of the verdict on a result, gathered from its record and its field."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pgt.core.stage import stages_of
from pgt.core.unknown import named_coefficients
from pgt.data.visibility import count_cells
from pgt.models.linearised import network_of
from pgt.models.mesh_solution import Solver
from pgt.nn.trees import is_double, precision
from pgt.physics.gauge import freedom
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.reconstruction.estimates import known_intervals, undetermined_stretches
from pgt.uncertainty import misfits
from pgt.uncertainty.convergence import Descent
from pgt.uncertainty.field_error import domain_points
from pgt.uncertainty.held_out import HeldOutPredictions, interpolate_held_out, left_out_as_held_out
from pgt.uncertainty.intervals import why_far_from_first_guess, why_unidentified
from pgt.uncertainty.verdict import Evidence

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction


def evidence_of(result: "Reconstruction", folds: CrossValidation | None = None) -> Evidence:
    """The evidence of a result; with `folds`, all readings judge the fit by cross-validation."""
    readings = (result.observations, result.held_out)
    fitted, held_out = (result.predict_readings(part) for part in readings)
    predictions = np.concatenate([fitted, held_out])
    if folds is not None:
        judged = folds.as_held_out(result.domain)
    elif result.left_out_predictions is not None and not len(result.held_out):
        judged = left_out_as_held_out(
            result.observations, result.left_out_predictions, result.domain
        )
    else:
        interpolated = interpolate_held_out(result.observations, result.held_out, result.domain)
        judged = HeldOutPredictions(result.held_out, held_out, interpolated)
    points = domain_points(result.domain).points
    coefficients = _coefficient_notes(result, points)
    return Evidence(
        result.observations, result.held_out, judged, descent_of(result),
        misfits=misfits.misfit_table(
            (result.observations, fitted), (result.held_out, held_out)
        ),
        values=dict(zip(result.pde.fields, predictions.T, strict=True)),
        free_fields=_free_fields(result), undetermined_functions=undetermined_stretches(result),
        coefficient_notes=coefficients.notes,
        unidentified_coefficients=coefficients.unidentified, field_error=result.field_error,
        relative_residuals=result.evaluation.relative_residuals(
            points, result.record.get("typical_residuals")
        ),
        cells=count_cells(np.concatenate([r.points for r in readings]), result.domain),
        conditions=result.record.get("conditions", ()),
        contradicted_conditions=result.record.get("contradicted_conditions", ()),
        displaced_sensor=result.record.get("displaced_sensor"),
        sensor_effects=result.record.get("sensor_effects", ()),
        likelihood=result.record.get("likelihood", "gauss"),
        extent=np.asarray(result.domain.extent, float),
        named=partial(misfits.with_sensor_names, origins=result.record.get("origins", ())),
    )  # fmt: skip


def descent_of(result: "Reconstruction") -> Descent:
    """How the cost of the fit came down, with held-out errors if readings were held out."""
    errors = result.history.get("held_out", ()) if len(result.held_out) else ()
    keys = ("exhausted_seconds", "map_estimate_cost", "total_seconds", "wall_seconds")
    values = (result.record.get(key) for key in keys)
    stopped, stages = str(result.record.get("stopped") or ""), stages_of(result.record)
    return Descent(stopped, np.asarray(errors, float), stages, *values)


def _free_fields(result: "Reconstruction") -> dict[str, str]:
    """The freedom that the equations leave to each hidden field, such as a constant, if there is any."""
    fixed = result.record.get("fixed_fields", ())
    hidden = set(result.observations.hidden_fields) & set(result.held_out.hidden_fields)
    freedoms = {n: freedom(result.pde, n) for n in result.pde.fields if n in hidden - set(fixed)}
    return {
        name: freedom_left for name, freedom_left in freedoms.items() if freedom_left is not None
    }


class _CoefficientNotes(NamedTuple):
    """Caveats about coefficients by name (not determined, at a bound, not converged), and the reasons why
    some are not identified.
    """

    notes: dict[str, str]
    unidentified: dict[str, str]


def _coefficient_notes(result: "Reconstruction", points: np.ndarray) -> _CoefficientNotes:
    """The caveats about all coefficients that have any."""
    learned, first_guesses = (
        result.record.get("learned_coefficients", {}),
        result.record.get("first_guesses", {}),
    )
    nodes = dict(named_coefficients(result.pde))
    estimates = known_intervals(result)
    # A solver fulfills the equation exactly: a term that is small in most of the domain still counts.
    is_solved = isinstance(network_of(result.model), Solver)
    shares = result.evaluation.coefficient_sensitivities(points) if nodes and not is_solved else {}
    unidentified, notes = {}, {}
    for name, node in nodes.items():
        with precision(is_double(node)):
            estimate = estimates.get(name)
            unidentified[name] = why_unidentified(
                node, shares.get(name), estimate, first_guesses.get(name)
            )
            note = learned.get(name, {}).get("unsettled") or (estimate.note if estimate else "")
            notes[name] = (
                ""
                if unidentified[name]
                else note or why_far_from_first_guess(node, first_guesses.get(name))
            )
    return _CoefficientNotes(
        *({n: note for n, note in part.items() if note} for part in (notes, unidentified))
    )
