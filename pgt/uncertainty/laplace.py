"""The Gaussian posterior around a least-squares fit (Laplace's approximation), and samples of it.

With the rows r of the fit (gauss_newton.py) and J their derivative, n measured values with noise σ,
and a prior of strength a on the weights among θ,

    θ ~ N(θ̂, C),    C⁻¹ = (n/σ²) (J_dᵀJ_d + w² J_eᵀJ_e + a P) = (n/σ²) RᵀR,    δ = (σ/√n) R⁻¹ z

where d marks readings and e the rows of equation and conditions. Those are as stiff as they are
fulfilled: their root mean square takes the place of the noise, w = σ / |r_e|, up to a limit.

A fit that ran out of time is not at the maximum of this posterior. The linearized MAP estimate
nearby (linearized_map.py) replaces it, and samples are drawn around it, where it predicts held-out
readings significantly better, or where readings turn out to have a little noise and it fulfills the
equation. Otherwise the fit is a Newton step α away from the maximum. Its error contains both that
step and the posterior variance, E[δδᵀ] = C + ααᵀ: half of the samples have the step added, half
have it subtracted.
"""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from pgt.core.unknown import named_unknowns
from pgt.data.observations import Observations
from pgt.inference.likelihood import is_less
from pgt.inference.linear_gaussian import SMALLEST_SIGMA
from pgt.methods.finished_fit import Fit
from pgt.methods.first_order.training_step import held_out_error
from pgt.methods.second_order.descent import build_system, common_noise, initial_prior
from pgt.methods.second_order.gauss_newton import (
    ERROR_BAR_ITERATIONS,
    EVIDENCE_ROUNDS,
    MAX_CLEAN_ERROR,
)
from pgt.methods.second_order.least_squares import (
    NormalEquations,
    Residuals,
    WeightPrior,
    hessian_factor,
    revise_prior,
)
from pgt.methods.second_order.residual_noise import (
    mean_square_residuals,
    weight_by_field_noise,
    weighted_held_out_error,
)
from pgt.methods.second_order.residual_rows import point_count
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.nn.trees import cast, compiled, count_parameters
from pgt.physics.pde import AbstractPDE
from pgt.problem.losses import Problem
from pgt.training.settings import Polish, Posterior
from pgt.uncertainty.field_error import neighbor_groups
from pgt.uncertainty.intervals import MAX_REMAINING_STEP
from pgt.uncertainty.linearized_map import (
    MAX_STIFFNESS,
    SOFT_STIFFNESS,
    MapEstimate,
    left_out_residuals,
    map_estimate,
)
from pgt.uncertainty.members import PosteriorSamples

# The upper limit of the number of rows of the equations, which bounds time and memory.
MAX_EQUATION_ROWS = 12_000
# The posterior uses this many times the residual points of one step of the fit, as the steps of the
# fit use different points.
POINT_DENSITY_FACTOR = 4
# The fit has memorized its readings where held-out ones are missed by more than this many σ; then
# the held-out error is taken for σ.
MIN_MEMORIZATION_RATIO = 2.0
# The standard deviation of the prior of each coefficient, in its logarithm, logit or unit.
COEFFICIENT_PRIOR_SIGMA = 7.0
# A step that changes a coefficient by less, in its logarithm or logit or relative to its value, is
# not visible, however sure exact readings are of the coefficient.
MIN_COEFFICIENT_CHANGE = 1e-4


def draw_laplace_samples(
    fit: Fit,
    problem: Problem,
    settings: Posterior,
    held_out: Observations,
    noise: float | None,
    polish: Polish,
    seconds: float | None = None,
) -> PosteriorSamples:
    """Samples of the posterior: models and equations.

    `noise` is σ of the readings in units of their spread, where it is known; `polish` are the
    settings of the fit, `seconds` those that are left. The second half of the samples mirrors the first
    about the fit, or about the better answer.
    """
    with jax.enable_x64(True):
        points = _residual_point_count(fit, problem, polish, seconds)
        decoder = replace(polish, weights="decoder", points=points)
        (theta, rebuild, *_), search, judge = build_system(
            fit.model, fit.pde, problem, decoder, held_out
        )
        search = search.with_noise_at(theta)  # else outliers would count as noise
        model = rebuild(theta)[0]
        search, factors = weight_by_field_noise(search, theta, model, problem, noise)
        held_out_misfit = judge(theta)
        if (factors != 1).any():
            held_out_misfit = weighted_held_out_error(model, problem, held_out, factors)
        prior = initial_prior(
            problem.observations, fit.pde, common_noise(problem, fit.model.scaling, noise)
        )
        samples_all = len(theta) >= count_parameters(fit.model)
        stiffest = MAX_STIFFNESS if samples_all else SOFT_STIFFNESS
        found = local_posterior(
            theta, search, prior, held_out_misfit, stiffest, _min_changes(fit.pde)
        )
        better, left_out, is_gaussian = None, (), problem.likelihood == "gauss"
        estimate = (
            map_estimate(found.normal, prior, COEFFICIENT_PRIOR_SIGMA) if is_gaussian else None
        )
        has_noise = estimate is not None and estimate.has_noise
        if estimate is not None and has_noise and samples_all:
            found = found.softened(estimate)
        if estimate is not None:
            points = np.asarray(problem.observations.points) / np.asarray(problem.domain.extent)
            groups = [np.arange(len(points))[:, None], neighbor_groups(points)]
            are_exact = noise is None and estimate.sigma <= MAX_CLEAN_ERROR and not has_noise
            left_out = tuple(
                left_out_residuals(estimate, points, list(part), are_exact=are_exact)
                for part in groups
            )
        if estimate is not None and len(held_out) and not _stays_at_fit(found, estimate, noise):
            better = _better_fit(theta, rebuild, estimate, (problem, held_out), judge(theta))
            found = found if better is None else found.at(estimate)
        scale = found.sigma / np.sqrt(prior.reading_count)
        steps = draw_steps(
            found.factor, scale, settings.samples, prior.coefficients, found.newton_step
        )
        models, pdes = _linearized_members(theta, rebuild, found.center, steps, prior.coefficients)
        record = {
            "settings": repr(settings),
            "noise": found.sigma, "noise_of_fields": (found.sigma * factors).tolist(),
            "stiffness": found.stiffness, "remaining_step": found.remaining_step,
            # Leave-one-out predictions need the maximum of a Gaussian posterior with its own σ.
            # Elsewhere they give too wide bands, and are used only where nothing was held out.
            "leave_one_out": is_gaussian and not found.is_memorized
            and (found.reading_change < MAX_REMAINING_STEP or not len(held_out)),
            # The misfit of readings that were fitted as exact is error of the field.
            "exact_readings": noise is None and found.sigma <= MAX_CLEAN_ERROR and not has_noise,
            "cost": None if better is None or estimate is None else estimate.cost,
        }  # fmt: skip
    readings = batched.repeat(problem.observations, settings.samples)
    return PosteriorSamples((models, pdes, readings), record, better, left_out)


def _stays_at_fit(found: "LocalPosterior", estimate: MapEstimate, noise: float | None) -> bool:
    """Whether a fit of noisy readings is kept rather than the MAP estimate.

    That is the case where the fit knew of the noise, and so had a prior and a stiff equation, or
    where the step to the MAP estimate is small beside the noise.
    """
    was_held = noise is not None or found.sigma > MAX_CLEAN_ERROR
    return estimate.has_noise and (was_held or estimate.reading_change < MAX_REMAINING_STEP)


def _better_fit(
    theta,
    rebuild,
    estimate: MapEstimate,
    data: tuple[Problem, Observations],
    held_out_misfit: float,
) -> tuple[LinearisedModel, AbstractPDE, float] | None:
    """The MAP estimate, to first order, with its equation and its held-out error, where it is the
    better answer.

    With exact readings it is better where its held-out error, or else the leave-one-out error at
    fitted readings, is significantly smaller. With noisy readings, which hardly tell, it is better
    where its misfit is noise alone and it fulfills the nonlinear equation as well as the posterior
    assumes, or as the fit did.
    """
    problem, held_out = cast(data, jnp.float64)
    model, pde = rebuild(theta)
    moved = LinearisedModel(model, rebuild(jnp.asarray(estimate.step))[0].tunable())
    moved_pde = rebuild(theta + estimate.step)[1]
    error = float(compiled(held_out_error)(moved, problem, held_out))
    counts = [int(np.asarray(part.mask).sum()) for part in (held_out, problem.observations)]
    if estimate.has_noise:
        misfits = [
            mean_square_residuals(*pair, problem)[1] for pair in ((model, pde), (moved, moved_pde))
        ]
        assumed = (estimate.sigma / estimate.stiffness) ** 2
        # The held-out error of the fit is biased: the fit ended where it was least.
        misfit_is_noise = not is_less(max(held_out_misfit, estimate.sigma), error, counts[0])
        is_better = misfit_is_noise and misfits[1] <= max(misfits[0], assumed)
    else:
        is_better = is_less(error, held_out_misfit, counts[0]) or (
            error < held_out_misfit
            and is_less(estimate.left_out_misfit, estimate.misfit_before, counts[1])
        )
    return (moved, moved_pde, error) if is_better else None


def _residual_point_count(
    fit: Fit, problem: Problem, polish: Polish, seconds: float | None = None
) -> int:
    """The number of residual points: more than the fit has at once, within what is solved in the
    seconds that are left.
    """
    usual = point_count(polish, problem, count_parameters(fit.model.tunable()), fresh=False)
    most = MAX_EQUATION_ROWS // max(len(problem.equation_scales), 1)
    if seconds is not None and fit.stages:
        last = fit.stages[-1]
        each = last.seconds / max(len(last.costs) - 1, 1)
        affordable = POINT_DENSITY_FACTOR * usual * seconds / max(ERROR_BAR_ITERATIONS * each, 1e-9)
        most = min(most, int(affordable))
    return max(min(POINT_DENSITY_FACTOR * usual, most), usual)


class LocalPosterior(NamedTuple):
    """The Gaussian posterior at θ.

    Attributes
    ----------
    factor : R, upper triangular.
    sigma : σ of the readings; the held-out error where readings were memorized.
    stiffness : w of the equation.
    remaining_step : the largest change of a coefficient by one more Newton step, in its standard
        deviations.
    is_memorized : whether the fit has memorized its readings.
    newton_step : the step from θ to the maximum.
    reading_change : by how many σ that step changes the predictions of the readings.
    normal : the rows at θ, with equation and readings of weight 1.
    center : the step from θ to the mean of the samples.
    """

    factor: Float[Array, "p p"]
    sigma: float
    stiffness: float
    remaining_step: float
    is_memorized: bool
    newton_step: Float[Array, " p"]
    reading_change: float
    normal: NormalEquations
    center: Float[Array | np.ndarray, " p"] | float = 0.0

    def softened(self, estimate: MapEstimate) -> "LocalPosterior":
        """The same with the stiffness that suits noisy readings; σ of memorized readings stays."""
        sigma = self.sigma if self.is_memorized else estimate.sigma
        return self._replace(
            factor=jnp.asarray(estimate.factor), sigma=sigma, stiffness=estimate.stiffness,
        )  # fmt: skip

    def at(self, estimate: MapEstimate) -> "LocalPosterior":
        """The posterior at the MAP estimate."""
        return self._replace(
            factor=jnp.asarray(estimate.factor), sigma=estimate.sigma, stiffness=estimate.stiffness,
            newton_step=jnp.zeros_like(estimate.step), reading_change=0.0,
            remaining_step=0.0, is_memorized=False, center=jnp.asarray(estimate.step),
        )  # fmt: skip


def local_posterior(
    theta: Float[Array, " p"],
    search: Residuals,
    prior: WeightPrior,
    held_out_error: float,
    stiffest: float = SOFT_STIFFNESS,
    min_changes: Float[np.ndarray, " f"] | float = 0.0,
) -> LocalPosterior:
    """The posterior at θ, where the fit ended, with an equation no stiffer than `stiffest`.

    A coefficient that changes by less than `min_changes` counts as converged.
    """
    soft = normal = search.stiffened(1.0).normal_at(theta)
    prior, estimated = revise_prior(prior, normal, EVIDENCE_ROUNDS)
    sigma = _noise_or_held_out_error(estimated, held_out_error)
    equation_misfit = float(np.linalg.norm(normal.rows[prior.reading_rows :]))
    stiffness = float(np.clip(sigma / max(equation_misfit, SMALLEST_SIGMA), 1.0, stiffest))
    if stiffness > 1:
        normal = search.stiffened(stiffness).normal_at(theta)
        prior, estimated = revise_prior(prior, normal, EVIDENCE_ROUNDS)
        sigma = _noise_or_held_out_error(estimated, held_out_error)
    held = np.full(len(theta), prior.strength)
    held[len(theta) - prior.coefficients :] = (
        sigma**2 / prior.reading_count / COEFFICIENT_PRIOR_SIGMA**2
    )
    factor = jnp.asarray(hessian_factor(normal, held, prior.strength))
    slope = jnp.asarray(normal.gradient + prior.strength * prior.weights(theta))
    remaining_step = _remaining_step(
        factor, slope, sigma / np.sqrt(prior.reading_count), prior.coefficients, min_changes
    )
    is_memorized, newton_step = sigma > max(estimated, SMALLEST_SIGMA), _newton_step(factor, slope)
    # The squares of the readings' rows sum to a mean square.
    change = normal.jacobian.times(np.asarray(newton_step))[: prior.reading_rows]
    reading_change = float(np.linalg.norm(change)) / sigma
    return LocalPosterior(
        factor, sigma, stiffness, remaining_step, is_memorized, newton_step, reading_change, soft
    )


def _min_changes(pde: AbstractPDE) -> Float[np.ndarray, " f"]:
    """The smallest visible change of each coefficient, in the number that is learned."""
    nodes = [node for _, node in named_unknowns(pde)]
    return MIN_COEFFICIENT_CHANGE * np.array(
        [abs(float(n.raw)) if n.is_plain else 1.0 for n in nodes]
    )


def _remaining_step(
    factor: Float[Array, "p p"],
    slope: Float[Array, " p"],
    scale: float,
    free: int,
    min_changes: Float[np.ndarray, " f"] | float = 0.0,
) -> float:
    """The largest change of a coefficient, the last `free` of θ, by a Newton step; in its σ, or in
    its smallest visible change where that is larger.
    """
    if not free:
        return 0.0
    step = _newton_step(factor, slope)[-free:]
    # The last rows of R⁻¹ depend on the last block of R alone.
    corner = solve_triangular(factor[-free:, -free:], jnp.eye(free))
    deviations = scale * jnp.linalg.norm(corner, axis=1)
    return float(jnp.max(jnp.abs(step) / jnp.maximum(deviations, jnp.asarray(min_changes))))


def _newton_step(factor: Float[Array, "p p"], slope: Float[Array, " p"]) -> Float[Array, " p"]:
    """The step to where the slope is zero."""
    return -solve_triangular(factor, solve_triangular(factor, slope, trans=1))


def draw_steps(
    factor: Float[Array, "p p"],
    scale: float,
    samples: int,
    free: int,
    newton_step: Float[Array | np.ndarray, " p"] | float = 0.0,
) -> Float[Array, "k p"]:
    """Gaussian steps in pairs ±, with the covariance scale² (RᵀR)⁻¹.

    Each has the `newton_step` added or subtracted, which is the distance of the fit from the
    maximum.

    The covariance among the last `free` of θ, the coefficients, is exact for any number of samples:
    they depend on the last of z alone, which are made uncorrelated.
    """
    normal = np.random.default_rng(0).standard_normal((samples // 2, len(factor)))
    signs = np.resize([1.0, -1.0], len(normal))
    if 0 < free < len(normal):
        last = normal[:, len(factor) - free :]
        last = last - np.outer(signs, signs @ last) / len(normal)
        left, _, right = np.linalg.svd(last, full_matrices=False)
        normal[:, len(factor) - free :] = np.sqrt(len(normal)) * left @ right
    steps = scale * solve_triangular(factor, jnp.asarray(normal).T).T
    steps = steps + jnp.asarray(signs)[:, None] * newton_step
    return jnp.concatenate([steps, -steps])


def _linearized_members(theta, rebuild, center, steps: Float[Array, "k p"], free: int):
    """The fit moved to a center, and from there along every step: fields to first order,
    coefficients exactly.
    """
    model, pde = rebuild(theta)
    bases = batched.spread(eqx.filter(model, eqx.is_array, inverse=True), model, len(steps))
    directions = jax.vmap(lambda step: rebuild(step)[0].tunable())(steps + center)
    if not free:  # one equation serves all samples
        return LinearisedModel(bases, directions), batched.repeat(pde, len(steps))
    moved = [rebuild(theta + center + step)[1] for step in steps]
    return LinearisedModel(bases, directions), batched.stack(moved)


def _noise_or_held_out_error(estimated: float, held_out_error: float) -> float:
    """σ; the held-out error where it is much larger, since the fitted readings were memorized."""
    is_memorized = held_out_error > MIN_MEMORIZATION_RATIO * estimated
    return max(held_out_error if is_memorized else estimated, SMALLEST_SIGMA)
