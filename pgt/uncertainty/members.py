"""Members: fields that could all be the true one, and statistics over them.

They are draws from the posterior of one fit, or the fits of an ensemble. `PosteriorSamples` is the form
in which a method makes them; `Members` stores equal arrays once and evaluates all members together.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.core.errors import InputError
from pgt.core.unknown import named_unknowns
from pgt.data.observations import Observations
from pgt.data.origin import QUANTILE
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import LinearisedModel, NullSpaceField
from pgt.nn import batched
from pgt.nn.trees import compiled, is_double, precision
from pgt.physics.pde import AbstractPDE
from pgt.uncertainty.calibration import MemberCount

# The number of values that are computed at once, points times members. A larger number needs more memory.
MAX_VALUES_AT_ONCE = 1 << 13


class Members(eqx.Module):
    """k fitted fields with their equations, and the readings that each of them encodes.

    Arrays that are equal in all members are stored once. In `models`, `pdes` and `observations`
    every array has a leading axis k. `reconstruct(..., error_bars=Ensemble(3)).members` are three
    fitted members; those of this example are not fitted:

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

    own: PyTree  # the arrays of (models, equations, readings) that differ, with a leading axis
    common: PyTree  # everything that all members share
    count: int = eqx.field(static=True)

    @staticmethod
    def of(models: AbstractFieldModel, pdes: AbstractPDE, observations: Observations) -> "Members":
        """The members from stacked parts: every array with a leading axis, one row per member."""
        stacked = (models, pdes, observations)
        own, common = batched.share(stacked)
        count = len(next(leaf for leaf in jax.tree.leaves(models) if eqx.is_array(leaf)))
        return Members(own, common, count)

    def __len__(self) -> int:
        return self.count

    @property
    def is_posterior(self) -> bool:
        """Whether the members were drawn from the posterior of one fit, not trained one by one."""
        return isinstance(self.common[0], LinearisedModel)

    @property
    def independent(self) -> MemberCount:
        """The number of independent members, and whether their mean is known.

        Draws from a posterior are pairs around a known mean.
        """
        return (
            MemberCount(self.count // 2, True)
            if self.is_posterior
            else MemberCount(self.count, False)
        )

    @property
    def models(self) -> AbstractFieldModel:
        """All models, stacked."""
        return self._stacked(0)

    def on_grid(
        self, axes: Sequence[Float[np.ndarray, " _"]], along: Sequence[int] = ()
    ) -> Float[np.ndarray, "k c *shape"] | None:
        """The values of every member on a tensor grid, or their derivative `along` these axes.

        The result is None unless the members are a posterior of a model that is linear in its weights and
        has a faster way for grids.
        """
        models = self.models
        if not isinstance(models, LinearisedModel) or models.null_space is not None:
            return None
        weights, base = models.base.tunable(), batched.member(models.base, 0)
        if not eqx.is_array(weights):
            return None
        return base.on_grid(
            axes, along, np.asarray(weights, float) + np.asarray(models.direction, float)
        )

    @property
    def pdes(self) -> AbstractPDE:
        """All equations, stacked; only learned coefficients differ."""
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
        """The values of every member: `values(field, z)` returns the numbers at one point, by name."""
        with precision(is_double(self)):
            answer, size = self.compiled_values(values), self.chunk_size(len(points))
            parts = []
            for start in range(0, len(points), size):
                chunk = points[start : start + size]
                # The last chunk is padded, so that one compiled program serves all chunks.
                table = answer(np.resize(chunk, (size, points.shape[1])))
                parts.append({n: np.asarray(v)[:, : len(chunk)] for n, v in table.items()})
        return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}

    def compiled_values(self, values: Callable) -> Callable[[np.ndarray], dict[str, Array]]:
        """The function points ↦ {name: (k, n)}, compiled for the number of points of the first call."""
        # Members with the same readings and encoder, such as those of a posterior, share one context.
        contexts = batched.share(_encode(self))
        return lambda points: _evaluate(values, self, *contexts, jnp.asarray(points))

    def chunk_size(self, count: int) -> int:
        """The number of points, of `count`, that are computed at a time, which bounds the memory."""
        return min(max(MAX_VALUES_AT_ONCE // self.count, 1), max(count, 1))

    def coefficients(self) -> dict[str, Float[np.ndarray, " k"]]:
        """The learned coefficients of every member, by their name in the equation."""

        def values(part):
            return {name: node.value for name, node in named_unknowns(part[1])}

        with precision(is_double(self)):
            table = batched.over_members(values, self.own, self.common, self.count)
            return {name: np.asarray(column, float) for name, column in table.items()}

    def median_equation(self) -> AbstractPDE:
        """The equation with the median of every learned number, such as the logarithm of a positive
        coefficient.

        The median of a posterior is the coefficient of the fit.
        """
        with precision(is_double(self)):
            median = jax.tree.map(lambda rows: jnp.median(rows, axis=0), self.own[1])
            return eqx.combine(median, self.common[1])


@compiled  # compiled once for all points at which the same function is evaluated
def _evaluate(values: Callable, members: Members, own, common, points):
    def one(part):
        (model, _, _), context = part
        return jax.vmap(lambda z: values(lambda y: model.decode(context, y), z))(points)

    parts = (members.own, own), (members.common, common)
    return batched.over_members(one, *parts, members.count)


@compiled  # compiled once for all queries of a result
def _encode(members: Members):
    def context(part):
        model, _, observations = part
        return model.encode(observations)

    return batched.over_members(context, members.own, members.common, members.count)


@dataclass(frozen=True)
class PosteriorSamples:
    """Samples of a posterior, or the fits of an ensemble, before they are stored as `Members`.

    Attributes
    ----------
    stacked : (models, equations, readings), every array with a leading axis.
    record : how they were made, as plain data.
    better : the field that they were drawn around, with its equation and its held-out error, if it is
        better than the fit (laplace.py).
    left_out_residuals : the errors of left-out readings in units of their predicted σ, for each way of
        leaving readings out.
    """

    stacked: PyTree
    record: dict
    better: tuple[AbstractFieldModel, AbstractPDE, float] | None = None
    left_out_residuals: tuple[Float[np.ndarray, " _"], ...] = ()

    def with_null_space(self, null_space: NullSpaceField | None) -> "PosteriorSamples":
        """These samples of linearized models, each with a sample of the null space added."""
        models, *others = self.stacked
        moved = LinearisedModel(models.base, models.direction, null_space)
        return replace(self, stacked=(moved, *others))


def require_members(members: Members | None) -> Members:
    """The members; raises an error that says how to get them if there are none."""
    if members is None:
        raise InputError(
            "this result has no error bars; ask for them with reconstruct(..., "
            "error_bars=Posterior()) or error_bars=Ensemble()."
        )
    return members


# ------------------------------------------------------------------------------- statistics


def member_statistics(
    table: Mapping[str, Float[Array | np.ndarray, "k n"]], quantiles: Sequence[float] = ()
) -> dict[str, Float[np.ndarray, " n"]]:
    """Statistics over the members: the mean `u`, the standard deviation `u_std` with k - 1 degrees of
    freedom, and each quantile under the name that `quantile_column` gives.

    The p-quantile of k members has the rank (k + 1) p (Weibull), limited to the outermost members: one
    more member lies below it with probability p. Rank (k - 1) p + 1 would give intervals that hold too
    few: between 0.05 and 0.95 of 64 members in pairs, only 0.87.

    >>> found = member_statistics({"u": np.array([[1.0], [2.0], [6.0]])}, quantiles=(0.5,))
    >>> {name: round(float(column[0]), 3) for name, column in found.items()}
    {'u': 3.0, 'u_std': 2.646, 'u_quantile@0.5': 2.0}
    """
    columns = {}
    for name, part in table.items():
        values = np.asarray(part, float)  # the spread of values near 300 needs double precision
        columns[name] = values.mean(axis=0)
        columns[f"{name}_std"] = values.std(axis=0, ddof=1)
        for p in quantiles:
            columns[quantile_column(name, p)] = np.quantile(values, p, axis=0, method="weibull")
    return columns


def quantile_column(name: str, p: float) -> str:
    """The name of the column of a quantile in a table of statistics.

    >>> quantile_column("u", 0.05)
    'u_quantile@0.05'
    """
    return f"{name}{QUANTILE}{p!r}"


def checked_quantiles(quantiles: float | Sequence[float] | None) -> tuple[float, ...]:
    """The quantiles as a tuple of numbers between 0 and 1."""
    requested = () if quantiles is None else quantiles
    try:
        numbers = tuple(float(p) for p in np.atleast_1d(np.asarray(requested, float)))
    except (TypeError, ValueError):
        numbers = (np.nan,)
    if not all(0 < p < 1 for p in numbers):
        raise InputError(
            f"quantiles={quantiles!r}: write numbers between 0 and 1, such as (0.05, 0.95)."
        )
    return numbers
