"""A fit linearized for sums of sines, which shows what readings, conditions and equation determine.

Equation, conditions and readings, linearized at the fit, are the rows of a Gaussian model whose unknowns
are the weights of sums of sines. The rows D_d of the readings have one tolerance, the rows D_e of
equation and conditions another. The covariance of the weights is then (RᵀR)⁻¹ with

    RᵀR = D_dᵀD_d / tolerance_d² + D_eᵀD_e / tolerance_e² + 1 / prior²

**The null space.** The posterior of a network (laplace.py) takes the equation to be as exact as the
network fulfills it. A network with few weights can represent few of the fields that solve the equation,
so that its posterior is sure of one of them. So is a sum of sines with noisy readings in many
coordinates. If readings and equation determine a field, the differences that the tolerances allow shrink
in proportion to the tolerances. If they hardly shrink, the field is undetermined. There differences are
drawn with the small tolerance and scaled to the size that the large one allows. Only places far from
readings are tested.

**Posterior by sines.** With the misfit of a network at the readings and its residual of the equation as
tolerances, the draws are those of a posterior. It serves networks with too many weights for a Laplace
approximation. The error of a hidden field, which has no readings, is at least that of these draws.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.inference.linear_gaussian import SMALLEST_SIGMA
from pgt.methods.closed_form.design_rows import (
    field_rows,
    nodes_of,
    rows_of,
    weights_of,
    with_weights,
)
from pgt.methods.second_order.residual_noise import mean_square_residuals
from pgt.models.features import FIRST_BAND, Features
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import NullSpaceField
from pgt.nn import batched
from pgt.nn.trees import cast
from pgt.physics.pde import AbstractPDE
from pgt.problem.budget import ROWS_PER_WEIGHT
from pgt.problem.losses import Problem
from pgt.uncertainty.field_error import NEAR_DISTANCE, mean_distance, near_readings

# The largest numbers of sines of each field, and of weights of all fields. More sines resolve finer
# differences and cost time.
MAX_SINES, MAX_SINE_WEIGHTS = 300, 900
# The smallest number of nodes at which the equation is imposed. More nodes cost time.
MIN_NODES = 1024
# The largest wave number along a periodic axis.
PERIODIC_BAND = 3 * np.pi
# The ridge of the least-squares fit of sines to the model, relative to a sine. It keeps weights that
# nearly cancel small.
RIDGE = 1e-4
# The large and the small tolerance, in units of the spread or of the size of the equation's terms.
TOLERANCES = (1e-1, 1e-3)
# A field is undetermined where more than this share of the difference remains with the small
# tolerance. If everything is determined, a hundredth remains.
MIN_REMAINING_SHARE = 0.1
# The null space is computed only if more than this share of the places are far from readings, since a
# corner without a reading is not worth the time.
MIN_FAR_SHARE = 0.1

Deviations = Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "k n c"]]


class LinearizedFit(NamedTuple):
    """The rows of a fit for the weights of sums of sines.

    Attributes
    ----------
    sines : a sum of sines that approximates the fit.
    physics, readings : the rows of equation and conditions, and of readings.
    residual : the root mean square residual of the `physics` rows at the fit.
    """

    sines: Features
    physics: Float[np.ndarray, "m p"]
    readings: Float[np.ndarray, "n p"]
    residual: float

    def precision_root(
        self, physics_tolerance: float, reading_tolerance: float, prior_size: float
    ) -> Float[np.ndarray, "p p"]:
        """R, upper triangular; `prior_size` is one over the prior standard deviation of a weight."""
        size = self.readings.shape[1]
        stacked = [
            self.physics / max(physics_tolerance, SMALLEST_SIGMA),
            self.readings / max(reading_tolerance, SMALLEST_SIGMA),
            prior_size * np.eye(size),
        ]
        return np.asarray(np.linalg.qr(np.concatenate(stacked), mode="r"))

    def draws(self, root: Float[np.ndarray, "p p"], count: int) -> Float[np.ndarray, "k c m"]:
        """`count` draws of the weights of each field from the Gaussian with the precision RᵀR."""
        fields = len(self.sines.scaling.mean)
        random = np.random.default_rng(0).standard_normal((len(root), count))
        drawn = scipy.linalg.solve_triangular(root, random).T
        return drawn.reshape(count, fields, -1)


def linearize(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem
) -> LinearizedFit | None:
    """The rows of a fit, or None if they are not finite.

    The fit may have diverged, or the equation may take the logarithm of a negative sum of sines.
    """
    values = _scaled_values(model, problem, nodes_of(problem.domain, MIN_NODES))
    if not np.isfinite(values).all():
        return None
    sines = approximate_by_sines(model, pde, problem)
    size, equations = sines.network.readout.size, max(len(problem.equation_scales), 1)
    rows = rows_of(sines, pde, problem, max(MIN_NODES, int(ROWS_PER_WEIGHT * size / equations)))
    parts = (rows.equation[:, :size], rows.readings[:, :size])
    if not all(np.isfinite(part).all() for part in (*parts, rows.target)):
        return None
    return LinearizedFit(sines, *parts, _residual(rows, sines, model, pde, problem))


def _residual(rows, sines: Features, model: AbstractFieldModel, pde: AbstractPDE, problem: Problem):
    """The root mean square residual of the model, in the units of the rows of the sines."""
    if not len(rows.equation):
        return 0.0
    sine_residuals = rows.equation @ weights_of(sines, pde) - rows.target
    model_square, sine_square = (mean_square_residuals(m, pde, problem)[1] for m in (model, sines))
    ratio = np.sqrt(model_square / max(sine_square, np.finfo(float).tiny))
    return float(ratio * np.sqrt(np.mean(sine_residuals**2)))


def posterior_by_sines(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    count: int,
    held_out_error: float | None,
) -> Deviations | None:
    """The function from points to draws of the deviations, in pairs ±, that the misfit and the residual
    of the model allow; None if the equation has no finite rows.

    The misfit is the held-out error in units of the spread, or else that of the fitted readings.
    """
    with jax.enable_x64(True):
        model, pde, problem = cast((model, pde, problem), jnp.float64)
        fit = linearize(model, pde, problem)
        if fit is None:
            return None
        misfit = held_out_error or float(np.sqrt(mean_square_residuals(model, pde, problem)[0]))
        root = fit.precision_root(fit.residual, misfit, _prior_size(fit, problem.domain))
    half = fit.draws(root, count // 2)
    weights, spread = np.concatenate([half, -half]), np.asarray(fit.sines.scaling.spread, float)

    def deviations_at(points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "k n c"]:
        with jax.enable_x64(True):
            return np.einsum("nm,kcm->knc", field_rows(fit.sines, points), weights) * spread

    return deviations_at


def null_space_samples(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem, count: int
) -> NullSpaceField | None:
    """Draws of the fields by which a solution may differ from the model, stacked, in pairs ±.

    The result is None if the field is determined everywhere, or if the whole domain was measured.
    """
    domain = problem.domain
    nodes = nodes_of(domain, MIN_NODES)
    far = ~near_readings(nodes, problem.observations, domain)
    if far.mean() <= MIN_FAR_SHARE or (fit := linearize(model, pde, problem)) is None:
        return None
    rows_at_nodes, prior = field_rows(fit.sines, nodes), _prior_size(fit, domain)
    roots = [fit.precision_root(tolerance, tolerance, prior) for tolerance in TOLERANCES]
    loose, tight = (_standard_deviations(root, rows_at_nodes) for root in roots)
    is_undetermined = (tight > MIN_REMAINING_SHARE * loose) & far[:, None]
    if not is_undetermined.any():
        return None
    drawn = fit.draws(roots[1], count // 2)
    sizes = np.sqrt([np.sum(part**2, axis=0, where=is_undetermined) for part in (loose, tight)])
    drawn = drawn * (sizes[0] / np.maximum(sizes[1], np.finfo(float).tiny))[:, None]
    return _faded_out(fit.sines, np.concatenate([drawn, -drawn]), problem)


def _prior_size(fit: LinearizedFit, domain: Domain) -> float:
    """One over the prior standard deviation of a weight, for which sums of sines are of order one."""
    rows = field_rows(fit.sines, nodes_of(domain, MIN_NODES))
    return float(np.sqrt(np.mean(np.sum(rows**2, axis=1))))


def _faded_out(
    sines: Features, weights: Float[np.ndarray, "k c m"], problem: Problem
) -> NullSpaceField:
    """The sums of sines with these weights, multiplied by a factor that vanishes at the readings."""
    readings, domain = problem.observations, problem.domain
    places = np.asarray(readings.points, float)
    reach = NEAR_DISTANCE * mean_distance(readings, domain) * np.asarray(domain.extent, float)
    with jax.enable_x64(True):
        field = cast(NullSpaceField(sines, places, reach), jnp.float64)
        return eqx.tree_at(
            lambda a: a.sines.network.readout, batched.repeat(field, len(weights)),
            jnp.asarray(weights),
        )  # fmt: skip


def approximate_by_sines(model: AbstractFieldModel, pde: AbstractPDE, problem: Problem) -> Features:
    """A sum of sines that approximates the model."""
    scaling = model.scaling
    fields = len(scaling.mean)
    count = min(MAX_SINES, MAX_SINE_WEIGHTS // fields)
    usual_band = tuple(PERIODIC_BAND if wrapped else FIRST_BAND for wrapped in scaling.periodic)
    # Places without readings are taken to be as rough as the others, if a band is known.
    band = (model.band if isinstance(model, Features) else None) or usual_band
    sines = Features(scaling, count=count).with_sines(count, band)
    nodes = nodes_of(problem.domain, MIN_NODES)
    target = _scaled_values(model, problem, nodes)
    rows = np.concatenate([field_rows(sines, nodes), RIDGE * np.eye(count)])
    padded = np.concatenate([target, np.zeros((count, fields))])
    weights = weights_of(sines, pde)
    weights[: fields * count] = np.linalg.lstsq(rows, padded, rcond=None)[0].T.ravel()
    return with_weights(sines, pde, weights)[0]


def approximation_error(sines: Features, model: AbstractFieldModel, problem: Problem) -> float:
    """The root mean square difference between a sum of sines and the model at the readings, for the
    worst field and in units of its spread.
    """
    places = np.asarray(problem.observations.points, float)
    approximated = field_rows(sines, places) @ np.asarray(sines.network.readout, float).T
    difference = approximated - _scaled_values(model, problem, places)
    return float(np.sqrt(np.mean(difference**2, axis=0)).max())


def _scaled_values(model: AbstractFieldModel, problem: Problem, places: Float[np.ndarray, "n d"]):
    """The fields of a model at places, less their mean and in units of their spread."""
    scaling = model.scaling
    with jax.enable_x64(True):
        exact, readings = cast((model, problem.observations), jnp.float64)
        context = exact.encode(readings)
        values = np.asarray(jax.vmap(lambda z: exact.decode(context, z))(jnp.asarray(places)))
    return (values - np.asarray(scaling.mean)) / np.asarray(scaling.spread)


def _standard_deviations(root: Float[np.ndarray, "p p"], rows_at_nodes: Float[np.ndarray, "n q"]):
    """The standard deviation, over draws with this root, of every field at every node."""
    inverse = scipy.linalg.solve_triangular(root, np.eye(len(root))).reshape(
        -1, rows_at_nodes.shape[1], len(root)
    )
    return np.stack(
        [np.linalg.norm(rows_at_nodes @ of_field, axis=1) for of_field in inverse], axis=1
    )
