"""The fit of a sum of sines: one solve for each band that is tried, the most probable one kept.

A linear equation with known coefficients is solved at once (gaussian.py). Otherwise the rows are
linearised at the field found so far, again and again; the equation may only become a hundred times
stiffer from one time to the next, and only while that makes the readings more probable.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.ground.errors import InputError
from pgt.ground.unknown import named_unknowns
from pgt.models.features import FIRST_BAND, Features
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.assemble import Task
from pgt.training.coefficients import STEP, Coefficients, Learnt, are_settled, is_at_edge
from pgt.training.deadline import ROWS_PER_WEIGHT, Deadline
from pgt.training.feature_rows import (
    COEFFICIENT_UNIT,
    field_rows,
    nodes_of,
    rows_of,
    weights_of,
    with_weights,
)
from pgt.training.found import Averaged, Found, averaged, cost_of_band, of_two
from pgt.training.gaussian import CLOSE, Basis, Rows, Solved, most_probable
from pgt.training.history import History
from pgt.training.likelihood import FREEDOM, KNEE, NORMAL, Likelihood
from pgt.training.linearity import is_solved_at_once
from pgt.training.loop import SOLVED, UNSETTLED, Fit
from pgt.training.scales import logarithms

NODES = 1024  # at least, where the equation holds
FIRST_WAVES = (3, 3, 3, 1)  # along each axis, by how many are periodic: 27 with three, or 343
STEPS = (2.0, math.sqrt(2.0))  # factors of the band that are tried, first large ones
MOST_TRIALS = 16
LEAST_BAND = 2.0  # where the narrow ones are tried first: two thirds of a wave
QUICK = 800  # weights that a search can afford in every trial; of more, half are searched with
WIDEST_SHOWN = 100.0  # thirty waves: more are not looked for in the readings alone
EXACT = 1e-11  # of the spread: a field known that well needs no better band
CLEAN = 1e-3  # of the spread: with less noise than that, what is wrong is what sines cannot follow
ITERATIONS = 40  # linearisations
STALE, GAIN = 3, 0.5  # those without such a gain of evidence before the end
SOFT = 2.0  # log10 of ρ at the first linearisation
REWEIGHTINGS = 8
RESTLESS = 0.2  # of the logarithm of an unknown function: such a change at a place is not the last
SILENT = 0.99  # of a standard deviation left of the prior's: nothing was said
# Of the seconds: after them no further band is tried, where something else is to follow and where not.
SHARE, ALONE = 0.3, 0.7
OURS = 2 / 3  # of the seconds where a network may be tried as well; of these again where it will be
LEAST_FOR_NETWORK = 10.0  # seconds: what a network compiles takes most of them
POOR = 1e-3  # of the spread: an error of sines beyond which a network is tried, too
FEWEST_TO_CHOOSE = 80  # readings, a tenth of which judge between two models
TESTED = 256  # points at which a field is asked whether it is exact

Report = Callable[[float, dict[str, float]], None]


def is_contested(task: Task) -> bool:
    """Whether a network may be asked as well, with time for it and readings to tell which is better."""
    seconds = task.training.seconds
    in_time = seconds is None or (1 - OURS) * seconds >= LEAST_FOR_NETWORK
    return task.rival is not None and in_time and len(task.problem.observations) >= FEWEST_TO_CHOOSE


def fit_features(task: Task, report: Report) -> tuple[Found | Averaged, Fit]:
    """The most probable field of the task, and how it was found."""
    search = _Search(task, report)
    found = search.best()
    with jax.enable_x64(True):
        model, pde = cast((found.model, found.pde), jnp.float64)
    seconds = search.deadline.spent
    stopped = SOLVED if are_settled(found.learnt) else UNSETTLED
    fit = Fit(
        model, pde, found.sigma, search.history, seconds, search.first_seconds, stopped,
        learnt=found.learnt,
    )  # fmt: skip
    return replace(found, model=model, pde=pde), fit


class _Search:
    """Bands tried so far, and what was found with each."""

    def __init__(self, task: Task, report: Report):
        assert isinstance(task.model, Features)
        self.task, self.report, self.model = task, report, task.model
        self.tried: dict[tuple[float, ...], Found] = {}
        self.deadline, self.quickest, self.latest = Deadline(_seconds(task)), math.inf, 0.0
        self.at_once = is_solved_at_once(task.pde, self.model.scaling)
        # With a wide band, fields and functions that multiply each other have more ways to go wrong.
        self.is_narrow = bool(logarithms(task.pde))
        fields, count = len(self.model.network.readout), len(self.model.network.sines.phases)
        self.full = self.deadline.sines(count, fields, self.at_once)
        self.count = self.full if fields * self.full <= QUICK else self.full // 2
        self.history = History.empty(["data"], [name for name, _ in named_unknowns(task.pde)])
        self.first_seconds = 0.0
        self.test = nodes_of(task.problem.domain, TESTED)

    def best(self) -> Found | Averaged:
        """That of greatest evidence among those worth trying, averaged with those that are nearly as
        probable where there are no coefficients to be learnt."""
        if self.model.band is not None:
            return self._try(self.model.band, self.full)
        best = self._try(self._first())
        for factor in STEPS:
            best = self._climb(best, factor)
        share = OURS if is_contested(self.task) and self._is_poor(best) else 1.0
        count = self.deadline.sines_left(self.count, self.full, self.quickest, share)
        rivals = {found.band: found for found in self.tried.values()}
        if count > self.count:
            more = self._try(best.band, count, best.solved.exponent)
            best = best if are_settled(best.learnt) and not are_settled(more.learnt) else more
        if named_unknowns(self.task.pde):
            return best
        return self._with_other_sines(averaged(best, rivals))

    def _with_other_sines(self, found: Found | Averaged) -> Found | Averaged:
        """Averaged with what other sines of its band say, where readings are exact and there is time."""
        if isinstance(found, Averaged) or not self.at_once or found.sigma > CLEAN:
            return found
        if not self.deadline.allows(self.latest):
            return found
        model = found.model.with_seed(self.model.seed + 1)
        solution = _solved_at_once(model, self.task, found.solved.exponent)
        return of_two(found, Found(found.band, *solution))

    def _first(self) -> tuple[float, ...]:
        """From where a search begins. An equation that is solved in turn is linearised at the field that
        the readings alone show first: it begins with a band in which there is such a field."""
        wraps = self.model.scaling.periodic
        waves = FIRST_WAVES[min(sum(wraps), len(FIRST_WAVES) - 1)]
        usual = tuple(waves * math.pi if wrapped else FIRST_BAND for wrapped in wraps)
        return usual if self.at_once or self.is_narrow else self._shown(usual)

    def _shown(self, band: tuple[float, ...]) -> tuple[float, ...]:
        """The band, wider along each axis as long as that makes the readings alone more probable."""
        best, moved = self._by_readings(band), True
        while moved:
            wider = [_wider(band, axis) for axis in range(len(band)) if band[axis] < WIDEST_SHOWN]
            found = {other: self._by_readings(other) for other in wider}
            likeliest = max(found, key=lambda other: found[other], default=band)
            moved = found.get(likeliest, best) > best
            band, best = (likeliest, found[likeliest]) if moved else (band, best)
        return band

    def _by_readings(self, band: tuple[float, ...]) -> float:
        """How probable the readings are by themselves."""
        model = self.model.with_sines(self.count, band)
        solved = _readings_alone(model, self.task)
        return solved.evidence - cost_of_band(band)

    def _climb(self, best: Found, factor: float) -> Found:
        """From the best so far to its neighbours, while one of them is better."""
        moved = True
        while moved and not self._is_over(best):
            moved = False
            for band in _neighbours(best.band, factor, self.is_narrow):
                is_flat = self.is_narrow and min(band) < LEAST_BAND
                if band in self.tried or is_flat or self._is_over(best):
                    continue
                found = self._try(band)
                if found.is_better_than(best):
                    best, moved = found, True
                    break
        return best

    def _is_over(self, best: Found) -> bool:
        if len(self.tried) >= MOST_TRIALS or not self.deadline.allows(self.quickest, ALONE):
            return True
        late = not self.deadline.allows(self.quickest, SHARE)
        return (late and self._is_followed(best)) or self._is_exact(best)

    def _is_followed(self, best: Found) -> bool:
        """Whether a solve with more sines, or a network, is to have the seconds that are left."""
        return self.full > self.count or (is_contested(self.task) and self._is_poor(best))

    def _is_exact(self, found: Found) -> bool:
        return self.at_once and float(np.max(found.spread(self.test))) < EXACT

    def _is_poor(self, found: Found) -> bool:
        return float(np.sqrt(np.mean(found.spread(self.test) ** 2))) > POOR

    def _try(
        self, band: tuple[float, ...], count: int | None = None, near: float | None = None
    ) -> Found:
        """One band; `near`: log10 of the ρ that fewer sines of that band had."""
        before, model = self.deadline.spent, self.model.with_sines(count or self.count, band)
        if self.at_once:
            solution = _solved_at_once(model, self.task, near)
        else:
            solution = _solved_in_turn(model, self.task, self.deadline)
        found = self.tried[band] = Found(band, *solution)
        self.latest = self.deadline.spent - before
        self.quickest = min(self.quickest, self.latest)
        self.report(len(self.tried) / MOST_TRIALS, {"evidence": found.evidence})
        self._write_down(found)
        return found

    def _write_down(self, found: Found) -> None:
        self.first_seconds = self.first_seconds or self.deadline.spent
        error = float(np.sqrt(np.mean(found.solved.left_out()[0] ** 2)))
        coefficients = {name: node.value for name, node in named_unknowns(found.pde)}
        losses = {"data": found.solved.sigma**2}
        self.history.add(len(self.tried), error, losses, {"data": 1.0}, coefficients)


def _seconds(task: Task) -> float | None:
    """A third of them is left to another model, where there may be one."""
    seconds = task.training.seconds
    return seconds if seconds is None or not is_contested(task) else OURS * seconds


def _wider(band: tuple[float, ...], axis: int) -> tuple[float, ...]:
    return tuple(_rounded(2 * b) if k == axis else b for k, b in enumerate(band))


def _neighbours(
    band: tuple[float, ...], factor: float, narrow_first: bool
) -> Iterator[tuple[float, ...]]:
    """All axes wider, each by itself wider, each by itself narrower; or the narrower ones first."""
    changes = (1 / factor, factor) if narrow_first else (factor, 1 / factor)
    for change in changes:
        if len(band) > 1 and (change > 1 or narrow_first):
            yield tuple(_rounded(b * change) for b in band)
        for axis in range(len(band)):
            yield tuple(_rounded(b * change) if k == axis else b for k, b in enumerate(band))


def _rounded(band: float) -> float:
    """Two steps by √2 are one by 2: a band is not to be tried again for its last digit."""
    return float(f"{band:.9g}")


# ------------------------------------------------------------------------------- one band


Solution = tuple[Features, AbstractPDE, Solved, dict[str, Learnt]]


def _points(model: Features, task: Task) -> int:
    """As many as make the rows of the equation outnumber the weights."""
    equations = max(len(task.problem.equation_scales), 1)
    return max(NODES, math.ceil(ROWS_PER_WEIGHT * model.network.readout.size / equations))


def _solved_at_once(model: Features, task: Task, near: float | None = None) -> Solution:
    """With `near`, ρ is looked for there first: a third of the work where that is where it is."""
    rows = rows_of(model, task.pde, task.problem, _points(model, task))
    solved = _solved(rows, task.problem.likelihood, near)
    if near is not None and abs(solved.exponent - near) > CLOSE:  # better still beyond
        solved = _solved(rows, task.problem.likelihood)
    return *with_weights(model, task.pde, solved.weights), solved, {}


def _solved_in_turn(model: Features, task: Task, deadline: Deadline) -> Solution:
    """Linearised at the readings' own field first, then at the last field found. While a coefficient is
    on its way, the evidence is that of another equation, and nothing found so far is kept."""
    pde, points, likelihood = task.pde, _points(model, task), task.problem.likelihood
    coefficients, fields = Coefficients(task.pde), model.network.readout.size
    weights = weights_of(model, pde)
    weights[:fields] = _readings_alone(model, task).weights[:fields]
    best, near, stale, took = None, SOFT, 0, 0.0
    for _ in range(ITERATIONS):
        if best is not None and not deadline.allows(took):
            break
        before = deadline.spent
        model, pde = with_weights(model, pde, weights)
        rows = rows_of(model, pde, task.problem, points)
        if not np.isfinite(rows.equation).all() or not np.isfinite(rows.target).all():
            break
        solved, took = _solved(rows, likelihood, near), deadline.spent - before
        raws, asked = (COEFFICIENT_UNIT * w[fields:] for w in (weights, solved.weights))
        learnt = coefficients.learnt(raws, asked, _deviations(solved, fields))
        step, near = solved.weights - weights, solved.exponent
        change = np.abs(_change_of_functions(step, model, pde, task))
        weights = weights + step * min(1.0, STEP / max(change.max(initial=0.0), STEP))
        weights[fields:] = coefficients.step(raws, asked) / COEFFICIENT_UNIT
        moving = change.max(initial=0.0) > RESTLESS or not are_settled(learnt)
        moved = best is None or moving or not are_settled(best[2])
        if best is None or moved or solved.evidence > best[1].evidence + GAIN:
            best, stale = (weights, solved, learnt), 0
        else:
            stale += 1
        if stale >= STALE or is_at_edge(learnt):
            break
    if best is None:
        raise InputError(
            "the equation gives no finite number for the field that the readings alone suggest, such as "
            "a root or logarithm of a negative number: check its coefficients and units, or give a "
            "network as model=, which begins elsewhere."
        )
    return *with_weights(model, pde, best[0]), *best[1:]


def _change_of_functions(step, model: Features, pde: AbstractPDE, task: Task):
    """By how much a step changes logarithms of positive functions, at some places."""
    logs = [k for k, name in enumerate(pde.fields) if name in logarithms(pde)]
    fields, count = model.network.readout.shape
    own = step[: fields * count].reshape(fields, count)[logs]
    sines = field_rows(model, nodes_of(task.problem.domain, TESTED if logs else 1))
    return np.asarray(model.scaling.spread, float)[logs, None] * (own @ sines.T)


def _readings_alone(model: Features, task: Task) -> Solved:
    """What they show without the equation."""
    return _solved(rows_of(model, task.pde, task.problem, 0), task.problem.likelihood)


def _deviations(solved: Solved, fields: int) -> Float[np.ndarray, " k"]:
    """Of the numbers that are learnt for the coefficients, which are the last weights, by what equation
    and readings say of them alone: the prior may be as narrow as the readings are close together."""
    size = len(solved.weights)
    own = np.eye(size - fields, size, fields)
    shares = solved.spread(own) / np.sqrt(solved.scale)
    with np.errstate(divide="ignore"):
        told = shares / np.sqrt(np.maximum(1 - shares**2, 0))
    narrow = COEFFICIENT_UNIT * np.sqrt(solved.scale)
    return np.where(shares > SILENT, np.inf, narrow * told)


def _solved(rows: Rows, likelihood: Likelihood, near: float | None = None) -> Solved:
    """The posterior; with outliers among the readings, each of them reweighted by its misfit."""
    basis = Basis(rows.equation, rows.target)
    solved = most_probable(rows, near, basis)
    if likelihood == "gauss":
        return solved
    plain = rows.sigma
    for _ in range(REWEIGHTINGS):
        misfit = (rows.values - rows.readings @ solved.weights) / plain
        sigma = max(NORMAL * float(np.median(np.abs(misfit))), 1e-6)
        rows = replace(rows, sigma=plain / np.sqrt(_trust(likelihood, misfit / sigma)))
        solved = most_probable(rows, solved.exponent, basis)
    return solved


def _trust(likelihood: Likelihood, misfit: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """How much a reading counts that is missed by so many σ."""
    if likelihood == "huber":
        return 1 / np.maximum(np.abs(misfit) / KNEE, 1.0)
    return (FREEDOM + 1) / (FREEDOM + misfit**2)
