r"""The most probable system of a family behind readings, with a law that is taken for granted.

A system is its coefficients and independent standard normals z, from which the solver computes the
fields. `assimilate` minimizes

$$ \tfrac12 |z|^2 + \tfrac12 (y - G(z))^T R^{-1} (y - G(z)) $$

for readings y = G(z) + e with errors of variance R, by Gauss–Newton steps in one compiled program
(map_estimate.py). One step suffices where the solver is linear, and no other answer then has a smaller
mean square error. The noise level is averaged over. A coefficient that is not known is one more normal,
and the search then begins at several of its values.
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
# Starting values per unknown coefficient, by the number of unknown ones: more find the global minimum
# more surely and take as much longer. With three or more the search starts in the middle alone.
START_VALUES = {1: 7, 2: 4}


class Assimilation(eqx.Module):
    """The most probable system behind readings, with bands by the Laplace approximation.

    `coefficients` holds the known and the estimated ones, `bands` the 90 % intervals of the latter.
    `noise_level` is the noise of the readings in units of the spread of their field. `spread` is the
    standard deviation of the fields at the family's nodes. `outside` says in words how the readings
    contradict the family; `is_lawful` says whether the search converged and the answer may be used.

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
        """The standard normals of the state."""
        shape = self.family.noise_shape
        return self.unknowns[: math.prod(shape)].reshape(shape)

    def mean_and_spread(
        self, points: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "m c"], Float[np.ndarray, "m c"]]:
        """Fields and standard deviations at points, one a row."""
        with double_precision():
            at = PointEvaluator.of(self.family, np.asarray(points, float))
            numbers = {name: np.asarray(value) for name, value in self.coefficients.items()}
            mean, spread = _evaluate(at, jnp.asarray(self.unknowns), numbers, self.spread)
            return np.asarray(mean), np.asarray(spread)

    def at(self, points: Float[np.ndarray, "m d"]) -> FieldBand:
        """The most probable field and its band at points, one a row."""
        mean, spread = self.mean_and_spread(as_points(points, self.family.domain))
        return FieldBand(mean, mean - REACH * spread, mean + REACH * spread, list(self.outside))

    def grid(self, **axes: AxisRequest) -> xr.Dataset:
        """Fields and bands (`u`, `u_low`, `u_high`) on a grid, by default at the family's nodes."""
        attributes = self.coefficients | {"outside": "; ".join(self.outside)}
        asked = axes or self.family.axes
        return on_grid(self.at, self.family.domain, self.family.fields, asked, attributes)


@checked
def assimilate(
    family: AbstractFamily | str,
    readings: Observations,
    coefficients: Mapping | AbstractPDE | None = None,
) -> Assimilation:
    """The most probable system of a family, given readings and the coefficients that are known.

    Parameters
    ----------
    family
        A family with a solver and few unknowns, or its name; its law is taken for granted.
    readings
        Readings of any of its fields, in its own units; unknown noise is estimated.
    coefficients
        The known ones; the others are estimated within the family's ranges.

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
        found = min(
            (estimate_one(problem, solved, jnp.asarray(start)) for start in _starts(problem)),
            key=lambda found: float(found.level) if found.missed < 1 else math.inf,
        )
        return _summary(solved, problem, jax.tree.map(np.asarray, found), known)


def as_solved(family: AbstractFamily) -> AbstractSolved:
    """The family, which must have a solver."""
    if not isinstance(family, AbstractSolved):
        raise InputError(
            f"assimilate: {family.name} holds systems and computes none; give a family that solves its "
            "equation (a subclass of `pgt.families.AbstractSolved`)."
        )
    return family


def _starts(problem: AssimilationProblem) -> list[Float[np.ndarray, " n"]]:
    """The mean of the law, with several values of each coefficient that is not known."""
    operator = problem.operator
    state = np.zeros(math.prod(operator.family.noise_shape))
    unknown = operator.size - state.size
    count = START_VALUES.get(unknown, 1)
    normals = ndtri((np.arange(count) + 0.5) / count)
    return [np.concatenate([state, chosen]) for chosen in product(normals, repeat=unknown)]


def _summary(
    family: AbstractSolved,
    problem: AssimilationProblem,
    found: SystemEstimate,
    known: dict[str, float],
) -> Assimilation:
    has_noise, real = bool(problem.is_given.any()), problem.is_real
    noise = float(found.level) * float(np.median((problem.sigma / problem.unit)[real]))
    lawful = bool(found.is_lawful(has_noise))
    assert found.comparison is not None
    outside = found.comparison.doubts(known) if lawful else found.contradictions(has_noise, noise)
    low, middle, high = (
        problem.operator.coefficients(jnp.asarray(found.unknowns + shift * found.sigmas))
        for shift in (-REACH, 0.0, REACH)
    )
    bands = {n: (float(low[n]), float(high[n])) for n in family.ranges if n not in known}
    numbers = {name: float(value) for name, value in middle.items()}
    return Assimilation(
        family, numbers, bands, noise, tuple(outside), int(found.steps),
        np.asarray(found.unknowns), np.asarray(found.spread), lawful,
    )  # fmt: skip


@eqx.filter_jit
def _evaluate(at: PointEvaluator, unknowns, coefficients, spread):
    return at(unknowns, coefficients, spread)
