"""The outcome of a fit: the fit, its held-out error, and what its posterior says.

`outcome_of` makes the outcome of a method with a closed-form posterior (sums of sines, solutions on a
mesh), and `with_posterior` adds a Laplace approximation to that of a network. The race of candidates
and the stated error use only the `Outcome`, whichever method made it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pgt.core.unknown import named_unknowns
from pgt.data.splits import Groups, choose_held_out_sensors, sensors
from pgt.inference.likelihood import misfit_size
from pgt.inference.linear_gaussian import GaussianPosterior
from pgt.inference.sensor_effects import Effect
from pgt.methods.closed_form.band_posterior import (
    GaussianFit,
    errors_without,
    left_out_errors,
    left_out_predictions,
    noise_of_fields,
)
from pgt.methods.closed_form.band_solution import MIN_NODES
from pgt.methods.coefficients import CoefficientEstimate
from pgt.methods.finished_fit import Fit
from pgt.methods.first_order.training_step import held_out_error
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import LinearisedModel, NullSpaceField
from pgt.nn import batched
from pgt.nn.trees import cast, compiled, is_double, precision
from pgt.physics.pde import AbstractPDE
from pgt.problem.assembly import Task
from pgt.problem.budget import is_polishable, polish_settings, total_seconds
from pgt.problem.losses import Problem
from pgt.training.settings import POSTERIOR_DRAWS, Posterior
from pgt.uncertainty.contradictions import (
    ContradictedCondition,
    DisplacedSensor,
    displaced_sensor_from,
    find_contradicted_conditions,
    posteriors_of_sensors,
)
from pgt.uncertainty.field_error import is_exact, neighbor_groups
from pgt.uncertainty.laplace import draw_laplace_samples
from pgt.uncertainty.members import Members, PosteriorSamples
from pgt.uncertainty.null_space import (
    approximate_by_sines,
    approximation_error,
    null_space_samples,
    posterior_by_sines,
)


def linearized_deviations(
    members: LinearisedModel, task: Task, points
) -> Float[np.ndarray, "k n c"]:
    """The deviations of linearized members from the field that they were drawn around, in pairs ±."""
    with jax.enable_x64(True):
        base = batched.member(members, 0).base
        context = base.encode(cast(task.problem.observations, jnp.float64))
        deviations = np.asarray(
            _directional_derivatives(base, context, members.direction, jnp.asarray(points)), float
        )
        return deviations - deviations.mean(axis=0)


@compiled
def _directional_derivatives(base, context, directions, points):
    def along(direction):
        def values(tuned):
            model = eqx.tree_at(lambda m: m.tunable(), base, tuned)
            return jax.vmap(lambda z: model.decode(context, z))(points)

        return jax.jvp(values, (base.tunable(),), (direction,))[1]

    return jax.lax.map(along, directions)


# Sines check conditions and sensors only if their approximation error is less than this multiple of the
# noise. Its square is then a tenth of the variance of the noise.
MAX_APPROXIMATION_ERROR = 0.3


Deviations = Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "k n c"]]


@dataclass(frozen=True)
class Outcome:
    """The fit, its held-out error, and what its posterior says, if it has one.

    Attributes
    ----------
    fit : the answer.
    held_out_error : its error at held-out readings; None if it is not known.
    members : samples for error bars, if the user asked for them.
    left_out_predictions : the leave-one-out prediction of every reading, if the method has a closed form.
    left_out_residuals : the errors of left-out readings in units of their predicted σ, for each way of
        leaving readings out.
    deviations_at : the function points ↦ (k, n, c) of the deviations of posterior samples from the fit,
        in physical units, in pairs ±.
    noise, field_noises : σ of the readings in units of their spread, of all fields and of each field.
    hidden_deviations_at : deviations by sums of sines, for a network with hidden fields.
    null_space : samples of the null space, stacked.
    has_noise : whether the misfit of the readings is noise, however small.
    discretization : the error of a solution on a mesh in units of each field's spread, by field.
    held_out_error_without : the function from row numbers to the held-out error if these readings had
        been held out, if the method knows it without another fit.
    map_estimate_cost : the cost of the linearized MAP estimate, if that is the answer.
    contradicted_conditions : the conditions that the readings contradict.
    displaced_sensor : the sensor with a wrong clock, position or zero.
    posterior : the Gaussian model of the readings, if the method has a closed form.
    posteriors : linear-Gaussian models of the readings at the fit, which judge fixed sensors.
    effects : the errors of sensors that were taken out of the readings.
    """

    fit: Fit
    held_out_error: float | None
    members: PosteriorSamples | None = None
    left_out_predictions: Float[np.ndarray, "n c"] | None = None
    left_out_residuals: tuple[Float[np.ndarray, " _"], ...] = ()
    deviations_at: Deviations | None = None
    noise: float = 0.0
    field_noises: Float[np.ndarray, " c"] | None = None
    hidden_deviations_at: Deviations | None = None
    null_space: NullSpaceField | None = None
    has_noise: bool = False
    held_out_error_without: Callable[[Int[np.ndarray, " m"]], float] | None = None
    discretization: Mapping[str, float] | None = None
    map_estimate_cost: float | None = None
    contradicted_conditions: tuple[ContradictedCondition, ...] = ()
    displaced_sensor: DisplacedSensor | None = None
    posterior: GaussianFit | None = None
    posteriors: tuple[GaussianPosterior, ...] = ()
    effects: tuple[Effect, ...] = ()

    @property
    def noise_by_field(self) -> Float[np.ndarray, " c"] | float:
        """σ of the readings of each field, or one number for all fields."""
        return self.noise if self.field_noises is None else self.field_noises


def with_posterior(outcome: Outcome, task: Task) -> Outcome:
    """The outcome of a network with its posterior, or unchanged if it has none."""
    fit = outcome.fit
    if not _has_posterior(fit, task):
        return outcome
    requested = task.error_bars
    settings = requested if isinstance(requested, Posterior) else Posterior(POSTERIOR_DRAWS)
    samples = _posterior_samples(fit, task, settings)
    if samples.better is not None:
        model, pde, error = samples.better
        fit = replace(fit, model=model, pde=pde)
        outcome = replace(outcome, fit=fit, held_out_error=error)
    null_space = null_space_samples(fit.model, fit.pde, task.problem, settings.samples)
    record = samples.record
    outcome = replace(
        outcome,
        deviations_at=partial(linearized_deviations, samples.stacked[0], task),
        left_out_residuals=samples.left_out_residuals,
        noise=record["noise"],
        field_noises=np.asarray(record["noise_of_fields"]),
        hidden_deviations_at=_deviations_by_sines(outcome, task)
        if task.problem.observations.hidden_fields
        else None,
        null_space=null_space,
        has_noise=not record["exact_readings"],
        map_estimate_cost=record["cost"],
        **check_by_sines(fit, task, record["noise"]),
    )
    if requested:
        return replace(outcome, members=samples.with_null_space(null_space))
    return replace(outcome, fit=replace(fit, learnt=_coefficient_deviations(samples)))


def check_by_sines(fit: Fit, task: Task, noise: float, are_sensors_checked: bool = True) -> dict:
    """Contradicted conditions and a displaced sensor, found with sines that approximate the answer.

    The result is empty if their approximation error is not small beside the noise, since the sensors
    would be blamed for it.
    """
    if not task.problem.conditions and sensors(task.problem.observations) is None:
        return {}
    with precision(is_double(fit.model)):
        sines = approximate_by_sines(fit.model, fit.pde, task.problem)
        if approximation_error(sines, fit.model, task.problem) > MAX_APPROXIMATION_ERROR * noise:
            return {}
        answer = sines, fit.pde, task.problem, MIN_NODES
        posteriors = posteriors_of_sensors(*answer) if are_sensors_checked else []
        return {
            "contradicted_conditions": tuple(find_contradicted_conditions(*answer)),
            "displaced_sensor": displaced_sensor_from(posteriors, sines, task.problem),
            "posteriors": tuple(posteriors),
        }


def _coefficient_deviations(samples: PosteriorSamples) -> dict[str, CoefficientEstimate]:
    """The standard deviations of the coefficients over samples of the posterior."""
    with jax.enable_x64(True):
        nodes = named_unknowns(samples.stacked[1])
    remaining = samples.record["remaining_step"]
    return {
        name: CoefficientEstimate(float(np.std(np.asarray(node.raw))), remaining_step=remaining)
        for name, node in nodes
    }


def outcome_of(
    posterior: GaussianFit,
    fit: Fit,
    task: Task,
    deviations_at: Deviations,
    draw: Callable[[Posterior], tuple[AbstractFieldModel, AbstractPDE]],
    null_space: NullSpaceField | None = None,
) -> Outcome:
    """The outcome of a fit with a closed-form `posterior`.

    `deviations_at` and `draw` give draws of the field and of whole members.
    """
    readings, predictions = task.problem.observations, None
    left_out = [
        left_out_errors(posterior, readings, g) for g in (sensors(readings), _neighbor_blocks(task))
    ]
    if task.problem.likelihood == "gauss":
        predictions = left_out_predictions(posterior, readings)
    sensor_groups, problem = choose_held_out_sensors(readings), task.problem
    sensor_errors, spreads = left_out_errors(posterior, readings, sensor_groups)
    has_held_out = len(task.held_out) > 0
    error = held_out_error_of(fit, task) if has_held_out else _misfit_size(sensor_errors, problem)
    noises, requested = noise_of_fields(posterior, readings), task.error_bars
    outcome = Outcome(
        fit, error, left_out_predictions=predictions,
        left_out_residuals=tuple(errors / sigmas for errors, sigmas in left_out),
        deviations_at=deviations_at, noise=posterior.sigma, field_noises=noises, null_space=null_space,
        posterior=posterior,
        held_out_error_without=None if has_held_out
        else partial(_held_out_error_without, posterior, problem),
    )  # fmt: skip
    if not isinstance(requested, Posterior):
        return outcome
    models, pdes = draw(requested)
    stacked = (models, pdes, batched.repeat(readings, requested.samples))
    has_spreads = is_exact(posterior.sigma) and predictions is not None
    record = {
        "settings": repr(requested),
        "noise": posterior.sigma,
        "noise_of_fields": noises.tolist(),
        "remaining_step": 0.0,
        "leave_one_out": predictions is not None,
        # Sines interpolate exact readings, so the spread of samples at these is no measure of error.
        "left_out_spread": spreads.tolist() if has_spreads else None,
    }
    samples = PosteriorSamples(stacked, record).with_null_space(null_space)
    return replace(outcome, members=samples)


def _held_out_error_without(
    posterior: GaussianFit, problem: Problem, rows: Int[np.ndarray, " m"]
) -> float:
    """The held-out error if these rows had not been fitted."""
    return _misfit_size(errors_without(posterior, problem.observations, rows), problem)


def _misfit_size(errors: Float[np.ndarray, " m"], problem: Problem) -> float:
    """The size of errors: their root mean square, without outliers if the likelihood expects them."""
    return float(misfit_size(problem.likelihood, errors, np.ones(len(errors), bool)))


def _neighbor_blocks(task: Task) -> Groups:
    """The number of the block of neighbors to which each reading belongs."""
    points = np.asarray(task.problem.observations.points) / np.asarray(task.problem.domain.extent)
    block_of = np.zeros(len(points), int)
    for number, rows in enumerate(neighbor_groups(points)):
        block_of[rows] = number
    return block_of


def deviations_of(outcome: Outcome, task: Task) -> Deviations | None:
    """The function that gives deviations from the fit, or None.

    They are those of its posterior, of its ensemble, or of sums of sines linearized at the fit.
    """
    if outcome.deviations_at is not None:
        return outcome.deviations_at
    members = outcome.members
    if members is not None:
        return partial(_member_deviations, Members.of(*members.stacked))
    return _deviations_by_sines(outcome, task)


def _deviations_by_sines(outcome: Outcome, task: Task) -> Deviations | None:
    fit, error = outcome.fit, outcome.held_out_error
    return posterior_by_sines(fit.model, fit.pde, task.problem, POSTERIOR_DRAWS, error)


def _member_deviations(members: Members, points) -> Float[np.ndarray, "k n c"]:
    """The deviations of an ensemble's members from their mean, scaled for k − 1 degrees of freedom."""
    fields = members.models.scaling.mean.shape[-1]

    def values(field, z):
        return {str(k): value for k, value in enumerate(field(z))}

    table = members.evaluate(values, np.asarray(points))
    fields_of_members = np.stack([table[str(k)] for k in range(fields)], axis=-1)
    return (fields_of_members - fields_of_members.mean(axis=0)) * np.sqrt(
        len(fields_of_members) / (len(fields_of_members) - 1)
    )


def held_out_error_of(fit: Fit, task: Task) -> float:
    """The error of the fit at held-out readings."""
    with precision(is_double(fit.model)):
        return float(_compiled_held_out_error(fit.model, task.problem, task.held_out))


_compiled_held_out_error = compiled(held_out_error)


def _posterior_samples(fit: Fit, task: Task, settings: Posterior) -> PosteriorSamples:
    """Samples of the posterior around the fit."""
    polish = polish_settings(fit.model, task.training)
    assert polish is not False  # checked when the task was assembled
    seconds = total_seconds(task.training)
    seconds_left = None if seconds is None else max(seconds - fit.seconds - fit.polish_seconds, 0.0)
    return draw_laplace_samples(
        fit, task.problem, settings, task.held_out, task.noise, polish, seconds_left
    )


def _has_posterior(fit: Fit, task: Task) -> bool:
    """Whether the fit has second-order steps, and error bars were requested or are cheap."""
    settings, is_requested = polish_settings(fit.model, task.training), task.error_bars is not None
    return settings is not False and (is_requested or is_polishable(fit.model))
