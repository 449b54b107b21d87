"""The result of a cross-validation: every reading beside what a fit without it says."""

from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.ground import serialise
from pgt.trust.held_out import Unseen, interpolated_in_turn, misfit

FILE = "cross_validation"


@dataclass(frozen=True)
class FieldError:
    """How well one field is predicted at readings that were not fitted.

    `relative` is the root mean square error `rmse` over the root mean square of the readings, None
    where these are all zero;
    `by_fold` is the error of each fold over that same size, so that `relative`² is their mean square,
    weighted by the readings of each; None where a fold has none. `spread` is their standard deviation.
    """

    readings: int
    rmse: float
    relative: float | None
    by_fold: tuple[float | None, ...]
    spread: float | None


class CrossValidation(eqx.Module):
    """Every reading beside the prediction of a fit that never saw it.

    Attributes
    ----------
    observations : all readings, with the fields of the equation.
    predictions : (n, c) every field at every reading; NaN in rows without a measured value.
    fold : (n,) the fold in which a reading was held out, from 0; -1 where it holds no measured value.
    by : "reading", "sensor" or "block": what the folds are made of.

    >>> readings = Observations.from_arrays({"x": [0.0, 0.5, 1.0]}, {"u": [3.0, 4.0, 0.0]})
    >>> guess = np.array([[3.0], [4.0], [1.0]])
    >>> found = CrossValidation(readings, guess, np.array([0, 1, 1]), by="reading")
    >>> found.folds, found.errors["u"].relative, found.errors["u"].by_fold[0]
    (2, 0.2, 0.0)
    """

    observations: Observations
    predictions: Float[np.ndarray, "n c"]
    fold: Int[np.ndarray, " n"]
    by: str = eqx.field(static=True)

    @property
    def folds(self) -> int:
        """How many there are."""
        return int(self.fold.max()) + 1

    @property
    def errors(self) -> dict[str, FieldError]:
        """The error of each measured field, over all folds and in each of them."""
        hidden = self.observations.hidden_fields
        return {
            name: self._error(column, name)
            for column, name in enumerate(self.observations.fields)
            if name not in hidden
        }

    def _error(self, column: int, name: str) -> FieldError:
        rows, _, truth, _ = self.observations.measured(name)
        guess = self.predictions[rows, column]
        rmse, relative = misfit(guess, truth)
        size = float(np.sqrt(np.mean(truth**2)))
        parts = [self.fold[rows] == fold for fold in range(self.folds)]
        errors = [misfit(guess[part], truth[part])[0] if part.any() else None for part in parts]
        by_fold = tuple(e / size if e is not None and size > 0 else None for e in errors)
        known = [error for error in by_fold if error is not None]
        spread = float(np.std(known, ddof=1)) if len(known) > 1 else None
        return FieldError(len(rows), rmse, relative, by_fold, spread)

    def unseen(self, domain: Domain) -> Unseen:
        """The readings as judges of a fit, beside interpolation of the others in each fold."""
        simple = interpolated_in_turn(self.observations, domain, self.fold)
        return Unseen(self.observations, self.predictions, simple, self.folds)

    def save(self, folder: str | Path) -> None:
        """Write everything into `folder` (safetensors + JSON)."""
        serialise.save(folder, FILE, self)

    @staticmethod
    def load(folder: str | Path) -> "CrossValidation | None":
        """Read what `save` wrote; None where there is nothing."""
        return serialise.load(folder, FILE) if serialise.exists(folder, FILE) else None
