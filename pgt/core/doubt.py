"""What is stated about a fit, as data: `pgt.uncertainty` decides; report and terminal print."""

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
SIGNIFICANT = 2.0  # standard deviations of the logarithm of a ratio of two errors


@dataclass(frozen=True)
class Doubt:
    """One cause for doubt: its kind, the sentence that says it, the numbers behind it, and whether it is
    so grave that the field is not to be trusted.

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
    """How well one field is predicted where it was measured but not fitted.

    Attributes
    ----------
    readings : how many, of those with a finite prediction.
    rmse : the root mean square error.
    relative : the same over the root mean square of the readings; None where they are all zero.
    interpolated_relative : the relative error of interpolation without physics, by a Gaussian process;
        None where there is none.
    of_spread : `rmse` over the standard deviation of all readings of the field: 1 is as good as
        guessing their mean; None where they are all alike.
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

        The mean square of n errors is known to √(2/n), so the logarithm of the ratio of two root mean
        squares to 1/√n, if the errors have nothing in common.
        """
        if not self.of_spread or not theirs:
            return False
        return abs(log(self.of_spread / theirs)) > SIGNIFICANT / sqrt(self.readings)


@dataclass(frozen=True)
class FieldError:
    """How wrong a field is expected to be over the whole domain, where nobody knows the truth.

    Attributes
    ----------
    value : the expected root-mean-square error over the domain, relative to the field's spread there.
    low, high : between which it probably lies.
    inside, outside : the same near readings and far from them; None where all places are one or the
        other, or where nothing says that it is larger far from readings.
    doubted : why the error may be larger than that, in words; empty where no doubt says so.

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
        """Value and interval, both parts where there are two, and why it may be larger."""
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
    """How far to trust a fit, as `Reconstruction.verdict` gives it.

    Attributes
    ----------
    converged : None where it cannot be told.
    reason : why we say so.
    held_out : by field, the errors at readings that were not fitted.
    doubts : the most serious first; empty where nothing is doubtful.
    folds : how many fits predicted all readings in turn; None: the readings were held out of this fit.
    field_error : by field, hidden ones too, the error expected over the whole domain, where it is known.

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
        """What `pgt fit` ends with: 0; 3 where the fit did not converge; 4 where it did, and a doubt is
        so grave that the field is not to be trusted all the same."""
        if self.converged is False:
            return NOT_CONVERGED
        return NOT_TRUSTED if any(doubt.is_grave for doubt in self.doubts) else 0

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the doubts, in their order."""
        return tuple(doubt.kind for doubt in self.doubts)
