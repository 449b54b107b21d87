"""Many fields that could all be the true one: what error bars are made of."""

from collections.abc import Callable, Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.data.observations import Observations
from pgt.ground.errors import InputError
from pgt.ground.unknown import named_unknowns
from pgt.models.base import AbstractFieldModel
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.nn.compiled import compiled
from pgt.nn.precision import is_double, precision
from pgt.physics.pde import AbstractPDE
from pgt.trust.calibration import Drawn

CHUNK = 1 << 13  # values at once: points times members


class Members(eqx.Module):
    """k fitted fields with their equations, and the readings that each of them encodes.

    Arrays that are the same in all members are kept once. `models`, `pdes` and `observations` have
    every array with a leading axis k. `reconstruct(..., error_bars=Ensemble(3)).members` are three that
    were fitted; these were not:

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat({1: 1.0}), n=30)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> models = [pgt.PINN(scaling, width=8, layers=2, seed=seed) for seed in range(3)]
    >>> equation = pgt.Heat(diffusivity=pgt.Unknown(0.02, positive=True))
    >>> members = Members.of(*map(batched.stack, (models, [equation] * 3, [readings] * 3)))
    >>> len(members), members.coefficients()["diffusivity"].round(4).tolist()
    (3, [0.02, 0.02, 0.02])
    >>> members.evaluate(lambda field, z: {"u": field(z)[0]}, readings.points)["u"].shape
    (3, 30)
    """

    own: PyTree  # of (models, equations, readings): the arrays that differ, with a leading axis
    common: PyTree  # the rest of the same
    count: int = eqx.field(static=True)

    @staticmethod
    def of(models: AbstractFieldModel, pdes: AbstractPDE, observations: Observations) -> "Members":
        """From stacked parts: every array with a leading axis, one row per member."""
        stacked = (models, pdes, observations)
        own, common = batched.share(stacked)
        count = len(next(leaf for leaf in jax.tree.leaves(models) if eqx.is_array(leaf)))
        return Members(own, common, count)

    def __len__(self) -> int:
        return self.count

    @property
    def is_posterior(self) -> bool:
        """Whether they were drawn from the posterior of one fit, and not trained each by itself."""
        return isinstance(self.common[0], LinearisedModel)

    @property
    def drawn(self) -> Drawn:
        """How many are independent, and whether their middle is known: a posterior's are pairs."""
        return Drawn(self.count // 2, True) if self.is_posterior else Drawn(self.count, False)

    @property
    def models(self) -> AbstractFieldModel:
        """All models, stacked."""
        return self._stacked(0)

    @property
    def pdes(self) -> AbstractPDE:
        """All equations, stacked; learnt coefficients differ."""
        return self._stacked(1)

    @property
    def observations(self) -> Observations:
        """The readings that each member encodes, stacked."""
        return self._stacked(2)

    def _stacked(self, part: int):
        with precision(is_double(self)):
            return batched.spread(self.own[part], self.common[part], self.count)

    def evaluate(
        self, values: Callable, points: Float[np.ndarray, "n d"]
    ) -> dict[str, Float[np.ndarray, "k n"]]:
        """What every member says: `values(field, z)` names the numbers asked for at one point."""
        with precision(is_double(self)):
            answer, size = self.answers(values), self.points_at_once(len(points))
            parts = []
            for start in range(0, len(points), size):
                chunk = points[start : start + size]
                # The last chunk is filled up, so that one compiled program serves them all.
                table = answer(np.resize(chunk, (size, points.shape[1])))
                parts.append({n: np.asarray(v)[:, : len(chunk)] for n, v in table.items()})
        return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}

    def answers(self, values: Callable) -> Callable[[np.ndarray], dict[str, Array]]:
        """points ↦ {name: (k, n)}, compiled for as many points as are first asked."""
        # Members that read the same with the same encoder (a posterior's) share one context.
        contexts = batched.share(_encode(self))

        @compiled
        def run(members: Members, own, common, points):
            def one(part):
                (model, _, _), context = part
                return jax.vmap(lambda z: values(lambda y: model.decode(context, y), z))(points)

            parts = (members.own, own), (members.common, common)
            return batched.over_members(one, *parts, members.count)

        return lambda points: run(self, *contexts, jnp.asarray(points))

    def points_at_once(self, count: int) -> int:
        """How many points to ask at a time, of `count`, so that memory stays the same."""
        return min(max(CHUNK // self.count, 1), max(count, 1))

    def coefficients(self) -> dict[str, Float[np.ndarray, " k"]]:
        """The learnt coefficients of every member, by the name they have in the equation."""

        def values(part):
            return {name: node.value for name, node in named_unknowns(part[1])}

        with precision(is_double(self)):
            table = batched.over_members(values, self.own, self.common, self.count)
            return {name: np.asarray(column, float) for name, column in table.items()}

    def middle(self) -> AbstractPDE:
        """The equation with the median of every learnt number, as it is stored: of logarithms for a
        positive coefficient. That of a posterior is the fit's own."""
        with precision(is_double(self)):
            median = jax.tree.map(lambda rows: jnp.median(rows, axis=0), self.own[1])
            return eqx.combine(median, self.common[1])


@compiled  # once for all that is asked of a result
def _encode(members: Members):
    def context(part):
        model, _, observations = part
        return model.encode(observations)

    return batched.over_members(context, members.own, members.common, members.count)


def required(members: Members | None) -> Members:
    """The members; where there are none, how to get them."""
    if members is None:
        raise InputError(
            "this result has no error bars; ask for them with reconstruct(..., "
            "error_bars=Posterior()) or error_bars=Ensemble()."
        )
    return members


# ------------------------------------------------------------------------------- statistics


def statistics(
    table: Mapping[str, Float[Array | np.ndarray, "k n"]], quantiles: Sequence[float] = ()
) -> dict[str, Float[np.ndarray, " n"]]:
    """Over the members: `u` (mean), `u_std` (with k - 1) and each quantile, `u_q05` for 0.05.

    A quantile is what one more member would lie below with that probability: of k members in their order
    that of number (k + 1) p (Weibull), or the outermost. Numbers (k - 1) p + 1, which divide the members
    themselves, would hold too few: of 64 in pairs 0.87 between 0.05 and 0.95.

    >>> found = statistics({"u": np.array([[1.0], [2.0], [6.0]])}, quantiles=(0.5,))
    >>> {name: round(float(column[0]), 3) for name, column in found.items()}
    {'u': 3.0, 'u_std': 2.646, 'u_q50': 2.0}
    """
    columns = {}
    for name, part in table.items():
        values = np.asarray(part, float)  # the spread of values near 300 needs the digits
        columns[name] = values.mean(axis=0)
        columns[f"{name}_std"] = values.std(axis=0, ddof=1)
        for p in quantiles:
            columns[f"{name}_{quantile_name(p)}"] = np.quantile(values, p, axis=0, method="weibull")
    return columns


def quantile_name(p: float) -> str:
    """q05 for 5 %, q50, q95; q025 for 2.5 %.

    >>> [quantile_name(p) for p in (0.05, 0.5, 0.025, 0.975)]
    ['q05', 'q50', 'q025', 'q975']
    """
    return "q" + f"{p:.12f}".split(".")[1].rstrip("0").ljust(2, "0")


def checked_quantiles(quantiles: float | Sequence[float] | None) -> tuple[float, ...]:
    """The quantiles as a tuple of numbers between 0 and 1."""
    given = () if quantiles is None else quantiles
    try:
        asked = tuple(float(p) for p in np.atleast_1d(np.asarray(given, float)))
    except (TypeError, ValueError):
        asked = (np.nan,)
    if not all(0 < p < 1 for p in asked):
        raise InputError(
            f"quantiles={quantiles!r}: write numbers between 0 and 1, such as (0.05, 0.95)."
        )
    return asked
