"""The plan of a reconstruction: which methods and models are tried on a problem, in which order, and why.

`choose` looks at the problem and the budget and returns a `Plan`. A plan is data: `pgt check` prints it,
the record of a result keeps it with the outcome of each candidate, and `model=` and `method=` override
it.

| problem | candidates |
|---|---|
| readings are streamed from files | sum of sines if linear, else a network, first-order steps |
| an ensemble is requested | networks, whose members differ by chance; a solution on a mesh does not |
| fewer than three readings, and conditions that determine the field | solver |
| at most one coordinate in space; or two, linear and steady | solver; then the first of the next rows |
| linear, or linear but for its coefficients | sum of sines in closed form; then a solver or a network |
| linear but for its unknown functions | sum of sines, linearized at each iterate; then a small network |
| not linear | small network, second-order steps; then a larger network |

Candidates race by one rule (reconstruction/race.py):

1. Every answer has one score: the root sum of squares of its error at readings that were held out, in
   units of their spread, and of the residual of the equation.
2. The next candidate is fitted unless the score is at most the `min_error` of that candidate, or the
   misfit is noise (as large as a given noise, or white and normal, with the equation fulfilled), or less
   than a quarter of the seconds is left. Unknown coefficients at a local optimum may leave a misfit like
   noise, so that the closed form always follows a solver with unknown coefficients.
3. Of two answers, the one with the significantly smaller score at the same readings is kept. A smaller
   score is enough where only the earlier answer did not converge, or predicts worse than interpolation.

With a limit on the `seconds`, `min_error` is close to rounding. The seconds are then used as long as
another candidate may be better, and each candidate gets all that the earlier ones left. Without a
limit, a slow candidate is fitted only if the score is large.
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
from pgt.data.reading_stream import ReadingStream
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
from pgt.physics.unknown_conditions import bordered, functions_of
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

# The arguments of a model that follow from the problem, so that no user gives them by name.
FROM_PROBLEM = ("scaling", "seed", "domain")

# With fewer readings, the equation alone is solved if the conditions determine the field.
MIN_READINGS = 3
# The share of the seconds that the first of two candidates may use. Otherwise one that does not converge
# would use all of them.
FIRST_SHARE = 0.6
# The number of sines of each field if the equation is solved once per iterate. More take too long.
SINES_PER_ITERATE = 120
# The factor on the number of sines for a domain with a shape, since the field bends at the walls.
SHAPE_FACTOR = 1.6
# The smallest score for which another candidate is fitted: that of a field exact to single precision.
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
    widths : the widths of a small network for one field, for several fields, and for more than two
        coordinates. On a CPU it is narrow, since a step costs the square of the number of weights.
    growth : the width is at least this number times the fourth root of the seconds. With more time a
        wider network reaches a smaller error, while a narrow one converges early.
    max_width : the largest width, with which the Jacobian still fits into fast memory.
    siren : the arguments of the large network, which is trained by first-order steps. For one set of
        readings the encoder of a PGT is not worth its time in every step.
    min_seconds : with less time, second-order steps reach a smaller error than first-order ones.
    points : the smallest number of residual points of a first-order step; fewer save a GPU hardly any
        time.
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
# The factor by which a second small network is wider. It also starts from other weights.
WIDENING = 1.5


# The attributes of a candidate that a record keeps.
RECORDED = ("method", "model", "reason", "share", "min_error")


def sizes() -> NetworkSizes:
    """The sizes for the processor that computes."""
    return ON_CPU if jax.default_backend() == "cpu" else ON_GPU


@dataclass(frozen=True)
class Candidate:
    """A method with a model that a plan tries.

    Attributes
    ----------
    model : the name of the model's class.
    build : the function that builds the model from a seed.
    reason : why the candidate is tried.
    share : the share of the remaining seconds that it may use.
    min_error : it is fitted only if the score of the answer before it is larger.
    """

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
    stream: ReadingStream | None = None

    @cached_property
    def first(self) -> Task:
        """The task of the first candidate."""
        return self.task(0)

    def task(self, index: int) -> Task:
        """The task of a candidate."""
        candidate, following = self.candidates[index], self.candidates[index + 1 :]
        # A small network does not stop early in favor of one that is only wider.
        is_alike = bool(following) and following[0].method == candidate.method == SECOND_ORDER
        return assemble(
            self.observations, self.pde, self.domain, self.conditions,
            model=candidate.build, training=candidate.training,
            error_bars=candidate.error_bars, seed=self.seed,
            has_fallback=bool(following) and not is_alike, stream=self.stream,
        )  # fmt: skip

    def described(self) -> list[dict[str, Any]]:
        """The candidates as plain data, with the attributes that a record keeps."""
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
    stream: ReadingStream | None = None,
) -> Plan:
    """The plan for a problem; the arguments are those of `reconstruct`. With a `stream`, `observations`
    are a sample of its readings.

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
    if stream is not None and training.polish is None:
        training = replace(training, polish=False)  # second-order steps need all readings at once
    pde, all_conditions = bordered(over_range(pde, observations, domain, conditions), conditions)
    if model is None:
        domain, all_conditions = _with_periodic_axes(domain, all_conditions)
    observations = in_canonical_order(match_fields(observations, pde, domain))
    chooser = _Chooser(
        observations,
        pde,
        domain,
        tuple(all_conditions),
        training,
        error_bars,
        seed,
        stream is not None,
    )
    with in_precision(training):
        if model is not None:
            candidates = [chooser.named(model)]
        elif method is not None:
            candidates = [chooser.by_method(method)]
        else:
            candidates = chooser.suited()
    if any(map(is_far, all_conditions)) and candidates[0].method != SOLVER:
        raise InputError(
            "side='far': the method 'solver' alone follows a field beyond the domain; leave "
            " model=, method= and error_bars= out, or end the domain far away and write Dirichlet."
        )
    if model is not None and method is not None and candidates[0].method != _checked_method(method):
        raise InputError(
            f"method={method!r}: a {candidates[0].model} is fitted by the method "
            f"{candidates[0].method!r}; leave one of model= and method= out.",
            about="method",
        )
    return Plan(observations, pde, domain, tuple(all_conditions), seed, tuple(candidates), stream)


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
    periodic_conditions = [
        c for c in conditions if isinstance(c, Periodic) and not c.fields and c.order > 0
    ]
    if not periodic_conditions or domain.shape is not None:
        return domain, list(conditions)
    for condition in periodic_conditions:
        condition.bind(domain, ())  # an axis that does not exist is an error
    axes = {condition.axis for condition in periodic_conditions}
    bounds = {axis: domain.bounds(axis) for axis in domain.axes}
    periodic = (*domain.periodic, *axes)
    others = [c for c in conditions if not (isinstance(c, Periodic) and c.axis in axes)]
    return Domain(
        periodic=periodic, units=domain.units, coordinates=domain.coordinates, **bounds
    ), others


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
    is_streamed: bool = False

    def suited(self) -> list[Candidate]:
        """The candidates that suit the problem, in the order in which they race."""
        if isinstance(self.error_bars, Ensemble):
            return [self._network(MEMBERS)]
        if len(self.observations) < MIN_READINGS and self._is_determined():
            return [self._forward()]
        if any(map(is_far, self.conditions)):
            return [self._solver()]
        first = self._best_without_solver()
        if self.is_streamed:
            return [first if first.method == CLOSED_FORM else self._larger(STREAMED)]
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
        """The candidate with the model that the user named."""
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
        """The candidate that suits the problem among the models that a method fits."""
        method = _checked_method(method)
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
        build = cache(build)  # the task needs the same model again
        model = build(self.seed)
        method, name = method_of(model, self.training), type(network_of(model)).__name__
        return Candidate(method, name, build, reason, self.training, self.error_bars)

    def _best_without_solver(self) -> Candidate:
        """A sum of sines if the equation is linear in the fields, else a small network."""
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
        """A solution on a mesh, which the conditions determine."""
        tolerance = {} if named_unknowns(self.pde) else {"tolerance": FORWARD_TOLERANCE}
        scaling = self._scaling()
        return self._candidate(lambda seed: Solver(scaling, **tolerance), DETERMINED)

    def _features(self, count: int | None, seed: int) -> Features:
        """A sum of sines, with more sines for a domain with a shape, whose walls bend the field."""
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
        """A larger network."""
        build = partial(large_network, self.observations, self.pde, self.domain)
        candidate = self._candidate(build, reason)
        return replace(candidate, training=with_more_points(self.training))

    # ---------------------------------------------------------------------------- the questions

    def _scaling(self) -> Scaling:
        return Scaling.fit(self.observations.aligned(self.pde.fields), self.domain)

    def _is_determined(self) -> bool:
        """Whether the conditions determine the field; without readings, raises an error that says what is
        missing."""
        is_required = not len(self.observations)
        about = self.pde, self.domain, self.conditions, self._scaling()
        return is_determined(*about, is_required=is_required)

    def _is_solvable(self) -> bool:
        axes = set(self.domain.axes)
        if any(set(function.axes) == axes for function in functions_of(self.pde).values()):
            return False  # possible by method="solver", but not yet compared with sums of sines
        return is_solvable(self.pde, self.domain, self.conditions, self._scaling())

    def _solves_quickly(self, other: MethodName) -> bool:
        """Whether a solution on a mesh takes seconds: in one space coordinate, or by one linear solve."""
        in_space = len(self.domain.spatial_axes)
        is_steady = "t" not in self.domain.axes
        return in_space < 2 or (is_steady and other == CLOSED_FORM)

    def _is_free(self) -> bool:
        """Whether the settings allow that another network follows a small one."""
        training = self.training
        is_default = training.steps is None and training.polish is None
        return is_default and self.error_bars is None

    def _by_name(self, name: str, **options) -> Callable[[int], AbstractFieldModel]:
        """The function of a seed that builds a registered model with these arguments."""
        registered = parts("model")
        if name not in registered:
            raise InputError(
                f"model={name!r}: there is no model of that name; choose one of "
                f"{', '.join(sorted(registered))}.",
                about="model",
            )
        model_class = registered[name]
        arguments = [
            argument
            for argument in inspect.signature(model_class).parameters
            if argument not in FROM_PROBLEM
        ]
        for option in options:
            if option not in arguments:
                raise InputError(
                    f"model={name!r} has no argument {option!r}; it has {', '.join(arguments)}.",
                    about="model",
                )
        if model_class is PGT:
            return partial(_pgt, self.observations, self.pde, self.domain, options)
        return partial(
            _registered_model, model_class, self.pde, self._scaling(), self.domain, options
        )


def method_of(model: AbstractFieldModel, training: Training) -> MethodName:
    """The method that fits a model with these settings."""
    if isinstance(model, Solver):
        return SOLVER
    if isinstance(model, Features):
        return CLOSED_FORM
    return FIRST_ORDER if with_budget(training, model).steps else SECOND_ORDER


def _checked_method(method: str) -> MethodName:
    for name in METHODS:
        if name == method:
            return name
    raise InputError(
        f"method={method!r}: there is no method of that name; choose one of {', '.join(METHODS)}.",
        about="method",
    )


def _pgt(
    readings: Observations, pde: AbstractPDE, domain: Domain, options: Mapping[str, Any], seed: int
) -> PGT:
    return PGT.for_problem(readings, pde, domain, seed=seed, **options)


def _registered_model(
    model_class,
    pde: AbstractPDE,
    scaling: Scaling,
    domain: Domain,
    options: Mapping[str, Any],
    seed: int,
):
    from_problem: dict[str, Any] = {"scaling": scaling, "seed": seed, "domain": domain}
    accepted = inspect.signature(model_class).parameters
    if "kernel" in accepted:
        from_problem["kernel"] = pde.kernel()
    return model_class(
        **(
            {name: value for name, value in from_problem.items() if name in accepted}
            | dict(options)
        )
    )


def small_network(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    seed: int = 0,
    *,
    seconds: float | None = None,
    widening: float = 1.0,
) -> PINN:
    """A tanh network that is small enough for second-order steps on all of its weights.

    A network with another `widening` also starts from other weights.
    """
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    width = min(round(widening * _width(domain, pde, seconds)), sizes().max_width)
    return PINN(scaling, width=width, layers=3, seed=seed)


def _width(domain: Domain, pde: AbstractPDE, seconds: float | None) -> int:
    """The width of a small network for these seconds.

    >>> import pgt
    >>> [_width(pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Burgers(0.01), s) for s in (None, 10, 120)]
    [16, 16, 26]
    """
    network_sizes = sizes()
    min_width = network_sizes.widths[2 if domain.dimension > 2 else min(len(pde.fields) - 1, 1)]
    return min(
        max(min_width, round(network_sizes.growth * (seconds or 0.0) ** 0.25)),
        network_sizes.max_width,
    )


def large_network(
    observations: Observations, pde: AbstractPDE, domain: Domain, seed: int = 0
) -> SIREN:
    """A SIREN with room for fields that a network small enough for second-order steps cannot follow."""
    scaling = Scaling.fit(observations.aligned(pde.fields), domain)
    return SIREN(scaling, seed=seed, **sizes().siren)


def with_more_points(training: Training) -> Training:
    """The settings for a large network, with more and evenly spread residual points.

    Evenly spread points represent the residual better than as many random ones.
    """
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
STREAMED = (
    "The equation is not linear, and readings are streamed: a network is fitted to their batches."
)
MEMBERS = "The members of an ensemble are networks that differ by chance."
AFTER_SINES = "A small tanh network can follow narrow features that a sum of sines cannot."
AFTER_SMALL = "A larger network can follow what a small one misses by more than noise."
