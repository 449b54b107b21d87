"""The front door."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import jax
import numpy as np

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.ground.version import __version__
from pgt.nn import frozen
from pgt.physics.conditions import AbstractCondition
from pgt.physics.gauge import fixed_fields, freedom
from pgt.physics.pde import AbstractPDE
from pgt.reconstruction.evaluation import Evaluation
from pgt.reconstruction.result import Reconstruction
from pgt.training.assemble import Model, Task, assemble
from pgt.training.error_bars import ErrorBars
from pgt.training.fit import Outcome, fit_task
from pgt.training.settings import Training
from pgt.trust.field_error import expected_errors, near_readings, own_error, places
from pgt.trust.members import Members

POOR = 1e-3  # of the spread: an error of sines beyond which a network is tried, too
FEWEST_TO_CHOOSE = 80  # readings, a tenth of which judge between two models
SIGNIFICANT = 2.0  # standard deviations of the error of so many readings


def reconstruct(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition] = (),
    *,
    model: Model | None = None,
    training: Training | None = None,
    error_bars: ErrorBars | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
) -> Reconstruction:
    """Scattered readings and an equation in, a continuous field out.

    Parameters
    ----------
    observations, pde, domain
        What was measured, the equation it obeys, and where. Fields of the equation that were not
        measured are hidden and inferred.
    conditions
        `Initial`, `Dirichlet`, `Neumann`, `Periodic`, where they are known; `Gauge` for a hidden field
        that the equations leave open.
    model
        A model, or a function that builds one from a seed, as an ensemble needs. Default: what suits
        the problem: `Features` for a linear equation, which it solves in closed form, else a small
        `PINN`. `default_model(...)` is a PGT of a size that suits it.
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
    task = assemble(
        observations, pde, domain, conditions,
        model=model, training=training, error_bars=error_bars, seed=seed,
    )  # fmt: skip
    return solve(task, checkpoint=checkpoint, progress=progress)


def solve(
    task: Task, *, checkpoint: str | Path | None = None, progress: bool | None = None
) -> Reconstruction:
    """The result of an assembled task; the other arguments are those of `reconstruct`."""
    folder = Path(checkpoint) if checkpoint else None
    outcome, errors = _fitted(task, folder, progress)
    choice = "named" if task.is_named else "suited"
    if _needs_rival(task, errors):
        assert task.rival is not None
        rival = _in_time_left(task.rival(), outcome.fit.seconds)
        other, others = _fitted(rival, folder, progress)
        if _predicts_better(other, outcome, rival.held_out):
            task, outcome, errors, choice = rival, other, others, "rival"
    fit, problem, drawn = outcome.fit, task.problem, outcome.members
    members = None if drawn is None else Members.of(*drawn.stacked)
    with task.in_precision():
        record = _record(outcome, task, errors) | {"model_choice": choice}
    return Reconstruction(
        fit.model, fit.pde, problem.observations, task.held_out, record, task.domain, members,
        outcome.left_out,
    )  # fmt: skip


def _fitted(task: Task, checkpoint: Path | None, progress: bool | None):
    """The fit, and by field the error expected of it."""
    outcome = fit_task(task, checkpoint=checkpoint, progress=progress)
    return outcome, _field_errors(outcome, task)


def _needs_rival(task: Task, errors: dict | None) -> bool:
    """Whether sines may not have been able to follow the field, and there are readings to tell."""
    if task.rival is None or errors is None or len(task.problem.observations) < FEWEST_TO_CHOOSE:
        return False
    return _together(errors, task)["value"] > POOR


def _predicts_better(other: Outcome, outcome: Outcome, held_out: Observations) -> bool:
    """Whether readings that were not fitted are missed by less, and by more than chance explains."""
    if other.held_out_error is None or outcome.held_out_error is None:
        return False
    count = int(np.asarray(held_out.mask).sum())
    return other.held_out_error < (1 - SIGNIFICANT / np.sqrt(2 * count)) * outcome.held_out_error


def _in_time_left(task: Task, spent: float) -> Task:
    """The task with what is left of the seconds, where there was a limit."""
    finish = task.training.polish
    if not finish or finish.seconds is None:
        return task
    left = replace(finish, seconds=max(finish.seconds - spent, finish.seconds / 3))
    return replace(task, training=replace(task.training, polish=left))


def _together(errors: dict, task: Task) -> dict[str, float]:
    """Value and interval over all measured fields: root mean squares."""
    hidden = task.problem.observations.hidden_fields
    measured = [error for name, error in errors.items() if name not in hidden]
    parts = measured or list(errors.values())
    return {
        name: float(np.sqrt(np.mean([part[name] ** 2 for part in parts])))
        for name in ("value", "low", "high")
    }


def _field_errors(outcome: Outcome, task: Task) -> dict | None:
    """By field, the error expected over the domain; None where nothing tells."""
    if outcome.deviate is None:
        return None
    fit, pde, readings = outcome.fit, task.pde, task.problem.observations
    (points, weights), held_out = places(task.domain), np.asarray(task.held_out.points, float)
    deviations = outcome.deviate(np.concatenate([points, held_out]))
    deviations, at_held_out = np.split(deviations, [len(points)], axis=1)
    misses = outcome.misses
    if misses is None:
        misses = _misses(outcome, task, at_held_out)
    values = Evaluation(fit.model, fit.pde, readings, None, task.domain).values_at(points)
    fixed, hidden = fixed_fields(task.problem.conditions, pde), set(readings.hidden_fields)
    free = [n for n in pde.fields if n in hidden - set(fixed) and freedom(pde, n) is not None]
    found = expected_errors(
        deviations, values, weights, misses, pde.fields, free,
        near_readings(points, readings, task.domain),
        own_error(outcome.noise, solved=outcome.misses is not None), outcome.at_least,
    )  # fmt: skip
    return {name: asdict(error) for name, error in found.items()}


def _misses(outcome: Outcome, task: Task, deviations) -> np.ndarray:
    """Errors at readings held out, in units of what the posterior and the noise let expect."""
    held_out, fit = task.held_out, outcome.fit
    if not len(held_out):
        return np.zeros(0)
    readings = task.problem.observations
    said = Evaluation(fit.model, fit.pde, readings, None, task.domain).of_readings(held_out)
    sigma = outcome.noise * np.asarray(fit.model.scaling.spread)
    expected = np.sqrt(np.mean(deviations**2, axis=0) + sigma**2)
    return ((said - np.asarray(held_out.values)) / expected)[np.asarray(held_out.mask)]


def _record(outcome: Outcome, task: Task, errors: dict | None) -> dict:
    """Everything about the run that is not the field itself, as plain data."""
    fit = outcome.fit
    return {
        "history": asdict(fit.history),
        "seconds": fit.seconds,
        "first_step_seconds": fit.first_step_seconds,
        "stopped": fit.stopped,
        "version": __version__,
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
        "seed": task.seeds[0],
        "training": task.training.describe(),
        "fixed_fields": list(fixed_fields(task.problem.conditions, task.pde)),
        "parameter_count": frozen.count_parameters(fit.model),
        "noise_floor": fit.noise_floor,
        "held_out_error": outcome.held_out_error,
        "field_error": errors,
        "expected_error": None if errors is None else _together(errors, task),
        "model": type(fit.model).__name__,
        "polish_costs": list(fit.polish_costs),
        "polish_seconds": fit.polish_seconds,
    } | ({"members": outcome.members.about} if outcome.members is not None else {})
