"""The posterior of greatest evidence: the stiffness ρ of the equation and the noise σ of the readings.

1. Scan log10 ρ on a coarse grid, then around the best value. At each ρ the best σ and s² follow in closed
   form (linear_gaussian.py).
2. Where readings are noisy and the caller asks for it, take the smallest ρ that is nearly as probable.
3. Where fields have different noise, estimate the σ of each from its misfits r and their leverages h,
   σ² Σ (1 - h) = Σ r², and repeat.
4. For Student's or Huber's likelihood, divide the σ of every reading by the root of its weight, and
   repeat.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from pgt.core.machine import blas_threads
from pgt.inference.equation_prior import Basis, ConditionalBasis
from pgt.inference.likelihood import FREEDOM, KNEE, NORMAL, Likelihood
from pgt.inference.linear_gaussian import (
    NEGLIGIBLE_EVIDENCE,
    GaussianPosterior,
    ReducedReadings,
    Rows,
)

# The values of log10 ρ in the first scan, and the steps of the refinement around the best one.
STIFFNESS_GRID = np.arange(-2.0, 37.0, 4.0)
STIFFNESS_STEPS = (2.0, 1.0)
# Readings with less noise, in units of the spread, count as exact: the remaining misfit is model error.
MAX_EXACT_SIGMA = 1e-3
# A difference of log-evidence that counts as none where readings are noisy.
EQUAL_EVIDENCE = 1.0
# The number of rounds of reweighting of the readings.
REWEIGHTING_ROUNDS = 8
# Fields get noise levels of their own if these differ by at least this factor. A field needs this many
# readings for it.
MIN_NOISE_CONTRAST = 1.5
MIN_READINGS_OF_FIELD = 10

AnyBasis = Basis | ConditionalBasis


def maximize_evidence(
    rows: Rows,
    near: float | None = None,
    basis: AnyBasis | None = None,
    *,
    prefers_soft: bool = False,
) -> GaussianPosterior:
    """The posterior with the ρ, s and σ of greatest evidence. `near` limits the scan to log10 ρ around
    it.

    With `prefers_soft`, where readings are noisy, ρ is the smallest one that is nearly as probable. As ρ
    grows, a finite sum of sines loses all freedom, although the equation has many solutions: the
    posterior would be certain of one of them.
    """
    scan = scan_stiffness(rows, near, basis)
    best = max(scan, key=lambda posterior: posterior.evidence)
    is_soft = prefers_soft and best.sigma > MAX_EXACT_SIGMA
    chosen = _softest(best, scan) if is_soft else best
    plausible = [p for p in scan if p.evidence > best.evidence - NEGLIGIBLE_EVIDENCE]
    chosen.scan = sorted(plausible, key=lambda posterior: posterior.log_stiffness)
    return chosen


def _softest(best: GaussianPosterior, scan: list[GaussianPosterior]) -> GaussianPosterior:
    """The posterior with the smallest ρ that is nearly as probable as the best."""
    min_evidence, step = best.evidence - EQUAL_EVIDENCE, STIFFNESS_STEPS[0]
    softest = min((p for p in scan if p.evidence > min_evidence), key=lambda p: p.log_stiffness)
    while softest.log_stiffness - step >= STIFFNESS_GRID[0]:
        softer = best.reduced.posterior(softest.log_stiffness - step)
        if softer.evidence <= min_evidence:
            break
        softest = softer
    softest.maximum = best.maximum
    return softest


def scan_stiffness(
    rows: Rows, near: float | None = None, basis: AnyBasis | None = None
) -> list[GaussianPosterior]:
    """The posteriors at several ρ, spaced most closely around the greatest evidence."""
    with blas_threads(rows.readings.shape[1]):
        return _scan_stiffness(ReducedReadings(rows, basis), near, len(rows.equation) > 0)


def _scan_stiffness(
    reduced: ReducedReadings, near: float | None, has_equation: bool
) -> list[GaussianPosterior]:
    if not has_equation:
        return [reduced.posterior(STIFFNESS_GRID[0])]
    grid = STIFFNESS_GRID
    if near is not None:
        grid = near + STIFFNESS_STEPS[0] * np.array([-1.0, 0.0, 1.0])
    scan = {float(log_stiffness): reduced.posterior(float(log_stiffness)) for log_stiffness in grid}
    for step in STIFFNESS_STEPS if near is None else STIFFNESS_STEPS[1:]:
        best = max(scan, key=lambda log_stiffness: scan[log_stiffness].evidence)
        for neighbor in (best - step, best + step):
            if neighbor not in scan:
                scan[neighbor] = reduced.posterior(neighbor)
    return list(scan.values())


# ---------------------------------------------------------------------------- noise of the readings


def fit_posterior(
    rows: Rows,
    likelihood: Likelihood = "gauss",
    near: float | None = None,
    *,
    prefers_soft: bool = False,
    basis: AnyBasis | None = None,
) -> GaussianPosterior:
    """The posterior of greatest evidence. Fields have noise levels of their own where these differ; a
    likelihood that allows for outliers weights readings by their misfits.

    With `near`, log10 ρ is searched around this guess only, which takes a third of the work.
    """
    basis = basis or rows.basis()
    with blas_threads(rows.readings.shape[1]):
        if likelihood != "gauss" and rows.compressed is None:  # else they have been weighted before
            return _fit_robustly(rows, likelihood, near, basis, prefers_soft)
        posterior = maximize_evidence(rows, near, basis, prefers_soft=prefers_soft)
        return _fit_field_noises(rows, posterior, basis, prefers_soft)


def _fit_robustly(
    rows: Rows, likelihood: Likelihood, near: float | None, basis, prefers_soft: bool
) -> GaussianPosterior:
    """The posterior for a likelihood with outliers, by iteratively reweighted least squares."""
    posterior, relative = maximize_evidence(rows, near, basis), rows.sigma
    for is_last in (False,) * (REWEIGHTING_ROUNDS - 1) + (True,):
        misfit = (rows.values - rows.readings @ posterior.weights) / relative
        sigma = robust_scale(misfit)
        rows = replace(rows, sigma=relative / np.sqrt(robust_weights(likelihood, misfit / sigma)))
        near = posterior.log_stiffness
        posterior = maximize_evidence(rows, near, basis, prefers_soft=prefers_soft and is_last)
    return posterior


def _fit_field_noises(
    rows: Rows, posterior: GaussianPosterior, basis, prefers_soft: bool
) -> GaussianPosterior:
    """The posterior with a noise level for each field, where σ is unknown and the misfits of the fields
    differ. With a common level, the better instrument has too little weight and the worse one is
    overfitted."""
    fields = rows.fields
    is_known = rows.given is not None or rows.sigma_floor > 0
    if fields is None or is_known or posterior.sigma <= MAX_EXACT_SIGMA:
        return posterior
    is_counted = np.bincount(fields) >= MIN_READINGS_OF_FIELD
    for _ in range(REWEIGHTING_ROUNDS):
        factors = np.where(is_counted, posterior.noise_of(fields), 1.0)
        levels = factors[is_counted]
        if len(levels) < 2 or levels.max() < MIN_NOISE_CONTRAST * levels.min():
            break
        sigma = np.maximum(rows.sigma * factors[fields], MAX_EXACT_SIGMA / posterior.sigma)
        rows = replace(rows, sigma=sigma)
        near = posterior.maximum.log_stiffness
        posterior = maximize_evidence(rows, near, basis, prefers_soft=prefers_soft)
    return posterior


def robust_scale(misfit: Float[np.ndarray, " n"]) -> float:
    """σ of the misfits by their median, which outliers hardly change."""
    return max(NORMAL * float(np.median(np.abs(misfit))), 1e-6)


def robust_weights(likelihood: Likelihood, misfit: Float[np.ndarray, "*n"]) -> np.ndarray:
    """The weights of readings in reweighted least squares, from their misfits in units of σ."""
    if likelihood == "huber":
        return 1 / np.maximum(np.abs(misfit) / KNEE, 1.0)
    return (FREEDOM + 1) / (FREEDOM + misfit**2)
