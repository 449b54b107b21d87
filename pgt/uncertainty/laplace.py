"""The Gaussian posterior around a least-squares fit (Laplace approximation), and samples of it.

Let r be the rows of the fit (gauss_newton.py), J their derivative, σ the noise of the n measured values,
and a the strength of the prior on the weights among θ. Then

    θ ~ N(θ̂, C),    C⁻¹ = (n/σ²) (J_dᵀJ_d + w² J_eᵀJ_e + a P) = (n/σ²) RᵀR,    δ = (σ/√n) R⁻¹ z

where d marks the rows of the readings and e those of equation and conditions. The root mean square of
the latter at the fit takes the place of their noise, so that w = σ / |r_e|, up to a limit.

A fit that ran out of time is not at the maximum of this posterior. The linearized MAP estimate
(linearized_map.py) replaces it, and samples are drawn around that, in two cases: it predicts held-out
readings significantly better, or the readings turn out to have a little noise and it fulfills the
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

# The upper limit of the number of equation rows, which bounds time and memory.
MAX_EQUATION_ROWS = 12_000
# The ratio of the residual points of the posterior to those of one step of the fit. The steps of the fit
# use different points, so that they see more of them together.
POINT_DENSITY_FACTOR = 4
# The fit has memorized its readings if held-out ones are missed by more than this many σ. Then the
# held-out error takes the place of σ.
MIN_MEMORIZATION_RATIO = 2.0
# The standard deviation of the prior of each coefficient's logarithm or logit, or of the coefficient in
# its unit. It is wide, so that the readings decide.
COEFFICIENT_PRIOR_SIGMA = 7.0
# A step that changes a coefficient's logarithm or logit, or its relative value, by less does not matter,
# however precisely exact readings determine the coefficient.
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
    """Samples of the posterior, which are models and equations.

    `noise` is σ of the readings in units of their spread, if it is known; `polish` are the settings of
    the fit, and `seconds` is the time left. The second half of the samples mirrors the first about the
    fit, or about the MAP estimate if that replaces it.
    """
    with jax.enable_x64(True):
        points = _residual_point_count(fit, problem, polish, seconds)
        decoder = replace(polish, weights="decoder", points=points)
        (theta, rebuild, *_), residuals, held_out_error_at = build_system(
            fit.model, fit.pde, problem, decoder, held_out
        )
        residuals = residuals.with_noise_at(theta)  # otherwise outliers would count as noise
        model = rebuild(theta)[0]
        residuals, factors = weight_by_field_noise(residuals, theta, model, problem, noise)
        held_out_misfit = held_out_error_at(theta)
        if (factors != 1).any():
            held_out_misfit = weighted_held_out_error(model, problem, held_out, factors)
        prior = initial_prior(
            problem.observations, fit.pde, common_noise(problem, fit.model.scaling, noise)
        )
        samples_all = len(theta) >= count_parameters(fit.model)
        max_stiffness = MAX_STIFFNESS if samples_all else SOFT_STIFFNESS
        posterior = local_posterior(
            theta, residuals, prior, held_out_misfit, max_stiffness, _min_changes(fit.pde)
        )
        better, left_out, is_gaussian = None, (), problem.likelihood == "gauss"
        estimate = (
            map_estimate(posterior.normal, prior, COEFFICIENT_PRIOR_SIGMA) if is_gaussian else None
        )
        has_noise = estimate is not None and estimate.has_noise
        if estimate is not None and has_noise and samples_all:
            posterior = posterior.softened(estimate)
        if estimate is not None:
            points = np.asarray(problem.observations.points) / np.asarray(problem.domain.extent)
            groups = [np.arange(len(points))[:, None], neighbor_groups(points)]
            are_exact = noise is None and estimate.sigma <= MAX_CLEAN_ERROR and not has_noise
            left_out = tuple(
                left_out_residuals(estimate, points, list(part), are_exact=are_exact)
                for part in groups
            )
        if estimate is not None and len(held_out) and not _stays_at_fit(posterior, estimate, noise):
            better = _better_fit(
                theta, rebuild, estimate, (problem, held_out), held_out_error_at(theta)
            )
            posterior = posterior if better is None else posterior.at(estimate)
        scale = posterior.sigma / np.sqrt(prior.reading_count)
        steps = draw_steps(
            posterior.factor, scale, settings.samples, prior.coefficients, posterior.newton_step
        )
        models, pdes = _linearized_members(
            theta, rebuild, posterior.center, steps, prior.coefficients
        )
        record = {
            "settings": repr(settings),
            "noise": posterior.sigma, "noise_of_fields": (posterior.sigma * factors).tolist(),
            "stiffness": posterior.stiffness, "remaining_step": posterior.remaining_step,
            # Leave-one-out predictions need the maximum of a Gaussian posterior with its own σ.
            # Elsewhere they give too wide bands, and are used only if nothing was held out.
            "leave_one_out": is_gaussian and not posterior.is_memorized
            and (posterior.reading_change < MAX_REMAINING_STEP or not len(held_out)),
            # The misfit of readings that were fitted as exact is an error of the field.
            "exact_readings": noise is None and posterior.sigma <= MAX_CLEAN_ERROR and not has_noise,
            "cost": None if better is None or estimate is None else estimate.cost,
        }  # fmt: skip
    readings = batched.repeat(problem.observations, settings.samples)
    return PosteriorSamples((models, pdes, readings), record, better, left_out)


def _stays_at_fit(posterior: "LocalPosterior", estimate: MapEstimate, noise: float | None) -> bool:
    """Whether a fit of noisy readings is kept in place of the MAP estimate.

    This holds if the fit knew of the noise, and so had a prior and a stiff equation, or if the step to
    the MAP estimate is small beside the noise.
    """
    had_prior = noise is not None or posterior.sigma > MAX_CLEAN_ERROR
    return estimate.has_noise and (had_prior or estimate.reading_change < MAX_REMAINING_STEP)


def _better_fit(
    theta,
    rebuild,
    estimate: MapEstimate,
    data: tuple[Problem, Observations],
    held_out_misfit: float,
) -> tuple[LinearisedModel, AbstractPDE, float] | None:
    """(linearized model, equation, held-out error) of the MAP estimate if it is the better answer, or
    None.

    With exact readings it is better if its held-out error is significantly smaller, or if that error is
    smaller and the leave-one-out error at fitted readings is significantly smaller. Noisy readings hardly
    distinguish the two answers. Then the MAP estimate is better if its misfit is noise alone and it
    fulfills the nonlinear equation as well as the posterior assumes, or as the fit did.
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
        # The held-out error of the fit is biased, since the fit ended at its minimum.
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
    """The number of residual points of the posterior.

    It is larger than that of one step of the fit, but not larger than what the remaining seconds allow.
    """
    points_of_fit = point_count(polish, problem, count_parameters(fit.model.tunable()), fresh=False)
    max_points = MAX_EQUATION_ROWS // max(len(problem.equation_scales), 1)
    if seconds is not None and fit.stages:
        stage = fit.stages[-1]
        seconds_per_iteration = stage.seconds / max(len(stage.costs) - 1, 1)
        affordable = (
            POINT_DENSITY_FACTOR
            * points_of_fit
            * seconds
            / max(ERROR_BAR_ITERATIONS * seconds_per_iteration, 1e-9)
        )
        max_points = min(max_points, int(affordable))
    return max(min(POINT_DENSITY_FACTOR * points_of_fit, max_points), points_of_fit)


class LocalPosterior(NamedTuple):
    """The Gaussian posterior at θ.

    Attributes
    ----------
    factor : the upper triangular R.
    sigma : σ of the readings, or the held-out error if the readings were memorized.
    stiffness : w of the equation.
    remaining_step : the largest change of a coefficient by one more Newton step, in its standard
        deviations.
    is_memorized : whether the fit has memorized its readings.
    newton_step : the step from θ to the maximum.
    reading_change : the change of the readings' predictions by that step, in σ.
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
        """This posterior with the stiffness that suits noisy readings; σ of memorized readings stays."""
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
    residuals: Residuals,
    prior: WeightPrior,
    held_out_error: float,
    stiffest: float = SOFT_STIFFNESS,
    min_changes: Float[np.ndarray, " f"] | float = 0.0,
) -> LocalPosterior:
    """The posterior at θ, where the fit ended, with a stiffness of at most `stiffest`.

    A coefficient that changes by less than `min_changes` counts as converged.
    """
    soft_equations = normal = residuals.stiffened(1.0).normal_at(theta)
    prior, estimated = revise_prior(prior, normal, EVIDENCE_ROUNDS)
    sigma = _noise_or_held_out_error(estimated, held_out_error)
    equation_misfit = float(np.linalg.norm(normal.rows[prior.reading_rows :]))
    stiffness = float(np.clip(sigma / max(equation_misfit, SMALLEST_SIGMA), 1.0, stiffest))
    if stiffness > 1:
        normal = residuals.stiffened(stiffness).normal_at(theta)
        prior, estimated = revise_prior(prior, normal, EVIDENCE_ROUNDS)
        sigma = _noise_or_held_out_error(estimated, held_out_error)
    prior_diagonal = np.full(len(theta), prior.strength)
    prior_diagonal[len(theta) - prior.coefficients :] = (
        sigma**2 / prior.reading_count / COEFFICIENT_PRIOR_SIGMA**2
    )
    factor = jnp.asarray(hessian_factor(normal, prior_diagonal, prior.strength))
    slope = jnp.asarray(normal.gradient + prior.strength * prior.weights(theta))
    remaining_step = _remaining_step(
        factor, slope, sigma / np.sqrt(prior.reading_count), prior.coefficients, min_changes
    )
    is_memorized, newton_step = sigma > max(estimated, SMALLEST_SIGMA), _newton_step(factor, slope)
    # The squares of the readings' rows sum to a mean square.
    change = normal.jacobian.times(np.asarray(newton_step))[: prior.reading_rows]
    reading_change = float(np.linalg.norm(change)) / sigma
    return LocalPosterior(
        factor,
        sigma,
        stiffness,
        remaining_step,
        is_memorized,
        newton_step,
        reading_change,
        soft_equations,
    )


def _min_changes(pde: AbstractPDE) -> Float[np.ndarray, " f"]:
    """The smallest change of each coefficient that matters, in the learned number."""
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
    """The largest change of a coefficient by a Newton step, in its σ, or in `min_changes` if larger.

    The coefficients are the last `free` numbers of θ.
    """
    if not free:
        return 0.0
    step = _newton_step(factor, slope)[-free:]
    # The last rows of R⁻¹ depend on the last block of R alone.
    inverse_block = solve_triangular(factor[-free:, -free:], jnp.eye(free))
    deviations = scale * jnp.linalg.norm(inverse_block, axis=1)
    return float(jnp.max(jnp.abs(step) / jnp.maximum(deviations, jnp.asarray(min_changes))))


def _newton_step(factor: Float[Array, "p p"], slope: Float[Array, " p"]) -> Float[Array, " p"]:
    """The step to the point at which the slope is zero."""
    return -solve_triangular(factor, solve_triangular(factor, slope, trans=1))


def draw_steps(
    factor: Float[Array, "p p"],
    scale: float,
    samples: int,
    free: int,
    newton_step: Float[Array | np.ndarray, " p"] | float = 0.0,
) -> Float[Array, "k p"]:
    """Gaussian steps in pairs ±, with the covariance scale² (RᵀR)⁻¹.

    The `newton_step` from the fit to the maximum is added to half of them and subtracted from the rest.

    The sample covariance of the coefficients, the last `free` numbers of θ, is exact for any number of
    samples. They depend only on the last entries of z, which are made uncorrelated.
    """
    draws = np.random.default_rng(0).standard_normal((samples // 2, len(factor)))
    signs = np.resize([1.0, -1.0], len(draws))
    if 0 < free < len(draws):
        coefficient_draws = draws[:, len(factor) - free :]
        coefficient_draws = coefficient_draws - np.outer(signs, signs @ coefficient_draws) / len(
            draws
        )
        left_vectors, _, right_vectors = np.linalg.svd(coefficient_draws, full_matrices=False)
        draws[:, len(factor) - free :] = np.sqrt(len(draws)) * left_vectors @ right_vectors
    steps = scale * solve_triangular(factor, jnp.asarray(draws).T).T
    steps = steps + jnp.asarray(signs)[:, None] * newton_step
    return jnp.concatenate([steps, -steps])


def _linearized_members(theta, rebuild, center, steps: Float[Array, "k p"], free: int):
    """(models, equations) at `center` plus each step, stacked.

    The models are linearized at θ; the coefficients change exactly.
    """
    model, pde = rebuild(theta)
    bases = batched.spread(eqx.filter(model, eqx.is_array, inverse=True), model, len(steps))
    directions = jax.vmap(lambda step: rebuild(step)[0].tunable())(steps + center)
    if not free:  # one equation serves all samples
        return LinearisedModel(bases, directions), batched.repeat(pde, len(steps))
    moved = [rebuild(theta + center + step)[1] for step in steps]
    return LinearisedModel(bases, directions), batched.stack(moved)


def _noise_or_held_out_error(estimated: float, held_out_error: float) -> float:
    """σ, or the held-out error if that is much larger because fitted readings were memorized."""
    is_memorized = held_out_error > MIN_MEMORIZATION_RATIO * estimated
    return max(held_out_error if is_memorized else estimated, SMALLEST_SIGMA)
