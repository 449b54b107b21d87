"""The two front doors: `reconstruct` fits a field to readings, `solve` solves an equation without any.

`reconstruct` makes a plan (methods/plan.py), `run_plan` fits its candidates one after the other
(reconstruction/candidates.py) and keeps the best answer (reconstruction/race.py), and `to_reconstruction`
turns that answer, with its stated error, into a `Reconstruction`.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Int

from pgt.core.arguments import Count, Positive, Seed
from pgt.core.checked import checked
from pgt.core.devices import is_first_host
from pgt.core.errors import InputError, warn_of
from pgt.core.files import require_writable
from pgt.core.folder_lock import lock_folder
from pgt.core.provenance import __version__
from pgt.core.unknown import named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations, check_limits
from pgt.data.reading_stream import ReadingStream
from pgt.data.splits import canonical_order, in_canonical_order
from pgt.families.networks.pretrained import Pretrained, shipped
from pgt.methods.closed_form.band_posterior import BandAverage, BandFit
from pgt.methods.finished_fit import DIVERGED, Fit
from pgt.methods.plan import Candidate, Plan, choose
from pgt.methods.solver.forward import TOLERANCE, is_determined
from pgt.methods.solver.solution_fit import Unsolvable
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import network_of
from pgt.models.mesh_solution import Solver
from pgt.nn import trees
from pgt.nn.scaling import Scaling
from pgt.nn.trees import is_double, precision
from pgt.physics.conditions import AbstractCondition, warn_of_overlap
from pgt.physics.curved_coordinates import at_axis
from pgt.physics.gauge import fixed_fields
from pgt.physics.pde import AbstractPDE
from pgt.physics.problem_inputs import Governing, Readings, Where, as_problem, as_readings
from pgt.problem.assembly import ModelChoice, Task, assemble, held_out_rows, match_fields
from pgt.problem.budget import total_seconds
from pgt.problem.field_scales import typical_residuals
from pgt.problem.linearity import is_solved_by_one_solve, linearity
from pgt.reconstruction.candidates import fit_task
from pgt.reconstruction.evaluation import Evaluation
from pgt.reconstruction.race import NO_SOLUTION, is_better, why_next, with_seconds_left
from pgt.reconstruction.result import Reconstruction
from pgt.reconstruction.sensor_rounds import fit_with_sensors
from pgt.reconstruction.solver_outcome import with_doubts
from pgt.reconstruction.stated_error import combined_error, correlated_misfits, field_errors
from pgt.training.settings import Ensemble, ErrorBars, Training
from pgt.uncertainty.field_error import domain_points
from pgt.uncertainty.members import Members
from pgt.uncertainty.outcome import Outcome, with_posterior


@checked
def reconstruct(
    observations: Readings | ReadingStream | None,
    pde: Governing,
    domain: Where,
    conditions: Sequence[AbstractCondition] = (),
    *,
    model: ModelChoice | None = None,
    method: str | None = None,
    start: Pretrained | str | None = None,
    training: Training | None = None,
    error_bars: ErrorBars | None = None,
    seed: Seed = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    devices: Count | None = None,
) -> Reconstruction:
    """The continuous field that fits scattered readings and a governing equation.

    Parameters
    ----------
    observations, pde, domain
        The readings, the equation that the field obeys, and the domain. Fields of the equation without
        readings are hidden and inferred. Readings may be a DataFrame, Dataset or dict whose columns are
        the coordinates and fields, the equation may be a text, and the domain a dict of bounds. With
        None in place of readings, the conditions determine the field; see `solve`. Readings that do not
        fit into memory are opened by `pgt.data.reading_stream.open_readings`.
    conditions
        The known conditions: `Initial`, `Dirichlet`, `Neumann`, `Periodic`, and `Gauge` for a hidden
        field that the equations do not determine completely.
    model
        The name of a model ("pgt", "siren", ...); a dict with its name and arguments, as [model] of a
        run file: {"name": "pgt", "kernel": "none"}; a model; or a function that builds one from a seed,
        which an ensemble needs. Default: the plan chooses (`pgt.methods.plan`), and the result's
        `summary["plan"]` says what was tried, why, and with which outcome.
    method
        The method of the fit: "closed-form", "solver", "second-order" or "first-order". Default: the plan
        chooses.
    start
        A network that was trained over a family of such systems (`pgt.families.pretrain`), or the name of
        one that comes with the library. Second-order steps start from its answer.
    training
        The settings of the fit; default `Training()`.
    error_bars
        `Ensemble()` trains several networks from random starts; `Posterior()` draws from the posterior of
        the fit after second-order steps. The result then has error bars; see `Reconstruction.at`.
    seed
        The only source of randomness: the same seed on the same machine gives the same numbers.
    checkpoint
        A folder that stores the progress; a run that was killed continues from there.
    progress
        Whether to show a progress bar; default: if standard error is a terminal.
    devices
        The number of devices that share the readings and residual points; default: all.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat({1: 1.0}), n=30)
    >>> domain = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> result = reconstruct(
    ...     readings,
    ...     pgt.Heat(diffusivity=0.01),
    ...     domain,
    ...     model=pgt.PINN(pgt.Scaling.fit(readings, domain), width=8, layers=2),
    ...     training=pgt.Training(steps=3, collocation=20, polish=False),
    ... )
    >>> result.grid(x=5, t=[0.5]).u.shape
    (1, 5)
    """
    began = time.monotonic()
    if devices is not None:
        training = replace(training or Training(), devices=devices)
    domain = domain if isinstance(domain, Domain) else Domain(**domain)
    stream = observations if isinstance(observations, ReadingStream) else None
    if isinstance(observations, ReadingStream):
        observations = observations.then(partial(_inside, domain)).sampled(seed, progress=progress)
    observations, pde, domain = as_problem(observations, pde, domain)
    conditions = at_axis(conditions, pde, domain)
    if start is not None:
        model = _pretrained_start(start, observations, pde, domain, model)
    plan = choose(
        observations, pde, domain, conditions, model=model, method=method,
        training=training, error_bars=error_bars, seed=seed, stream=stream,
    )  # fmt: skip
    warn_of_overlap(conditions, domain)
    return run_plan(plan, checkpoint=checkpoint, progress=progress, began=began)


@checked
def solve(
    pde: Governing,
    domain: Where,
    conditions: Sequence[AbstractCondition] = (),
    *,
    seconds: Positive | None = None,
    tolerance: Positive = TOLERANCE,
    progress: bool | None = None,
) -> Reconstruction:
    """The solution of an equation with its initial and boundary values, without readings.

    The result is that of `reconstruct`. `field_error` states the error of every field, measured by a
    solution of higher order on the same mesh. `summary["stopped"]` says whether the error is below the
    tolerance, the seconds were used up, or the mesh reached its largest size.

    Parameters
    ----------
    pde, domain
        As in `reconstruct`. The domain is a box of at most two space coordinates, with time or without.
    conditions
        The initial state, and as many boundary values as the equation needs; axes of the domain may be
        periodic. An error names what is missing.
    seconds
        The time limit; None for no limit.
    tolerance
        The largest root-mean-square error over the domain, relative to the spread of each field.
    progress
        Whether to show a progress bar; default: if standard error is a terminal.

    >>> import numpy as np
    >>> import pgt
    >>> line = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> walls = pgt.Initial(u="sin(pi*x)"), pgt.Dirichlet("x", u=0.0)
    >>> result = solve("u_t = 0.1*u_xx", line, walls)
    >>> bool(abs(result.at(x=0.5, t=1.0).u.item() - np.exp(-0.1 * np.pi**2)) < 1e-6)
    True
    >>> result.field_error["u"].value < 1e-6
    True
    """
    _, pde, domain = as_problem(None, pde, domain)
    conditions = at_axis(conditions, pde, domain)
    scaling = Scaling.fit(Observations.none(domain.axes, pde.fields), domain)
    is_determined(pde, domain, conditions, scaling, is_required=True)
    model = Solver(scaling, tolerance=tolerance)
    training = Training(seconds=seconds)
    return reconstruct(
        None, pde, domain, conditions, model=model, training=training, progress=progress
    )


def _inside(domain: Domain, readings: Observations) -> Observations:
    """The readings, after checking that they lie in the domain."""
    readings.check_inside(domain)
    check_limits(readings, domain)
    return readings


def _pretrained_start(
    start: Pretrained | str,
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    model: object,
) -> AbstractFieldModel:
    """The answer of a pretrained network to these readings, as the model that is fitted."""
    if model is not None:
        raise InputError("reconstruct(model=..., start=...): give one of them; both are models.")
    pretrained = shipped(start) if isinstance(start, str) else start
    answer = pretrained(observations, pde, domain)
    if answer.outside:
        warn_of(
            f"the start lies outside what the network was trained on ({'; '.join(answer.outside)}): "
            "the fit continues from there, but may be better without start=."
        )
    return answer.model()


def run_plan(
    plan: Plan,
    *,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    began: float | None = None,
) -> Reconstruction:
    """The result of a plan; `checkpoint` and `progress` are those of `reconstruct`.

    The seconds count from `began` on the monotonic clock, by default from now.
    """
    began = time.monotonic() if began is None else began
    if checkpoint and not is_first_host():  # the first host writes, the others read
        return _run_timed(plan, Path(checkpoint), False, began)
    if checkpoint:
        require_writable(Path(checkpoint), "write another checkpoint=")
        with lock_folder(Path(checkpoint), below=True):
            return _run_timed(plan, Path(checkpoint), progress, began)
    return _run_timed(plan, None, progress, began)


def _run_timed(
    plan: Plan, folder: Path | None, progress: bool | None, began: float
) -> Reconstruction:
    answer, index = _best_answer(plan, folder, progress, began)
    return _timed(answer, replace(plan, candidates=(plan.candidates[index],)), began)


def _timed(answer: "_Answer", plan: Plan, began: float) -> Reconstruction:
    """The result of an answer, which `Reconstruction.update` continues by the plan."""
    result = to_reconstruction(*answer)
    result.record["wall_seconds"] = time.monotonic() - began
    result.record["total_seconds"] = total_seconds(plan.candidates[0].training)
    fit, posterior = answer.outcome.fit, answer.outcome.posterior
    earlier = None
    if isinstance(posterior, BandFit | BandAverage):
        is_linear = is_solved_by_one_solve(fit.pde, fit.model.scaling)
        earlier = posterior if is_linear else None
    held_out = answer.task.rows_held_out
    continuation = Continuation(plan, network_of(fit.model), fit.pde, earlier, held_out)
    return replace(result, continuation=continuation)


@dataclass(frozen=True)
class Continuation:
    """What `Reconstruction.update` starts from, which is not saved.

    Attributes
    ----------
    plan : the readings so far, the statement of the problem, and the candidate that answered.
    model, pde : the answer, from whose weights and coefficients a fit to more readings starts.
    earlier : the posterior of a linear problem, whose bands are kept; otherwise None.
    held_out : the rows of the readings that were held out, which stay so.
    """

    plan: Plan
    model: AbstractFieldModel
    pde: AbstractPDE
    earlier: BandFit | BandAverage | None
    held_out: Int[np.ndarray, " m"] | None

    def __call__(self, readings: Readings, progress: bool | None = None) -> Reconstruction:
        """The result with more readings."""
        began, plan, candidate = time.monotonic(), self.plan, self.plan.candidates[0]
        new = match_fields(as_readings(readings, plan.pde, plan.domain), plan.pde, plan.domain)
        new = in_canonical_order(new)
        both = plan.observations.joined(new)
        order = canonical_order(both)
        both = both.take(order)
        is_ensemble = isinstance(candidate.error_bars, Ensemble)
        if not is_ensemble:
            candidate = replace(candidate, build=lambda seed: self.model)
        plan = replace(plan, observations=both, pde=self.pde, candidates=(candidate,))
        task = assemble(
            both, plan.pde, plan.domain, plan.conditions, model=candidate.build,
            training=candidate.training, error_bars=candidate.error_bars, seed=plan.seed,
            rows=self._held_out_among(new, order),
        )  # fmt: skip
        fit = partial(fit_task, progress=progress, earlier=self.earlier)
        task, outcome = fit_with_sensors(fit, task)
        record = [plan.described()[0] | {"outcome": "continued with more readings"}]
        return _timed(_Answer(task, outcome, field_errors(outcome, task), record), plan, began)

    def _held_out_among(
        self, new: Observations, order: Int[np.ndarray, " n"]
    ) -> Int[np.ndarray, " m"]:
        """The rows that stay held out, and those of the new readings, in the order of all readings."""
        training, seed = self.plan.candidates[0].training, self.plan.seed
        count = len(order) - len(new)
        rows = held_out_rows(new, training, seed, self.model, self.plan.domain)
        kept = np.zeros(0, int) if self.held_out is None else self.held_out
        return np.flatnonzero(np.isin(order, np.concatenate([kept, rows + count])))


class _Answer(NamedTuple):
    """The fit of one candidate, its stated errors by field, and the plan with the outcomes so far.

    `errors` is None as long as they are not computed.
    """

    task: Task
    outcome: Outcome
    errors: dict | None
    plan: list[dict[str, Any]]


def to_reconstruction(
    task: Task, outcome: Outcome, errors: dict | None, plan: list[dict[str, Any]]
) -> Reconstruction:
    """The result of a finished fit; the arguments are the fields of `_Answer`."""
    fit, origin, samples = outcome.fit, task.problem.origin, outcome.members
    members = None if samples is None else Members.of(*samples.stacked)
    with task.in_precision():
        record = _record(outcome, task, errors) | {"plan": plan}
    if _has_diverged(outcome):
        record |= {"stopped": DIVERGED, "field_error": None, "expected_error": None}
        warn_of(
            f"the fit {DIVERGED}. The field is not to be trusted: look at `.doubts`, check coefficients "
            "and units of the equation, or lower the learning rate."
        )
    return Reconstruction(
        fit.model, fit.pde, origin.physical(task.problem.observations),
        origin.physical(task.held_out), record, task.domain, members, outcome.left_out_predictions,
    )  # fmt: skip


def _best_answer(
    plan: Plan, folder: Path | None, progress: bool | None, began: float
) -> tuple[_Answer, int]:
    """The best answer of a plan, by the rule of `pgt.methods.plan`, and the number of its candidate."""
    record = plan.described()
    best: _Answer | None = None
    best_index = 0
    for index, candidate in enumerate(plan.candidates):
        next_candidate = next(iter(plan.candidates[index + 1 :]), None)
        task = plan.task(index) if index else plan.first
        task = with_seconds_left(task, time.monotonic() - began, candidate.share)
        try:
            answer, is_kept, reason = _fit_candidate(
                task, best, next_candidate, began, folder, progress
            )
        except Unsolvable:
            if next_candidate is None and best is None:
                raise
            record[index]["outcome"] = f"not kept: {NO_SOLUTION}"
            continue
        if is_kept:
            if best is not None:
                record[best_index]["outcome"] += "; the next candidate is better"
            best, best_index = answer, index
        else:
            record[index]["outcome"] = "not kept: it does not predict held-out readings better"
        if not reason:
            break
        record[index]["outcome"] = f"the next candidate is tried: {reason}"
    assert best is not None  # otherwise the last candidate raised
    for index, entry in enumerate(record):
        entry.setdefault("outcome", "kept" if index == best_index else "not tried")
    if record[best_index]["outcome"] != "kept":
        record[best_index]["outcome"] += "; this answer is kept"
    best = best._replace(plan=record)
    return (best if best.errors is not None else _with_errors(best)), best_index


def _fit_candidate(
    task: Task,
    best: _Answer | None,
    following: Candidate | None,
    began: float,
    folder: Path | None,
    progress: bool | None,
) -> tuple[_Answer, bool, str]:
    """(answer of one candidate, whether it is better than the best so far, why the following candidate is
    fitted); the reason is empty if the race ends.
    """
    decided: dict[str, Any] = {}

    def is_final(outcome: Outcome) -> bool:
        """Whether this answer is kept and the race ends.

        This is decided once, since the clock would answer differently the second time.
        """
        if not decided:
            is_kept = best is None or is_better(outcome, task, best.outcome, best.task)
            best_so_far = (outcome, task) if best is None or is_kept else (best.outcome, best.task)
            spent = time.monotonic() - began
            why = "" if following is None else why_next(*best_so_far, following, spent)
            decided.update(is_kept=is_kept, why=why)
        return decided["is_kept"] and not decided["why"]

    fit = partial(fit_task, checkpoint=folder, progress=progress, is_kept=is_final)
    task, outcome = fit_with_sensors(fit, task)
    errors = field_errors(outcome, task) if is_final(outcome) else None
    return _Answer(task, outcome, errors, []), decided["is_kept"], decided["why"]


def _with_errors(answer: _Answer) -> _Answer:
    """The answer with the stated errors, and the posterior if the user asked for it.

    They were omitted because another candidate was expected to replace the answer. A posterior takes the
    misfit of a poor model for noise, so it is computed only if the user asked for it.
    """
    task, outcome = answer.task, answer.outcome
    if task.error_bars is not None and outcome.deviations_at is None:
        with task.in_precision():
            outcome = with_posterior(outcome, task)
    if isinstance(task.model, Solver) and outcome.posteriors:
        outcome = with_doubts(outcome, task)
    return answer._replace(outcome=outcome, errors=field_errors(outcome, task))


def _has_diverged(outcome: Outcome) -> bool:
    """Whether the fit has no finite loss, cost or error."""
    fit, error = outcome.fit, outcome.held_out_error
    last = [cost for stage in fit.stages[-1:] for cost in stage.costs[-1:]]
    numbers = [*last, *([] if error is None else [error])]
    return fit.stopped == DIVERGED or not np.isfinite(numbers).all()


def _record(outcome: Outcome, task: Task, errors: dict | None) -> dict:
    """The record of the run as plain data: everything but the field itself."""
    fit = outcome.fit
    return {
        "history": asdict(fit.history),
        "seconds": fit.seconds,
        "first_step_seconds": fit.first_step_seconds,
        "stopped": _why_stopped(fit),
        "learned_coefficients": {name: asdict(estimate) for name, estimate in fit.learnt.items()},
        "coefficient_shifts": _coefficient_shifts(fit, task),
        "first_guesses": {name: float(node.value) for name, node in named_unknowns(task.pde)},
        "version": __version__,
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
        "seed": task.seeds[0],
        "training": task.training.describe(),
        "likelihood": task.problem.likelihood,
        "typical_residuals": _typical_residuals(fit, task),
        "conditions": [condition.kind for condition in task.problem.conditions],
        "contradicted_conditions": [
            {
                "condition": contradicted.condition,
                "sigmas": contradicted.sigmas,
                "change": max(contradicted.changes),
                "violation": contradicted.violation,
            }
            for contradicted in outcome.contradicted_conditions
        ],
        "displaced_sensor": outcome.displaced_sensor and asdict(outcome.displaced_sensor),
        "streamed_readings": None if task.stream is None else len(task.stream),
        "sensor_effects": [asdict(effect) for effect in outcome.effects],
        "fixed_fields": list(fixed_fields(task.problem.conditions, task.pde)),
        "parameter_count": trees.count_parameters(network_of(fit.model)),
        "noise_floor": fit.noise_floor,
        "held_out_error": outcome.held_out_error,
        "field_error": errors,
        "expected_error": None if errors is None else combined_error(errors, task),
        "model": type(network_of(fit.model)).__name__,
        "linearity": linearity(task.pde, task.model.scaling),
        "stages": [stage.plain for stage in fit.stages],
        "polish_seconds": fit.polish_seconds,
        "exhausted_seconds": total_seconds(task.training) if _ran_out(fit) else None,
        "map_estimate_cost": outcome.map_estimate_cost,
    } | _member_record(outcome, task)


def _why_stopped(fit: Fit) -> str:
    """Why the fit stopped: the reason of its last stage, or of first-order training without stages."""
    if fit.stopped == DIVERGED or not fit.stages:
        return fit.stopped
    return fit.stages[-1].reason


def _ran_out(fit: Fit) -> bool:
    """Whether the time limit ended the last stage."""
    return bool(fit.stages) and fit.stages[-1].ended == "seconds"


def _coefficient_shifts(fit: Fit, task: Task) -> dict[str, float]:
    """The relative shift of each unknown coefficient that the remaining residual allows."""
    # A solver refines its mesh until the error of its solution is far below that of the readings. Its
    # residual may still be large where the field is steep.
    if not named_unknowns(fit.pde) or isinstance(task.model, Solver):
        return {}
    field = Evaluation(fit.model, fit.pde, task.problem.observations, None, task.domain)
    return field.coefficient_shifts(domain_points(task.domain))


def _member_record(outcome: Outcome, task: Task) -> dict:
    """The record of the members, with the correlated misfit, which their posterior does not contain."""
    if outcome.members is None:
        return {}
    is_posterior = outcome.deviations_at is not None
    misfits = {"correlated_misfit": correlated_misfits(outcome, task)} if is_posterior else {}
    return {"members": outcome.members.record | misfits}


def _typical_residuals(fit: Fit, task: Task) -> dict[str, float]:
    """The typical size of each residual for fields as large as the readings, with learned coefficients.

    First guesses may be far too large, and their terms would make every residual look small.
    """
    sizes = task.problem.equation_scales
    if sizes and named_unknowns(fit.pde):
        with precision(is_double(fit.pde)):
            sizes = typical_residuals(fit.pde, fit.model.scaling)
    return {name: float(size) for name, size in sizes.items()}
