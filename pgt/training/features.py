"""The fit of a sum of sines: one solve for each band that is tried, the most probable one kept.

one_band.py has the solve. Here is which bands are tried, and for how long.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from pgt.ground.unknown import named_unknowns
from pgt.models.features import FIRST_BAND, Features
from pgt.nn.precision import cast
from pgt.physics.bordered import functions_of, wall_fields
from pgt.training.assemble import Task
from pgt.training.coefficients import are_settled
from pgt.training.deadline import Deadline
from pgt.training.feature_rows import nodes_of
from pgt.training.first_guess import SINES, begun, held_evidence, is_held
from pgt.training.found import PLAINLY, Averaged, Found, averaged, cost_of_band, of_two
from pgt.training.gaussian import CLEAN
from pgt.training.history import History
from pgt.training.linearity import is_solved_at_once
from pgt.training.loop import SOLVED, UNSETTLED, Fit
from pgt.training.one_band import VEILS, readings_alone, solved_at_once, solved_in_turn
from pgt.training.smoothness import PRIORS, over_smoothness

FIRST_WAVES = (3, 3, 3, 1)  # along each axis, by how many are periodic: 27 with three, or 343
STEPS = (2.0, math.sqrt(2.0))  # factors of the band that are tried, first large ones
MOST_TRIALS = 16
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
        self.most, self.share = MOST_TRIALS, SHARE
        self.deadline, self.quickest, self.latest = Deadline(_seconds(task)), math.inf, 0.0
        self.at_once = is_solved_at_once(task.pde, self.model.scaling)
        # With a wide band, fields and functions that multiply each other have more ways to go wrong.
        self.is_narrow = bool(functions_of(task.pde)) and not self.at_once
        self.is_veiled = bool(named_unknowns(task.pde))
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
        first = self._first()
        self.task = begun(self.model, self.task, self.deadline, first)
        best = self._better_seen(self._seen(self._try(first)))
        for factor in STEPS:
            best = self._climb(best, factor)
        best = self._heard(best)
        if self._is_open(best):
            return over_smoothness(best, self.model, self.task, self.full)
        share = OURS if is_contested(self.task) and self._is_poor(best) else 1.0
        count = self.deadline.sines_left(self.count, self.full, self.quickest, share)
        rivals = {found.band: found for found in self.tried.values()}
        if count > self.count:
            more = self._try(best.band, count, best.solved.peak.exponent)
            best = best if are_settled(best.learnt) and not are_settled(more.learnt) else more
        if named_unknowns(self.task.pde):
            return best
        return self._with_other_sines(averaged(best, rivals))

    def _is_open(self, best: Found) -> bool:
        """Whether functions on walls are to be asked how smooth they are, and there is time."""
        has_some = self.at_once and bool(wall_fields(self.task.pde))
        return has_some and best.sigma > CLEAN and self.deadline.allows(PRIORS * self.latest)

    def _with_other_sines(self, found: Found | Averaged) -> Found | Averaged:
        """Averaged with what other sines of its band say, where it is known better than noise would tell,
        by exact readings or by all that walls and start say, and there is time."""
        if isinstance(found, Averaged) or not self.at_once:
            return found
        is_noisy = found.sigma > CLEAN and self._is_poor(found)
        if is_noisy or not self.deadline.allows(self.latest):
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
            others = _neighbours(band, STEPS[0], self.is_narrow)
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
        has_time = self.deadline.allows(self.quickest, ALONE)
        if not (self.at_once and has_time) or self._is_exact(best) or self._is_heard(best):
            return best
        # More sines, or a network, would follow each sensor just as well.
        self.most, self.share = len(self.tried) + MOST_TRIALS, ALONE
        for axis in range(len(best.band)):
            self._narrow(best, axis)
        heard = [found for found in self.tried.values() if self._is_heard(found)]
        if not heard:
            return best
        other = max(heard, key=lambda found: found.evidence)
        for factor in STEPS:
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
        if len(self.tried) >= self.most or not self.deadline.allows(self.quickest, ALONE):
            return True
        late = not self.deadline.allows(self.quickest, self.share)
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
