"""What an equation leaves open where nothing was read.

The posterior of a network (posterior.py) holds an equation to be as exact as the network fulfils it. Of
the fields that solve it as well and differ only where nothing was read, a network with few weights can
follow none so closely, and its posterior is sure of one of them. So may a sum of sines be whose readings
are noisy, in many coordinates.

So the equation is linearised at the field that was found, and sums of sines say by how much a solution
may differ from it, with equation, conditions and readings fulfilled up to a tolerance. Where these
determine the field, that difference falls in proportion to the tolerance. Where it hardly falls, they
leave the field open: there it is drawn with the small tolerance, as large as the other one lets it be.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.sight import nearest
from pgt.models.base import AbstractFieldModel
from pgt.models.features import FIRST_BAND, Features
from pgt.models.linearised import Apart
from pgt.nn import batched
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.deadline import ROWS_PER_WEIGHT
from pgt.training.feature_rows import field_rows, nodes_of, rows_of, weights_of, with_weights
from pgt.training.losses import Problem

FAR = 2.0  # of the distance between readings that fill the domain evenly
LARGE = 0.1  # of the places: less is a corner that happens to have no reading
SINES, SINES_IN_SPACE, MOST_WEIGHTS = 300, 900, 900  # along up to two axes, and along more
NODES = 1024  # at least
WAVES = 3 * np.pi  # along a periodic axis
SMOOTH = 1e-4  # of a sine: keeps those from growing that follow a field together
LOOSE, TIGHT = 1e-1, 1e-3  # of the spread, or of the size of the equation's terms
# Of the difference that is left when the tolerance falls from one to the other: a hundredth, where all is
# determined.
HARDLY = 0.1


def is_unread(
    points: Float[np.ndarray, "n d"], readings: Observations, domain: Domain
) -> Float[np.ndarray, " n"] | None:
    """1 at places far from all readings, 0 at others; None where they are few, or the domain has a shape.

    >>> line, domain = np.linspace(0, 1, 51)[:, None], Domain(x=(0, 1))
    >>> half = Observations.from_arrays({"x": line[:25, 0]}, {"u": line[:25, 0]})
    >>> is_unread(line, half, domain)[[0, 20, 30, 50]], is_unread(line[:26], half, domain)
    (array([0., 0., 1., 1.]), None)
    """
    if domain.shape is not None:
        return None
    extent, places = np.asarray(domain.extent, float), np.asarray(readings.points, float)
    away = nearest(places / extent, points / extent, 1)[0][:, 0]
    far = away > FAR * len(places) ** (-1 / domain.dimension)
    return far.astype(float) if far.mean() > LARGE else None


def left_open(
    model: AbstractFieldModel, pde: AbstractPDE, problem: Problem, count: int
) -> Apart | None:
    """So many fields by which a solution may differ from the model far from all readings, stacked, in
    pairs ±; None where it is determined, or all of the domain was read."""
    readings, domain = problem.observations, problem.domain
    asked = nodes_of(domain, NODES)
    far = is_unread(asked, readings, domain)
    if far is None:
        return None
    sines = following(model, pde, problem)
    size, equations = sines.network.readout.size, max(len(problem.equation_scales), 1)
    rows = rows_of(sines, pde, problem, max(NODES, int(ROWS_PER_WEIGHT * size / equations)))
    seen = np.concatenate([rows.equation, rows.readings])[:, :size]
    is_finite = np.isfinite(seen).all() and np.isfinite(rows.target).all()
    if not is_finite:  # a root or logarithm of what sines make negative
        return None
    there = field_rows(sines, asked)
    held = np.sqrt(np.mean(np.sum(there**2, axis=1)))
    roots = [_root(seen / tolerance, held) for tolerance in (LOOSE, TIGHT)]
    loose, tight = (_differences(root, there) for root in roots)
    is_open = (tight > HARDLY * loose) & (far[:, None] > 0)
    if not is_open.any():
        return None
    random = np.random.default_rng(0).standard_normal((size, count // 2))
    drawn = scipy.linalg.solve_triangular(roots[1], random).T.reshape(
        count // 2, *loose.shape[1:], -1
    )
    sizes = np.sqrt([np.sum(part**2, axis=0, where=is_open) for part in (loose, tight)])
    drawn = drawn * (sizes[0] / np.maximum(sizes[1], np.finfo(float).tiny))[:, None]
    return _apart(sines, np.concatenate([drawn, -drawn]), readings, domain)


def _apart(
    sines: Features, weights: Float[np.ndarray, "k c m"], readings: Observations, domain: Domain
) -> Apart:
    """Sums with these weights, which fade out towards the readings."""
    places = np.asarray(readings.points, float)
    reach = FAR * len(places) ** (-1 / domain.dimension) * np.asarray(domain.extent, float)
    with jax.enable_x64(True):
        one = cast(Apart(sines, places, reach), jnp.float64)
        return eqx.tree_at(
            lambda a: a.sines.network.readout, batched.repeat(one, len(weights)),
            jnp.asarray(weights),
        )  # fmt: skip


def following(model: AbstractFieldModel, pde: AbstractPDE, problem: Problem) -> Features:
    """A sum of sines that is about what the model is."""
    scaling = model.scaling
    fields = len(scaling.mean)
    usual = SINES if problem.domain.dimension <= 2 else SINES_IN_SPACE
    count = min(usual, MOST_WEIGHTS // fields)
    usual_band = tuple(WAVES if wrapped else FIRST_BAND for wrapped in scaling.periodic)
    # What was not read is taken to be as rough as what was, where that is known.
    band = (model.band if isinstance(model, Features) else None) or usual_band
    sines = Features(scaling, count=count).with_sines(count, band)
    nodes = nodes_of(problem.domain, NODES)
    target = _values(model, problem, nodes)
    rows = np.concatenate([field_rows(sines, nodes), SMOOTH * np.eye(count)])
    padded = np.concatenate([target, np.zeros((count, fields))])
    weights = weights_of(sines, pde)
    weights[: fields * count] = np.linalg.lstsq(rows, padded, rcond=None)[0].T.ravel()
    return with_weights(sines, pde, weights)[0]


def misses(sines: Features, model: AbstractFieldModel, problem: Problem) -> float:
    """How far a sum of sines is from the model that it follows, at the places of the readings: the root
    mean square of the worst field, in units of its spread."""
    places = np.asarray(problem.observations.points, float)
    followed = field_rows(sines, places) @ np.asarray(sines.network.readout, float).T
    away = followed - _values(model, problem, places)
    return float(np.sqrt(np.mean(away**2, axis=0)).max())


def _values(model: AbstractFieldModel, problem: Problem, places: Float[np.ndarray, "n d"]):
    """The fields of a model at places, about their mean and in units of their spread."""
    scaling = model.scaling
    with jax.enable_x64(True):
        exact, readings = cast((model, problem.observations), jnp.float64)
        context = exact.encode(readings)
        values = np.asarray(jax.vmap(lambda z: exact.decode(context, z))(jnp.asarray(places)))
    return (values - np.asarray(scaling.mean)) / np.asarray(scaling.spread)


def _root(seen: Float[np.ndarray, "m p"], held: float) -> Float[np.ndarray, "p p"]:
    """R, upper triangular, of sums of sines that are of order one before anything is seen, and for which
    all that is seen is zero up to one: their covariance is (RᵀR)⁻¹."""
    size = seen.shape[1]
    stacked = np.concatenate([seen, held * np.eye(size)])
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def _differences(root: Float[np.ndarray, "p p"], asked: Float[np.ndarray, "n q"]):
    """Of every field at the places asked about, the standard deviation of such sums."""
    size, count = len(root), asked.shape[1]
    fields = size // count
    found = np.zeros((len(asked), fields))
    for field in range(fields):
        rows = np.zeros((len(asked), size))
        rows[:, field * count : (field + 1) * count] = asked
        found[:, field] = np.linalg.norm(
            scipy.linalg.solve_triangular(root, rows.T, trans=1), axis=0
        )
    return found
