"""The search over bands: the sum of sines under which the readings are most probable.

A sum of sines u(z) = Σ a_k sin(w_k·z + b_k) has random frequencies w in a box |w_i| ≤ b_i. The band b is
chosen by the log-evidence, with 1 less for every doubling of a b_i:

    b* = argmax  log p(readings | equation, b) - Σ log2 b_i

1. Scan. With few sines, the bands of a coarse grid are tried: on all axes at once, then on one axis after
   the other until none changes. Each trial is one linear solve, because coefficients are held at their
   last values; where the equation is not linear in the fields, only the readings are fitted. After the
   coefficients have been fitted, the scan is repeated.
2. Climb. From the band of the scan, fits with more sines move to bands that differ by factors of 2, then
   of √2, as long as the evidence grows. Where waves that satisfy the equation exactly are known
   (models/exact_waves.py), scan and climb are also done with them, and the more probable basis is kept.
3. Finish. The best band is fitted with more sines if there is time, and averaged with bands that are
   nearly as probable, or with other sines of the same band (band_posterior.py).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.unknown import named_unknowns
from pgt.data.reading_stream import ReadingStream
from pgt.inference.evidence import MAX_EXACT_SIGMA
from pgt.inference.linear_gaussian import GaussianPosterior
from pgt.methods.closed_form.band_posterior import (
    BandAverage,
    BandFit,
    average_bands,
    average_two,
    band_penalty,
    with_new_parts,
)
from pgt.methods.closed_form.band_solution import (
    needed_floor,
    posterior_with_fixed_coefficients,
    readings_posterior,
    solve_for_priors,
    solve_linear,
    solve_nonlinear,
)
from pgt.methods.closed_form.design_rows import nodes_of
from pgt.methods.closed_form.equation_symbol import symbol_of
from pgt.methods.closed_form.smoothness_average import PRIOR_COUNT, average_over_smoothness
from pgt.methods.closed_form.streamed_readings import compress
from pgt.methods.coefficients import are_settled
from pgt.methods.finished_fit import COEFFICIENT_NOT_AT_REST, SOLVED_IN_CLOSED_FORM, Fit
from pgt.methods.history import History
from pgt.models.features import FIRST_BAND, Features
from pgt.nn.trees import cast
from pgt.physics.unknown_conditions import functions_of, wall_fields
from pgt.problem.assembly import Task
from pgt.problem.budget import Deadline
from pgt.problem.linearity import is_linear, is_solved_by_one_solve

# The number of weights of all fields in the scan. With half of them bands are hardly distinguished, more
# take longer.
SCAN_WEIGHTS = 200
# The bands of the scan in unit coordinates: from two thirds of a wave to forty waves over the domain.
SCAN_BANDS = (2.0, 8.0, 32.0, 128.0)
# The factors by which the band changes in the climb, and the largest number of its trials.
BAND_FACTORS = (2.0, math.sqrt(2.0))
MAX_TRIALS = 16
# The smallest band where unknown functions multiply fields, because the prior of functions depends on it.
MIN_BAND_WITH_FUNCTIONS = 4.0
# Every trial of the climb has all weights up to this number of them, and half of them beyond it.
MAX_TRIAL_WEIGHTS = 800
# A posterior error, in units of the spread, that no other band improves; and one above which a network is
# tried.
EXACT_ERROR, MAX_GOOD_ERROR = 1e-11, 1e-3
# The number of readings of a stream with which two bands are compared: more decide better, in more time.
READINGS_FOR_BAND = 1 << 18
# The number of nodes at which these errors are computed.
ERROR_NODES = 256
# The share of the seconds for scan and climb where more sines or a network may follow; the shares for the
# whole fit where a network may follow, and where only the stated error remains to be computed.
SEARCH_SHARE, SHARE_BEFORE_NETWORK, SHARE_BEFORE_ERRORS = 0.4, 2 / 3, 0.9
# A network needs these seconds to compile, and this many readings, so that a tenth of them can judge it.
MIN_SECONDS_OF_NETWORK, MIN_READINGS_TO_JUDGE = 10.0, 80

Report = Callable[[float, dict[str, float]], None]
Band = tuple[float, ...]


def leaves_time_for_network(task: Task) -> bool:
    """Whether a network may be tried afterwards: there are seconds for it, and readings to judge it."""
    seconds = (task.requested_training or task.training).seconds
    in_time = seconds is None or (1 - SHARE_BEFORE_NETWORK) * seconds >= MIN_SECONDS_OF_NETWORK
    has_judges = len(task.problem.observations) >= MIN_READINGS_TO_JUDGE
    return task.has_fallback and in_time and has_judges


def fit_features(
    task: Task, report: Report, earlier: BandFit | BandAverage | None = None
) -> tuple[BandFit | BandAverage, Fit]:
    """The posterior of the most probable field of the task, and the record of the search.

    With an `earlier` fit to fewer readings, its bands and sines are kept, and nothing is searched.
    """
    search = _Search(task, report)
    result = search.best() if earlier is None else search.with_sines_of(earlier)
    with jax.enable_x64(True):
        model, pde = cast((result.model, result.pde), jnp.float64)
    seconds = search.deadline.spent
    stopped = SOLVED_IN_CLOSED_FORM if are_settled(result.learnt) else COEFFICIENT_NOT_AT_REST
    fit = Fit(
        model, pde, result.sigma, search.history, seconds, search.first_seconds, stopped,
        learnt=result.learnt,
    )  # fmt: skip
    return replace(result, model=model, pde=pde), fit


class _Basis:
    """One basis, of sines or of exact waves, with the bands tried so far, and their fits.

    `quickest` and `latest` are the seconds of the quickest and of the latest fit. `scan_count`,
    `trial_count` and `full_count` are the numbers of functions in scan, climb and last fit.
    """

    def __init__(self, model: Features, deadline: Deadline, is_linear: bool):
        self.model = model
        self.tried: set[Band] = set()
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
            best, stream = self._fit(sines, sines.model.band, sines.full_count), self.task.stream
            return best if stream is None else self._fits_to([best], stream, sines)[0]
        best, basis = None, sines
        for other in self.bases:
            if best is not None and (self._is_exact(best) or not self.deadline.allows(0.0)):
                break
            fit = self._climb(other, self._first_fit(other))
            if best is None or fit.is_better_than(best):
                best, basis = fit, other
        assert best is not None  # there is a basis
        return self._finish(best, basis)

    def _first_fit(self, basis: _Basis) -> BandFit:
        """The fit in the band of the scan. The scan is repeated with the coefficients of that fit as long
        as it finds a better band: an unsuitable band softens the equation and biases coefficients."""
        best, task = self._fit(basis, self._scan(basis)), self.task
        while best.learnt and self._has_time_to_search():
            self.task = replace(task, pde=best.pde)
            band = self._scan(basis, best.band)
            fit = None if band in basis.tried else self._fit(basis, band)
            self.task = task
            if fit is None or not fit.is_better_than(best):
                break
            best = fit
        return best

    def with_sines_of(self, earlier: BandFit | BandAverage) -> BandFit | BandAverage:
        """The fit with the sines of an earlier one, whose bands are weighted by their evidence anew."""
        assert self.is_one_solve
        if isinstance(earlier, BandFit):
            self._record(fit := self._solve_near(earlier))
            return fit
        parts = tuple(map(self._solve_near, earlier.parts))
        self._record(parts[0])
        return with_new_parts(earlier, parts)

    def _solve_near(self, earlier: BandFit) -> BandFit:
        prior = getattr(earlier.posterior.reduced.basis, "function_prior", None)
        if prior is not None:
            return next(iter(solve_for_priors(earlier.model, self.task, [prior])))
        return solve_linear(earlier.model, self.task, earlier.posterior.maximum.log_stiffness)

    def _exact_waves(self) -> Features | None:
        """The model with waves that satisfy the equation; None where they are not known, or the domain
        has a shape."""
        model = self.task.model
        assert isinstance(model, Features)
        if not self.is_one_solve or model.local is not None or model.band is not None:
            return None
        symbol = symbol_of(self.task.pde, model.scaling)
        return symbol and model.satisfying(symbol)

    # ------------------------------------------------------------------------------ 1. scan

    def _scan(self, basis: _Basis, first: Band | None = None) -> Band:
        """The most probable band of the coarse grid and `first`, searched one axis after the other."""
        band = first or (FIRST_BAND,) * len(basis.model.scaling.middle)
        if self.has_functions:  # a band that suits the field need not suit the functions
            return band
        few_sines = basis.model.with_sines(basis.scan_count, band)
        floor = needed_floor(few_sines, self.task)
        evidence_of: dict[Band, float] = {}

        def evidence(tried: Band) -> float:
            if tried not in evidence_of:
                model = basis.model.with_sines(basis.scan_count, tried)
                evidence_of[tried] = self._scan_posterior(model, floor).evidence
            return evidence_of[tried] - band_penalty(tried)

        band = max([band, *((b,) * len(band) for b in SCAN_BANDS)], key=evidence)
        before = None
        while band != before and self._has_time_to_search():
            before = band
            for axis in range(len(band)):
                others = [(*band[:axis], b, *band[axis + 1 :]) for b in SCAN_BANDS]
                band = max([band, *others], key=evidence)
        return band

    def _scan_posterior(self, model: Features, sigma_floor: float) -> GaussianPosterior:
        """The posterior with coefficients held fixed, by one solve; where that is not linear, the
        posterior by the readings alone."""
        if self.has_linear_fields:
            return posterior_with_fixed_coefficients(model, self.task, sigma_floor)
        return readings_posterior(model, self.task, sigma_floor)

    def _has_time_to_search(self) -> bool:
        return self.deadline.allows(0.0, SEARCH_SHARE)

    # ------------------------------------------------------------------------------ 2. climb

    def _climb(self, basis: _Basis, best: BandFit) -> BandFit:
        """The best fit reached from band to neighboring band, by large factors first, as long as one is
        better. The direction that improved the fit last is tried first."""
        for factor in BAND_FACTORS:
            is_moving, narrow_first = True, self.has_functions
            while is_moving and not self._is_over(basis, best):
                is_moving = False
                for band in _neighbors(best.band, factor, narrow_first):
                    is_flat = self.has_functions and min(band) < MIN_BAND_WITH_FUNCTIONS
                    if band in basis.tried or is_flat or self._is_over(basis, best):
                        continue
                    fit = self._fit(basis, band)
                    if fit.is_better_than(best):
                        narrow_first = math.prod(fit.band) < math.prod(best.band)
                        best, is_moving = fit, True
                        break
        return best

    def _is_over(self, basis: _Basis, best: BandFit) -> bool:
        """Whether the climb ends: there is no time, the trials are used up, or the fit is exact."""
        is_followed = basis.full_count > basis.trial_count or (
            leaves_time_for_network(self.task) and self._is_poor(best)
        )
        share = SEARCH_SHARE if is_followed else 1.0
        in_time = self.deadline.allows(basis.quickest, share)
        return not in_time or len(basis.tried) >= MAX_TRIALS or self._is_exact(best)

    def _fit(
        self, basis: _Basis, band: Band, count: int | None = None, near: float | None = None
    ) -> BandFit:
        """The fit in one band; `near` is log10 ρ of a fit with fewer sines of that band."""
        before = self.deadline.spent
        model = basis.model.with_sines(count or basis.trial_count, band)
        if self.is_one_solve:
            fit = solve_linear(model, self.task, near)
        else:
            fit = solve_nonlinear(model, self.task, self.deadline)
        basis.tried.add(band)
        if self.task.stream is None:  # else nothing is averaged, and the fits would fill the memory
            basis.fits[band] = fit
        basis.latest = self.deadline.spent - before
        basis.quickest = min(basis.quickest, basis.latest)
        self.report(min(len(basis.tried) / MAX_TRIALS, 1.0), {"evidence": fit.evidence})
        self._record(fit)
        return fit

    def _record(self, fit: BandFit) -> None:
        self.first_seconds = self.first_seconds or self.deadline.spent
        error = float(np.sqrt(np.mean(fit.posterior.left_out()[0] ** 2)))
        coefficients = {name: node.value for name, node in named_unknowns(fit.pde)}
        losses, step = {"data": fit.sigma**2}, len(self.history.step) + 1
        self.history.add(step, error, losses, {"data": 1.0}, coefficients)

    # ------------------------------------------------------------------------------ 3. finish

    def _with_all_readings(self, sampled: BandFit, basis: _Basis, stream: ReadingStream) -> BandFit:
        """The fit to all readings of a stream, by one pass over them. A few of its parts decide whether
        the band is that of the fit to the sample or a wider one: more readings resolve shorter waves."""
        bands = sampled.band, next(_neighbors(sampled.band, BAND_FACTORS[1], False))
        fits = [self._fit(basis, band, basis.full_count) for band in bands]
        few = stream.part(READINGS_FOR_BAND, basis.model.seed)
        best, band_fit = self._fits_to(fits, few, basis)
        return best if len(few) == len(stream) else self._fits_to([band_fit], stream, basis)[0]

    def _fits_to(
        self, fits: list[BandFit], stream: ReadingStream, basis: _Basis
    ) -> tuple[BandFit, BandFit]:
        """The best of the fits to all readings of a stream, and the fit to the sample that it is from."""
        task, pairs = self.task, []
        passed = compress(fits, task, stream, lambda share: self.report(share, {}))
        for fit, compressed in zip(fits, passed, strict=True):
            self.task = replace(task, compressed=compressed)
            pairs.append((self._fit(basis, fit.band, basis.full_count), fit))
        self.task = task
        best = pairs[0]
        for pair in pairs[1:]:
            best = pair if pair[0].is_better_than(best[0]) else best
        return best

    def _finish(self, best: BandFit, basis: _Basis) -> BandFit | BandAverage:
        """The best fit with more sines, and averaged with others."""
        if self.task.stream is not None:
            return self._with_all_readings(best, basis, self.task.stream)
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
            larger = self._fit(basis, best.band, count, best.posterior.maximum.log_stiffness)
            if are_settled(larger.learnt) or not are_settled(best.learnt):
                best = larger
        if named_unknowns(self.task.pde):
            return best
        return self._with_other_sines(average_bands(best, fits), basis)

    def _with_other_sines(self, fit: BandFit | BandAverage, basis: _Basis):
        """The average with a fit of other sines of the band, where the error of the basis matters: with
        exact readings, or where conditions determine the field. Otherwise the fit itself."""
        if isinstance(fit, BandAverage) or not self.is_one_solve:
            return fit
        is_noisy = fit.sigma > MAX_EXACT_SIGMA and self._is_poor(fit)
        if is_noisy or not self.deadline.allows(basis.latest):
            return fit
        model = fit.model.with_seed(basis.model.seed + 1)
        return average_two(fit, solve_linear(model, self.task, fit.posterior.log_stiffness))

    def _is_exact(self, fit: BandFit) -> bool:
        return self.is_one_solve and float(np.max(fit.spread(self.nodes))) < EXACT_ERROR

    def _is_poor(self, fit: BandFit | BandAverage) -> bool:
        return float(np.sqrt(np.mean(fit.spread(self.nodes) ** 2))) > MAX_GOOD_ERROR


def _seconds(task: Task) -> float | None:
    """The seconds of the fit. A share of the budget is left to a network, or to the stated error."""
    seconds = task.training.seconds
    if seconds is None:
        return None
    share = SHARE_BEFORE_NETWORK if leaves_time_for_network(task) else SHARE_BEFORE_ERRORS
    return share * seconds


def _neighbors(band: Band, factor: float, narrow_first: bool) -> Iterator[Band]:
    """Bands that are wider on all axes, wider on each axis alone, and then the narrower ones; with
    `narrow_first` in the opposite order."""
    changes = (1 / factor, factor) if narrow_first else (factor, 1 / factor)
    for change in changes:
        if len(band) > 1:
            yield tuple(_rounded(b * change) for b in band)
        for axis in range(len(band)):
            yield (*band[:axis], _rounded(band[axis] * change), *band[axis + 1 :])


def _rounded(band: float) -> float:
    """The band rounded to six digits, so that two steps by √2 equal one by 2 and none is tried twice."""
    return float(f"{band:.6g}")
