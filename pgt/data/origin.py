"""Where coordinates and values are counted from, so that none of their digits is lost.

Unix time over an hour, metres of a national grid over a metre, 101325 ± 10 Pa: in single precision what
varies is lost beside what does not. So what is far from zero is counted from an origin, subtracted here,
in double precision, before anything else is computed:

    local coordinate = coordinate - origin        local value = value - origin of the field

Models, kernels, collocation points and readings that are fitted are local. Equations and conditions are
written in physical numbers, and see them: whatever asks for a coordinate, or for the value of a field,
that has an origin is given local + origin, and the fit is then computed in double precision, where that
sum keeps its digits (`needs_double` in problem/assembly.py). Derivatives are the same in both. Answers
are local + origin in double precision.

Where nothing is far from zero there is no origin, and local is physical.
"""

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np
from jaxtyping import Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations

QUANTILE = "_quantile@"  # in a table, between the name of a quantity and the quantile
# Beyond so many extents or spreads from zero, single precision loses a millionth of them.
MAX_OFFSET = 30.0


@dataclasses.dataclass(frozen=True)
class Origin:
    """By name, the axes and fields that are counted from elsewhere than zero, and from where.

    >>> day = Domain(x=(0, 1), t=(1714564800, 1714568400))
    >>> readings = Observations.from_arrays({"x": [0.5], "t": [1714566600]}, {"u": [1.0]})
    >>> origin = Origin.of(readings, day)
    >>> origin.shifts, origin.readings(readings).points.tolist()
    ((('t', 1714564800.0),), [[0.5, 1800.0]])
    """

    shifts: tuple[tuple[str, float], ...] = ()

    @staticmethod
    def of(observations: Observations, domain: Domain) -> "Origin":
        """The start of every axis, and the mean of every field, that is far from zero."""
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
        """The origin of each of these axes or fields; 0 where it is zero itself."""
        known = dict(self.shifts)
        return np.array([known.get(name, 0.0) for name in names], float)

    def local(self, points: Float[np.ndarray, "n d"], axes: Iterable[str]) -> np.ndarray:
        """Points as they are counted from here; in double precision."""
        return np.asarray(points, float) - self.along(axes) if self else points

    def domain(self, domain: Domain) -> Domain:
        """The same domain, its points counted from here."""
        shift = self.along(domain.axes)
        return domain.moved(shift) if shift.any() else domain

    def readings(self, observations: Observations) -> Observations:
        """The same readings, counted from here."""
        return self._moved(observations, -1.0)

    def physical(self, observations: Observations) -> Observations:
        """The inverse of `readings`."""
        return self._moved(observations, 1.0)

    def physical_columns(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Values, means and quantiles of fields by name, counted from zero; all in double precision.

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
