"""Origins of coordinates and values, which keep digits that single precision would lose.

Examples are Unix time over an hour, meters of a national grid over a meter, and 101325 ± 10 Pa: in single
precision the variation is lost beside the large constant. So an origin is subtracted in double precision
from everything that is far from zero, before anything else is computed:

    local coordinate = coordinate - origin        local value = value - origin of the field

Models, kernels, collocation points and fitted readings are local. Equations and conditions are in
physical numbers: where they use a coordinate, or the value of a field, that has an origin, they get
local + origin, and the fit is then computed in double precision, in which that sum keeps its digits
(`needs_double` in problem/assembly.py). Derivatives are the same in both. Answers are local + origin in
double precision.

Where nothing is far from zero there is no origin, and local numbers are physical.
"""

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations

QUANTILE = (
    "_quantile@"  # separates the name of a quantity from the quantile in the names of columns
)
# Axes and fields get an origin if they are this many extents or spreads from zero; there single precision
# resolves a few millionths of an extent.
MAX_OFFSET = 30.0


@dataclasses.dataclass(frozen=True)
class Origin:
    """The origins of the axes and fields that have one, by name.

    >>> day = Domain(x=(0, 1), t=(1714564800, 1714568400))
    >>> readings = Observations.from_arrays({"x": [0.5], "t": [1714566600]}, {"u": [1.0]})
    >>> origin = Origin.of(readings, day)
    >>> origin.shifts, origin.readings(readings).points.tolist()
    ((('t', 1714564800.0),), [[0.5, 1800.0]])
    """

    shifts: tuple[tuple[str, float], ...] = ()

    @staticmethod
    def of(observations: Observations, domain: Domain) -> "Origin":
        """The origins of readings: the start of every axis and the mean of every field far from zero."""
        shifts = []
        for axis, low, extent in zip(domain.axes, domain.lower, domain.extent, strict=True):
            if max(abs(low), abs(low + extent)) > MAX_OFFSET * extent:
                shifts.append((axis, float(low)))
        for name in observations.fields:
            values = observations.measured(name).values
            if len(values) and abs(values.mean()) > MAX_OFFSET * values.std() > 0:
                shifts.append((name, float(values.mean())))
        return Origin(tuple(shifts))

    def __bool__(self) -> bool:
        return bool(self.shifts)

    def along(self, names: Iterable[str]) -> Float[np.ndarray, " n"]:
        """The origin of each of these axes or fields; 0 where it has none."""
        known = dict(self.shifts)
        return np.array([known.get(name, 0.0) for name in names], float)

    def local(self, points: Float[np.ndarray, "n d"], axes: Iterable[str]) -> np.ndarray:
        """The points relative to the origin, in double precision."""
        return np.asarray(points, float) - self.along(axes) if self else points

    def domain(self, domain: Domain) -> Domain:
        """The domain with points relative to the origin."""
        shift = self.along(domain.axes)
        return domain.moved(shift) if shift.any() else domain

    def readings(self, observations: Observations) -> Observations:
        """The readings relative to the origin."""
        return self._moved(observations, -1.0)

    def physical(self, observations: Observations) -> Observations:
        """The readings with the origin added, the inverse of `readings`."""
        return self._moved(observations, 1.0)

    def physical_columns(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The values, means and quantiles of fields by name, with the origin added, in double precision.

        >>> columns = {"p": np.zeros(1, np.float32), "p_std": np.ones(1), "p_quantile@0.05": np.zeros(1)}
        >>> found = Origin((("p", 101325.0),)).physical_columns(columns)
        >>> {name: float(column[0]) for name, column in found.items()}
        {'p': 101325.0, 'p_std': 1.0, 'p_quantile@0.05': 101325.0}
        """
        return {name: np.asarray(c, float) + self._of_column(name) for name, c in columns.items()}

    def _of_column(self, name: str) -> float:
        known = dict(self.shifts)
        return known.get(name.partition(QUANTILE)[0], 0.0)

    def _moved(self, observations: Observations, sign: float) -> Observations:
        if not self:
            return observations
        points, values = (
            np.asarray(part, float) for part in (observations.points, observations.values)
        )
        values = values + sign * self.along(observations.fields)
        return dataclasses.replace(
            observations,
            points=points + sign * self.along(observations.coords),
            values=np.where(np.asarray(observations.mask), values, 0.0),
        )


HERE = Origin()
