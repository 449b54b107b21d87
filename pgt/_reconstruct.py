"""The front door."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import jax
import numpy as np

from pgt.data.domain import Domain
from pgt.data.limits import check_limits
from pgt.data.observations import Observations
from pgt.data.splits import blocks, split
from pgt.ground.errors import InputError
from pgt.ground.version import __version__
from pgt.models.base import AbstractFieldModel
from pgt.models.pgt import PGT
from pgt.nn import frozen
from pgt.nn.precision import cast, precision
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition
from pgt.physics.gauge import fixed_fields
from pgt.physics.pde import AbstractPDE
from pgt.reconstruction.result import Reconstruction
from pgt.training.error_bars import Ensemble, ErrorBars
from pgt.training.fit import Outcome, Task, fit_all, seeds_of
from pgt.training.losses import Problem
from pgt.training.progress import ProgressBar
from pgt.training.scales import with_hidden_scales, with_unknown_units
from pgt.training.settings import Training

MANY_READINGS = 300  # beyond this, anchors gather the readings

Model = AbstractFieldModel | Callable[[int], AbstractFieldModel]


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
        A model, or a function that builds one from a seed, as an ensemble needs. Default:
        `default_model`, a PGT of a size that suits the problem.
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
    training = training or Training()
    observations = checked(observations, pde, domain)
    with precision(training.precision == "float64"), ProgressBar(progress) as bar:
        seeds = seeds_of(error_bars, seed)
        build = builder(model, error_bars, observations, pde, domain)
        networks = [_prepared(build(s), observations, pde, training) for s in seeds]
        scaling = networks[0].scaling
        pde = with_unknown_units(pde, scaling)
        fitted, held_out = hold_out(observations, training, seed)
        problem = Problem.build(
            fitted, pde, conditions, domain, scaling,
            physics=training.collocation > 0, likelihood=training.likelihood,
        )  # fmt: skip
        task = Task(
            pde, problem, held_out, training, _given_noise(observations, scaling),
            Path(checkpoint) if checkpoint else None, bar,
        )  # fmt: skip
        outcome = fit_all(networks, task, error_bars, seeds)
    record = _record(outcome, training, seed, fixed_fields(problem.conditions, pde))
    return Reconstruction(
        outcome.fit.model, outcome.fit.pde, fitted, held_out, record, domain, outcome.members
    )


def default_model(
    observations: Observations, pde: AbstractPDE, domain: Domain, *, seed: int = 0, **sizes
) -> PGT:
    """A PGT sized for the problem: a small decoder, fit for a polish, in up to two coordinates; a wide
    one beyond; every reading a token while they are few, anchors when they are many.

    `sizes` are arguments of `PGT` that are to be otherwise; the others stay as they suit the problem.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=400)
    >>> model = default_model(readings, pgt.Heat(0.01), pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> type(model).__name__, len(model.network.anchors.points)
    ('PGT', 64)
    """
    small = domain.dimension <= 2
    suited = {
        "width": 32 if small else 64,
        "decoder_width": 20 if small else 128,
        "decoder_layers": 3 if small else 4,
        "frequency": 5.0 if small else 8.0,
        "anchors": 0 if len(observations) <= MANY_READINGS else 64,
    }
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    return PGT(scaling, kernel=pde.kernel(), seed=seed, **(suited | sizes))


def builder(
    model: Model | None,
    error_bars: ErrorBars | None,
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
) -> Callable[[int], AbstractFieldModel]:
    """The function of a seed that builds the network."""
    if model is None:
        return lambda seed: default_model(observations, pde, domain, seed=seed)
    if not isinstance(model, AbstractFieldModel):
        return lambda seed: _built(model, seed)
    if isinstance(error_bars, Ensemble):
        name = type(model).__name__
        raise InputError(
            f"error_bars=Ensemble(...): every member needs weights of its own, and model= is one "
            f"{name}; give a function of the seed: model=lambda seed: {name}(..., seed=seed)."
        )
    return lambda seed: model


def _built(build: Callable[[int], AbstractFieldModel], seed: int) -> AbstractFieldModel:
    network = build(seed)
    if not isinstance(network, AbstractFieldModel):
        raise InputError(
            f"model=: the function gives a {type(network).__name__} for the seed {seed}; it must "
            "give a model, such as lambda seed: PGT(..., seed=seed)."
        )
    return network


def _prepared(network, observations: Observations, pde: AbstractPDE, training: Training):
    """The network in the precision asked for, with a size for the fields that have no reading."""
    if training.precision == "float64":
        network = cast(network, np.float64)
    return with_hidden_scales(network, observations, pde)


def checked(observations: Observations, pde: AbstractPDE, domain: Domain) -> Observations:
    """The readings with the fields of the equation, where both fit the domain."""
    if domain.axes != pde.coords:
        raise InputError(
            f"the domain has axes {', '.join(domain.axes)}, the equation has coordinates "
            f"{', '.join(pde.coords)}: give the domain exactly the equation's coordinates."
        )
    observations.check_inside(domain)
    check_limits(observations, domain)
    return observations.aligned(pde.fields)


def hold_out(
    observations: Observations, training: Training, seed: int
) -> tuple[Observations, Observations]:
    """Readings to fit and readings held out, as the settings say."""
    if training.hold_out == 0 or len(observations) < 2:
        return observations, observations.take(np.zeros(0, int))
    return split(observations, training.hold_out, seed, groups_of(observations, training))


def groups_of(observations: Observations, training: Training):
    """Which readings are held out together; None: each by itself."""
    return blocks(observations) if training.hold_out_by == "block" else None


def _given_noise(observations: Observations, scaling: Scaling) -> float | None:
    """σ of the readings in units of their spread, where the user gave it."""
    noise = (np.asarray(observations.noise) / scaling.spread)[observations.mask]
    return float(np.sqrt(np.mean(noise**2))) if (noise > 0).any() else None


def _record(outcome: Outcome, training: Training, seed: int, fixed: tuple[str, ...]) -> dict:
    """Everything about the run that is not the field itself, as plain data."""
    fit = outcome.fit
    return (
        asdict(fit.record)
        | {
            "version": __version__,
            "jax": jax.__version__,
            "device": jax.devices()[0].device_kind,
            "seed": seed,
            "training": training.describe(),
            "fixed_fields": list(fixed),
            "parameter_count": frozen.count_parameters(fit.model),
            "noise_floor": fit.noise_floor,
            "held_out_error": outcome.held_out_error,
            "polish_costs": list(fit.polish_costs),
            "polish_seconds": fit.polish_seconds,
        }
        | ({"members": outcome.about} if outcome.members is not None else {})
    )
