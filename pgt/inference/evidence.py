"""The posterior of greatest evidence: stiffness of the equation and noise of the readings.

1. Scan log10 ρ on a coarse grid, then around the best value; at each, the best σ and s² follow in
   closed form (linear_gaussian.py).
2. Where readings are noisy, take the smallest ρ that is nearly as probable.
3. Where fields have different noise, estimate σ of each from its misfits, σ² Σ (1 - h) = Σ r² with the
   leverages h, and repeat.
4. For Student's or Huber's likelihood, divide σ of every reading by the root of its weight, and repeat.
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

# log10 ρ of the first scan; then these steps around the best.
STIFFNESS_GRID = np.arange(-2.0, 37.0, 4.0)
STIFFNESS_STEPS = (2.0, 1.0)
# With less noise, in units of the spread, readings count as exact: what is wrong is the model's error.
MAX_EXACT_SIGMA = 1e-3
# A difference of log-evidence that noisy readings cannot tell.
EQUAL_EVIDENCE = 1.0
# Rounds in which readings are weighted anew.
REWEIGHTING_ROUNDS = 8
# Fields get a noise level of their own if these differ by such a factor; and how many readings a field
# needs for that.
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
    """The posterior with the ρ, s and σ of greatest evidence; `near` limits the scan to log10 ρ close
    to it.

    `prefers_soft`: where readings are noisy, with the smallest ρ that is nearly as probable. A sum of
    finitely many sines that fulfills an equation ever better has no freedom left, though the equation
    has many solutions: it would be certain of one of them.
    """
    scan = scan_stiffness(rows, near, basis)
    best = max(scan, key=lambda posterior: posterior.evidence)
    is_soft = prefers_soft and best.sigma > MAX_EXACT_SIGMA
    found = _softest(best, scan) if is_soft else best
    likely = [p for p in scan if p.evidence > best.evidence - NEGLIGIBLE_EVIDENCE]
    found.scan = sorted(likely, key=lambda posterior: posterior.log_stiffness)
    return found


def _softest(best: GaussianPosterior, scan: list[GaussianPosterior]) -> GaussianPosterior:
    """The posterior with the smallest ρ that is nearly as probable as the best."""
    enough, step = best.evidence - EQUAL_EVIDENCE, STIFFNESS_STEPS[0]
    softest = min((p for p in scan if p.evidence > enough), key=lambda p: p.log_stiffness)
    while softest.log_stiffness - step >= STIFFNESS_GRID[0]:
        softer = best.reduced.posterior(softest.log_stiffness - step)
        if softer.evidence <= enough:
            break
        softest = softer
    softest.maximum = best.maximum
    return softest


def scan_stiffness(
    rows: Rows, near: float | None = None, basis: AnyBasis | None = None
) -> list[GaussianPosterior]:
    """The posterior at several ρ, closest together around that of greatest evidence."""
    with blas_threads(rows.readings.shape[1]):
        return _scan_stiffness(ReducedReadings(rows, basis), near, len(rows.equation) > 0)


def _scan_stiffness(
    reduced: ReducedReadings, near: float | None, has_equation: bool
) -> list[GaussianPosterior]:
    if not has_equation:
        return [reduced.posterior(STIFFNESS_GRID[0])]
    first = STIFFNESS_GRID
    if near is not None:
        first = near + STIFFNESS_STEPS[0] * np.array([-1.0, 0.0, 1.0])
    scan = {float(e): reduced.posterior(float(e)) for e in first}
    for step in STIFFNESS_STEPS if near is None else STIFFNESS_STEPS[1:]:
        best = max(scan, key=lambda e: scan[e].evidence)
        for place in (best - step, best + step):
            if place not in scan:
                scan[place] = reduced.posterior(place)
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
    """The posterior of greatest evidence, with a noise level for each field where these differ, or, for
    a likelihood with outliers, with readings weighted by their misfit.

    With `near`, log10 ρ is looked for there first: a third of the work where that is right.
    """
    basis = basis or rows.basis()
    with blas_threads(rows.readings.shape[1]):
        if likelihood != "gauss":
            return _fit_robustly(rows, likelihood, near, basis, prefers_soft)
        found = maximize_evidence(rows, near, basis, prefers_soft=prefers_soft)
        return _fit_field_noises(rows, found, basis, prefers_soft)


def _fit_robustly(
    rows: Rows, likelihood: Likelihood, near: float | None, basis, prefers_soft: bool
) -> GaussianPosterior:
    """By iteratively reweighted least squares."""
    found, relative = maximize_evidence(rows, near, basis), rows.sigma
    for is_last in (False,) * (REWEIGHTING_ROUNDS - 1) + (True,):
        misfit = (rows.values - rows.readings @ found.weights) / relative
        sigma = max(NORMAL * float(np.median(np.abs(misfit))), 1e-6)
        rows = replace(rows, sigma=relative / np.sqrt(_weights_of(likelihood, misfit / sigma)))
        near = found.log_stiffness
        found = maximize_evidence(rows, near, basis, prefers_soft=prefers_soft and is_last)
    return found


def _fit_field_noises(
    rows: Rows, found: GaussianPosterior, basis, prefers_soft: bool
) -> GaussianPosterior:
    """The posterior with a noise level for each field, where σ is unknown and the misfits of the fields
    differ. With a common one, the better instrument counts for too little, and the other one is followed
    too closely."""
    fields = rows.fields
    is_known = rows.given is not None or rows.sigma_floor > 0
    if fields is None or is_known or found.sigma <= MAX_EXACT_SIGMA:
        return found
    is_counted = np.bincount(fields) >= MIN_READINGS_OF_FIELD
    for _ in range(REWEIGHTING_ROUNDS):
        factors = np.where(is_counted, found.noise_of(fields), 1.0)
        own = factors[is_counted]
        if len(own) < 2 or own.max() < MIN_NOISE_CONTRAST * own.min():
            break
        wanted = np.maximum(rows.sigma * factors[fields], MAX_EXACT_SIGMA / found.sigma)
        rows = replace(rows, sigma=wanted)
        near = found.maximum.log_stiffness
        found = maximize_evidence(rows, near, basis, prefers_soft=prefers_soft)
    return found


def _weights_of(likelihood: Likelihood, misfit: Float[np.ndarray, " n"]) -> np.ndarray:
    """The weight of a reading whose misfit is so many σ."""
    if likelihood == "huber":
        return 1 / np.maximum(np.abs(misfit) / KNEE, 1.0)
    return (FREEDOM + 1) / (FREEDOM + misfit**2)
