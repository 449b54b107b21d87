"""The front door."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.families.pretrained import Pretrained
from pgt.families.shipped import shipped
from pgt.ground.arguments import Seed
from pgt.ground.checked import checked
from pgt.ground.errors import InputError, warn_of
from pgt.ground.files import require_writable
from pgt.ground.owner import owned
from pgt.ground.unknown import named_unknowns
from pgt.ground.version import __version__
from pgt.methods.fit import fit_task
from pgt.methods.solver import Unsolvable
from pgt.models.base import AbstractFieldModel
from pgt.models.linearised import network_of
from pgt.models.solver import Solver
from pgt.nn import frozen
from pgt.nn.precision import is_double, precision
from pgt.physics.conditions import AbstractCondition
from pgt.physics.gauge import fixed_fields
from pgt.physics.given import Governing, Readings, Where, as_problem
from pgt.physics.overlap import warn_of_overlap
from pgt.physics.pde import AbstractPDE
from pgt.reconstruction.evaluation import Evaluation
from pgt.reconstruction.expected_error import field_errors, together, unfollowed
from pgt.reconstruction.result import Reconstruction
from pgt.reconstruction.rival import in_time_left, is_surer, needs_rival, predicts_better
from pgt.training.assemble import Model, Task, assemble
from pgt.training.budget import seconds_given
from pgt.training.error_bars import ErrorBars
from pgt.training.fit import Outcome, with_posterior
from pgt.training.linearity import linearity
from pgt.training.loop import DIVERGED, Fit
from pgt.training.scales import typical_residuals
from pgt.training.settings import Training
from pgt.trust.field_error import places
from pgt.trust.members import Members


@checked
def reconstruct(
    observations: Readings,
    pde: Governing,
    domain: Where,
    conditions: Sequence[AbstractCondition] = (),
    *,
    model: Model | None = None,
    start: Pretrained | str | None = None,
    training: Training | None = None,
    error_bars: ErrorBars | None = None,
    seed: Seed = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
) -> Reconstruction:
    """Scattered readings and an equation in, a continuous field out.

    Parameters
    ----------
    observations, pde, domain
        What was measured, the equation it obeys, and where. Fields of the equation that were not
        measured are hidden and inferred. A DataFrame, Dataset or dict whose columns are the coordinates
        and fields serves as readings, an equation's text as equation, a dict of bounds as domain.
    conditions
        `Initial`, `Dirichlet`, `Neumann`, `Periodic`, where they are known; `Gauge` for a hidden field
        that the equations leave open.
    model
        A model, or a function that builds one from a seed, as an ensemble needs. Default: what suits
        the problem: `Features` for a linear equation, which it solves in closed form, else a small
        `PINN`. `default_model(...)` is a PGT of a size that suits it.
    start
        A network that was trained over a family of such systems (`pgt.pretrain`), or the name of one that
        comes with the library: its answer is where second-order steps begin.
    training
        Settings; default `Training()`.
    error_bars
        `Ensemble()`: fits that differ by chance, trained at once; `Posterior()`: the fit's own, after
        the polish. The result then says how sure it is; see `Reconstruction.at`.
    seed
        The only source of randomness: the same seed on the same machine gives the same numbers.
    checkpoint
        A folder to save progress in; a run that was killed continues from there.
    progress
        Show a progress bar; default: when standard error is a terminal.

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
    observations, pde, domain = as_problem(observations, pde, domain)
    if start is not None:
        model = _begun(start, observations, pde, domain, model)
    task = assemble(
        observations, pde, domain, conditions,
        model=model, training=training, error_bars=error_bars, seed=seed,
    )  # fmt: skip
    warn_of_overlap(conditions, domain)
    return solve(task, checkpoint=checkpoint, progress=progress)


def _begun(
    start: Pretrained | str,
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    model: object,
) -> AbstractFieldModel:
    """What a pretrained network says of these readings, as the model that is fitted."""
    if model is not None:
        raise InputError("reconstruct(model=..., start=...): give one of them; both are models.")
    trained = shipped(start) if isinstance(start, str) else start
    answer = trained(observations, pde, domain)
    if answer.outside:
        warn_of(
            f"the start lies outside what the network was trained on ({'; '.join(answer.outside)}): "
            "the fit goes on from there, but may do better without start=."
        )
    return answer.model()


def solve(
    task: Task, *, checkpoint: str | Path | None = None, progress: bool | None = None
) -> Reconstruction:
    """The result of an assembled task; the other arguments are those of `reconstruct`."""
    if checkpoint:
        require_writable(Path(checkpoint), "write another checkpoint=")
        with owned(Path(checkpoint), below=True):
            return _solved(task, Path(checkpoint), progress)
    return _solved(task, None, progress)


class _Kept(NamedTuple):
    """The fit that became the result, by field the error expected of it, and why its model was taken."""

    task: Task
    outcome: Outcome
    errors: dict | None
    choice: str


def _solved(task: Task, folder: Path | None, progress: bool | None) -> Reconstruction:
    return finished(*_better_of_two(task, folder, progress))


def finished(task: Task, outcome: Outcome, errors: dict | None, choice: str) -> Reconstruction:
    """The result of a fit that was made; the arguments are those of `_Kept`."""
    fit, origin, drawn = outcome.fit, task.problem.origin, outcome.members
    members = None if drawn is None else Members.of(*drawn.stacked)
    with task.in_precision():
        record = _record(outcome, task, errors) | {"model_choice": choice}
    if _has_diverged(outcome):
        record |= {"stopped": DIVERGED, "field_error": None, "expected_error": None}
        warn_of(
            f"the fit {DIVERGED}. The field is not to be trusted: look at `.doubts`, check coefficients "
            "and units of the equation, or lower the learning rate."
        )
    return Reconstruction(
        fit.model, fit.pde, origin.physical(task.problem.observations),
        origin.physical(task.held_out), record, task.domain, members, outcome.left_out,
    )  # fmt: skip


def _better_of_two(task: Task, folder: Path | None, progress: bool | None) -> _Kept:
    """The fit of the task, or that of its rival where its model may not have followed the field."""
    began = time.monotonic()

    def gives_way(outcome: Outcome, errors: dict | None = None) -> bool:
        return needs_rival(task, outcome, errors, time.monotonic() - began)

    instead = "after solver" if isinstance(task.model, Solver) else "rival"
    try:
        outcome, errors = _fitted(task, folder, progress, lambda outcome: not gives_way(outcome))
    except Unsolvable:
        if task.rival is None:
            raise
        rival = in_time_left(task.rival(), time.monotonic() - began)
        return _Kept(rival, *_fitted(rival, folder, progress), instead)
    first = _Kept(task, outcome, errors, "named" if task.is_named else "suited")
    if task.rival is None or not gives_way(outcome, errors):
        return first
    rival = in_time_left(task.rival(), time.monotonic() - began)
    is_better = partial(predicts_better, outcome=outcome, rival=rival)
    other, others = _fitted(rival, folder, progress, is_better)
    if is_better(other) and not is_surer(outcome, errors, others, task):
        return _Kept(rival, other, others, instead)
    first = first._replace(choice="suited over rival")
    return first if errors is not None else _kept_after_all(first)


def _kept_after_all(fit: _Kept) -> _Kept:
    """With what was left out while it gave way. A posterior takes for noise what the model could not
    follow: no more is made of it than was asked for."""
    task, outcome = fit.task, fit.outcome
    if task.error_bars is not None and outcome.deviate is None:
        with task.in_precision():
            outcome = with_posterior(outcome, task)
    return fit._replace(outcome=outcome, errors=field_errors(outcome, task))


def _has_diverged(outcome: Outcome) -> bool:
    """Whether nothing came of the fit: no finite loss, cost or error."""
    fit, error = outcome.fit, outcome.held_out_error
    last = [cost for stage in fit.stages[-1:] for cost in stage.costs[-1:]]
    numbers = [*last, *([] if error is None else [error])]
    return fit.stopped == DIVERGED or not np.isfinite(numbers).all()


def _fitted(task: Task, checkpoint: Path | None, progress: bool | None, is_kept=lambda fit: True):
    """The fit, and by field the error expected of it, where it is kept."""
    outcome = fit_task(task, checkpoint=checkpoint, progress=progress, is_kept=is_kept)
    return outcome, field_errors(outcome, task) if is_kept(outcome) else None


def _record(outcome: Outcome, task: Task, errors: dict | None) -> dict:
    """Everything about the run that is not the field itself, as plain data."""
    fit = outcome.fit
    return {
        "history": asdict(fit.history),
        "seconds": fit.seconds,
        "first_step_seconds": fit.first_step_seconds,
        "stopped": _why_stopped(fit),
        "learnt": {name: asdict(known) for name, known in fit.learnt.items()},
        "coefficient_moves": _coefficient_moves(fit, task),
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
                "condition": one.condition,
                "sigmas": one.sigmas,
                "change": max(one.changes),
                "missed": one.missed,
            }
            for one in outcome.contradicted
        ],
        "displaced_sensor": None if outcome.displaced is None else asdict(outcome.displaced),
        "fixed_fields": list(fixed_fields(task.problem.conditions, task.pde)),
        "parameter_count": frozen.count_parameters(network_of(fit.model)),
        "noise_floor": fit.noise_floor,
        "held_out_error": outcome.held_out_error,
        "field_error": errors,
        "expected_error": None if errors is None else together(errors, task),
        "model": type(network_of(fit.model)).__name__,
        "linearity": linearity(task.pde, task.model.scaling),
        "stages": [stage.plain for stage in fit.stages],
        "polish_seconds": fit.polish_seconds,
        "ran_out_of": seconds_given(task.training) if _ran_out(fit) else None,
        "moved_to": outcome.moved_to,
    } | _of_members(outcome, task)


def _why_stopped(fit: Fit) -> str:
    """Of the last stage, where there are stages: what came before them, they followed."""
    if fit.stopped == DIVERGED or not fit.stages:
        return fit.stopped
    return fit.stages[-1].reason


def _ran_out(fit: Fit) -> bool:
    """Whether the clock ended the last stage."""
    return bool(fit.stages) and fit.stages[-1].ended == "seconds"


def _coefficient_moves(fit: Fit, task: Task) -> dict[str, float]:
    """By what share of itself the residual that is left over may move each unknown coefficient."""
    if not named_unknowns(fit.pde):
        return {}
    asked = Evaluation(fit.model, fit.pde, task.problem.observations, None, task.domain)
    return asked.moves_of_coefficients(places(task.domain))


def _of_members(outcome: Outcome, task: Task) -> dict:
    """What error bars were made of, and what of the fields these do not know of."""
    if outcome.members is None:
        return {}
    is_posterior = outcome.deviate is not None
    lost = {"unfollowed": unfollowed(outcome, task)} if is_posterior else {}
    return {"members": outcome.members.about | lost}


def _typical_residuals(fit: Fit, task: Task) -> dict[str, float]:
    """Of fields as large as the readings, by the coefficients that were learnt: a first guess may be off
    by far, and its terms would make every residual look small."""
    known = task.problem.equation_scales
    if known and named_unknowns(fit.pde):
        with precision(is_double(fit.pde)):
            known = typical_residuals(fit.pde, fit.model.scaling)
    return {name: float(size) for name, size in known.items()}
