"""The fit of one candidate of a plan by the method of its model, from a task to an outcome.

`fit_task` calls the function of the method: `_closed_form` for sums of sines, `on_mesh` for a solver, and
`_network` for first-order and second-order steps, alone or as an ensemble.
"""

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
from pgt.uncertainty.contradictions import (
    displaced_sensor_from,
    find_contradicted_conditions,
    posteriors_of_sensors,
)
from pgt.uncertainty.field_error import is_exact
from pgt.uncertainty.members import PosteriorSamples
from pgt.uncertainty.null_space import null_space_samples
from pgt.uncertainty.outcome import (
    Outcome,
    held_out_error_of,
    outcome_of,
    with_posterior,
)

# The largest expected multiple of its seconds that a call may take. With a larger one more networks get a
# posterior.
MAX_OVERRUN = 1.1


def fit_task(
    task: Task,
    *,
    checkpoint: Path | None = None,
    progress: bool | None = None,
    is_kept: Callable[[Outcome], bool] = lambda outcome: True,
    earlier: BandFit | BandAverage | None = None,
) -> Outcome:
    """The outcome of a task, by the method of its model.

    A sum of sines keeps the bands of an `earlier` fit to fewer readings.
    `is_kept` decides whether the fit of a network is kept. Otherwise it gets no posterior, which takes as
    long as a small fit.
    """
    with ProgressBar(progress) as bar:
        if earlier is not None:
            return _closed_form(task, bar, checkpoint, is_kept, earlier)
        return _FIT[method_of(task.model, task.training)](task, bar, checkpoint, is_kept)


def _closed_form(
    task: Task,
    progress: ProgressBar,
    checkpoint,
    is_kept,
    earlier: BandFit | BandAverage | None = None,
) -> Outcome:
    """The outcome of a sum of sines, which is solved for in closed form."""
    with task.in_precision(), blas_threads(count_parameters(task.model.tunable())):
        return _solve_sines(task, progress, earlier)


def _solve_sines(
    task: Task, progress: ProgressBar, earlier: BandFit | BandAverage | None
) -> Outcome:
    band_fit, fit = fit_features(
        task, lambda share, numbers: progress.update("solve", share, numbers), earlier
    )
    samples = task.error_bars.samples if isinstance(task.error_bars, Posterior) else POSTERIOR_DRAWS
    # With exact readings the posterior contains the null space. With noisy ones it is too narrow, since
    # the sines are few.
    null_space = (
        None
        if is_exact(band_fit.sigma)
        else null_space_samples(fit.model, fit.pde, task.problem, samples)
    )
    outcome = outcome_of(
        band_fit,
        fit,
        task,
        partial(deviations, band_fit),
        partial(draw_members, band_fit),
        null_space,
    )
    return replace(outcome, **_contradictions(band_fit, fit, task))


def _contradictions(band_fit: BandFit | BandAverage, fit: Fit, task: Task) -> dict:
    """Contradicted conditions and a displaced sensor, by the sines of the most probable band."""
    most_probable = band_fit.parts[0] if isinstance(band_fit, BandAverage) else band_fit
    others = UnknownFunctions(most_probable.model, task).prior if wall_fields(task.pde) else None
    answer = (
        most_probable.model,
        most_probable.pde,
        task.problem,
        node_count(most_probable.model, task),
        others,
    )
    began, seconds_left = time.monotonic(), _seconds_left(fit, task)
    seconds_per_solve = fit.first_step_seconds
    conditions = tuple(find_contradicted_conditions(*answer, seconds_left, seconds_per_solve))
    is_late = (
        seconds_left is not None and time.monotonic() - began + seconds_per_solve >= seconds_left
    )
    posteriors = [] if is_late else posteriors_of_sensors(*answer)
    return {
        "contradicted_conditions": conditions,
        "displaced_sensor": displaced_sensor_from(posteriors, answer[0], task.problem),
        "posteriors": tuple(posteriors),
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
    """Whether the remaining seconds suffice for the posterior of a network, or the user asked for it.

    Without a posterior, held-out readings give the stated error.
    """
    seconds = total_seconds(task.training)
    if seconds is None or task.error_bars is not None:
        return True
    needed = posterior_seconds(fit, MIN_ERROR_BAR_POINTS)
    return fit.seconds + fit.polish_seconds + needed <= MAX_OVERRUN * seconds


def posterior_seconds(fit: Fit, points: float = 1.0) -> float:
    """The seconds that the posterior of a network needs with a share of its points; 0 for other fits."""
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
    """The outcome of an ensemble, whose members are polished one by one without those that diverged."""
    seeds, problems = task.seeds, task.problems
    converged = [k for k, fit in enumerate(trained) if fit.stopped != DIVERGED]
    kept = converged if len(converged) > 1 else range(len(trained))
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
    has_held_out = len(task.held_out) > 0
    record = {
        "settings": repr(settings),
        "seeds": [seeds[k] for k in kept],
        "diverged": [seeds[k] for k in range(len(seeds)) if k not in converged],
        "held_out_errors": np.asarray(errors, float).tolist() if has_held_out else None,
    }
    representative = _representative(fits, trained)
    return Outcome(
        representative, float(error) if has_held_out else None, PosteriorSamples(stacked, record)
    )


def _with_shared_budget(task: Task, count: int) -> Task:
    """The task of one of `count` members, with its share of the seconds of the polish."""
    whole = task.training.polish
    if not whole or whole.seconds is None:
        return task
    shared = replace(whole, seconds=whole.seconds / count)
    return replace(
        task,
        training=replace(task.training, polish=shared),
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
    """The fit of one member after second-order steps, or unchanged if it has none."""
    settings = polish_settings(fit.model, task.training)
    if settings is False:
        return fit

    def report(iteration, cost):
        progress.update(stage, iteration / settings.iterations, {"cost": cost})

    began = time.monotonic()
    folder = None if checkpoint is None else checkpoint / f"member_{member}"
    polished = polish(
        fit.model, fit.pde, task.problems[member], settings, task.held_out, report,
        noise=task.noise, states=StageStates(folder, identity_of(task) if folder else None),
        has_fallback=task.has_fallback,
    )  # fmt: skip
    seconds = time.monotonic() - began
    return replace(
        fit, model=polished.model, pde=polished.pde, stages=tuple(polished.stages),
        polish_seconds=seconds, first_step_seconds=fit.first_step_seconds or polished.first_seconds,
    )  # fmt: skip


_FIT: Mapping[str, Callable[..., Outcome]] = {
    CLOSED_FORM: _closed_form,
    SOLVER: on_mesh,
    SECOND_ORDER: _network,
    FIRST_ORDER: _network,
}
