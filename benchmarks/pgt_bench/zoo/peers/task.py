"""A problem as every peer gets it: in numbers of order one, what is known as points and values."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgt.data import Observations
from pgt.models.coordinate_networks import SIREN
from pgt.nn.scaling import Scaling
from pgt.physics.conditions import AbstractCondition, Dirichlet, Initial
from pgt.problem.field_scales import typical_condition_rows, typical_residuals, with_hidden_scales
from pgt_bench.interpolation import with_conditions
from pgt_bench.methods import scaling_of
from pgt_bench.zoo.answers import Asked

ON_EACH_FACE = 121  # points where a condition gives values


@dataclass(frozen=True)
class Given:
    """Values of one field, a column of the output: places in [-1, 1], values standardised."""

    column: int
    points: Float[np.ndarray, "n d"]
    values: Float[np.ndarray, "n 1"]


@dataclass(frozen=True)
class Wall:
    """A condition that gives no values, such as a flux: where it holds, and how large its rows are."""

    condition: AbstractCondition
    points: Float[np.ndarray, "n d"]  # in physical units
    sizes: Float[np.ndarray, " k"]


@dataclass(frozen=True)
class PeerTask:
    """`sizes`: how large each residual typically is, by name, in physical units."""

    asked: Asked
    scaling: Scaling
    sizes: dict[str, float]
    given: tuple[Given, ...]
    walls: tuple[Wall, ...]

    @staticmethod
    def of(asked: Asked) -> "PeerTask":
        setup = asked.setup
        # The size of a hidden field, such as a pressure, follows from the equation, as in our own fits.
        carrier = SIREN(scaling_of(setup), width=4, layers=1)
        scaling = with_hidden_scales(carrier, setup.observations, setup.pde).scaling
        sizes = {n: float(s) for n, s in typical_residuals(setup.pde, scaling).items()}
        nobody = setup.observations.take(np.zeros(len(setup.observations), bool))
        with_values = [c for c in setup.conditions if isinstance(c, Dirichlet | Initial)]
        others = [c for c in setup.conditions if not isinstance(c, Dirichlet | Initial)]
        conditions = with_conditions(nobody, with_values, setup.domain, ON_EACH_FACE)
        known = [part for part in (setup.observations, conditions) if len(part)]
        return PeerTask(
            asked, scaling, sizes, tuple(g for part in known for g in _given(part, scaling)),
            tuple(_wall(condition, setup, scaling) for condition in others),
        )  # fmt: skip

    @property
    def dimension(self) -> int:
        return self.asked.setup.domain.dimension

    @property
    def inputs(self) -> int:
        """Of a network that sees a periodic axis as a circle."""
        return self.dimension + sum(self.scaling.periodic)

    @property
    def grid(self) -> Float[np.ndarray, "n d"]:
        """Where the truth is known, in [-1, 1]."""
        return np.asarray(self.scaling.to_unit(self.asked.points), np.float64)

    def fields(self, standardised: Float[np.ndarray, "n c"]):
        """What a network says at the points of `grid`, in physical units."""
        physical = np.asarray(self.scaling.to_physical(standardised), np.float64)
        return self.asked.dataset(physical, self.asked.setup.pde.fields)


def _wall(condition: AbstractCondition, setup, scaling: Scaling) -> Wall:
    bound = condition.bind(setup.domain, setup.pde.fields)
    sizes = np.asarray(typical_condition_rows(bound, setup.pde, scaling), np.float64)
    return Wall(bound, np.asarray(bound.nodes(ON_EACH_FACE), np.float64), sizes)


def _given(readings: Observations, scaling: Scaling) -> list[Given]:
    points = np.asarray(scaling.to_unit(readings.points), np.float64)
    values = np.asarray(scaling.standardise(readings.values), np.float64)
    mask = np.asarray(readings.mask)
    columns = [column for column in range(mask.shape[1]) if mask[:, column].any()]
    return [
        Given(column, points[mask[:, column]], values[mask[:, column], column, None])
        for column in columns
    ]
