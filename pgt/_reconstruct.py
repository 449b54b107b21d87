"""The front door."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import jax
import numpy as np

from pgt._errors import InputError
from pgt._version import __version__
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.models.base import AbstractFieldModel
from pgt.models.pgt import PGT
from pgt.nn import frozen
from pgt.nn.precision import is_double, precision
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE
from pgt.reconstruction import Reconstruction
from pgt.training.loop import Fit, train
from pgt.training.losses import Problem
from pgt.training.polish import polish
from pgt.training.progress import ProgressBar
from pgt.training.settings import Polish, Training
from pgt.training.step import held_out_error

MANY_READINGS = 300  # beyond this, anchors gather the readings
POLISHABLE = 4000  # decoder parameters that a least-squares polish can take in seconds


def reconstruct(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition] = (),
    *,
    model: AbstractFieldModel | None = None,
    training: Training | None = None,
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
        `Initial`, `Dirichlet`, `Neumann`, `Periodic`, where they are known.
    model
        Default: `default_model`, a PGT of a size that suits the problem.
    training
        Settings; default `Training()`.
    seed
        The only source of randomness: the same seed on the same machine gives the same numbers.
    checkpoint
        A folder to save progress in; a run that was killed continues from there.
    progress
        Show a progress bar; default: when standard error is a terminal.
    """
    training = training or Training()
    observations = _checked(observations, pde, domain)
    with precision(training.precision == "float64"), ProgressBar(progress) as bar:
        network = model or default_model(observations, pde, domain, seed=seed)
        if training.precision == "float64":
            network = frozen.cast(network, np.float64)
        fitted, held_out = _hold_out(observations, training, seed)
        problem = Problem.build(
            fitted, pde, conditions, domain, network.scaling, physics=training.collocation > 0
        )
        noise = _given_noise(observations, network.scaling)
        fit = train(
            network, pde, problem, held_out, training,
            seed=seed, noise=noise,
            checkpoint=Path(checkpoint) if checkpoint else None, progress=bar,
        )  # fmt: skip
        fit = _polished(fit, problem, held_out, training, bar, noise)
    with precision(is_double(fit.model)):
        error = held_out_error(fit.model, problem, held_out) if len(held_out) else None
    return Reconstruction(
        fit.model, fit.pde, fitted, held_out, _record(fit, training, seed, error), domain
    )


def default_model(
    observations: Observations, pde: AbstractPDE, domain: Domain, *, seed: int = 0
) -> PGT:
    """A PGT sized for the problem: a small decoder, fit for a polish, in up to two coordinates; a wide
    one beyond; every reading a token while they are few, anchors when they are many."""
    small = domain.dimension <= 2
    return PGT(
        Scaling.fit(observations.aligned(pde.fields), domain),
        kernel=pde.kernel(),
        width=32 if small else 64,
        decoder_width=20 if small else 128,
        decoder_layers=3 if small else 4,
        frequency=5.0 if small else 8.0,
        anchors=0 if len(observations) <= MANY_READINGS else 64,
        seed=seed,
    )


def _checked(observations: Observations, pde: AbstractPDE, domain: Domain) -> Observations:
    if domain.axes != pde.coords:
        raise InputError(
            f"the domain has axes {', '.join(domain.axes)}, the equation has coordinates "
            f"{', '.join(pde.coords)}: give the domain exactly the equation's coordinates."
        )
    observations.check_inside(domain)
    offset = np.maximum(np.abs(domain.lower), np.abs(domain.upper)) / domain.extent
    if offset.max() > 1e4:
        axis = domain.axes[int(offset.argmax())]
        raise InputError(
            f"axis {axis} runs over {domain.bounds(axis)}: its length is lost in single precision "
            f"beside its offset. Subtract an origin from {axis} in the readings and the domain."
        )
    return observations.aligned(pde.fields)


def _hold_out(observations: Observations, training: Training, seed: int):
    if training.hold_out == 0 or len(observations) < 2:
        return observations, observations.take(np.zeros(0, int))
    return observations.split(training.hold_out, seed)


def _given_noise(observations: Observations, scaling: Scaling) -> float | None:
    """σ of the readings in units of their spread, where the user gave it."""
    noise = (np.asarray(observations.noise) / scaling.spread)[observations.mask]
    return float(np.sqrt(np.mean(noise**2))) if (noise > 0).any() else None


def _record(fit: Fit, training: Training, seed: int, error) -> dict:
    """Everything about the run that is not the field itself, as plain data."""
    return asdict(fit.record) | {
        "version": __version__,
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
        "seed": seed,
        "training": training.describe(),
        "parameter_count": frozen.count_parameters(fit.model),
        "noise_floor": fit.noise_floor,
        "held_out_error": None if error is None else float(error),
        "polish_costs": list(fit.polish_costs),
        "polish_seconds": fit.polish_seconds,
    }


def _polished(fit: Fit, problem: Problem, held_out, training: Training, bar, noise) -> Fit:
    """The least-squares finish, where it was asked for or the decoder is small enough."""
    settings = training.polish
    if settings is None:
        size = frozen.count_parameters(fit.model.polished())
        settings = Polish() if size <= POLISHABLE else False
    if settings is False:
        return fit

    def report(iteration, cost):
        bar.update("polish", iteration / settings.iterations, {"cost": cost})

    began = time.monotonic()
    model, pde, costs = polish(fit.model, fit.pde, problem, settings, held_out, report, noise=noise)
    seconds = time.monotonic() - began
    return replace(fit, model=model, pde=pde, polish_costs=tuple(costs), polish_seconds=seconds)
