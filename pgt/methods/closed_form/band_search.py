"""The fit of a sum of sines: one solve for each band that is tried, the most probable one kept.

band_solution.py has the solve. Here is which bands are tried, and for how long.


Where the only unknown coefficient of an equation begins.

Linearised at a coefficient that is far off and at the field that few sensors suggest, an equation is most
probable where it is dropped, and the coefficient comes to rest anywhere. But at every value of it the
equation is linear, and one solve says how probable the readings are. So values around the first guess
are tried with few sines. The search begins at another one if that makes the readings plainly more
probable, by an equation that is believed more than it is at the first guess.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.unknown import named_unknowns
from pgt.inference.linear_gaussian import CLEAN, Rows, Solved, most_probable
from pgt.methods.closed_form.band_posterior import (
    PLAINLY,
    Averaged,
    Found,
    averaged,
    cost_of_band,
    of_two,
)
from pgt.methods.closed_form.band_solution import (
    NODES,
    VEILS,
    readings_alone,
    solved_at_once,
    solved_in_turn,
    symbol_of,
    veiled,
)
from pgt.methods.closed_form.design_rows import (
    COEFFICIENT_UNIT,
    nodes_of,
    rows_of,
    weights_of,
    with_weights,
)
from pgt.methods.closed_form.smoothness_average import PRIORS, over_smoothness
from pgt.methods.coefficients import are_settled, log_of, raw_of
from pgt.methods.finished_fit import COEFFICIENT_NOT_AT_REST, SOLVED_IN_CLOSED_FORM, Fit
from pgt.methods.history import History
from pgt.models.features import FIRST_BAND, Features
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import functions_of, wall_fields
from pgt.problem.assembly import Task
from pgt.problem.budget import Deadline
from pgt.problem.linearity import is_linear, is_solved_by_one_solve

SINES = 200  # of every field, at most: with half of them values look alike
# Of a logarithm: from a fifth of the first guess to five times it.
GUESS_DECADES = 0.125 * np.arange(-12, 13)
BELIEVED = 2.0  # log10 of ρ, more than at the first guess


def begun(model: Features, task: Task, deadline: Deadline, band: tuple[float, ...]) -> Task:
    """The task with the coefficient where its search is to begin: at its first guess, or elsewhere."""
    if len(named_unknowns(task.pde)) != 1 or not is_held(task, model.scaling):
        return task
    few = model.with_sines(min(SINES, len(model.network.sines.phases)), band)
    alone = readings_alone(few, task)
    veil = VEILS[0] if alone.sigma < VEILS[0] else 0.0
    first = _solved_at(task.pde, few, task, veil)
    best, where = first, task.pde
    for step in GUESS_DECADES:
        if not deadline.allows(0.0):
            break
        pde = _moved(few, task.pde, float(step))
        found = _solved_at(pde, few, task, veil)
        if found.evidence > best.evidence:
            best, where = found, pde
    plainly = best.evidence > first.evidence + PLAINLY
    return replace(task, pde=where) if plainly and _is_believed(best, first) else task


def is_held(task: Task, scaling: Scaling) -> bool:
    """Whether one solve says how probable the readings are by coefficients that are held."""
    return task.problem.likelihood == "gauss" and is_linear(task.pde, scaling)


def held_evidence(model: Features, pde: AbstractPDE, task: Task) -> float:
    """How probable the readings are where the coefficients are what they are in `pde`, by one solve."""
    veil = VEILS[0] if readings_alone(model, task).sigma < VEILS[0] else 0.0
    return _solved_at(pde, model, task, veil).evidence


def _is_believed(found: Solved, first: Solved) -> bool:
    return found.exponent >= first.exponent + BELIEVED


def _moved(model: Features, pde: AbstractPDE, step: float) -> AbstractPDE:
    """The equation with its coefficient elsewhere."""
    node, weights = named_unknowns(pde)[0][1], weights_of(model, pde)
    weights[-1] = raw_of(node, log_of(node, float(node.raw)) + step) / COEFFICIENT_UNIT
    return with_weights(model, pde, weights)[1]


def _solved_at(pde: AbstractPDE, model: Features, task: Task, veil: float) -> Solved:
    """The field where the coefficient is known to be what it is."""
    return most_probable(veiled(_held(rows_of(model, pde, task.problem, NODES), model, pde), veil))


def _held(rows: Rows, model: Features, pde: AbstractPDE) -> Rows:
    """The same without the columns of coefficients, which stay where they are."""
    fields = model.network.readout.size
    known = rows.equation[:, fields:] @ weights_of(model, pde)[fields:]
    return replace(
        rows, equation=rows.equation[:, :fields], target=rows.target - known,
        readings=rows.readings[:, :fields],
    )  # fmt: skip


FIRST_WAVES = (3, 3, 3, 1)  # along each axis, by how many are periodic: 27 with three, or 343
BAND_FACTORS = (2.0, math.sqrt(2.0))  # factors of the band that are tried, first large ones
# Bands of sines, and of functions that satisfy the equation: a trial without its rows takes less than
# half of the time, and the smaller steps of a search need as many trials again.
MOST_TRIALS, EXACT_TRIALS = 16, 32
LEAST_BAND = 2.0  # where narrow ones are tried on purpose: two thirds of a wave
LEAST_SMOOTH = 4.0  # the same for functions that multiply fields, whose sines become smaller in it
QUICK = 800  # weights that a search can afford in every trial; of more, half are searched with
WIDEST_SHOWN = 100.0  # thirty waves: more are not looked for in the readings alone
LEAPS = (2, 3, 4)  # doublings of a band at once
LOST = 0.5  # of the spread: a field that misses readings by so much has not been seen
FOLLOWED = 2.0  # times what readings were missed by before: then they are no longer followed
EXACT = 1e-11  # of the spread: a field known that well needs no better band
# Of the seconds: after them no further band is tried, where something else is to follow and where not.
SHARE, ALONE = 0.3, 0.7
# Of the seconds: what is drawn, left out and doubted after the search takes about two of its solves.
AFTER = 0.1
OURS = 2 / 3  # of the seconds where a network may be tried as well; of these again where it will be
LEAST_FOR_NETWORK = 10.0  # seconds: what a network compiles takes most of them
POOR = 1e-3  # of the spread: an error of sines beyond which a network is tried, too
FEWEST_TO_CHOOSE = 80  # readings, a tenth of which judge between two models
TESTED = 256  # points at which a field is asked whether it is exact

Report = Callable[[float, dict[str, float]], None]


def is_contested(task: Task) -> bool:
    """Whether a network may be asked as well, with time for it and readings to tell which is better."""
    seconds = (task.requested_training or task.training).seconds
    in_time = seconds is None or (1 - OURS) * seconds >= LEAST_FOR_NETWORK
    return task.has_fallback and in_time and len(task.problem.observations) >= FEWEST_TO_CHOOSE


def fit_features(task: Task, report: Report) -> tuple[Found | Averaged, Fit]:
    """The most probable field of the task, and how it was found."""
    search = _Search(task, report)
    found = search.best()
    with jax.enable_x64(True):
        model, pde = cast((found.model, found.pde), jnp.float64)
    seconds = search.deadline.spent
    stopped = SOLVED_IN_CLOSED_FORM if are_settled(found.learnt) else COEFFICIENT_NOT_AT_REST
    fit = Fit(
        model, pde, found.sigma, search.history, seconds, search.first_seconds, stopped,
        learnt=found.learnt,
    )  # fmt: skip
    return replace(found, model=model, pde=pde), fit


class _Basis:
    """What a search knows of one kind of functions: bands tried so far and what was found with each, the
    seconds of the quickest and of the latest trial, how many functions there are in a trial and at last,
    and how many bands are tried at most."""

    def __init__(self, model: Features, deadline: Deadline, at_once: bool):
        self.model = model
        self.tried: dict[tuple[float, ...], Found] = {}
        self.quickest, self.latest = math.inf, 0.0
        network = model.network
        if (
            network.is_exact
        ):  # all fields share the weights; and fewer functions come of what is asked for
            fields, count, self.most = 1, model.count or network.size, EXACT_TRIALS
        else:
            fields, count, self.most = len(network.readout), len(network.sines.phases), MOST_TRIALS
        self.full = deadline.affordable_sines(count, fields, at_once)
        self.count = self.full if fields * self.full <= QUICK else self.full // 2


class _Search:
    """The functions that are tried: sines, and beside them such as satisfy the equation, where there are
    some; `basis` are those that are tried now."""

    def __init__(self, task: Task, report: Report):
        assert isinstance(task.model, Features)
        self.task, self.report = task, report
        self.share = SHARE
        self.deadline = Deadline(_seconds(task))
        self.at_once = is_solved_by_one_solve(task.pde, task.model.scaling)
        self.basis = _Basis(task.model, self.deadline, self.at_once)
        exact = self._exact_model()
        self.other = exact and _Basis(exact, self.deadline, self.at_once)
        # With a wide band, fields and functions that multiply each other have more ways to go wrong.
        self.is_narrow = bool(functions_of(task.pde)) and not self.at_once
        self.is_veiled = bool(named_unknowns(task.pde))
        self.history = History.empty(["data"], [name for name, _ in named_unknowns(task.pde)])
        self.first_seconds = 0.0
        self.test = nodes_of(task.problem.domain, TESTED)

    def best(self) -> Found | Averaged:
        """That of greatest evidence among those worth trying, averaged with those that are nearly as
        probable where there are no coefficients to be learnt."""
        if self.model.band is not None:
            return self._try(self.model.band, self.full)
        first = self._first()
        self.task = begun(self.model, self.task, self.deadline, first)
        best = self._better_seen(self._seen(self._or_other_basis(self._try(first))))
        best = self._climbed(best)
        other = self._or_other_basis(best)
        best = self._heard(best if other is best else self._climbed(other))
        if self._is_open(best):
            return over_smoothness(best, self.model, self.task, self.full)
        share = OURS if is_contested(self.task) and self._is_poor(best) else 1.0
        count = self.deadline.sines_in_remaining_time(
            self.count, self.full, self.basis.quickest, share
        )
        rivals = {found.band: found for found in self.tried.values()}
        if count > self.count:
            more = self._try(best.band, count, best.solved.peak.exponent)
            best = best if are_settled(best.learnt) and not are_settled(more.learnt) else more
        if named_unknowns(self.task.pde):
            return best
        return self._with_other_sines(averaged(best, rivals))

    def _exact_model(self) -> Features | None:
        """Waves that satisfy the equation, where it has some that are known and the domain is a box."""
        model = self.task.model
        assert isinstance(model, Features)
        if not self.at_once or model.local is not None or model.band is not None:
            return None
        symbol = symbol_of(self.task.pde, model.scaling)
        return symbol and model.satisfying(symbol)

    @property
    def model(self) -> Features:
        return self.basis.model

    @property
    def tried(self) -> dict[tuple[float, ...], Found]:
        return self.basis.tried

    @property
    def full(self) -> int:
        return self.basis.full

    @property
    def count(self) -> int:
        return self.basis.count

    def _or_other_basis(self, best: Found) -> Found:
        """The best so far, or what is found with the same band and the other functions, which are then
        gone on with, where that is more probable. Both say how probable the readings are, and nothing
        else tells which of them the field is made of."""
        if self.other is None or not self.deadline.allows(self._cost_of_other(), ALONE):
            return best
        self.basis, self.other = self.other, self.basis
        found = self.tried.get(best.band) or self._try(best.band)
        if found.is_better_than(best):
            return found
        self.basis, self.other = self.other, self.basis
        return best

    def _cost_of_other(self) -> float:
        """The seconds of a trial with the other functions; those that satisfy the equation need less."""
        assert self.other is not None
        return self.other.quickest if self.other.tried else self.basis.quickest

    def _climbed(self, best: Found) -> Found:
        for factor in BAND_FACTORS:
            best = self._climb(best, factor)
        return best

    def _is_open(self, best: Found) -> bool:
        """Whether functions on walls are to be asked how smooth they are, and there is time."""
        has_some = self.at_once and bool(wall_fields(self.task.pde))
        return has_some and best.sigma > CLEAN and self.deadline.allows(PRIORS * self.basis.latest)

    def _with_other_sines(self, found: Found | Averaged) -> Found | Averaged:
        """Averaged with what other sines of its band say, where it is known better than noise would tell,
        by exact readings or by all that walls and start say, and there is time."""
        if isinstance(found, Averaged) or not self.at_once:
            return found
        is_noisy = found.sigma > CLEAN and self._is_poor(found)
        if is_noisy or not self.deadline.allows(self.basis.latest):
            return found
        model = found.model.with_seed(self.model.seed + 1)
        solution = solved_at_once(model, self.task, found.solved.exponent)
        return of_two(found, Found(found.band, *solution))

    def _first(self) -> tuple[float, ...]:
        """From where a search begins. An equation that is solved in turn is linearised at the field that
        the readings alone show first: it begins with a band in which there is such a field."""
        wraps = self.model.scaling.periodic
        waves = FIRST_WAVES[min(sum(wraps), len(FIRST_WAVES) - 1)]
        usual = tuple(waves * math.pi if wrapped else FIRST_BAND for wrapped in wraps)
        return usual if self.at_once or self.is_narrow else self._shown(usual)

    def _shown(self, band: tuple[float, ...]) -> tuple[float, ...]:
        """The band, wider along each axis as long as that makes the readings alone more probable: by a
        doubling, else by several at once, since of a wave nothing is seen in a band without it."""
        best, moved = self._by_readings(band), True
        while moved:
            moved = False
            for others in (_wider(band, (1,)), _wider(band, LEAPS)):
                found = {other: self._by_readings(other) for other in others if self._has_time()}
                likeliest = max(found, key=lambda other: found[other], default=band)
                if moved := found.get(likeliest, best) > best:
                    band, best = likeliest, found[likeliest]
                    break
        return band

    def _has_time(self) -> bool:
        return self.deadline.allows(0.0, SHARE)

    def _by_readings(self, band: tuple[float, ...]) -> float:
        """How probable the readings are by themselves."""
        model = self.model.with_sines(self.count, band)
        solved = readings_alone(model, self.task, VEILS[0] if self.is_veiled else 0.0)
        return solved.evidence - cost_of_band(band)

    def _better_seen(self, best: Found) -> Found:
        """From the best so far to the band that suits its coefficients, and to those found there, as long
        as that is better.

        In a band that the field does not fit, an equation is most probable that is hardly believed, with
        coefficients that are biased by what it is not believed for. Steps from band to band which solve
        for both take long, and may end in the next such place.
        """
        moved = bool(best.learnt) and is_held(self.task, self.model.scaling)
        while moved and self.deadline.allows(0.0, ALONE):
            band = self._suited(best)
            if band in self.tried:
                break
            found = self._try(band)
            moved = found.is_better_than(best)
            best = found if moved else best
        return best

    def _suited(self, found: Found) -> tuple[float, ...]:
        """The band in which readings are most probable by an equation with these coefficients."""

        def evidence(band: tuple[float, ...]) -> float:
            model = self.model.with_sines(min(SINES, self.count), band)
            return held_evidence(model, found.pde, self.task) - cost_of_band(band)

        band, moved = found.band, True
        known = {band: evidence(band)}
        while moved and self.deadline.allows(0.0, ALONE):
            others = _neighbours(band, BAND_FACTORS[0], self.is_narrow)
            known |= {other: evidence(other) for other in others if other not in known}
            best = max(known, key=lambda other: known[other])
            moved, band = best != band, best
        return band

    def _seen(self, first: Found) -> Found:
        """The first try, or a better one in the band that readings alone show, where it explains next to
        none of them: then its neighbours are no better, and none of them leads to the field."""
        if not self.at_once or first.sigma < LOST:
            return first
        band = self._shown(first.band)
        if band in self.tried:
            return first
        found = self._try(band)
        return found if found.is_better_than(first) else first

    def _heard(self, best: Found) -> Found:
        """The best so far, or a better one in which the equation is heard, where it makes readings no
        more probable than they are by themselves.

        Of sensors that stand still, each is followed by itself in a band that is wide enough across
        them, and no equation holds between them. The way back leads through bands that are less probable.
        """
        has_time = self.deadline.allows(self.basis.quickest, ALONE)
        if not (self.at_once and has_time) or self.model.network.is_exact:
            return best
        if self._is_exact(best) or self._is_heard(best):
            return best
        # More sines, or a network, would follow each sensor just as well.
        self.basis.most, self.share = len(self.tried) + MOST_TRIALS, ALONE
        for axis in range(len(best.band)):
            self._narrow(best, axis)
        heard = [found for found in self.tried.values() if self._is_heard(found)]
        if not heard:
            return best
        other = max(heard, key=lambda found: found.evidence)
        for factor in BAND_FACTORS:
            other = self._climb(other, factor)
        return other if other.is_better_than(best) else best

    def _narrow(self, best: Found, axis: int) -> None:
        """Bands ever narrower along an axis are tried, as long as readings are followed in them."""
        band = best.band
        while (band := _changed(band, axis, 0.5))[axis] >= LEAST_BAND and not self._is_over(best):
            found = self.tried.get(band) or self._try(band)
            if found.sigma > FOLLOWED * best.sigma:
                break

    def _is_heard(self, found: Found) -> bool:
        """Whether the equation makes the readings plainly more probable."""
        alone = readings_alone(self.model.with_sines(self.count, found.band), self.task)
        return found.solved.peak.evidence > alone.evidence + PLAINLY

    def _climb(self, best: Found, factor: float) -> Found:
        """From the best so far to its neighbours, while one of them is better; further on the way that
        was better before."""
        moved, is_narrow = True, self.is_narrow
        while moved and not self._is_over(best):
            moved = False
            for band in _neighbours(best.band, factor, is_narrow):
                is_flat = self.is_narrow and min(band) < LEAST_SMOOTH
                if band in self.tried or is_flat or self._is_over(best):
                    continue
                found = self._try(band)
                if found.is_better_than(best):
                    is_narrow = math.prod(found.band) < math.prod(best.band)
                    best, moved = found, True
                    break
        return best

    def _is_over(self, best: Found) -> bool:
        if len(self.tried) >= self.basis.most or not self.deadline.allows(
            self.basis.quickest, ALONE
        ):
            return True
        late = not self.deadline.allows(self.basis.quickest, self.share)
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
            solution = solved_at_once(model, self.task, near)
        else:
            solution = solved_in_turn(model, self.task, self.deadline)
        found = self.tried[band] = Found(band, *solution)
        self.basis.latest = self.deadline.spent - before
        self.basis.quickest = min(self.basis.quickest, self.basis.latest)
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
    if seconds is None:
        return None
    return (OURS if is_contested(task) else 1 - AFTER) * seconds


def _wider(band: tuple[float, ...], doublings: Sequence[int]) -> Iterator[tuple[float, ...]]:
    """Along each axis by itself, as far as is looked for in the readings alone."""
    for axis in range(len(band)):
        for wide in (_changed(band, axis, 2.0**power) for power in doublings):
            if wide[axis] < 2 * WIDEST_SHOWN:
                yield wide


def _changed(band: tuple[float, ...], axis: int, factor: float) -> tuple[float, ...]:
    return tuple(_rounded(factor * b) if k == axis else b for k, b in enumerate(band))


def _neighbours(
    band: tuple[float, ...], factor: float, narrow_first: bool
) -> Iterator[tuple[float, ...]]:
    """All axes wider, each by itself wider, the same narrower; or the narrower ones first."""
    changes = (1 / factor, factor) if narrow_first else (factor, 1 / factor)
    for change in changes:
        if len(band) > 1:
            yield tuple(_rounded(b * change) for b in band)
        for axis in range(len(band)):
            yield _changed(band, axis, change)


def _rounded(band: float) -> float:
    """Two steps by √2 are one by 2: a band is not to be tried again for its last digits, of which the
    first step has lost some."""
    return float(f"{band:.6g}")
