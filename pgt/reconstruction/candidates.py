"""One candidate of a plan, fitted by the method of its model: from a task to an outcome."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from pgt.core.machine import blas_threads
from pgt.core.progress import ProgressBar
from pgt.methods.closed_form.band_posterior import BandAverage, BandFit, deviations, draw_members
from pgt.methods.closed_form.band_search import fit_features
from pgt.methods.closed_form.band_solution import UnknownFunctions, node_count
from pgt.methods.finished_fit import DIVERGED, Fit
from pgt.methods.first_order.training_loop import train
from pgt.methods.first_order.training_step import held_out_errors
from pgt.methods.history import median
from pgt.methods.plan import CLOSED_FORM, FIRST_ORDER, SECOND_ORDER, SOLVER, method_of
from pgt.methods.second_order.gauss_newton import (
    MIN_ERROR_BAR_POINTS,
    error_bar_seconds,
    polish,
)
from pgt.nn import batched
from pgt.nn.trees import count_parameters, is_double, precision
from pgt.physics.unknown_conditions import wall_fields
from pgt.problem.assembly import Task
from pgt.problem.budget import polish_settings, total_seconds
from pgt.problem.checkpoint import StageStates, identity_of
from pgt.reconstruction.solver_outcome import on_mesh
from pgt.training.settings import POSTERIOR_DRAWS, Ensemble, Posterior
from pgt.uncertainty.contradictions import find_contradicted_conditions, find_displaced_sensor
from pgt.uncertainty.field_error import is_exact
from pgt.uncertainty.members import PosteriorSamples
from pgt.uncertainty.null_space import null_space_samples
from pgt.uncertainty.outcome import (
    Outcome,
    held_out_error_of,
    outcome_of,
    with_posterior,
)

# A call takes at most this multiple of its seconds, as far as that can be foreseen.
MAX_OVERRUN = 1.1


def fit_task(
    task: Task,
    *,
    checkpoint: Path | None = None,
    progress: bool | None = None,
    is_kept: Callable[[Outcome], bool] = lambda outcome: True,
) -> Outcome:
    """The outcome of a task, by the method of its model.

    `is_kept` decides whether the fit of a network is kept: one that is not gets no posterior, which
    takes as long as a small fit.
    """
    with ProgressBar(progress) as bar:
        return _FIT[method_of(task.model, task.training)](task, bar, checkpoint, is_kept)


def _closed_form(task: Task, progress: ProgressBar, checkpoint, is_kept) -> Outcome:
    """A sum of sines, solved for in closed form."""
    with task.in_precision(), blas_threads(count_parameters(task.model.tunable())):
        return _solve_sines(task, progress)


def _solve_sines(task: Task, progress: ProgressBar) -> Outcome:
    found, fit = fit_features(task, lambda share, numbers: progress.update("solve", share, numbers))
    samples = task.error_bars.samples if isinstance(task.error_bars, Posterior) else POSTERIOR_DRAWS
    # With exact readings the posterior contains the null space; with noisy ones few sines are too sure.
    null_space = (
        None
        if is_exact(found.sigma)
        else null_space_samples(fit.model, fit.pde, task.problem, samples)
    )
    outcome = outcome_of(
        found, fit, task, partial(deviations, found), partial(draw_members, found), null_space
    )
    return replace(outcome, **_checks(found, fit, task))


def _checks(found: BandFit | BandAverage, fit: Fit, task: Task) -> dict:
    """Contradicted conditions and a displaced sensor, by the sines of the most probable band."""
    best = found.parts[0] if isinstance(found, BandAverage) else found
    others = UnknownFunctions(best.model, task).prior if wall_fields(task.pde) else None
    answer = best.model, best.pde, task.problem, node_count(best.model, task), others
    began, left = time.monotonic(), _seconds_left(fit, task)
    each = fit.first_step_seconds  # of one solve
    conditions = tuple(find_contradicted_conditions(*answer, left, each))
    is_late = left is not None and time.monotonic() - began + each >= left
    return {
        "contradicted_conditions": conditions,
        "displaced_sensor": None if is_late else find_displaced_sensor(*answer),
    }


def _seconds_left(fit: Fit, task: Task) -> float | None:
    seconds = task.training.seconds
    return None if seconds is None else max(seconds - fit.seconds - fit.polish_seconds, 0.0)


def _network(
    task: Task,
    progress: ProgressBar,
    checkpoint: Path | None,
    is_kept: Callable[[Outcome], bool],
) -> Outcome:
    """The outcome of a network, by first-order steps, second-order steps or both."""
    with task.in_precision(), blas_threads(count_parameters(task.model.tunable())):
        fits = train(task, checkpoint=checkpoint, progress=progress)
        if isinstance(task.error_bars, Ensemble):
            return _ensemble(task, task.error_bars, fits, progress, checkpoint)
        fit = _polished(fits[0], task, 0, progress, "polish", checkpoint)
        outcome = Outcome(fit, held_out_error_of(fit, task) if len(task.held_out) else None)
        if not is_kept(outcome) or not has_time_for_posterior(fit, task):
            return outcome
        return with_posterior(outcome, task)


def has_time_for_posterior(fit: Fit, task: Task) -> bool:
    """Whether the seconds that are left suffice for the posterior of a network, or it was asked for.

    Without it, the error is stated by held-out readings.
    """
    seconds = total_seconds(task.training)
    if seconds is None or task.error_bars is not None:
        return True
    needed = posterior_seconds(fit, MIN_ERROR_BAR_POINTS)
    return fit.seconds + fit.polish_seconds + needed <= MAX_OVERRUN * seconds


def posterior_seconds(fit: Fit, points: float = 1.0) -> float:
    """The seconds that the posterior of a network needs, with a share of its points; 0 for other fits."""
    if not fit.stages:
        return 0.0
    stage = fit.stages[0]
    return error_bar_seconds(fit.first_step_seconds, stage.seconds, stage.iterations, points)


def _ensemble(
    task: Task,
    settings: Ensemble,
    trained: list[Fit],
    progress: ProgressBar,
    checkpoint: Path | None,
) -> Outcome:
    """The outcome of an ensemble, its members polished one by one; diverged ones are omitted."""
    seeds, problems = task.seeds, task.problems
    good = [k for k, fit in enumerate(trained) if fit.stopped != DIVERGED]
    kept = good if len(good) > 1 else range(len(trained))
    shared = _with_shared_budget(task, len(kept))
    fits = [
        _polished(trained[k], shared, k, progress, f"polish {n} of {len(kept)}", checkpoint)
        for n, k in enumerate(kept, 1)
    ]
    with precision(is_double(fits[0].model)):
        parts = [
            (fit.model, fit.pde, problems[k].observations)
            for fit, k in zip(fits, kept, strict=True)
        ]
        stacked = batched.stack(parts)
        errors, error = held_out_errors(stacked, task.problem, task.held_out)
    known = len(task.held_out) > 0
    record = {
        "settings": repr(settings),
        "seeds": [seeds[k] for k in kept],
        "diverged": [seeds[k] for k in range(len(seeds)) if k not in good],
        "held_out_errors": np.asarray(errors, float).tolist() if known else None,
    }
    first = _representative(fits, trained)
    return Outcome(first, float(error) if known else None, PosteriorSamples(stacked, record))


def _with_shared_budget(task: Task, count: int) -> Task:
    """The task of one of `count` members, with its share of the seconds of the polish."""
    finish = task.training.polish
    if not finish or finish.seconds is None:
        return task
    part = replace(finish, seconds=finish.seconds / count)
    return replace(
        task,
        training=replace(task.training, polish=part),
        requested_training=task.requested_training or task.training,
    )


def _representative(fits: list[Fit], trained: list[Fit]) -> Fit:
    """The first member, with the median history of all that were trained."""
    ended = [fit.stopped for fit in trained if fit.stopped != DIVERGED]
    return replace(
        fits[0],
        history=median([fit.history for fit in trained]),
        stopped=ended[0] if ended else DIVERGED,
        noise_floor=float(np.median([fit.noise_floor for fit in fits])),
        polish_seconds=sum(fit.polish_seconds for fit in fits),
    )


def _polished(
    fit: Fit,
    task: Task,
    member: int,
    progress: ProgressBar,
    stage: str,
    checkpoint: Path | None,
) -> Fit:
    """The fit of one member after second-order steps, where it has them."""
    settings = polish_settings(fit.model, task.training)
    if settings is False:
        return fit

    def report(iteration, cost):
        progress.update(stage, iteration / settings.iterations, {"cost": cost})

    began = time.monotonic()
    folder = None if checkpoint is None else checkpoint / f"member_{member}"
    done = polish(
        fit.model, fit.pde, task.problems[member], settings, task.held_out, report,
        noise=task.noise, states=StageStates(folder, identity_of(task) if folder else None),
        has_fallback=task.has_fallback,
    )  # fmt: skip
    seconds = time.monotonic() - began
    return replace(
        fit, model=done.model, pde=done.pde, stages=tuple(done.stages), polish_seconds=seconds,
        first_step_seconds=fit.first_step_seconds or done.first_seconds,
    )  # fmt: skip


_FIT: Mapping[str, Callable[..., Outcome]] = {
    CLOSED_FORM: _closed_form,
    SOLVER: on_mesh,
    SECOND_ORDER: _network,
    FIRST_ORDER: _network,
}
