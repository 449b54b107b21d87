"""From networks and a problem to a finished fit, with members where error bars were asked for."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from pgt.data.observations import Observations
from pgt.ground.errors import InputError
from pgt.models.base import AbstractFieldModel
from pgt.nn import batched, frozen
from pgt.nn.precision import is_double, precision
from pgt.physics.pde import AbstractPDE
from pgt.training.ensemble import held_out_errors, member_seeds, resampled, train_members
from pgt.training.error_bars import Ensemble, ErrorBars, Posterior
from pgt.training.loop import DIVERGED, Fit, train
from pgt.training.losses import Problem
from pgt.training.polish import polish
from pgt.training.posterior import laplace_members
from pgt.training.progress import ProgressBar
from pgt.training.settings import Polish, Training
from pgt.training.step import held_out_error
from pgt.trust.members import Members

POLISHABLE = 4000  # decoder parameters that a least-squares polish can take in seconds


@dataclass(frozen=True)
class Task:
    """What is to be fitted, and how. `noise` is σ of the readings where it is known."""

    pde: AbstractPDE
    problem: Problem
    held_out: Observations
    training: Training
    noise: float | None
    checkpoint: Path | None
    progress: ProgressBar


@dataclass(frozen=True)
class Outcome:
    """The fit, its error on readings held out, its members, and what there is to say of these."""

    fit: Fit
    held_out_error: float | None
    members: Members | None = None
    about: dict | None = None


def seeds_of(error_bars: ErrorBars | None, seed: int) -> list[int]:
    """The seed of every network that is to be trained."""
    if not isinstance(error_bars, Ensemble | Posterior | None):
        raise InputError(
            f"error_bars={error_bars!r}: write Ensemble(members=8), Posterior(samples=64) or None."
        )
    return member_seeds(seed, error_bars.members) if isinstance(error_bars, Ensemble) else [seed]


def fit_all(
    networks: Sequence[AbstractFieldModel],
    task: Task,
    error_bars: ErrorBars | None,
    seeds: Sequence[int],
) -> Outcome:
    """Train, polish, and draw members where they are asked for."""
    if isinstance(error_bars, Ensemble):
        return _ensemble(networks, task, error_bars, seeds)
    check_error_bars(error_bars, networks[0], task.training)
    fit = train(
        networks[0], task.pde, task.problem, task.held_out, task.training,
        seed=seeds[0], noise=task.noise, checkpoint=task.checkpoint, progress=task.progress,
    )  # fmt: skip
    fit = _polished(fit, task, task.problem, "polish")
    outcome = Outcome(fit, _error(fit, task) if len(task.held_out) else None)
    return _posterior(outcome, task, error_bars) if isinstance(error_bars, Posterior) else outcome


def check_error_bars(
    error_bars: ErrorBars | None, model: AbstractFieldModel, training: Training
) -> None:
    """Raise before the training where there would be no posterior after it."""
    if isinstance(error_bars, Posterior) and polish_settings(model, training) is False:
        raise InputError(
            f"error_bars={error_bars!r}: the posterior is that of the least-squares polish, which is "
            "switched off or too long for this decoder; write Training(polish=Polish()), or "
            "error_bars=Ensemble()."
        )


def _error(fit: Fit, task: Task) -> float:
    with precision(is_double(fit.model)):
        return float(held_out_error(fit.model, task.problem, task.held_out))


def _posterior(outcome: Outcome, task: Task, settings: Posterior) -> Outcome:
    """Members drawn around the fit; all read what the fit reads."""
    finish = polish_settings(outcome.fit.model, task.training)
    assert finish is not False  # checked before the fit
    models, pdes, info = laplace_members(
        outcome.fit, task.problem, settings, task.held_out, task.noise, finish
    )
    readings = batched.repeat(task.problem.observations, settings.samples)
    return replace(
        outcome,
        members=Members.of(models, pdes, readings),
        about={"settings": repr(settings)} | info,
    )


def _ensemble(networks, task: Task, settings: Ensemble, seeds: Sequence[int]) -> Outcome:
    """All members trained at once, then polished in turn; those that diverged are left out."""
    problems = [resampled(task.problem, s) if settings.bootstrap else task.problem for s in seeds]
    fits, course = train_members(
        networks, task.pde, problems, task.held_out, task.training,
        seeds=seeds, noise=task.noise, checkpoint=task.checkpoint, progress=task.progress,
    )  # fmt: skip
    good = [k for k, fit in enumerate(fits) if fit.record.stopped != DIVERGED]
    kept = good if len(good) > 1 else range(len(fits))
    fits = [
        _polished(fits[k], task, problems[k], f"polish {n} of {len(kept)}")
        for n, k in enumerate(kept, 1)
    ]
    with precision(is_double(fits[0].model)):
        members = Members.of(
            batched.stack([fit.model for fit in fits]),
            batched.stack([fit.pde for fit in fits]),
            batched.stack([problems[k].observations for k in kept]),
        )
        errors, error = held_out_errors(members, task.problem, task.held_out)
    known = len(task.held_out) > 0
    about = {
        "settings": repr(settings),
        "seeds": [seeds[k] for k in kept],
        "diverged": [seeds[k] for k in range(len(seeds)) if k not in good],
        "held_out_errors": np.asarray(errors, float).tolist() if known else None,
    }
    return Outcome(_middle(fits, course), float(error) if known else None, members, about)


def _middle(fits: list[Fit], course) -> Fit:
    """The first member, with the course of all."""
    return replace(
        fits[0],
        record=course,
        noise_floor=float(np.median([fit.noise_floor for fit in fits])),
        polish_seconds=sum(fit.polish_seconds for fit in fits),
    )


def polish_settings(model: AbstractFieldModel, training: Training) -> Polish | Literal[False]:
    """How the fit is polished: as asked for, else where the decoder is small enough."""
    if training.polish is not None:
        return training.polish
    return Polish() if frozen.count_parameters(model.tunable()) <= POLISHABLE else False


def _polished(fit: Fit, task: Task, problem: Problem, stage: str) -> Fit:
    """The least-squares finish, where there is one."""
    settings = polish_settings(fit.model, task.training)
    if settings is False:
        return fit

    def report(iteration, cost):
        task.progress.update(stage, iteration / settings.iterations, {"cost": cost})

    began = time.monotonic()
    model, pde, costs = polish(
        fit.model, fit.pde, problem, settings, task.held_out, report, noise=task.noise
    )
    seconds = time.monotonic() - began
    return replace(fit, model=model, pde=pde, polish_costs=tuple(costs), polish_seconds=seconds)
