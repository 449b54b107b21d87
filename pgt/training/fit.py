"""From a task to a finished fit, with members where error bars were asked for."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Float, Int

from pgt.data.splits import Groups, sensors, spared_sensors
from pgt.ground.threads import blas_threads
from pgt.ground.unknown import named_unknowns
from pgt.models.base import AbstractFieldModel
from pgt.models.features import Features
from pgt.models.linearised import Apart
from pgt.nn import batched
from pgt.nn.compiled import compiled
from pgt.nn.frozen import count_parameters
from pgt.nn.precision import is_double, precision
from pgt.physics.bordered import wall_fields
from pgt.physics.pde import AbstractPDE
from pgt.training.assemble import Task
from pgt.training.chance import beyond_noise
from pgt.training.checkpoint import States
from pgt.training.coefficients import Learnt
from pgt.training.contradicted import Contradicted, contradicted
from pgt.training.displaced import Displaced, displaced
from pgt.training.drawn import Drawn, away_from_answer
from pgt.training.ensemble import held_out_errors
from pgt.training.error_bars import Ensemble, Posterior
from pgt.training.features import fit_features
from pgt.training.found import (
    Answer,
    Averaged,
    Found,
    deviations,
    drawn_members,
    errors_without,
    left_out_errors,
    left_out_predictions,
    noise_of_fields,
)
from pgt.training.functions import Functions
from pgt.training.gaussian import CLEAN
from pgt.training.history import median
from pgt.training.identity import identity_of
from pgt.training.left_open import following, left_open, misses
from pgt.training.likelihood import cut_off, misfit_size
from pgt.training.loop import DIVERGED, Fit, train
from pgt.training.losses import Problem
from pgt.training.one_band import NODES, points_of
from pgt.training.polish import is_small, polish, polish_settings
from pgt.training.posterior import laplace_members
from pgt.training.progress import ProgressBar
from pgt.training.step import held_out_error

FOLLOWED = 0.3  # of the noise: what sines may miss of an answer, a tenth of the noise's square
DRAWS = 32  # from the posterior, to say how far the field may be wrong


@dataclass(frozen=True)
class Outcome:
    """The fit, its error on readings held out, and the members that its error bars are made of.

    `left_out` is what the others say of every reading, `misses` how far that is from it in predicted σ,
    where they are known in closed form. `deviate` draws fields from the posterior: points ↦ (k, n, c),
    how far the draws are from the fit, in physical units; `change` the same of what neighbouring readings
    change in it, where that is known. `without` is the error that held-out readings
    would have if those rows of the readings were held out, where no fit is needed to say it.
    """

    fit: Fit
    held_out_error: float | None
    members: Drawn | None = None
    left_out: Float[np.ndarray, "n c"] | None = None
    misses: Float[np.ndarray, " m"] | None = None
    deviate: Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "k n c"]] | None = None
    change: Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "k n c"]] | None = None
    noise: float = 0.0  # σ of the readings in units of their spread
    noises: Float[np.ndarray, " c"] | None = None  # that of each field, where it has its own
    # The error between sensors that stand still, in the same units: of each field, or of all.
    at_least: Float[np.ndarray, " c"] | float = 0.0
    apart: Apart | None = None  # what is open where nothing was read, drawn and stacked
    # Whether draws are around the summit of clean readings: then each of these tells what is open there.
    is_at_summit: bool = False
    shows_noise: bool = False  # whether it is noise that readings are missed by, however little
    is_average: bool = False  # of fields found with different sines: their difference is drawn, too
    without: Callable[[Int[np.ndarray, " m"]], float] | None = None
    moved_to: float | None = None  # the cost at the summit, where the answer was moved there
    contradicted: tuple[Contradicted, ...] = ()  # conditions that readings contradict
    displaced: Displaced | None = None  # the sensor that reads as if elsewhere, or late, or off

    @property
    def noise_by_field(self) -> Float[np.ndarray, " c"] | float:
        """σ of the readings of each field, or of all of them alike."""
        return self.noise if self.noises is None else self.noises


def fit_task(
    task: Task,
    *,
    checkpoint: Path | None = None,
    progress: bool | None = None,
    is_kept: Callable[[Outcome], bool] = lambda outcome: True,
) -> Outcome:
    """Train, polish, and draw members where they are asked for.

    `is_kept` hears how the fit of a network ended: one that is not kept gets no posterior, which takes as
    long as a small fit.
    """
    size = count_parameters(task.model.tunable())
    with task.in_precision(), blas_threads(size), ProgressBar(progress) as bar:
        if isinstance(task.model, Features):
            return _solved(task, bar)
        fits = train(task, checkpoint=checkpoint, progress=bar)
        if isinstance(task.error_bars, Ensemble):
            return _ensemble(task, task.error_bars, fits, bar, checkpoint)
        fit = _polished(fits[0], task, 0, bar, "polish", checkpoint)
        outcome = Outcome(fit, _error(fit, task) if len(task.held_out) else None)
        return with_posterior(outcome, task) if is_kept(outcome) else outcome


def with_posterior(outcome: Outcome, task: Task) -> Outcome:
    """The outcome of a network and how far it may be wrong, where that can be said."""
    fit = outcome.fit
    if not _has_posterior(fit, task):
        return outcome
    asked = task.error_bars
    settings = asked if isinstance(asked, Posterior) else Posterior(DRAWS)
    drawn = _posterior(fit, task, settings)
    if drawn.better is not None:
        model, pde, error = drawn.better
        fit = replace(fit, model=model, pde=pde)
        outcome = replace(outcome, fit=fit, held_out_error=error)
    apart = left_open(fit.model, fit.pde, task.problem, settings.samples)
    outcome = replace(
        outcome, deviate=partial(away_from_answer, drawn.stacked[0], task),
        change=None if drawn.changed is None else partial(away_from_answer, drawn.changed, task),
        noise=drawn.about["noise"],
        noises=np.asarray(drawn.about["noise_of_fields"]), apart=apart,
        is_at_summit=drawn.better is not None and drawn.about["is_clean"],
        shows_noise=not drawn.about["is_clean"],
        moved_to=drawn.about["cost"],
        **doubts_by_sines(fit, task, drawn.about["noise"]),
    )  # fmt: skip
    if asked:
        return replace(outcome, members=drawn.beside(apart))
    return replace(outcome, fit=replace(fit, learnt=_learnt(drawn)))


def doubts_by_sines(fit: Fit, task: Task, noise: float) -> dict:
    """Conditions that readings contradict and a sensor at fault, by sines that follow the answer; nothing
    where these miss it by more than a part of the noise, and would blame sensors for it."""
    if not task.problem.conditions and sensors(task.problem.observations) is None:
        return {}
    sines = following(fit.model, fit.pde, task.problem)
    if misses(sines, fit.model, task.problem) > FOLLOWED * noise:
        return {}
    answer = sines, fit.pde, task.problem, NODES
    return {"contradicted": tuple(contradicted(*answer)), "displaced": displaced(*answer)}


def _learnt(drawn: Drawn) -> dict[str, Learnt]:
    """How well coefficients are known, by those that were drawn, whose covariance is the posterior's."""
    with jax.enable_x64(True):
        nodes = named_unknowns(drawn.stacked[1])
    return {
        name: Learnt(float(np.std(np.asarray(node.raw))), unrest=drawn.about["unrest"])
        for name, node in nodes
    }


def _solved(task: Task, progress: ProgressBar) -> Outcome:
    """A sum of sines needs no training (features.py)."""
    found, fit = fit_features(task, lambda share, numbers: progress.update("solve", share, numbers))
    samples = task.error_bars.samples if isinstance(task.error_bars, Posterior) else DRAWS
    # Exact readings leave open what their posterior says; of noisy ones few sines are too sure.
    is_clean = found.sigma <= CLEAN
    apart = None if is_clean else left_open(fit.model, fit.pde, task.problem, samples)
    outcome = outcome_of(
        found, fit, task, partial(deviations, found), partial(drawn_members, found), apart
    )
    return replace(
        outcome,
        is_average=isinstance(found, Averaged),
        **_doubts(found, fit, task),
    )


def outcome_of(
    found: Answer,
    fit: Fit,
    task: Task,
    deviate: Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "k n c"]],
    draw: Callable[[Posterior], tuple[AbstractFieldModel, AbstractPDE]],
    apart: Apart | None = None,
) -> Outcome:
    """What is to be said of an answer in closed form: its errors at readings that are left out, and draws
    from its posterior."""
    readings, left_out = task.problem.observations, None
    errors, sigmas = left_out_errors(found, readings, sensors(readings))
    if task.problem.likelihood == "gauss":
        left_out = left_out_predictions(found, readings)
    spared = spared_sensors(readings)
    judged, around = left_out_errors(found, readings, spared)
    error = _error(fit, task) if len(task.held_out) else _size(judged, task.problem)
    noises, asked = noise_of_fields(found, readings), task.error_bars
    outcome = Outcome(
        fit, error, left_out=left_out, misses=errors / sigmas, deviate=deviate,
        noise=found.sigma, noises=noises,
        at_least=0.0 if spared is None else _between_sensors(judged, found, task.problem, spared),
        apart=apart,
        without=None if len(task.held_out) else partial(_error_without, found, task.problem),
    )  # fmt: skip
    if not isinstance(asked, Posterior):
        return outcome
    models, pdes = draw(asked)
    stacked = (models, pdes, batched.repeat(readings, asked.samples))
    about = {
        "settings": repr(asked), "noise": found.sigma,
        "noise_of_fields": noises.tolist(),
        "unrest": 0.0, "leave_one_out": left_out is not None,
        # Sines that follow clean readings wherever these go: what draws say at them tells nothing.
        "left_out_spread": around.tolist() if found.sigma <= CLEAN and left_out is not None else None,
    }  # fmt: skip
    return replace(outcome, members=Drawn(stacked, about).beside(apart))


def _doubts(found: Found | Averaged, fit: Fit, task: Task) -> dict:
    """Conditions that readings contradict and a sensor at fault, by the sines of the most probable
    band."""
    best = found.parts[0] if isinstance(found, Averaged) else found
    others = Functions(best.model, task).prior if wall_fields(task.pde) else None
    answer = best.model, best.pde, task.problem, points_of(best.model, task), others
    began, left = time.monotonic(), _seconds_left(fit, task)
    conditions = tuple(contradicted(*answer, left))
    is_late = left is not None and time.monotonic() - began >= left
    return {"contradicted": conditions, "displaced": None if is_late else displaced(*answer)}


def _seconds_left(fit: Fit, task: Task) -> float | None:
    seconds = task.training.seconds
    return None if seconds is None else max(seconds - fit.seconds - fit.polish_seconds, 0.0)


def _error_without(found: Answer, problem: Problem, rows: Int[np.ndarray, " m"]) -> float:
    """As `held_out_error` would say it, had these rows not been fitted."""
    return _size(errors_without(found, problem.observations, rows), problem)


def _size(errors: Float[np.ndarray, " m"], problem: Problem) -> float:
    return float(misfit_size(problem.likelihood, errors, np.ones(len(errors), bool)))


def _between_sensors(
    errors: Float[np.ndarray, " m"], found: Answer, problem: Problem, which: Groups
) -> Float[np.ndarray, " c"]:
    """What is wrong with each field at sensors that others predict, where readings are missed by such
    `errors`; a field that was not read is known no better than the others."""
    readings = problem.observations
    rows = [readings.measured(name).rows for name in readings.fields]
    ends = np.cumsum([len(part) for part in rows])[:-1]
    least = [
        beyond_noise(
            np.asarray(cut_off(problem.likelihood, missed, np.ones(len(missed), bool)), float),
            sigmas, which[own],
        ) if len(own) else np.nan
        for own, missed, sigmas in zip(
            rows, np.split(errors, ends), np.split(found.sigmas, ends), strict=True
        )
    ]  # fmt: skip
    return np.where(np.isfinite(least), least, np.nanmax(least))


def _error(fit: Fit, task: Task) -> float:
    with precision(is_double(fit.model)):
        return float(_ask_held_out(fit.model, task.problem, task.held_out))


_ask_held_out = compiled(held_out_error)  # as a program of its own


def _posterior(fit: Fit, task: Task, settings: Posterior) -> Drawn:
    """Members drawn around the fit; all read what the fit reads."""
    finish = polish_settings(fit.model, task.training)
    assert finish is not False  # checked when the task was assembled
    models, pdes, info, better, changed = laplace_members(
        fit, task.problem, settings, task.held_out, task.noise, finish
    )
    readings = batched.repeat(task.problem.observations, settings.samples)
    about = {"settings": repr(settings)} | info
    return Drawn((models, pdes, readings), about, better, changed)


def _has_posterior(fit: Fit, task: Task) -> bool:
    """Where it was polished, and is small enough to say at once how far it may be wrong."""
    settings, asked = polish_settings(fit.model, task.training), task.error_bars is not None
    return settings is not False and (asked or is_small(fit.model))


def _ensemble(
    task: Task,
    settings: Ensemble,
    trained: list[Fit],
    progress: ProgressBar,
    checkpoint: Path | None,
) -> Outcome:
    """All members polished in turn; those that diverged are left out."""
    seeds, problems = task.seeds, task.problems
    good = [k for k, fit in enumerate(trained) if fit.stopped != DIVERGED]
    kept = good if len(good) > 1 else range(len(trained))
    shared = _in_parts(task, len(kept))
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
    about = {
        "settings": repr(settings),
        "seeds": [seeds[k] for k in kept],
        "diverged": [seeds[k] for k in range(len(seeds)) if k not in good],
        "held_out_errors": np.asarray(errors, float).tolist() if known else None,
    }
    middle = _middle(fits, trained)
    return Outcome(middle, float(error) if known else None, Drawn(stacked, about))


def _in_parts(task: Task, count: int) -> Task:
    """The task of one of so many members: the seconds of a polish are those of all of them."""
    finish = task.training.polish
    if not finish or finish.seconds is None:
        return task
    part = replace(finish, seconds=finish.seconds / count)
    return replace(
        task, training=replace(task.training, polish=part), asked=task.asked or task.training
    )


def _middle(fits: list[Fit], trained: list[Fit]) -> Fit:
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
    """The least-squares finish of one member, where there is one."""
    settings = polish_settings(fit.model, task.training)
    if settings is False:
        return fit

    def report(iteration, cost):
        progress.update(stage, iteration / settings.iterations, {"cost": cost})

    began = time.monotonic()
    folder = None if checkpoint is None else checkpoint / f"member_{member}"
    done = polish(
        fit.model, fit.pde, task.problems[member], settings, task.held_out, report,
        noise=task.noise, states=States(folder, identity_of(task) if folder else None),
        gives_way=task.rival is not None,
    )  # fmt: skip
    seconds = time.monotonic() - began
    return replace(
        fit, model=done.model, pde=done.pde, stages=tuple(done.stages), polish_seconds=seconds
    )
