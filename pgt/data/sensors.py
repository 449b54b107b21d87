r"""Sensor models: the distribution of a reading, given the field.

A sensor at x reads, at the time t,

$$ y = (1 + g)\, u(x, t + s) + b + d\,(t - t_0) + \varepsilon $$

with the offset b, the relative gain error g, the drift d since the middle t₀ of its readings, and the
clock shift s. The four are constants of a sensor. The noise ε is normal, with a standard deviation that
may grow with the field; or the reading is a count, or has log-normal noise; or the instrument has
limits, and reads the limit where the field is beyond it.

Every method fits normal readings without such errors. The others are linearized around the predictions
of the last fit (`working_readings`), and fitted again: this is Newton's method for the likelihood.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import log_ndtr

from pgt.core.arguments import Limits
from pgt.core.checked import checked
from pgt.core.errors import InputError

Kind = Literal["offset", "gain", "drift", "clock"]
KINDS: tuple[Kind, ...] = ("offset", "gain", "drift", "clock")
Size = Annotated[float, Limits(at_least=0)]
# The smallest mean of a count. The normal approximation of a Poisson distribution has errors of a few
# percent above 10; below 1 it has no meaning, and the variance would vanish.
MIN_COUNT = 1.0
# The largest σ of a working reading, in units of the noise. Beyond it a limit says nothing.
MAX_LIMIT_SIGMA = 1e3


@checked
@dataclass(frozen=True)
class Sensors:
    """What is known about the errors of sensors. Sensors stand still and read many times.

    An effect that is None is fitted to the few sensors for which the evidence is very strong. With 0 it
    is left out. A positive number is its prior standard deviation, for all sensors.

    Parameters
    ----------
    offset : of the zero of a sensor, in the unit of the field.
    gain : relative error of the sensitivity; 0.02 stands for 2 %.
    drift : change of the zero per unit of time.
    clock : shift of the clock, in the unit of time.
    relative : σ of the noise as a share of the reading, added to that of `noise=`.
    noise : "normal", "lognormal" (`relative` is then the σ of the logarithm, or it is estimated), or
        "counts" of a Poisson distribution, whose variance is its mean. Counts are taken for normal
        numbers, which is accurate above 10.
    below, above : detection limits. A reading at or beyond a limit says only that the field is there.

    >>> Sensors(offset=0.05, gain=0).stated
    {'offset': 0.05, 'gain': 0.0}
    >>> Sensors(below=0.1).is_normal, Sensors().is_normal
    (False, True)
    """

    offset: Size | None = None
    gain: Size | None = None
    drift: Size | None = None
    clock: Size | None = None
    relative: Size = 0.0
    noise: Literal["normal", "lognormal", "counts"] = "normal"
    below: float | None = None
    above: float | None = None

    def __post_init__(self):
        if self.below is not None and self.above is not None and self.below >= self.above:
            raise InputError(
                f"Sensors(below={self.below:g}, above={self.above:g}): write a lower limit that is "
                "below the upper one."
            )

    @property
    def stated(self) -> dict[Kind, float]:
        """The prior standard deviations that are given, by effect."""
        sizes: dict[Kind, float | None] = {kind: getattr(self, kind) for kind in KINDS}
        return {kind: float(size) for kind, size in sizes.items() if size is not None}

    @property
    def is_normal(self) -> bool:
        """Whether the noise is normal and the same for all values of the field."""
        has_limits = self.below is not None or self.above is not None
        return self.noise == "normal" and self.relative == 0 and not has_limits

    def given(self) -> dict:
        """The arguments that differ from their defaults."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {n: v for n, v in values.items() if v != getattr(type(self), n)}

    def check_values(self, values: Mapping[str, Float[np.ndarray, " n"]]) -> None:
        """Raise where readings, by field, cannot have this noise."""
        for name, column in values.items():
            if self.noise == "lognormal" and (column <= 0).any():
                raise InputError(
                    f'noise = "lognormal": {int((column <= 0).sum())} readings of {name} are not '
                    "positive, and have no logarithm; give their detection limit as below=, or "
                    'write noise = "normal" with relative=.'
                )
            if self.noise == "counts" and ((column < 0) | (column != np.round(column))).any():
                raise InputError(
                    f'noise = "counts": readings of {name} are not whole numbers from 0 up; counts per '
                    'second are no counts. Write noise = "normal" with relative=.'
                )


class WorkingReadings(NamedTuple):
    """Normal readings that stand for others: values, and σ of each."""

    values: Float[np.ndarray, "*m"]
    sigma: Float[np.ndarray, "*m"]


def working_readings(
    sensors: Sensors,
    values: Float[np.ndarray, "*m"],
    predicted: Float[np.ndarray, "*m"],
    sigma: Float[np.ndarray, "*m"],
) -> WorkingReadings:
    """Normal readings whose log-likelihood has the same slope, and the same expected curvature, as that
    of the readings at the predictions.

    `sigma` is the constant part of the noise. With log-normal noise it is ignored.

    >>> counts = np.array([9.0, 130.0])
    >>> working_readings(Sensors(noise="counts"), counts, np.array([16.0, 100.0]), np.zeros(2)).sigma
    array([ 4., 10.])
    """
    if sensors.noise == "counts":
        working = WorkingReadings(values, np.sqrt(np.maximum(predicted, MIN_COUNT)))
    elif sensors.noise == "lognormal":
        # The prediction may be zero or negative in the first rounds.
        level = np.maximum(predicted, 0.1 * values)
        working = WorkingReadings(level * (1 + np.log(values / level)), sensors.relative * level)
    else:
        working = WorkingReadings(values, np.hypot(sigma, sensors.relative * np.abs(predicted)))
    for limit, side in ((sensors.below, 1.0), (sensors.above, -1.0)):
        if limit is not None:
            is_beyond = side * (limit - values) >= 0
            beyond = _beyond_limit(side * limit, side * predicted, working.sigma)
            working = WorkingReadings(
                np.where(is_beyond, side * beyond.values, working.values),
                np.where(is_beyond, beyond.sigma, working.sigma),
            )
    return working


def _beyond_limit(limit: float, predicted, sigma) -> WorkingReadings:
    """The working readings of a field that lies below a limit.

    With z = (limit - u)/σ the log-likelihood is log Φ(z). Its slope in u is -λ/σ and its curvature
    -λ(λ + z)/σ², with λ = φ(z)/Φ(z)."""
    z = (limit - predicted) / sigma
    ratio = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
    curvature = np.maximum(ratio * (ratio + z), MAX_LIMIT_SIGMA**-2)
    return WorkingReadings(predicted - sigma * ratio / curvature, sigma / np.sqrt(curvature))
