"""Which methods and models are tried on a problem, in which order, and why.

A plan is data: `choose` looks at the problem and the budget and returns it, `pgt check` prints it, the
record of a result keeps it with what came of each candidate, and `model=` and `method=` override it.

| problem | candidates |
|---|---|
| an ensemble is asked for | networks: its members differ by chance, and a solution does not |
| fewer than three readings, and conditions that determine the field | solver |
| at most one coordinate in space; or two, linear and steady | solver; then the first of the next rows |
| linear, or linear but for its coefficients | sum of sines in closed form; then a solver or a network |
| linear but for its unknown functions | sum of sines, linearized at each iterate; then a small network |
| not linear | small network, second-order steps; then a larger network |

Candidates race by one rule (reconstruction/race.py):

1. Every answer has one score: its root mean square error at readings that it was not given, in units of
   their spread, joined with the residual of the equation.
2. The next candidate is fitted unless the score is at most the `min_error` of that candidate, or the
   misfit is noise (as large as a given noise, or white and normal, with the equation fulfilled), or less
   than a quarter of the seconds is left. Unknown coefficients at a local optimum may leave a misfit like
   noise, so that the closed form follows a solver that has some.
3. Of two answers, the one with the significantly smaller score at the same readings is kept.

With `seconds`, `min_error` is close to rounding, so that they are used while another candidate may be
better, and each gets all that those before it left. Without `seconds`, a candidate that takes long has to
be worth it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, get_args

import jax

from pgt.core.arguments import MethodName
from pgt.core.errors import InputError
from pgt.core.registry import parts
from pgt.core.unknown import named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.sampling import Sobol, Uniform
from pgt.data.splits import in_canonical_order
from pgt.methods.solver.forward import TOLERANCE as FORWARD_TOLERANCE
from pgt.methods.solver.forward import is_determined
from pgt.methods.solver.statement import is_solvable
from pgt.models.coordinate_networks import PINN, SIREN
from pgt.models.features import MAX_SINE_WEIGHTS, Features, usual_count
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import network_of
from pgt.models.mesh_solution import Solver
from pgt.models.pgt import PGT
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition, Periodic, is_far
from pgt.physics.equation import over_range
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bordered
from pgt.problem.assembly import (
    ModelChoice,
    Task,
    assemble,
    in_precision,
    match_fields,
    model_builder,
)
from pgt.problem.budget import with_budget
from pgt.problem.linearity import is_linear, is_linear_but_for_functions, linearity
from pgt.training.settings import Ensemble, ErrorBars, Training

METHODS = get_args(MethodName)
CLOSED_FORM, SOLVER, SECOND_ORDER, FIRST_ORDER = METHODS

FROM_PROBLEM = ("scaling", "seed", "domain")  # arguments of a model that no user gives by name

# With fewer readings a field is fitted only if the conditions do not determine it.
MIN_READINGS = 3
# The share of the seconds of the first of two candidates: without it, one that does not converge would
# use all of them.
FIRST_SHARE = 0.6
# The number of sines of each field where an equation is solved again and again: more take too long.
SINES_PER_ITERATE = 120
# A domain with a shape needs this many times as many sines, since walls bend the field.
SHAPE_FACTOR = 1.6
# A score below which no candidate is asked for; it is that of a field exact to single precision.
ROUNDING = 1e-7
# The same for the closed form, which takes seconds and reaches rounding in double precision.
MIN_ERROR_FOR_CLOSED_FORM = 1e-12
# Without a limit on the seconds, a network after sines and a larger network are fitted only if the score
# exceeds these numbers, since they take ten and a hundred times as long.
MIN_ERROR_FOR_NETWORK, MIN_ERROR_FOR_LARGER = 1e-3, 1e-2


@dataclass(frozen=True)
class NetworkSizes:
    """The sizes of networks that suit a kind of processor.

    Attributes
    ----------
    widths : of a small network, for one field, several fields, and more than two coordinates. On a CPU it
        is narrow: a step costs the square of the number of weights.
    growth : the width is at least this number times the fourth root of the seconds: with more time a
        wider network reaches a smaller error, and a narrow one has converged before.
    max_width : beyond it the Jacobian does not fit into fast memory.
    siren : arguments of the large network, which is trained by first-order steps. For one set of readings
        the encoder of a PGT does not pay, since every step has to wait for it.
    min_seconds : with less time than this, first-order steps reach less than second-order ones.
    points : the residual points of a first-order step, at least; with fewer a GPU is hardly faster.
    """

    widths: tuple[int, int, int]
    growth: float
    max_width: int
    siren: Mapping[str, Any]
    min_seconds: float
    points: int


ON_CPU = NetworkSizes((16, 20, 24), 8.0, 40, {"width": 96, "layers": 5, "frequency": 8.0}, 300.0, 0)
ON_GPU = NetworkSizes(
    (40, 40, 40), 14.4, 64, {"width": 256, "layers": 5, "frequency": 16.0}, 30.0, 2000
)
# A second small network is wider by this factor and starts from other weights.
WIDENING = 1.5


# What a record keeps of a candidate.
RECORDED = ("method", "model", "reason", "share", "min_error")


def sizes() -> NetworkSizes:
    """The sizes for the processor that computes."""
    return ON_CPU if jax.default_backend() == "cpu" else ON_GPU


@dataclass(frozen=True)
class Candidate:
    """One way to the field: the method, the name of the model's class, the model of a seed, why it is
    tried, the share of the seconds left that it may use, and the score of an answer above which it is
    fitted after that answer."""

    method: MethodName
    model: str
    build: Callable[[int], AbstractFieldModel]
    reason: str
    training: Training
    error_bars: ErrorBars | None
    share: float = 1.0
    min_error: float = ROUNDING


@dataclass(frozen=True)
class Plan:
    """The candidates of a problem, in the order in which they race."""

    observations: Observations
    pde: AbstractPDE
    domain: Domain
    conditions: tuple[AbstractCondition, ...]
    seed: int
    candidates: tuple[Candidate, ...]

    @cached_property
    def first(self) -> Task:
        """The task of the first candidate."""
        return self.task(0)

    def task(self, index: int) -> Task:
        """The task of a candidate."""
        candidate, following = self.candidates[index], self.candidates[index + 1 :]
        # A small network does not leave its seconds to one that is only wider.
        is_alike = bool(following) and following[0].method == candidate.method == SECOND_ORDER
        return assemble(
            self.observations, self.pde, self.domain, self.conditions,
            model=candidate.build, training=candidate.training,
            error_bars=candidate.error_bars, seed=self.seed,
            has_fallback=bool(following) and not is_alike,
        )  # fmt: skip

    def described(self) -> list[dict[str, Any]]:
        """By candidate its method, its model, the reason, its share of the seconds left, and the score
        above which it is fitted, as plain data."""
        return [{name: getattr(one, name) for name in RECORDED} for one in self.candidates]


def choose(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition] = (),
    *,
    model: ModelChoice | None = None,
    method: str | None = None,
    training: Training | None = None,
    error_bars: ErrorBars | None = None,
    seed: int = 0,
) -> Plan:
    """The plan; the arguments are those of `reconstruct`.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=40)
    >>> square = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> for pde in (pgt.Heat(0.01), pgt.Heat(pgt.Unknown(0.01)), pgt.Burgers(0.01)):
    ...     print([(c["method"], c["model"]) for c in choose(readings, pde, square).described()])
    [('solver', 'Solver'), ('closed-form', 'Features')]
    [('solver', 'Solver'), ('closed-form', 'Features')]
    [('solver', 'Solver'), ('second-order', 'PINN'), ('first-order', 'SIREN')]
    """
    training = training or Training()
    pde, known = bordered(over_range(pde, observations, domain, conditions), conditions)
    if model is None:
        domain, known = _with_periodic_axes(domain, known)
    observations = in_canonical_order(match_fields(observations, pde, domain))
    chooser = _Chooser(observations, pde, domain, tuple(known), training, error_bars, seed)
    with in_precision(training):
        if model is not None:
            found = [chooser.named(model)]
        elif method is not None:
            found = [chooser.by_method(method)]
        else:
            found = chooser.suited()
    if any(map(is_far, known)) and found[0].method != SOLVER:
        raise InputError(
            "side='far': the method 'solver' alone follows a field beyond the domain; leave "
            " model=, method= and error_bars= out, or end the domain far away and write Dirichlet."
        )
    if model is not None and method is not None and found[0].method != _known(method):
        raise InputError(
            f"method={method!r}: a {found[0].model} is fitted by the method {found[0].method!r}; leave "
            "one of model= and method= out.",
            about="method",
        )
    return Plan(observations, pde, domain, tuple(known), seed, tuple(found))


def _with_periodic_axes(
    domain: Domain, conditions: Sequence[AbstractCondition]
) -> tuple[Domain, list[AbstractCondition]]:
    """The domain with the axes on which a condition makes all fields periodic, and the other conditions.

    Models on such an axis are periodic by construction, which is exact.

    >>> import pgt
    >>> domain, left = _with_periodic_axes(pgt.Domain(x=(0, 1), t=(0, 1)), [pgt.Periodic("x")])
    >>> domain.periodic, left
    (('x',), [])
    """
    whole = [c for c in conditions if isinstance(c, Periodic) and not c.fields and c.order > 0]
    if not whole or domain.shape is not None:
        return domain, list(conditions)
    for condition in whole:
        condition.bind(domain, ())  # an axis that does not exist is an error
    axes = {condition.axis for condition in whole}
    bounds = {axis: domain.bounds(axis) for axis in domain.axes}
    periodic = (*domain.periodic, *axes)
    left = [c for c in conditions if not (isinstance(c, Periodic) and c.axis in axes)]
    return Domain(
        periodic=periodic, units=domain.units, coordinates=domain.coordinates, **bounds
    ), left


@dataclass(frozen=True)
class _Chooser:
    """The problem and the budget, and the candidates that suit them."""

    observations: Observations
    pde: AbstractPDE
    domain: Domain
    conditions: tuple[AbstractCondition, ...]
    training: Training
    error_bars: ErrorBars | None
    seed: int

    def suited(self) -> list[Candidate]:
        """What suits the problem, and what is asked next."""
        if isinstance(self.error_bars, Ensemble):
            return [self._network(MEMBERS)]
        if len(self.observations) < MIN_READINGS and self._is_determined():
            return [self._forward()]
        if any(map(is_far, self.conditions)):
            return [self._solver()]
        first = self._best_without_solver()
        if not self._is_solvable():
            return [first, *self._next_networks(first)]
        if self._solves_quickly(first.method):
            larger = self._next_networks(first) if first.method == SECOND_ORDER else []
            if first.method == CLOSED_FORM:
                first = replace(first, min_error=MIN_ERROR_FOR_CLOSED_FORM)
            return [replace(self._solver(), share=FIRST_SHARE), first, *larger]
        if first.method == CLOSED_FORM and not self.domain.shape:
            return [replace(first, share=FIRST_SHARE), self._solver()]
        return [first, *self._next_networks(first)]

    def _next_networks(self, first: Candidate) -> list[Candidate]:
        """The networks that follow this candidate, if any."""
        is_limited = self.training.seconds is not None
        if first.method == CLOSED_FORM:
            network = self._network(AFTER_SINES)
            return [network if is_limited else replace(network, min_error=MIN_ERROR_FOR_NETWORK)]
        if not self._is_free():
            return []
        if is_limited and (self.training.seconds or 0.0) < sizes().min_seconds:
            return [self._network(AFTER_SMALL, WIDENING)]
        larger = self._larger(AFTER_SMALL)
        return [larger if is_limited else replace(larger, min_error=MIN_ERROR_FOR_LARGER)]

    def named(self, model: ModelChoice) -> Candidate:
        """The model that the user named."""
        if isinstance(model, str):
            model = {"name": model}
        if isinstance(model, Mapping):
            if "name" not in model:
                raise InputError(
                    'model={...}: which one? Write its name beside its arguments, as {"name": "pgt"}.',
                    about="model",
                )
            model = self._by_name(**model)
        return self._candidate(model_builder(model, self.error_bars), NAMED)

    def by_method(self, method: str) -> Candidate:
        """What suits the problem among the models that a method fits."""
        method = _known(method)
        if method == SOLVER:
            return replace(self._solver(), reason=NAMED_METHOD)
        if method == CLOSED_FORM:
            build = partial(self._features, None)
            return self._candidate(build, NAMED_METHOD)
        if method == SECOND_ORDER:
            return self._network(NAMED_METHOD)
        return self._larger(NAMED_METHOD)

    # ------------------------------------------------------------------------- the candidates

    def _candidate(self, build: Callable, reason: str) -> Candidate:
        build = cache(build)  # the task asks for the same model again
        model = build(self.seed)
        method, name = method_of(model, self.training), type(network_of(model)).__name__
        return Candidate(method, name, build, reason, self.training, self.error_bars)

    def _best_without_solver(self) -> Candidate:
        """Sines where the equation lets them, else a small network."""
        scaling = self._scaling()
        reason = LINEAR.get(linearity(self.pde, scaling), CLOSED)
        if is_linear(self.pde, scaling):
            return self._candidate(partial(self._features, None), reason)
        if is_linear_but_for_functions(self.pde, scaling):
            return self._candidate(partial(self._features, SINES_PER_ITERATE), reason)
        return self._network(NOT_LINEAR)

    def _solver(self) -> Candidate:
        scaling = self._scaling()
        return self._candidate(lambda seed: Solver(scaling), HARD_CONSTRAINT)

    def _forward(self) -> Candidate:
        """The solution that the conditions determine."""
        tolerance = {} if named_unknowns(self.pde) else {"tolerance": FORWARD_TOLERANCE}
        scaling = self._scaling()
        return self._candidate(lambda seed: Solver(scaling, **tolerance), DETERMINED)

    def _features(self, count: int | None, seed: int) -> Features:
        """A sum of sines; more of them where a shape bends the field between its walls."""
        scaling = self._scaling()
        if count is None and self.domain.shape is not None:
            count = min(
                round(SHAPE_FACTOR * usual_count(scaling)), MAX_SINE_WEIGHTS // len(scaling.mean)
            )
        return Features(scaling, count=count, seed=seed, domain=self.domain)

    def _network(self, reason: str, widening: float = 1.0) -> Candidate:
        """A small network, or a wider one."""
        build = partial(
            small_network, self.observations, self.pde, self.domain,
            seconds=self.training.seconds, widening=widening,
        )  # fmt: skip
        return self._candidate(build, reason)

    def _larger(self, reason: str) -> Candidate:
        """A larger network; it has no posterior to draw from, but an ensemble may be made of it."""
        build = partial(large_network, self.observations, self.pde, self.domain)
        found = self._candidate(build, reason)
        return replace(found, training=with_more_points(self.training))

    # ---------------------------------------------------------------------------- the questions

    def _scaling(self) -> Scaling:
        return Scaling.fit(self.observations.aligned(self.pde.fields), self.domain)

    def _is_determined(self) -> bool:
        """Whether conditions determine the field; without readings, an error says what is missing."""
        is_required = not len(self.observations)
        about = self.pde, self.domain, self.conditions, self._scaling()
        return is_determined(*about, is_required=is_required)

    def _is_solvable(self) -> bool:
        return is_solvable(self.pde, self.domain, self.conditions, self._scaling())

    def _solves_quickly(self, other: MethodName) -> bool:
        """Whether a solution on a mesh takes seconds: along one coordinate, or one linear solve."""
        in_space = len(self.domain.spatial_axes)
        is_steady = "t" not in self.domain.axes
        return in_space < 2 or (is_steady and other == CLOSED_FORM)

    def _is_free(self) -> bool:
        """Whether the settings leave open that another network follows a small one."""
        training = self.training
        is_default = training.steps is None and training.polish is None
        return is_default and self.error_bars is None

    def _by_name(self, name: str, **options) -> Callable[[int], AbstractFieldModel]:
        """A registered model, of its usual size but for these arguments."""
        known = parts("model")
        if name not in known:
            raise InputError(
                f"model={name!r}: there is no model of that name; choose one of "
                f"{', '.join(sorted(known))}.",
                about="model",
            )
        kind = known[name]
        taken = [one for one in inspect.signature(kind).parameters if one not in FROM_PROBLEM]
        for option in options:
            if option not in taken:
                raise InputError(
                    f"model={name!r} has no argument {option!r}; it has {', '.join(taken)}.",
                    about="model",
                )
        if kind is PGT:
            return partial(_pgt, self.observations, self.pde, self.domain, options)
        return partial(_of_kind, kind, self.pde, self._scaling(), self.domain, options)


def method_of(model: AbstractFieldModel, training: Training) -> MethodName:
    """The method that fits a model with these settings."""
    if isinstance(model, Solver):
        return SOLVER
    if isinstance(model, Features):
        return CLOSED_FORM
    return FIRST_ORDER if with_budget(training, model).steps else SECOND_ORDER


def _known(method: str) -> MethodName:
    for known in METHODS:
        if known == method:
            return known
    raise InputError(
        f"method={method!r}: there is no method of that name; choose one of {', '.join(METHODS)}.",
        about="method",
    )


def _pgt(
    readings: Observations, pde: AbstractPDE, domain: Domain, options: Mapping[str, Any], seed: int
) -> PGT:
    return PGT.for_problem(readings, pde, domain, seed=seed, **options)


def _of_kind(
    kind, pde: AbstractPDE, scaling: Scaling, domain: Domain, options: Mapping[str, Any], seed: int
):
    known: dict[str, Any] = {"scaling": scaling, "seed": seed, "domain": domain}
    taken = inspect.signature(kind).parameters
    if "kernel" in taken:
        known["kernel"] = pde.kernel()
    return kind(**({name: value for name, value in known.items() if name in taken} | dict(options)))


def small_network(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    seed: int = 0,
    *,
    seconds: float | None = None,
    widening: float = 1.0,
) -> PINN:
    """A tanh network small enough for second-order steps on all of its weights; one with another
    `widening` starts from other weights."""
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    width = min(round(widening * _width(domain, pde, seconds)), sizes().max_width)
    return PINN(scaling, width=width, layers=3, seed=seed)


def _width(domain: Domain, pde: AbstractPDE, seconds: float | None) -> int:
    """The width of a small network for these seconds.

    >>> import pgt
    >>> [_width(pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Burgers(0.01), s) for s in (None, 10, 120)]
    [16, 16, 26]
    """
    own = sizes()
    least = own.widths[2 if domain.dimension > 2 else min(len(pde.fields) - 1, 1)]
    return min(max(least, round(own.growth * (seconds or 0.0) ** 0.25)), own.max_width)


def large_network(
    observations: Observations, pde: AbstractPDE, domain: Domain, seed: int = 0
) -> SIREN:
    """A SIREN with room for fields that a network small enough for second-order steps cannot follow."""
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    return SIREN(scaling, seed=seed, **sizes().siren)


def with_more_points(training: Training) -> Training:
    """The settings for a large network: points that are spread evenly say more of the residual than as
    many random ones."""
    if isinstance(training.sampler, Uniform):
        training = replace(training, sampler=Sobol())
    points = max(training.collocation, sizes().points) if training.collocation else 0
    return replace(training, collocation=points)


NAMED = "The model is the one that was asked for."
DETERMINED = "The conditions determine the field, so the equation is solved on a mesh."
NAMED_METHOD = "The method is the one that was asked for."
HARD_CONSTRAINT = (
    "The equation is solved on a mesh, and what is unknown of it (coefficients, initial state, boundary "
    "values) is fitted through the solution."
)
CLOSED = "The field is solved for in closed form."
LINEAR = {
    "linear": "The equation is linear, so the field is solved for in closed form, as a sum of sines.",
    "linear but for its coefficients": (
        "The equation is linear but for its unknown coefficients, so a sum of sines is solved for in "
        "closed form, once for each of their iterates."
    ),
    "linear but for its functions": (
        "The equation is linear but for its unknown functions, so a sum of sines is solved for "
        "iteratively, linearized at each iterate."
    ),
}
NOT_LINEAR = "The equation is not linear, so a small tanh network is fitted."
MEMBERS = "The members of an ensemble are networks that differ by chance."
AFTER_SINES = "A small tanh network can follow narrow features that a sum of sines cannot."
AFTER_SMALL = "A larger network can follow what a small one misses by more than noise."
