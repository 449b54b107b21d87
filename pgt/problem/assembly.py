"""The task of a fit, assembled from the arguments of the user.

`assemble` checks the arguments, builds the networks, fills in scales and budget, and divides the readings
into fitted and held-out ones. Reconstructions, the folds of a cross-validation, the estimate of `pgt
check`, tables and benchmarks all use it, so that each of them fits or times the same program.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Int

from pgt.core.arguments import Seed
from pgt.core.devices import row_sharding
from pgt.core.errors import InputError
from pgt.core.unknown import Unknown
from pgt.data.domain import Domain
from pgt.data.observations import Observations, check_limits, typical
from pgt.data.origin import Origin
from pgt.data.reading_stream import ReadingStream, without_places
from pgt.data.splits import (
    Groups,
    HeldOutBy,
    blocks,
    in_canonical_order,
    parts,
    require_sensors,
    rows_held_out,
    usual_groups,
)
from pgt.data.visibility import split_by_walls
from pgt.inference.linear_gaussian import CompressedReadings
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import network_of
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast, precision
from pgt.physics.conditions import AbstractCondition, Periodic
from pgt.physics.derivatives import requested
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bordered
from pgt.problem.budget import check_memory, polish_settings, total_seconds, with_budget
from pgt.problem.field_scales import with_hidden_scales, with_unknown_units, with_wall_scales
from pgt.problem.losses import Problem
from pgt.training.settings import Ensemble, ErrorBars, Posterior, Training, member_seeds

# The share of the readings that is held out from a trained model. A larger share gives a better error
# estimate, a smaller one a better fit.
HELD_OUT_SHARE = 0.1
# The largest number of single readings that are held out, from which the error is known to a few percent.
MAX_HELD_OUT_READINGS = 100

Model = AbstractFieldModel | Callable[[int], AbstractFieldModel]
# A model as users give it, which may also be a name, or a table with its name and arguments.
ModelChoice = Model | str | Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """Everything about a fit that is decided before it starts.

    `networks` has one network for each of the `seeds`: a single one, or the members of an ensemble.
    `noise` is σ of the readings in units of their spread, if it was given. With `has_fallback`, another
    candidate of the plan is fitted if the result of this one is poor. `requested_training` are the
    settings of the user if `training` has less time. `domain` is in physical coordinates; `problem` and
    `held_out` are relative to the problem's origin. `rows_held_out` are the rows of `held_out` among all
    readings, in their order. `stream` has all readings but the held-out ones where those of `problem` are
    a sample of them, and `compressed` are these for a sum of sines, once they have been read.
    """

    networks: tuple[AbstractFieldModel, ...]
    seeds: tuple[int, ...]
    pde: AbstractPDE
    domain: Domain
    problem: Problem
    held_out: Observations
    training: Training
    error_bars: ErrorBars | None
    noise: float | None
    has_fallback: bool = False
    requested_training: Training | None = None
    rows_held_out: Int[np.ndarray, " m"] | None = None
    stream: ReadingStream | None = None
    compressed: CompressedReadings | None = None

    @property
    def model(self) -> AbstractFieldModel:
        """The network of the first seed."""
        return self.networks[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problem of each network; with a bootstrap, each has its own draw of the readings."""
        is_drawn = isinstance(self.error_bars, Ensemble) and self.error_bars.bootstrap
        return tuple(resample(self.problem, s) if is_drawn else self.problem for s in self.seeds)

    @property
    def held_outs(self) -> tuple[Observations, ...]:
        """The held-out readings of each network."""
        return (self.held_out,) * len(self.networks)

    def in_precision(self) -> AbstractContextManager:
        """A context in which JAX computes in the precision of the settings."""
        return in_precision(self.training)


def in_precision(training: Training) -> AbstractContextManager:
    """A context in which JAX computes in the precision of the settings."""
    return precision(training.precision == "float64")


def assemble(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition] = (),
    *,
    model: Model,
    training: Training | None = None,
    error_bars: ErrorBars | None = None,
    seed: Seed = 0,
    has_fallback: bool = False,
    rows: Int[np.ndarray, " m"] | None = None,
    stream: ReadingStream | None = None,
) -> Task:
    """The task for the arguments of `reconstruct`; `observations` are a sample of the `stream`, if any.

    `rows` are those of the readings in canonical order that are held out, by default those that the
    settings choose.

    >>> import pgt
    >>> readings, domain = pgt.sample(pgt.datasets.heat(), n=50), pgt.Domain(x=(0, 1), t=(0, 1))
    >>> sines = pgt.Features(pgt.Scaling.fit(readings, domain))
    >>> task = assemble(readings, pgt.Heat(0.01), domain, model=sines)
    >>> len(task.problem.observations), len(task.held_out), type(task.model).__name__
    (50, 0, 'Features')
    """
    training = training or Training()
    pde, all_conditions = bordered(pde, conditions)
    observations = in_canonical_order(match_fields(observations, pde, domain))
    training = replace(training, hold_out_by=held_out_by(observations, training))
    if stream is not None:
        check_streamed(training, error_bars)
    if jax.process_count() > 1 and total_seconds(training) is not None:
        raise InputError(
            "Training(seconds=...): the clocks of several hosts differ, so that they would end at "
            "different steps; write Training(steps=...).",
            about="training",
        )
    seeds = _seeds(error_bars, seed)
    with in_precision(training):
        build_network = model_builder(model, error_bars)
        networks = tuple(build_network(s) for s in seeds)
    if needs_double_precision(networks[0].scaling.origin, pde, conditions):
        training = replace(training, precision="float64")
    with in_precision(training):
        networks = tuple(_prepare(n, observations, pde, training) for n in networks)
        networks = tuple(with_wall_scales(n, pde, all_conditions, domain) for n in networks)
        check_error_bars(error_bars, networks[0], training)
        training = with_budget(training, networks[0])
        check_memory(training, networks[0])
        scaling = networks[0].scaling
        pde = with_unknown_units(pde, scaling)
        if rows is None:
            rows = held_out_rows(observations, training, seed, networks[0], domain)
        fitted, held_out = parts(observations, rows)
        held_out = scaling.origin.readings(held_out)
        problem = Problem.build(
            fitted, pde, all_conditions, domain, scaling,
            physics=training.collocation > 0, likelihood=training.likelihood,
            sharding=row_sharding(training.devices),
        )  # fmt: skip
    noise = _given_noise(observations, scaling)
    return Task(
        networks, seeds, pde, domain, problem, held_out, training, error_bars, noise,
        has_fallback=has_fallback, rows_held_out=rows,
        stream=stream and _fitted_stream(stream, pde, domain, scaling.origin, held_out, training),
    )  # fmt: skip


def check_streamed(training: Training, error_bars: ErrorBars | None) -> None:
    """Raise for settings that need all readings of a stream at once."""
    if training.hold_out_by == "block":
        raise InputError(
            'hold_out_by = "block": blocks need all readings at once; with a stream of readings write '
            '"reading" or "sensor".'
        )
    if isinstance(error_bars, Ensemble) and error_bars.bootstrap:
        raise InputError(
            "Ensemble(bootstrap=True): a bootstrap draws from all readings at once; with a stream of "
            "readings write Ensemble(members=...)."
        )


def _fitted_stream(
    stream: ReadingStream,
    pde: AbstractPDE,
    domain: Domain,
    origin: Origin,
    held_out: Observations,
    training: Training,
) -> ReadingStream:
    """The stream as a fit uses its readings: with the fields of the equation, relative to the origin, and
    without the held-out readings, or without all readings of the held-out sensors."""
    by_sensor = training.hold_out_by == "sensor"
    axes = [axis for axis in domain.axes if axis != "t" or not by_sensor]

    def as_fitted(readings: Observations) -> Observations:
        readings = origin.readings(readings.wrapped(domain).aligned(pde.fields))
        return without_places(readings, held_out, axes) if len(held_out) else readings

    return stream.then(as_fitted)


def match_fields(observations: Observations, pde: AbstractPDE, domain: Domain) -> Observations:
    """The readings with the fields of the equation, after checking both against the domain."""
    if domain.axes != pde.coords:
        raise InputError(
            f"the domain has axes {', '.join(domain.axes)}, the equation has coordinates "
            f"{', '.join(pde.coords)}: give the domain exactly the equation's coordinates."
        )
    observations = observations.wrapped(domain)
    observations.check_inside(domain)
    check_limits(observations, domain)
    return observations.aligned(pde.fields)


def needs_double_precision(
    origin: Origin, pde: AbstractPDE, conditions: Sequence[AbstractCondition]
) -> bool:
    """Whether the equation or a condition uses a physical number far from zero, whose digits need double
    precision.

    >>> import pgt
    >>> time, level = Origin((("t", 1.7e9),)), Origin((("u", 101325.0),))
    >>> [needs_double_precision(far, pgt.Burgers(0.01), ()) for far in (time, level)]
    [False, True]
    """
    far = {name for name, _ in origin.shifts}
    if not far:
        return False
    return bool(far & set(requested(pde))) or any(_uses_far_values(c, far) for c in conditions)


def _uses_far_values(condition: AbstractCondition, far: set[str]) -> bool:
    """Whether a condition uses a field or coordinate far from zero.

    A condition whose values are not plain numbers may use coordinates.
    """
    if isinstance(condition, Periodic):  # its differences do not depend on the origin
        return False
    values = getattr(condition, "values", {"": None})
    is_plain = all(isinstance(value, float | Unknown) for value in values.values())
    return not is_plain or bool(far & set(values))


def held_out_rows(
    observations: Observations,
    training: Training,
    seed: int,
    model: AbstractFieldModel | None = None,
    domain: Domain | None = None,
) -> Int[np.ndarray, " m"]:
    """The rows of the readings that the settings hold out."""
    share = training.hold_out
    if share is None:
        share = HELD_OUT_SHARE if model is None or model.is_trained else 0.0
    if share == 0 or len(observations) < 2:
        return np.zeros(0, int)
    groups = held_out_groups(observations, training, domain)
    if training.hold_out is None and groups is None:
        share = min(share, MAX_HELD_OUT_READINGS / len(observations))
    return rows_held_out(observations, share, seed, groups)


def held_out_groups(
    observations: Observations, training: Training, domain: Domain | None = None
) -> Groups | None:
    """The groups of readings that are held out together; None stands for single readings.

    A wall divides a block.
    """
    unit = held_out_by(observations, training)
    if unit == "sensor":
        return require_sensors(observations)
    if unit == "reading":
        return None
    block_numbers = blocks(observations)
    if domain is None:
        return block_numbers
    return split_by_walls(domain, np.asarray(observations.points, float), block_numbers)


def held_out_by(observations: Observations, training: Training) -> HeldOutBy:
    """The unit of holding out, from the settings or the default for such readings."""
    return training.hold_out_by or usual_groups(observations)


def check_error_bars(
    error_bars: ErrorBars | None, model: AbstractFieldModel, training: Training
) -> None:
    """Raise before training if there could be no error bars after it."""
    if not model.is_trained:
        if isinstance(error_bars, Ensemble):
            name = type(model).__name__
            raise InputError(
                f"error_bars={error_bars!r}: {name} has a posterior in closed form, and members of an "
                'ensemble would be equal; write Posterior(), in a run file name = "posterior".',
                about="error_bars",
            )
        return
    if isinstance(error_bars, Posterior) and polish_settings(model, training) is False:
        raise InputError(
            f"error_bars={error_bars!r}: the posterior is that of the least-squares polish, which is "
            "switched off or too long for this decoder; write Training(polish=Polish()), in a run file a "
            'table [training.polish], or ask for an Ensemble, name = "ensemble".',
            about="error_bars",
        )


def _seeds(error_bars: ErrorBars | None, seed: int) -> tuple[int, ...]:
    """The seeds of all networks: several for an ensemble, otherwise one."""
    if not isinstance(error_bars, Ensemble | Posterior | None):
        raise InputError(
            f"error_bars={error_bars!r}: write Ensemble(members=8), Posterior(samples=64) or None."
        )
    if isinstance(error_bars, Ensemble):
        return tuple(member_seeds(seed, error_bars.members))
    return (seed,)


def model_builder(
    model: Model, error_bars: ErrorBars | None
) -> Callable[[int], AbstractFieldModel]:
    """The function that builds a network from a seed."""
    if not isinstance(model, AbstractFieldModel):
        return lambda seed: _build(model, seed)
    if isinstance(error_bars, Ensemble):
        name = type(model).__name__
        raise InputError(
            f"error_bars=Ensemble(...): every member needs weights of its own, and model= is one "
            f"{name}; give a function of the seed: model=lambda seed: {name}(..., seed=seed)."
        )
    return lambda seed: network_of(model)


def _build(build: Callable[[int], AbstractFieldModel], seed: int) -> AbstractFieldModel:
    network = build(seed)
    if not isinstance(network, AbstractFieldModel):
        raise InputError(
            f"model=: the function gives a {type(network).__name__} for the seed {seed}; it must "
            "give a model, such as lambda seed: PGT(..., seed=seed)."
        )
    return network


def _prepare(network, observations: Observations, pde: AbstractPDE, training: Training):
    """The network in the precision of the settings, with scales for fields without readings."""
    if training.precision == "float64":
        network = cast(network, np.float64)
    return with_hidden_scales(network, observations, pde)


def _given_noise(observations: Observations, scaling: Scaling) -> float | None:
    """σ of the readings in units of their spread, or None if the user gave none."""
    return typical((np.asarray(observations.noise) / scaling.spread)[observations.mask]) or None


def resample(problem: Problem, seed: int) -> Problem:
    """The problem with a bootstrap draw of its readings: as many, drawn with replacement."""
    count = len(problem.observations)
    rows = np.random.default_rng(seed).integers(0, count, count)
    return eqx.tree_at(lambda p: p.observations, problem, problem.observations.take(rows))
