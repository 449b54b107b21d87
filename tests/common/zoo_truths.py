"""How well the truth of a problem solves its equation."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt import datasets
from pgt.physics.derivatives import residual as residual_at
from pgt_bench.zoo.problem import ZooProblem
from pgt_bench.zoo.truth import Formula

POINTS = 40


def residual(problem: ZooProblem) -> float:
    """The largest of a formula at random points; the root mean square of a solver's by differences."""
    if isinstance(problem.truth, Formula):
        return _of_formula(problem)
    found = datasets.audit(problem.truth.on(problem.domain), problem.pde)
    return max(found.values()) ** 0.5


def allowed(problem: ZooProblem) -> float:
    """Rounding for a formula; what differences on the grid resolve for a solver."""
    return 1e-11 if isinstance(problem.truth, Formula) else 3e-4


def _of_formula(problem: ZooProblem) -> float:
    unit = np.random.default_rng(0).uniform(size=(POINTS, problem.domain.dimension))
    with jax.enable_x64(True):
        points = jnp.asarray(problem.domain.from_unit(unit))

        def rows(z):
            return residual_at(problem.pde, lambda y: problem.truth.at(problem.domain, y), z)

        found = jax.vmap(rows)(points)
    return max(float(np.abs(np.asarray(column)).max()) for column in found.values())
