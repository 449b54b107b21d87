"""The one place that turns what a user gave into the task that is fitted.

A reconstruction, every fold of a cross-validation, the estimate of `pgt check`, the tables and the
benchmarks all start here, so that each of them times, fits or judges the same program.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Int

from pgt.data.domain import Domain
from pgt.data.limits import check_limits
from pgt.data.observations import Observations, typical
from pgt.data.order import ordered
from pgt.data.origin import Origin
from pgt.data.sight import parted
from pgt.data.splits import (
    Groups,
    HeldOutBy,
    blocks,
    parts,
    require_sensors,
    rows_held_out,
    usual_groups,
)
from pgt.ground.arguments import Seed
from pgt.ground.errors import InputError
from pgt.ground.unknown import Unknown
from pgt.models.base import AbstractFieldModel
from pgt.models.features import Features
from pgt.models.linearised import network_of
from pgt.models.solver import Solver
from pgt.nn.precision import cast, precision
from pgt.nn.scaling import Scaling
from pgt.physics.bordered import bordered
from pgt.physics.conditions import AbstractCondition, Periodic
from pgt.physics.derivatives import requested
from pgt.physics.pde import AbstractPDE
from pgt.training.budget import budgeted
from pgt.training.default_model import (
    for_larger,
    has_time_for_larger,
    larger,
    network,
    suited_model,
)
from pgt.training.ensemble import member_seeds, resampled
from pgt.training.error_bars import Ensemble, ErrorBars, Posterior
from pgt.training.losses import Problem
from pgt.training.polish import polish_settings
from pgt.training.room import check_room
from pgt.training.scales import with_hidden_scales, with_unknown_units
from pgt.training.settings import Training
from pgt.training.wall_scales import with_wall_scales

HELD_OUT = 0.1  # of the readings, where a model is trained
# Readings that are held out one by one: enough to tell the error to a few per cent.
MOST_HELD_OUT = 100
AFTER_SINES = 0.8  # of the seconds: what sines that are poor mostly leave to a network

Model = AbstractFieldModel | Callable[[int], AbstractFieldModel]


@dataclass(frozen=True)
class Task:
    """What is to be fitted, and how: nothing about it is decided later.

    `networks` has one for each of the `seeds`: one, or a member of an ensemble each. `noise` is σ of
    the readings in units of their spread, where it was given. `rival` assembles the same task for
    another model, to be fitted where the answer of this one is poor; None where the user chose it.
    `is_named`: the user chose the model. `asked` are the settings as they were asked for, where less time
    is left than that. `domain` is in physical numbers; `problem` and `held_out` are counted from the
    problem's origin. `rows_held_out` are the rows of all readings, in their order, that `held_out` has.
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
    rival: "Callable[[], Task] | None" = None
    is_named: bool = False
    asked: Training | None = None
    rows_held_out: Int[np.ndarray, " m"] | None = None

    @property
    def model(self) -> AbstractFieldModel:
        """The network, or that of the first member."""
        return self.networks[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What each network fits: the problem, with a bootstrap its own draw of the readings."""
        drawn = isinstance(self.error_bars, Ensemble) and self.error_bars.bootstrap
        return tuple(resampled(self.problem, s) if drawn else self.problem for s in self.seeds)

    @property
    def held_outs(self) -> tuple[Observations, ...]:
        """The readings that each network never fits."""
        return (self.held_out,) * len(self.networks)

    def in_precision(self) -> AbstractContextManager:
        """Inside, JAX computes in the precision asked for."""
        return in_precision(self.training)


def in_precision(training: Training) -> AbstractContextManager:
    """Inside, JAX computes in the precision that the settings ask for."""
    return precision(training.precision == "float64")


def assemble(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition] = (),
    *,
    model: Model | None = None,
    training: Training | None = None,
    error_bars: ErrorBars | None = None,
    seed: Seed = 0,
) -> Task:
    """The task; the arguments are those of `reconstruct`.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=50)
    >>> task = assemble(readings, pgt.Heat(0.01), pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> len(task.problem.observations), len(task.held_out), type(task.model).__name__
    (50, 0, 'Features')
    """
    training = training or Training()
    pde, known = bordered(pde, conditions)
    asked, given = training, pde
    observations = ordered(matched(observations, pde, domain))
    training = replace(training, hold_out_by=held_out_by(observations, training))
    seeds = _seeds(error_bars, seed)
    with in_precision(training):
        about = observations, pde, domain, known
        build = _builder(model, error_bars, about, training.seconds)
        networks = tuple(build(s) for s in seeds)
    if needs_double(networks[0].scaling.origin, pde, conditions):
        training = replace(training, precision="float64")
    with in_precision(training):
        networks = tuple(_prepared(n, observations, pde, training) for n in networks)
        networks = tuple(with_wall_scales(n, pde, known, domain) for n in networks)
        check_error_bars(error_bars, networks[0], training)
        training = budgeted(training, networks[0])
        check_room(training, networks[0])
        scaling = networks[0].scaling
        pde = with_unknown_units(pde, scaling)
        rows = held_out_rows(observations, training, seed, networks[0], domain)
        fitted, held_out = parts(observations, rows)
        held_out = scaling.origin.readings(held_out)
        problem = Problem.build(
            fitted, pde, known, domain, scaling,
            physics=training.collocation > 0, likelihood=training.likelihood,
        )  # fmt: skip
    rival = None
    if model is None:
        about = observations, given, domain
        again = partial(assemble, *about, known, seed=seed)
        rival = _rival(networks[0], about, again, asked, error_bars)
    noise = _given_noise(observations, scaling)
    return Task(
        networks, seeds, pde, domain, problem, held_out, training, error_bars, noise, rival,
        is_named=model is not None, rows_held_out=rows,
    )  # fmt: skip


def _rival(
    model: AbstractFieldModel,
    about: tuple[Observations, AbstractPDE, Domain],
    again: "Callable[..., Task]",
    training: Training,
    error_bars: ErrorBars | None,
) -> "Callable[[], Task] | None":
    """The task for the model that is asked next, where nobody named one: after the solver what suits
    otherwise, a network after sines, a larger one after a small one that takes second-order steps. The
    larger has no posterior to draw from."""
    if isinstance(model, Solver):
        build = partial(suited_model, *about, error_bars, on_mesh=False, seconds=training.seconds)
        return partial(
            again, model=lambda seed: build(seed=seed), training=training, error_bars=error_bars
        )
    if isinstance(model, Features):
        left = None if training.seconds is None else AFTER_SINES * training.seconds
        build = partial(network, *about, seconds=left)
        return partial(again, model=build, training=training, error_bars=error_bars)
    free = error_bars is None and training.steps is None and training.polish is None
    if free and has_time_for_larger(training):
        build = partial(larger, *about)
        return partial(again, model=build, training=for_larger(training))
    return None


def matched(observations: Observations, pde: AbstractPDE, domain: Domain) -> Observations:
    """The readings with the fields of the equation, where both fit the domain."""
    if domain.axes != pde.coords:
        raise InputError(
            f"the domain has axes {', '.join(domain.axes)}, the equation has coordinates "
            f"{', '.join(pde.coords)}: give the domain exactly the equation's coordinates."
        )
    observations = observations.wrapped(domain)
    observations.check_inside(domain)
    check_limits(observations, domain)
    return observations.aligned(pde.fields)


def needs_double(origin: Origin, pde: AbstractPDE, conditions: Sequence[AbstractCondition]) -> bool:
    """Whether the equation or a condition sees a physical number that is far from zero, which has its
    digits in double precision only.

    >>> import pgt
    >>> hour, level = Origin((("t", 1.7e9),)), Origin((("u", 101325.0),))
    >>> heat, burgers = pgt.Heat(0.01), pgt.Burgers(0.01)
    >>> needs_double(hour, heat, ()), needs_double(level, burgers, ()), needs_double(hour, burgers, ())
    (False, True, False)
    """
    far = {name for name, _ in origin.shifts}
    if not far:
        return False
    return bool(far & set(requested(pde))) or any(_sees(c, far) for c in conditions)


def _sees(condition: AbstractCondition, far: set[str]) -> bool:
    """Whether a condition asks for the value of a field that is far from zero, or for coordinates: as any
    does that is not written in plain numbers."""
    if isinstance(condition, Periodic):  # differences are the same wherever one counts from
        return False
    values = getattr(condition, "values", {"": None})
    plain = all(isinstance(value, float | Unknown) for value in values.values())
    return not plain or bool(far & set(values))


def held_out_rows(
    observations: Observations,
    training: Training,
    seed: int,
    model: AbstractFieldModel | None = None,
    domain: Domain | None = None,
) -> Int[np.ndarray, " m"]:
    """The rows of the readings that are held out, as the settings say."""
    share = training.hold_out
    if share is None:
        share = HELD_OUT if model is None or model.is_trained else 0.0
    if share == 0 or len(observations) < 2:
        return np.zeros(0, int)
    groups = groups_of(observations, training, domain)
    if training.hold_out is None and groups is None:
        share = min(share, MOST_HELD_OUT / len(observations))
    return rows_held_out(observations, share, seed, groups)


def groups_of(
    observations: Observations, training: Training, domain: Domain | None = None
) -> Groups | None:
    """Which readings are held out together; None: each by itself. A wall of a shape parts a block."""
    by = held_out_by(observations, training)
    if by == "sensor":
        return require_sensors(observations)
    if by == "reading":
        return None
    found = blocks(observations)
    if domain is None:
        return found
    return parted(domain, np.asarray(observations.points, float), found)


def held_out_by(observations: Observations, training: Training) -> HeldOutBy:
    """What is held out together: as the settings say, else as it is usual for such readings."""
    return training.hold_out_by or usual_groups(observations)


def check_error_bars(
    error_bars: ErrorBars | None, model: AbstractFieldModel, training: Training
) -> None:
    """Raise before the training where there would be no posterior after it."""
    if not model.is_trained:
        if isinstance(error_bars, Ensemble):
            name = type(model).__name__
            raise InputError(
                f"error_bars={error_bars!r}: the posterior of {name} is known, and no training differs "
                'by chance; ask for a Posterior, in a run file name = "posterior".',
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
    """The seed of every network that is to be trained."""
    if not isinstance(error_bars, Ensemble | Posterior | None):
        raise InputError(
            f"error_bars={error_bars!r}: write Ensemble(members=8), Posterior(samples=64) or None."
        )
    if isinstance(error_bars, Ensemble):
        return tuple(member_seeds(seed, error_bars.members))
    return (seed,)


def _builder(
    model: Model | None,
    error_bars: ErrorBars | None,
    about: tuple[Observations, AbstractPDE, Domain, Sequence[AbstractCondition]],
    seconds: float | None,
) -> Callable[[int], AbstractFieldModel]:
    """The function of a seed that builds the network."""
    if model is None:
        readings, pde, domain, conditions = about
        return lambda seed: suited_model(
            readings, pde, domain, error_bars, conditions=conditions, seconds=seconds, seed=seed
        )
    if not isinstance(model, AbstractFieldModel):
        return lambda seed: _built(model, seed)
    if isinstance(error_bars, Ensemble):
        name = type(model).__name__
        raise InputError(
            f"error_bars=Ensemble(...): every member needs weights of its own, and model= is one "
            f"{name}; give a function of the seed: model=lambda seed: {name}(..., seed=seed)."
        )
    return lambda seed: network_of(model)


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


def _given_noise(observations: Observations, scaling: Scaling) -> float | None:
    """σ of the readings in units of their spread, where the user gave it."""
    return typical((np.asarray(observations.noise) / scaling.spread)[observations.mask]) or None
