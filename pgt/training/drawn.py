"""Fits that could all be the true one, as error bars need them."""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PyTree

from pgt.models.base import AbstractFieldModel
from pgt.models.linearised import Apart, LinearisedModel
from pgt.nn import batched
from pgt.nn.compiled import compiled
from pgt.nn.precision import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.assemble import Task


@dataclass(frozen=True)
class Drawn:
    """Fits that could all be the true one: (models, equations, readings), every array with a leading
    axis, and what there is to say of them; the answer that they were drawn around, with its equation and
    its error at readings held out, where it is better than the fit (posterior.py); models that differ by
    what some readings change, in pairs ± (jackknife.py)."""

    stacked: PyTree
    about: dict
    better: tuple[AbstractFieldModel, AbstractPDE, float] | None = None
    changed: LinearisedModel | None = None

    def beside(self, apart: Apart | None) -> "Drawn":
        """The same, drawn around a fit, with what is open besides."""
        models, *others = self.stacked
        moved = LinearisedModel(models.base, models.direction, apart)
        return replace(self, stacked=(moved, *others))


def away_from_answer(members: LinearisedModel, task: Task, points) -> Float[np.ndarray, "k n c"]:
    """How far linearised members are from the field that they were drawn around, in pairs ±."""
    with jax.enable_x64(True):
        base = batched.member(members, 0).base
        context = base.encode(cast(task.problem.observations, jnp.float64))
        found = np.asarray(_changes(base, context, members.direction, jnp.asarray(points)), float)
        return found - found.mean(axis=0)


@compiled
def _changes(base, context, directions, points):
    def along(direction):
        def values(tuned):
            model = eqx.tree_at(lambda m: m.tunable(), base, tuned)
            return jax.vmap(lambda z: model.decode(context, z))(points)

        return jax.jvp(values, (base.tunable(),), (direction,))[1]

    return jax.lax.map(along, directions)
