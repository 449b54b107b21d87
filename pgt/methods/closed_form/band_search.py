"""The search over bands: the sum of sines under which the readings are most probable.

A sum of sines u(z) = Σ a_k sin(w_k·z + b_k) has random frequencies w in a box |w_i| ≤ b_i. The band b is
chosen by the log-evidence, with 1 less for every doubling of a b_i:

    b* = argmax  log p(readings | equation, b) - Σ log2 b_i

1. Scan. With few sines, bands from a coarse grid are tried: of all axes at once, then of one axis after
   the other until none changes. Each needs one linear solve, because coefficients are held at their last
   values; where the equation is not linear, the readings alone are solved for. With coefficients that
   were fitted, the scan is repeated.
2. Climb. From there all sines are fitted, in bands that differ by factors of 2, then of √2, as long as
   the evidence grows. Where waves that satisfy the equation are known (models/exact_waves.py), both steps
   are done with them as well, and the more probable functions are kept.
3. Finish. The best band is fitted with more sines where there is time, and averaged with bands that are
   nearly as probable, or with other sines of the same band (band_posterior.py).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.unknown import named_unknowns
from pgt.inference.evidence import MAX_EXACT_SIGMA
from pgt.inference.linear_gaussian import GaussianPosterior
from pgt.methods.closed_form.band_posterior import (
    BandAverage,
    BandFit,
    average_bands,
    average_two,
    band_penalty,
)
from pgt.methods.closed_form.band_solution import (
    needed_floor,
    posterior_with_fixed_coefficients,
    readings_posterior,
    solve_linear,
    solve_nonlinear,
)
from pgt.methods.closed_form.design_rows import nodes_of
from pgt.methods.closed_form.equation_symbol import symbol_of
from pgt.methods.closed_form.smoothness_average import PRIOR_COUNT, average_over_smoothness
from pgt.methods.coefficients import are_settled
from pgt.methods.finished_fit import COEFFICIENT_NOT_AT_REST, SOLVED_IN_CLOSED_FORM, Fit
from pgt.methods.history import History
from pgt.models.features import FIRST_BAND, Features
from pgt.nn.trees import cast
from pgt.physics.unknown_conditions import functions_of, wall_fields
from pgt.problem.assembly import Task
from pgt.problem.budget import Deadline
from pgt.problem.linearity import is_linear, is_solved_by_one_solve

# Weights of all fields in the scan: with half of them bands look alike, more cost time.
SCAN_WEIGHTS = 200
# The bands of the scan in unit coordinates: from two thirds of a wave to forty.
SCAN_BANDS = (2.0, 8.0, 32.0, 128.0)
# The factors by which the band changes in the climb, and its trials, at most.
BAND_FACTORS = (2.0, math.sqrt(2.0))
MAX_TRIALS = 16
# The smallest band with functions that multiply fields: their prior follows the band.
MIN_BAND_WITH_FUNCTIONS = 4.0
# Weights that every trial of the climb can afford; of more, half are used in it.
MAX_TRIAL_WEIGHTS = 800
# An error in units of the spread that no better band lowers; and one beyond which a network is asked.
EXACT_ERROR, MAX_GOOD_ERROR = 1e-11, 1e-3
# The nodes at which these errors are computed.
ERROR_NODES = 256
# The share of the seconds for scan and climb where more sines or a network are to follow; the shares for
# the whole fit where a network may follow, and where only the stated error is to be computed.
SEARCH_SHARE, SHARE_BEFORE_NETWORK, SHARE_BEFORE_ERRORS = 0.4, 2 / 3, 0.9
# What a network needs: seconds to compile, and readings of which a tenth can judge it.
MIN_SECONDS_OF_NETWORK, MIN_READINGS_TO_JUDGE = 10.0, 80

Report = Callable[[float, dict[str, float]], None]
Band = tuple[float, ...]


def leaves_time_for_network(task: Task) -> bool:
    """Whether a network may be asked as well: there are seconds for it, and readings to judge it."""
    seconds = (task.requested_training or task.training).seconds
    in_time = seconds is None or (1 - SHARE_BEFORE_NETWORK) * seconds >= MIN_SECONDS_OF_NETWORK
    has_judges = len(task.problem.observations) >= MIN_READINGS_TO_JUDGE
    return task.has_fallback and in_time and has_judges


def fit_features(task: Task, report: Report) -> tuple[BandFit | BandAverage, Fit]:
    """The most probable field of the task with its posterior, and the record of the search."""
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
    """One kind of functions: the fit of every band tried so far, the seconds of the quickest and of the
    latest one, and the number of functions of a trial and of the last fit."""

    def __init__(self, model: Features, deadline: Deadline, is_linear: bool):
        self.model = model
        self.fits: dict[Band, BandFit] = {}
        self.quickest, self.latest = math.inf, 0.0
        network = model.network
        if network.is_exact:  # all fields share the weights
            fields, count = 1, model.count or network.size
        else:
            fields, count = len(network.readout), len(network.sines.phases)
        self.full_count = deadline.affordable_sines(count, fields, is_linear)
        is_quick = fields * self.full_count <= MAX_TRIAL_WEIGHTS
        self.trial_count = self.full_count if is_quick else self.full_count // 2
        self.scan_count = min(max(SCAN_WEIGHTS // fields, 1), self.full_count)


class _Search:
    """The search of one task; its `bases` are sines and, where known, waves that satisfy the equation."""

    def __init__(self, task: Task, report: Report):
        assert isinstance(task.model, Features)
        self.task, self.report = task, report
        self.deadline = Deadline(_seconds(task))
        scaling = task.model.scaling
        self.is_one_solve = is_solved_by_one_solve(task.pde, scaling)
        self.has_linear_fields = is_linear(task.pde, scaling)
        self.has_functions = bool(functions_of(task.pde)) and not self.is_one_solve
        models = [model for model in (self._exact_waves(), task.model) if model is not None]
        self.bases = [_Basis(model, self.deadline, self.is_one_solve) for model in models]
        self.history = History.empty(["data"], [name for name, _ in named_unknowns(task.pde)])
        self.first_seconds = 0.0
        self.nodes = nodes_of(task.problem.domain, ERROR_NODES)

    def best(self) -> BandFit | BandAverage:
        """The fit of greatest evidence, averaged where others are nearly as probable."""
        sines = self.bases[-1]
        if sines.model.band is not None:
            return self._fit(sines, sines.model.band, sines.full_count)
        best, basis = None, sines
        for other in self.bases:
            if best is not None and (self._is_exact(best) or not self.deadline.allows(0.0)):
                break
            found = self._climb(other, self._first_fit(other))
            if best is None or found.is_better_than(best):
                best, basis = found, other
        assert best is not None  # there is a basis
        return self._finish(best, basis)

    def _first_fit(self, basis: _Basis) -> BandFit:
        """The fit in the band of the scan. With the coefficients of that fit the scan may find a better
        band: in one that the field does not fit, the equation is softened and coefficients are biased."""
        best, given = self._fit(basis, self._scan(basis)), self.task
        while best.learnt and self._has_search_time():
            self.task = replace(given, pde=best.pde)
            band = self._scan(basis, best.band)
            found = None if band in basis.fits else self._fit(basis, band)
            self.task = given
            if found is None or not found.is_better_than(best):
                break
            best = found
        return best

    def _exact_waves(self) -> Features | None:
        """Waves that satisfy the equation, where it has some that are known and the domain is a box."""
        model = self.task.model
        assert isinstance(model, Features)
        if not self.is_one_solve or model.local is not None or model.band is not None:
            return None
        symbol = symbol_of(self.task.pde, model.scaling)
        return symbol and model.satisfying(symbol)

    # ------------------------------------------------------------------------------ 1. scan

    def _scan(self, basis: _Basis, first: Band | None = None) -> Band:
        """The most probable band of the coarse grid and `first`, one axis after the other."""
        band = first or (FIRST_BAND,) * len(basis.model.scaling.middle)
        if self.has_functions:  # a band that suits the field alone says nothing of them
            return band
        few = basis.model.with_sines(basis.scan_count, band)
        floor = needed_floor(few, self.task)
        known: dict[Band, float] = {}

        def evidence(tried: Band) -> float:
            if tried not in known:
                model = basis.model.with_sines(basis.scan_count, tried)
                known[tried] = self._scan_posterior(model, floor).evidence
            return known[tried] - band_penalty(tried)

        band = max([band, *((b,) * len(band) for b in SCAN_BANDS)], key=evidence)
        before = None
        while band != before and self._has_search_time():
            before = band
            for axis in range(len(band)):
                others = [(*band[:axis], b, *band[axis + 1 :]) for b in SCAN_BANDS]
                band = max([band, *others], key=evidence)
        return band

    def _scan_posterior(self, model: Features, sigma_floor: float) -> GaussianPosterior:
        """By one solve with the coefficients held; where that is not linear, by the readings alone."""
        if self.has_linear_fields:
            return posterior_with_fixed_coefficients(model, self.task, sigma_floor)
        return readings_posterior(model, self.task, sigma_floor)

    def _has_search_time(self) -> bool:
        return self.deadline.allows(0.0, SEARCH_SHARE)

    # ------------------------------------------------------------------------------ 2. climb

    def _climb(self, basis: _Basis, best: BandFit) -> BandFit:
        """From band to neighboring band, first by large factors, while one of them is better; first in
        the direction that was better before."""
        for factor in BAND_FACTORS:
            is_moving, narrow_first = True, self.has_functions
            while is_moving and not self._is_over(basis, best):
                is_moving = False
                for band in _neighbors(best.band, factor, narrow_first):
                    is_flat = self.has_functions and min(band) < MIN_BAND_WITH_FUNCTIONS
                    if band in basis.fits or is_flat or self._is_over(basis, best):
                        continue
                    found = self._fit(basis, band)
                    if found.is_better_than(best):
                        narrow_first = math.prod(found.band) < math.prod(best.band)
                        best, is_moving = found, True
                        break
        return best

    def _is_over(self, basis: _Basis, best: BandFit) -> bool:
        is_followed = basis.full_count > basis.trial_count or (
            leaves_time_for_network(self.task) and self._is_poor(best)
        )
        share = SEARCH_SHARE if is_followed else 1.0
        in_time = self.deadline.allows(basis.quickest, share)
        return not in_time or len(basis.fits) >= MAX_TRIALS or self._is_exact(best)

    def _fit(
        self, basis: _Basis, band: Band, count: int | None = None, near: float | None = None
    ) -> BandFit:
        """The fit in one band; `near`: log10 of the ρ that fewer sines of that band have."""
        before = self.deadline.spent
        model = basis.model.with_sines(count or basis.trial_count, band)
        if self.is_one_solve:
            found = solve_linear(model, self.task, near)
        else:
            found = solve_nonlinear(model, self.task, self.deadline)
        basis.fits[band] = found
        basis.latest = self.deadline.spent - before
        basis.quickest = min(basis.quickest, basis.latest)
        self.report(min(len(basis.fits) / MAX_TRIALS, 1.0), {"evidence": found.evidence})
        self._record(found)
        return found

    def _record(self, found: BandFit) -> None:
        self.first_seconds = self.first_seconds or self.deadline.spent
        error = float(np.sqrt(np.mean(found.posterior.left_out()[0] ** 2)))
        coefficients = {name: node.value for name, node in named_unknowns(found.pde)}
        losses, step = {"data": found.sigma**2}, len(self.history.step) + 1
        self.history.add(step, error, losses, {"data": 1.0}, coefficients)

    # ------------------------------------------------------------------------------ 3. finish

    def _finish(self, best: BandFit, basis: _Basis) -> BandFit | BandAverage:
        """The best with more sines, and averaged."""
        has_open_walls = self.is_one_solve and bool(wall_fields(self.task.pde))
        is_noisy = best.sigma > MAX_EXACT_SIGMA
        if has_open_walls and is_noisy and self.deadline.allows(PRIOR_COUNT * basis.latest):
            return average_over_smoothness(best, basis.model, self.task, basis.full_count)
        is_followed = leaves_time_for_network(self.task) and self._is_poor(best)
        count = self.deadline.sines_in_remaining_time(
            basis.trial_count, basis.full_count, basis.quickest,
            SHARE_BEFORE_NETWORK if is_followed else 1.0,
        )  # fmt: skip
        fits = dict(basis.fits)
        if count > basis.trial_count:
            more = self._fit(basis, best.band, count, best.posterior.maximum.log_stiffness)
            if are_settled(more.learnt) or not are_settled(best.learnt):
                best = more
        if named_unknowns(self.task.pde):
            return best
        return self._with_other_sines(average_bands(best, fits), basis)

    def _with_other_sines(self, found: BandFit | BandAverage, basis: _Basis):
        """Averaged with the fit of other sines of the band, where that error is larger than the noise
        leaves: with exact readings, or where conditions determine the field."""
        if isinstance(found, BandAverage) or not self.is_one_solve:
            return found
        is_noisy = found.sigma > MAX_EXACT_SIGMA and self._is_poor(found)
        if is_noisy or not self.deadline.allows(basis.latest):
            return found
        model = found.model.with_seed(basis.model.seed + 1)
        return average_two(found, solve_linear(model, self.task, found.posterior.log_stiffness))

    def _is_exact(self, found: BandFit) -> bool:
        return self.is_one_solve and float(np.max(found.spread(self.nodes))) < EXACT_ERROR

    def _is_poor(self, found: BandFit | BandAverage) -> bool:
        return float(np.sqrt(np.mean(found.spread(self.nodes) ** 2))) > MAX_GOOD_ERROR


def _seconds(task: Task) -> float | None:
    """The seconds of the fit: a share is left to a network, or to the stated error."""
    seconds = task.training.seconds
    if seconds is None:
        return None
    share = SHARE_BEFORE_NETWORK if leaves_time_for_network(task) else SHARE_BEFORE_ERRORS
    return share * seconds


def _neighbors(band: Band, factor: float, narrow_first: bool) -> Iterator[Band]:
    """All axes wider, each alone wider, the same narrower; or the narrower ones first."""
    changes = (1 / factor, factor) if narrow_first else (factor, 1 / factor)
    for change in changes:
        if len(band) > 1:
            yield tuple(_rounded(b * change) for b in band)
        for axis in range(len(band)):
            yield (*band[:axis], _rounded(band[axis] * change), *band[axis + 1 :])


def _rounded(band: float) -> float:
    """Six digits, so that two steps by √2 are one by 2 and no band is tried twice."""
    return float(f"{band:.6g}")
