"""A first guess of coefficients from the readings (gradient matching).

A smooth interpolation of the readings has derivatives. The coefficients for which the equation holds
best between these are a first guess that does not depend on the user's (Varah, 1982, SIAM J. Sci. Stat.
Comput. 3, "A spline least squares method for numerical parameter estimation in differential equations").
Noise biases them, so they are a start for the solver and no answer.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize

from pgt.core.unknown import named_unknowns
from pgt.methods.closed_form.band_solution import readings_alone
from pgt.methods.closed_form.design_rows import with_weights
from pgt.methods.solver.residuals import raws_of, with_raws
from pgt.models.features import FIRST_BAND, Features
from pgt.nn.precision import cast
from pgt.physics.derivatives import residual_and_size
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bare
from pgt.problem.assembly import Task

SINES = 200  # per field, at most: more make the fit of the readings slower and no smoother
BANDWIDTHS = (
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
)  # times the first band; the one of greatest evidence is taken
DECADES = (
    -2,
    0,
    2,
)  # of every positive coefficient, around its first guess: the starts of the search
POINTS = 400  # places of readings at which the equation is asked, at most


def match_gradients(task: Task) -> AbstractPDE | None:
    """The equation with coefficients for which it holds best for a smooth interpolation of the readings;
    None where a field was not measured or no coefficient is unknown."""
    readings, pde = task.problem.observations, task.pde
    if readings.hidden_fields or not named_unknowns(bare(pde)):
        return None
    rows = _relative_residuals(task, _interpolation(task))
    with jax.enable_x64(True):
        first = raws_of(pde)
        slopes = jax.jit(jax.jacfwd(rows))
        found = [
            scipy.optimize.least_squares(jax.jit(rows), start, slopes, method="trf")
            for start in _starts(pde, first)
            if np.isfinite(np.asarray(rows(start))).all()
        ]
        if not found:
            return None
        best = min(found, key=lambda one: one.cost)
        return with_raws(pde, jnp.asarray(best.x))


def _interpolation(task: Task) -> Features:
    """A sum of sines that follows the readings without the equation, noise and band by evidence."""
    scaling = task.model.scaling
    best, model = -np.inf, None
    for factor in BANDWIDTHS:
        band = tuple(factor * FIRST_BAND for _ in scaling.periodic)
        sines = Features(scaling, count=SINES).with_sines(SINES, band)
        solved = readings_alone(sines, task)
        if solved.evidence > best:
            best, model = solved.evidence, with_weights(sines, task.pde, solved.weights)[0]
    assert model is not None
    return model


def _relative_residuals(task: Task, sines: Features):
    """Coefficients ↦ the residual of every equation at the places of readings, relative to the root mean
    square size of its terms: all coefficients together may be small without making it small."""
    with jax.enable_x64(True):
        model, pde, problem = cast((sines, task.pde, task.problem), jnp.float64)
        points = jnp.asarray(problem.observations.points)[:POINTS]
        context = model.encode(problem.observations)

        def rows(raws):
            moved = with_raws(pde, raws)

            def at(z):
                return residual_and_size(
                    moved, lambda point: model.decode(context, point), z, problem.origin
                )

            pairs = jax.vmap(at)(points)
            scaled = [r / jnp.sqrt(jnp.mean(size**2)) for r, size in pairs.values()]
            return jnp.concatenate(scaled)

    return rows


def _starts(pde: AbstractPDE, first: np.ndarray):
    """The first guess, and all positive coefficients decades away from it."""
    positive = np.array([node.positive for _, node in named_unknowns(pde)])
    if not positive.any():
        return [first]
    moves = itertools.product(DECADES, repeat=min(int(positive.sum()), 3))
    starts = []
    for decades in moves:
        shift = np.zeros(len(first))
        shift[np.flatnonzero(positive)[: len(decades)]] = np.log(10.0) * np.array(decades)
        starts.append(first + shift)
    return starts
