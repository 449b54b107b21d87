"""The null space of a fit: what readings, equation and conditions do not determine.

The posterior of a network (laplace.py) holds an equation to be as exact as the network fulfills it.
A network with few weights can follow few of the fields that solve the equation and differ only
where nothing was measured, and its posterior is sure of one of them. The same holds for a sum of
sines with noisy readings, in many coordinates.

So the equation is linearized at the fit, and sums of sines show by how much a solution may differ
from it, with equation, conditions and readings fulfilled up to a tolerance. Where these determine
the field, the difference falls in proportion to the tolerance. Where it hardly falls, they leave
the field undetermined. There fields are drawn with the small tolerance, scaled to the size that the
large one allows.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.visibility import nearest
from pgt.methods.closed_form.design_rows import (
    field_rows,
    nodes_of,
    rows_of,
    weights_of,
    with_weights,
)
from pgt.models.features import FIRST_BAND, Features
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import NullSpaceField
from pgt.nn import batched
from pgt.nn.trees import cast
from pgt.physics.pde import AbstractPDE
from pgt.problem.budget import ROWS_PER_WEIGHT
from pgt.problem.losses import Problem

# A place is unread if its distance from all readings is more than this multiple of that between
# readings that fill the domain evenly.
UNREAD_DISTANCE = 2.0
# With a smaller share of unread places, the null space is not worth computing: a corner happens to
# have no reading.
MIN_UNREAD_SHARE = 0.1
# The numbers of sines, along up to two axes and along more, and of their weights for all fields:
# more resolve finer differences and cost time.
SINES_UP_TO_2_AXES = 300
SINES_ABOVE_2_AXES = 900
MAX_SINE_WEIGHTS = 900
# The smallest number of nodes at which the equation is imposed.
MIN_NODES = 1024
# The largest wave number along a periodic axis.
PERIODIC_BAND = 3 * np.pi
# The ridge of the fit of sines to the model, relative to a sine: keeps weights small that nearly
# cancel.
RIDGE = 1e-4
# The two tolerances, in units of the spread or of the size of the equation's terms.
LOOSE_TOLERANCE = 1e-1
TIGHT_TOLERANCE = 1e-3
# A field is undetermined where more than this share of the difference remains with the small
# tolerance. A hundredth remains where everything is determined.
MIN_REMAINING_SHARE = 0.1


def unread_places(
    points: Float[np.ndarray, "n d"], readings: Observations, domain: Domain
) -> Float[np.ndarray, " n"] | None:
    """1 at places far from all readings, 0 at others; None where they are few, or the domain has a
    shape.

    >>> line, domain = np.linspace(0, 1, 51)[:, None], Domain(x=(0, 1))
    >>> half = Observations.from_arrays({"x": line[:25, 0]}, {"u": line[:25, 0]})
    >>> unread_places(line, half, domain)[[0, 20, 30, 50]], unread_places(line[:26], half, domain)
    (array([0., 0., 1., 1.]), None)
    """
    if domain.shape is not None:
        return None
    extent, places = np.asarray(domain.extent, float), np.asarray(readings.points, float)
    distances = nearest(places / extent, points / extent, 1)[0][:, 0]
    far = distances > UNREAD_DISTANCE * len(places) ** (-1 / domain.dimension)
    return far.astype(float) if far.mean() > MIN_UNREAD_SHARE else None


def null_space_samples(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem, count: int
) -> NullSpaceField | None:
    """Fields by which a solution may differ from the model far from all readings, stacked, in pairs
    ±.

    None where the field is determined, or the whole domain was measured.
    """
    readings, domain = problem.observations, problem.domain
    nodes = nodes_of(domain, MIN_NODES)
    unread = unread_places(nodes, readings, domain)
    if unread is None:
        return None
    sines = approximate_by_sines(model, pde, problem)
    size, equations = sines.network.readout.size, max(len(problem.equation_scales), 1)
    rows = rows_of(sines, pde, problem, max(MIN_NODES, int(ROWS_PER_WEIGHT * size / equations)))
    rows_of_data = np.concatenate([rows.equation, rows.readings])[:, :size]
    is_finite = np.isfinite(rows_of_data).all() and np.isfinite(rows.target).all()
    if not is_finite:  # such as the logarithm of a negative sum of sines
        return None
    rows_at_nodes = field_rows(sines, nodes)
    prior_size = np.sqrt(np.mean(np.sum(rows_at_nodes**2, axis=1)))
    roots = [
        _precision_root(rows_of_data / tolerance, prior_size)
        for tolerance in (LOOSE_TOLERANCE, TIGHT_TOLERANCE)
    ]
    loose, tight = (_standard_deviations(root, rows_at_nodes) for root in roots)
    is_undetermined = (tight > MIN_REMAINING_SHARE * loose) & (unread[:, None] > 0)
    if not is_undetermined.any():
        return None
    random = np.random.default_rng(0).standard_normal((size, count // 2))
    drawn = scipy.linalg.solve_triangular(roots[1], random).T.reshape(
        count // 2, *loose.shape[1:], -1
    )
    sizes = np.sqrt([np.sum(part**2, axis=0, where=is_undetermined) for part in (loose, tight)])
    drawn = drawn * (sizes[0] / np.maximum(sizes[1], np.finfo(float).tiny))[:, None]
    return _faded_out(sines, np.concatenate([drawn, -drawn]), readings, domain)


def _faded_out(
    sines: Features, weights: Float[np.ndarray, "k c m"], readings: Observations, domain: Domain
) -> NullSpaceField:
    """Sums of sines with these weights, which fade out toward the readings."""
    places = np.asarray(readings.points, float)
    reach = (
        UNREAD_DISTANCE * len(places) ** (-1 / domain.dimension) * np.asarray(domain.extent, float)
    )
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
    usual = SINES_UP_TO_2_AXES if problem.domain.dimension <= 2 else SINES_ABOVE_2_AXES
    count = min(usual, MAX_SINE_WEIGHTS // fields)
    usual_band = tuple(PERIODIC_BAND if wrapped else FIRST_BAND for wrapped in scaling.periodic)
    # Unread places are taken to be as rough as the others, where that is known.
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


def _precision_root(
    rows_of_data: Float[np.ndarray, "m p"], prior_size: float
) -> Float[np.ndarray, "p p"]:
    """R, upper triangular, of sums of sines whose prior is of order one and whose rows are zero up
    to one.

    Their covariance is (RᵀR)⁻¹.
    """
    size = rows_of_data.shape[1]
    stacked = np.concatenate([rows_of_data, prior_size * np.eye(size)])
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def _standard_deviations(root: Float[np.ndarray, "p p"], rows_at_nodes: Float[np.ndarray, "n q"]):
    """The standard deviation of such sums, of every field at every node."""
    size, count = len(root), rows_at_nodes.shape[1]
    fields = size // count
    found = np.zeros((len(rows_at_nodes), fields))
    for field in range(fields):
        rows = np.zeros((len(rows_at_nodes), size))
        rows[:, field * count : (field + 1) * count] = rows_at_nodes
        found[:, field] = np.linalg.norm(
            scipy.linalg.solve_triangular(root, rows.T, trans=1), axis=0
        )
    return found
