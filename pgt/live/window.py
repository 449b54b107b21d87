"""The field over a moving window of time.

    start ──────── readings ──────── now ── forecast ── now + horizon ── room ── end

New readings update the field (`Reconstruction.update`) as long as the horizon ends before the window does
and the readings are not too many. Then a new window begins, with the later half of the time or of the
readings, and the field is fitted anew. Memory does not grow with the number of readings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from pgt._reconstruct import reconstruct
from pgt.core.arguments import Limits, Positive
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.physics.conditions import AbstractCondition, Initial
from pgt.physics.problem_inputs import Governing, Readings, Where, as_problem
from pgt.reconstruction.result import Reconstruction
from pgt.training.settings import Posterior

# Readings before the first fit: with fewer, a noise level is hardly determined.
MIN_READINGS = 12
# The share of a window, or of its readings, that a new window keeps: more knows the state better, less
# moves more rarely.
KEPT_SHARE = 0.5
# The positions along each axis of space at which the error of a forecast is averaged.
FORECAST_POSITIONS = 21
# The level of the band whose half width is the error of a forecast.
FORECAST_LEVEL = 0.9


@dataclass(frozen=True)
class Forecast:
    """The field at a later instant.

    Attributes
    ----------
    t : the instant.
    error : by field, the root mean square over space of half the width of its 90 % band, in its units.
    """

    t: float
    error: dict[str, float]


class Window:
    """A field that is kept up to date while readings arrive in the order of time.

    Parameters
    ----------
    pde, domain, conditions
        As in `reconstruct`. The first window begins at the lower bound of t; its upper bound is not used.
        Initial conditions hold for the first window.
    length, horizon
        How much time a window holds, and how far ahead the forecast is, both in the unit of t.
    max_readings
        The largest number of readings that a window holds.
    **settings
        Further arguments of `reconstruct`, such as `method="closed-form"`.

    >>> import pgt
    >>> truth = pgt.datasets.heat()
    >>> window = Window(pgt.Heat(0.01), {"x": (0, 1), "t": (0, 1)}, length=0.8, horizon=0.1)
    >>> window.add(pgt.sample(truth, n=5)) is None  # too few readings so far
    True
    """

    @checked
    def __init__(
        self,
        pde: Governing,
        domain: Where,
        conditions: Sequence[AbstractCondition] = (),
        *,
        length: Positive,
        horizon: Positive,
        max_readings: Annotated[int, Limits(at_least=2 * MIN_READINGS)] = 2000,
        **settings: Any,
    ):
        _, self.pde, self.domain = as_problem(None, pde, domain)
        if not self.domain.has_time:
            raise InputError("Window: the domain has no t; add for example t=(0, 1).")
        self.conditions, self.settings = tuple(conditions), settings
        self.length, self.horizon, self.max_readings = length, horizon, max_readings
        self.start = self.first_start = float(self.domain.bounds("t")[0])
        self.now = self.start
        self.readings: Observations | None = None  # those that the window holds
        self.result: Reconstruction | None = None

    @property
    def end(self) -> float:
        """The end of the window, beyond the horizon."""
        return self.start + self.length + self.horizon

    @checked
    def add(self, readings: Readings) -> Reconstruction | None:
        """The result with these readings; None as long as there are too few.

        Readings that are older than the window are not used.
        """
        new, _, _ = as_problem(readings, self.pde, self.domain)
        new = new.aligned(self.pde.fields)
        times = self._times(new)
        new = new.take(np.flatnonzero(times >= self.start))
        if not len(new):
            return self.result
        self.now = max(self.now, float(times.max()))
        held = new if self.readings is None else self.readings.joined(new)
        is_over = self.now + self.horizon > self.end or len(held) > self.max_readings
        self.readings = self._moved(held) if is_over else held
        if self.result is not None and self._is_current():
            self.result = self.result.update(new, progress=False)
        elif len(self.readings) >= MIN_READINGS:
            self.result = self._fit(self.readings)
        return self.result

    def forecast(self) -> Forecast | None:
        """The error of the field at the horizon; None before the first fit of this window."""
        result, t = self.result, self.now + self.horizon
        if result is None or not self._is_current():
            return None
        positions: dict[str, Any] = {
            axis: FORECAST_POSITIONS for axis in result.domain.axes if axis != "t"
        }
        if result.members is None:  # nothing is drawn where the conditions determine the field
            field = result.grid(**positions, t=[t])
            errors = {n: e.value * float(field[n].std()) for n, e in result.field_error.items()}
            return Forecast(t, errors)
        band = result.band(level=FORECAST_LEVEL, **positions, t=[t])
        halves = {
            name: (band[f"{name}_upper"] - band[f"{name}_lower"]) / 2 for name in self.pde.fields
        }
        return Forecast(t, {n: float(np.sqrt((half**2).mean())) for n, half in halves.items()})

    # ------------------------------------------------------------------------------ inside

    def _is_current(self) -> bool:
        """Whether the result is that of this window, and not of an earlier one."""
        return self.result is not None and self.result.domain.bounds("t")[0] == self.start

    def _moved(self, readings: Observations) -> Observations:
        """The readings of a new window, after moving it."""
        times = self._times(readings)
        starts = [self.start]
        if self.now + self.horizon > self.end:
            starts.append(self.now - KEPT_SHARE * self.length)
        if len(readings) > self.max_readings:
            kept = int(KEPT_SHARE * self.max_readings)
            starts.append(float(np.partition(times, -kept)[-kept]))
        self.start = max(starts)
        kept = readings.take(np.flatnonzero(times >= self.start))
        return kept.take(np.argsort(self._times(kept), kind="stable")[-self.max_readings :])

    def _fit(self, readings: Observations) -> Reconstruction:
        domain = self.domain
        bounds = {axis: domain.bounds(axis) for axis in domain.axes} | {"t": (self.start, self.end)}
        moved = Domain(
            periodic=domain.periodic, units=domain.units, shape=domain.shape,
            coordinates=domain.coordinates, **bounds,
        )  # fmt: skip
        is_first = self.start == self.first_start
        conditions = [c for c in self.conditions if is_first or not isinstance(c, Initial)]
        settings: dict[str, Any] = {"error_bars": Posterior(), "progress": False} | self.settings
        try:
            return reconstruct(readings, self.pde, moved, conditions, **settings)
        except InputError as error:
            if error.about != "error_bars" or "error_bars" in self.settings:
                raise
        settings["error_bars"] = None
        return reconstruct(readings, self.pde, moved, conditions, **settings)

    def _times(self, readings: Observations) -> np.ndarray:
        return np.asarray(readings.points, float)[:, readings.coords.index("t")]
