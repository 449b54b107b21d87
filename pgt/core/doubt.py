"""The verdict on a fit as data: doubts, held-out errors and expected errors of fields.

`pgt.uncertainty` decides them; the report and the terminal print them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any, Literal

from pgt.core.numbers import percent

Kind = Literal[
    "not_converged",
    "not_finite",
    "unidentified_coefficient",
    "large_error",
    "undetermined_places",
    "unread_places",
    "large_residual",
    "contradicted_condition",
    "contradicted_noise",
    "far_readings",
    "drifting_sensors",
    "displaced_sensor",
    "no_held_out",
    "few_held_out",
    "worse_than_interpolation",
    "undetermined_field",
    "undetermined_function",
    "doubtful_coefficient",
]

NOT_CONVERGED, NOT_TRUSTED, INCOMPLETE = 3, 4, 5  # exit codes
SIGNIFICANT = 2.0  # a log-ratio of two errors is significant beyond this many standard deviations


@dataclass(frozen=True)
class Doubt:
    """One reason not to trust a fit: its kind, a sentence, and the numbers behind it.

    If it is grave, the field should not be used.

    >>> doubt = Doubt("few_held_out", "Few readings were held out: u (2).", {"u": 2})
    >>> print(doubt)
    Few readings were held out: u (2).
    """

    kind: Kind
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    is_grave: bool = False

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class HeldOutError:
    """The error of one field at held-out readings.

    Attributes
    ----------
    readings : the number of held-out readings with a finite prediction.
    rmse : the root mean square error.
    relative : `rmse` over the root mean square of the readings; None where they are all zero.
    interpolated_relative : the relative error of interpolation without physics, by a Gaussian process;
        None where it is not known.
    of_spread : `rmse` over the standard deviation of all readings of the field, where 1 is as good as
        guessing their mean; None where they are all equal.
    interpolated_of_spread : `of_spread` of the interpolation.
    """

    readings: int
    rmse: float
    relative: float | None
    interpolated_relative: float | None = None
    of_spread: float | None = None
    interpolated_of_spread: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether field and interpolation differ by more than chance explains."""
        return self.differs_from(self.interpolated_of_spread)

    def differs_from(self, theirs: float | None) -> bool:
        """Whether another error, relative to the spread, differs by more than chance explains.

        The mean square of n errors has a relative standard deviation of √(2/n). So the logarithm of the
        ratio of two root mean squares has one of 1/√n, if the errors are independent.
        """
        if not self.of_spread or not theirs:
            return False
        return abs(log(self.of_spread / theirs)) > SIGNIFICANT / sqrt(self.readings)


@dataclass(frozen=True)
class FieldError:
    """The expected error of a field over the whole domain, where the truth is unknown.

    Attributes
    ----------
    value : the expected root-mean-square error over the domain, relative to the field's spread there.
    low, high : the interval in which it probably lies.
    inside, outside : the expected errors near readings and far from them; None where all places are of
        one kind, or where nothing says that the error is larger far from readings.
    doubted : why the error may be larger, in words; empty without such a doubt.

    >>> print(FieldError(0.019, 0.008, 0.04).in_words.replace("\N{NO-BREAK SPACE}", " "))
    1.9 % of the spread, probably between 0.8 % and 4 %
    """

    value: float
    low: float
    high: float
    inside: float | None = None
    outside: float | None = None
    doubted: str = ""

    @property
    def in_words(self) -> str:
        """A sentence with the value, its interval, both parts if there are two, and the doubt."""
        between = f"probably between {percent(self.low)} and {percent(self.high)}"
        parts = [f"{percent(self.value)} of the spread, {between}"]
        if self.inside is not None and self.outside is not None:
            near, far = percent(self.inside), percent(self.outside)
            parts.append(f"near readings {near}, far from them {far}")
        if self.doubted:
            parts.append(f"doubtful, it may be larger: {self.doubted}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a fit, which `Reconstruction.verdict` returns.

    Attributes
    ----------
    converged : whether the fit converged; None where that is unknown.
    reason : the reason why the fit counts as converged or not.
    held_out : the errors at readings that were not fitted, by field.
    doubts : the doubts, the most serious first.
    folds : the number of folds that predicted all readings; None if readings were held out of this fit.
    field_error : the expected error over the whole domain by field, hidden ones included, where known.

    >>> fine = Verdict(True, "The held-out error had levelled off.", {"u": HeldOutError(9, 0.1, 0.02)})
    >>> fine.converged, fine.kinds, fine.held_out["u"].relative
    (True, (), 0.02)
    """

    converged: bool | None
    reason: str
    held_out: Mapping[str, HeldOutError]
    doubts: tuple[Doubt, ...] = ()
    folds: int | None = None
    field_error: Mapping[str, FieldError] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """The exit code of `pgt fit`: 0, 3 without convergence, 4 with convergence and a grave doubt."""
        if self.converged is False:
            return NOT_CONVERGED
        return NOT_TRUSTED if any(doubt.is_grave for doubt in self.doubts) else 0

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the doubts, in the same order."""
        return tuple(doubt.kind for doubt in self.doubts)
