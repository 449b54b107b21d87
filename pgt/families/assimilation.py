r"""The MAP estimate of a system from readings; the family's law is taken for granted.

A system consists of its coefficients and of independent standard normals z, from which the solver G
computes the fields. `assimilate` minimizes

$$ \tfrac12 |z|^2 + \tfrac12 (y - G(z))^T R^{-1} (y - G(z)) $$

for readings y = G(z) + e with errors of covariance R, by Gauss–Newton steps in one compiled program
(map_estimate.py). Where the solver is linear, one step suffices and the answer has the least mean
square error of all. The answer is averaged over the noise level. An unknown coefficient adds one
standard normal to z, and the search then starts from several of its values.
"""

import math
from collections.abc import Mapping
from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.special import ndtri

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.observations import Observations
from pgt.data.query_points import as_points
from pgt.families.family import AbstractFamily, as_family, known_coefficients
from pgt.families.field_posterior import AxisRequest, FieldBand, on_grid
from pgt.families.laws.solved import AbstractSolved
from pgt.families.map_estimate import SystemEstimate, estimate_one, is_small
from pgt.families.observation_operator import (
    AssimilationProblem,
    PointEvaluator,
    double_precision,
    problem_of,
)
from pgt.physics.pde import AbstractPDE

REACH = 1.6449  # The half-width of a band of 90 % in standard deviations.
# The number of starting values of each unknown coefficient, by the number of unknown coefficients. More
# values miss the global minimum less often and take proportionally longer. With three or more unknown
# coefficients the search starts in the middle of their ranges alone.
START_VALUES = {1: 7, 2: 4}


class Assimilation(eqx.Module):
    """The MAP estimate of a system from readings, with bands by the Laplace approximation.

    `coefficients` holds the known and the estimated coefficients, and `bands` holds the 90 % intervals of
    the estimated ones. `noise_level` is the noise of the readings in units of the spread of their field.
    `spread` is the standard deviation of the fields at the family's nodes. `outside` says in words how
    the readings contradict the family. `is_lawful` is true if the search converged and nothing
    contradicts the law, so that the answer may be used.

    >>> import pgt
    >>> family = pgt.families.get("heat")
    >>> truth = family.dataset(family.draw(jax.random.key(1), {"diffusivity": 0.02}))
    >>> readings = pgt.sample(truth, n=40)
    >>> found = pgt.families.assimilate(family, readings, {"diffusivity": 0.02})
    >>> found.outside, sorted(found.grid().data_vars)
    ((), ['u', 'u_high', 'u_low'])
    """

    family: AbstractSolved
    coefficients: dict[str, float]
    bands: dict[str, tuple[float, float]]
    noise_level: float
    outside: tuple[str, ...]
    steps: int
    unknowns: Float[np.ndarray, " n"]
    spread: Float[np.ndarray, "*grid c"]
    is_lawful: bool

    @property
    def noise(self) -> Float[np.ndarray, "..."]:
        """The standard normals that determine the state, in the shape that the solver takes."""
        shape = self.family.noise_shape
        return self.unknowns[: math.prod(shape)].reshape(shape)

    def mean_and_spread(
        self, points: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "m c"], Float[np.ndarray, "m c"]]:
        """The fields and their standard deviations at points, one point per row."""
        with double_precision():
            evaluate = PointEvaluator.of(self.family, np.asarray(points, float))
            numbers = {name: np.asarray(value) for name, value in self.coefficients.items()}
            mean, spread = _evaluate(evaluate, jnp.asarray(self.unknowns), numbers, self.spread)
            return np.asarray(mean), np.asarray(spread)

    def at(self, points: Float[np.ndarray, "m d"]) -> FieldBand:
        """The most probable field and its 90 % band at points, one point per row."""
        mean, spread = self.mean_and_spread(as_points(points, self.family.domain))
        return FieldBand(mean, mean - REACH * spread, mean + REACH * spread, list(self.outside))

    def grid(self, **axes: AxisRequest) -> xr.Dataset:
        """The fields and bands (`u`, `u_low`, `u_high`) on a grid, by default at the family's nodes."""
        attributes = self.coefficients | {"outside": "; ".join(self.outside)}
        requested_axes = axes or self.family.axes
        return on_grid(self.at, self.family.domain, self.family.fields, requested_axes, attributes)


@checked
def assimilate(
    family: AbstractFamily | str,
    readings: Observations,
    coefficients: Mapping | AbstractPDE | None = None,
) -> Assimilation:
    """The MAP estimate of a family's system, given readings and the known coefficients.

    Parameters
    ----------
    family
        A family with a solver and few unknowns, or its name. Its law is taken for granted.
    readings
        Readings of any of the family's fields, in the family's units. Unknown noise is estimated.
    coefficients
        The known coefficients. The others are estimated within the family's ranges.

    >>> import pgt
    >>> family = pgt.families.get("heat")
    >>> truth = family.dataset(family.draw(jax.random.key(1), {"diffusivity": 0.02}))
    >>> found = pgt.families.assimilate(family, pgt.sample(truth, n=40), {"diffusivity": 0.02})
    >>> bool(abs(found.grid().u - truth.u).max() < 1e-3), found.steps
    (True, 1)
    """
    solved = as_solved(as_family(family))
    if solved.unidentifiable:
        raise InputError(
            f"assimilate: readings of {solved.name} do not determine its state: "
            f"{solved.unidentifiable}; use pgt.reconstruct with the equation."
        )
    if not is_small(solved):
        raise InputError(
            f"assimilate: {solved.name} has too many unknowns; use pgt.reconstruct with the equation."
        )
    readings = readings.wrapped(solved.domain).aligned(solved.fields)
    readings.check_inside(solved.domain)
    known = known_coefficients(solved, coefficients)
    with double_precision():
        problem = problem_of(solved, readings, known)
        estimated = min(
            (estimate_one(problem, solved, jnp.asarray(start)) for start in _starts(problem)),
            key=lambda estimated: float(estimated.level) if estimated.missed < 1 else math.inf,
        )
        return _summary(solved, problem, jax.tree.map(np.asarray, estimated), known)


def as_solved(family: AbstractFamily) -> AbstractSolved:
    """The family itself; raises where it has no solver."""
    if not isinstance(family, AbstractSolved):
        raise InputError(
            f"assimilate: {family.name} holds systems and computes none; give a family that solves its "
            "equation (a subclass of `pgt.families.AbstractSolved`)."
        )
    return family


def _starts(problem: AssimilationProblem) -> list[Float[np.ndarray, " n"]]:
    """The starts of the search: the mean state with several values of each unknown coefficient."""
    operator = problem.operator
    mean_state = np.zeros(math.prod(operator.family.noise_shape))
    n_unknown = operator.size - mean_state.size
    count = START_VALUES.get(n_unknown, 1)
    normals = ndtri((np.arange(count) + 0.5) / count)
    return [np.concatenate([mean_state, values]) for values in product(normals, repeat=n_unknown)]


def _summary(
    family: AbstractSolved,
    problem: AssimilationProblem,
    estimated: SystemEstimate,
    known: dict[str, float],
) -> Assimilation:
    """The result for the user: noise, coefficients with bands, and doubts in words."""
    has_noise, real = bool(problem.is_given.any()), problem.is_real
    noise = float(estimated.level) * float(np.median((problem.sigma / problem.unit)[real]))
    is_lawful = bool(estimated.is_lawful(has_noise))
    assert estimated.comparison is not None
    outside = (
        estimated.comparison.doubts(known)
        if is_lawful
        else estimated.contradictions(has_noise, noise)
    )
    low, middle, high = (
        problem.operator.coefficients(jnp.asarray(estimated.unknowns + shift * estimated.sigmas))
        for shift in (-REACH, 0.0, REACH)
    )
    bands = {n: (float(low[n]), float(high[n])) for n in family.ranges if n not in known}
    numbers = {name: float(value) for name, value in middle.items()}
    return Assimilation(
        family, numbers, bands, noise, tuple(outside), int(estimated.steps),
        np.asarray(estimated.unknowns), np.asarray(estimated.spread), is_lawful,
    )  # fmt: skip


@eqx.filter_jit
def _evaluate(at: PointEvaluator, unknowns, coefficients, spread):
    return at(unknowns, coefficients, spread)
