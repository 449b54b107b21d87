"""A fit linearized for sums of sines: what readings, conditions and equation determine.

Equation, conditions and readings, linearized at the fit, are rows of a Gaussian model whose unknowns
are the weights of sums of sines. With a tolerance for the rows of the readings and one for those of
equation and conditions, the covariance of the weights is (RᵀR)⁻¹,

    RᵀR = D_dᵀD_d / tolerance_d² + D_eᵀD_e / tolerance_e² + 1 / prior²

**The null space.** The posterior of a network (laplace.py) holds the equation to be as exact as the
network fulfills it. A network with few weights can follow few of the fields that solve the equation,
and its posterior is sure of one of them. The same holds for a sum of sines with noisy readings, in
many coordinates. Where readings and equation determine a field, the differences that a small tolerance
allows are smaller than those of a large one in proportion. Where they hardly are, the field is
undetermined: there differences are drawn with the small tolerance, scaled to the size that the large
one allows. This is asked only far from readings.

**Posterior by sines.** With the misfit of a network at readings and its residual of the equation as
tolerances, the draws are those of a posterior: that of a network with too many weights for one of its
own. A hidden field has no readings nearby at all; its error is at least that of these draws.
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

# Sines of each field, and weights of all fields: more resolve finer differences and cost time.
MAX_SINES, MAX_SINE_WEIGHTS = 300, 900
# The smallest number of nodes at which the equation is imposed.
MIN_NODES = 1024
# The largest wave number along a periodic axis.
PERIODIC_BAND = 3 * np.pi
# The ridge of the fit of sines to the model, relative to a sine: it keeps weights small that nearly
# cancel.
RIDGE = 1e-4
# The large and the small tolerance, in units of the spread or of the size of the equation's terms.
TOLERANCES = (1e-1, 1e-3)
# A field is undetermined where more than this share of the difference remains with the small
# tolerance. A hundredth remains where everything is determined.
MIN_REMAINING_SHARE = 0.1
# The null space is not computed where fewer places than this share are far from readings: a corner
# without a reading is not worth its time.
MIN_FAR_SHARE = 0.1

Deviations = Callable[[Float[np.ndarray, "n d"]], Float[np.ndarray, "k n c"]]


class LinearizedFit(NamedTuple):
    """The rows of a fit for the weights of sums of sines.

    Attributes
    ----------
    sines : a sum of sines that approximates the fit.
    physics, readings : the rows of equation and conditions, and of readings.
    residual : the root mean square of the first at the fit.
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
        """Weights of each field, drawn from the Gaussian with the precision RᵀR."""
        fields = len(self.sines.scaling.mean)
        random = np.random.default_rng(0).standard_normal((len(root), count))
        drawn = scipy.linalg.solve_triangular(root, random).T
        return drawn.reshape(count, fields, -1)


def linearize(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem
) -> LinearizedFit | None:
    """The rows of a fit; None where they are not finite, such as those of the logarithm of a
    negative sum of sines, or of a fit that diverged.
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
    """The root mean square residual of the model in units of the rows, which are those of sines."""
    if not len(rows.equation):
        return 0.0
    of_sines = rows.equation @ weights_of(sines, pde) - rows.target
    own, approximated = (mean_square_residuals(m, pde, problem)[1] for m in (model, sines))
    ratio = np.sqrt(own / max(approximated, np.finfo(float).tiny))
    return float(ratio * np.sqrt(np.mean(of_sines**2)))


def posterior_by_sines(
    model: AbstractFieldModel,
    pde: AbstractPDE,
    problem: Problem,
    count: int,
    held_out_error: float | None,
) -> Deviations | None:
    """Points ↦ deviations from the model that its misfit and its residual leave possible, in pairs ±.

    The misfit is the held-out error where there is one, in units of the spread. None where the
    equation has no finite rows.
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
    """Fields by which a solution may differ from the model, stacked, in pairs ±.

    None where the field is determined, or the whole domain was measured.
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
    """One over the standard deviation of a weight, for sums of sines of order one."""
    rows = field_rows(fit.sines, nodes_of(domain, MIN_NODES))
    return float(np.sqrt(np.mean(np.sum(rows**2, axis=1))))


def _faded_out(
    sines: Features, weights: Float[np.ndarray, "k c m"], problem: Problem
) -> NullSpaceField:
    """Sums of sines with these weights, which fade out toward the readings."""
    readings, domain = problem.observations, problem.domain
    places = np.asarray(readings.points, float)
    reach = NEAR_DISTANCE * mean_distance(readings, domain) * np.asarray(domain.extent, float)
    with jax.enable_x64(True):
        one = cast(NullSpaceField(sines, places, reach), jnp.float64)
        return eqx.tree_at(
            lambda a: a.sines.network.readout, batched.repeat(one, len(weights)),
            jnp.asarray(weights),
        )  # fmt: skip


def approximate_by_sines(model: AbstractFieldModel, pde: AbstractPDE, problem: Problem) -> Features:
    """A sum of sines that approximates the model."""
    scaling = model.scaling
    fields = len(scaling.mean)
    count = min(MAX_SINES, MAX_SINE_WEIGHTS // fields)
    usual_band = tuple(PERIODIC_BAND if wrapped else FIRST_BAND for wrapped in scaling.periodic)
    # Places without readings are taken to be as rough as the others, where that is known.
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
    """The root mean square difference of a sum of sines from the model at the places of the
    readings, of the worst field, in units of its spread.
    """
    places = np.asarray(problem.observations.points, float)
    approximated = field_rows(sines, places) @ np.asarray(sines.network.readout, float).T
    difference = approximated - _scaled_values(model, problem, places)
    return float(np.sqrt(np.mean(difference**2, axis=0)).max())


def _scaled_values(model: AbstractFieldModel, problem: Problem, places: Float[np.ndarray, "n d"]):
    """The fields of a model at places, about their mean and in units of their spread."""
    scaling = model.scaling
    with jax.enable_x64(True):
        exact, readings = cast((model, problem.observations), jnp.float64)
        context = exact.encode(readings)
        values = np.asarray(jax.vmap(lambda z: exact.decode(context, z))(jnp.asarray(places)))
    return (values - np.asarray(scaling.mean)) / np.asarray(scaling.spread)


def _standard_deviations(root: Float[np.ndarray, "p p"], rows_at_nodes: Float[np.ndarray, "n q"]):
    """The standard deviation of such sums, of every field at every node."""
    inverse = scipy.linalg.solve_triangular(root, np.eye(len(root))).reshape(
        -1, rows_at_nodes.shape[1], len(root)
    )
    return np.stack([np.linalg.norm(rows_at_nodes @ own, axis=1) for own in inverse], axis=1)
