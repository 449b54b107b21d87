"""The discrepancy of an equation in numbers and words: how large it is, where, and in which sense."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgt.core.numbers import number
from pgt.data.dates import are_counted, text

# The discrepancy is significant at a point where it exceeds this many standard deviations.
SIGNIFICANT_DEVIATIONS = 2.0
ONE_SIGN = (
    0.9  # the share of the significant discrepancy that has one sign if it is said to have one
)


@dataclass(frozen=True)
class Discrepancy:
    """The discrepancy of one equation: a source on its right-hand side.

    Attributes
    ----------
    equation : the name of the equation.
    size : the root mean square over the domain.
    peak, peak_deviation, place : the largest significant value, its standard deviation, and where it is.
    positive : the share of the squared discrepancy that is positive, 1 where it is nowhere negative.
    gain : the log-evidence of the discrepancy: by how much the readings are more probable with it.

    >>> noon = Discrepancy("heat", 1.1, 2.03, 0.2, {"x": 0.5, "t": 12.0}, 0.99, 35.0)
    >>> print(noon.in_words.replace("\N{NO-BREAK SPACE}", " "))
    a positive source of 1.1 (root mean square), largest with 2.03 ± 0.2 at x = 0.5, t = 12
    """

    equation: str
    size: float
    peak: float
    peak_deviation: float
    place: Mapping[str, float]
    positive: float
    gain: float
    units: Mapping[str, str] | None = None

    @property
    def in_words(self) -> str:
        """Size, sense and place in words."""
        kind = "source"
        if self.positive > ONE_SIGN:
            kind = "positive source"
        elif self.positive < 1 - ONE_SIGN:
            kind = "negative source (a sink)"
        at = ", ".join(f"{axis} = {self._shown(axis)}" for axis in self.place)
        peak = f"{number(self.peak)} ± {number(self.peak_deviation, 1)}"
        return f"a {kind} of {number(self.size)} (root mean square), largest with {peak} at {at}"

    def _shown(self, axis: str) -> str:
        units = self.units or {}
        if axis == "t" and are_counted(units):
            return text(self.place[axis])
        return number(self.place[axis], unit=units.get(axis, ""))

    @staticmethod
    def of(
        equation: str,
        points: Mapping[str, Float[np.ndarray, " n"]],
        values: Float[np.ndarray, " n"],
        deviations: Float[np.ndarray, " n"],
        gain: float,
        units: Mapping[str, str] | None = None,
    ) -> "Discrepancy":
        """The discrepancy from its values and standard deviations at points that fill the domain."""
        is_significant = np.abs(values) > SIGNIFICANT_DEVIATIONS * deviations
        counted = np.abs(values) * (is_significant if is_significant.any() else 1.0)
        peak, squares = int(np.argmax(counted)), counted**2
        positive = squares[values > 0].sum() / max(squares.sum(), 1e-300)
        return Discrepancy(
            equation, float(np.sqrt(np.mean(values**2))), float(values[peak]),
            float(deviations[peak]), {a: float(column[peak]) for a, column in points.items()},
            float(positive), gain, units,
        )  # fmt: skip
