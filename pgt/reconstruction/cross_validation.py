"""Cross-validation, which predicts every reading by a fit without it.

The readings are divided into folds of single readings, whole sensors, or blocks of space and time. One
fit per fold predicts the readings of that fold from all others.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from pgt.core import serialise
from pgt.core.arguments import Seed
from pgt.core.checked import checked
from pgt.core.files import require_writable
from pgt.core.fingerprint import contents
from pgt.core.folder_lock import lock_folder
from pgt.data import splits
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.methods.plan import choose
from pgt.models.field_model import AbstractFieldModel
from pgt.physics.conditions import AbstractCondition
from pgt.physics.curved_coordinates import at_axis
from pgt.physics.pde import AbstractPDE
from pgt.physics.problem_inputs import Governing, Readings, Where, as_problem
from pgt.physics.unknown_conditions import bordered
from pgt.problem.assembly import ModelChoice, assemble, held_out_by, held_out_groups, match_fields
from pgt.problem.checkpoint import Identity, identity_parts, require_same
from pgt.reconstruction.candidates import fit_task
from pgt.reconstruction.evaluation import Evaluation
from pgt.training.settings import Training
from pgt.uncertainty.held_out import HeldOutPredictions, interpolate_left_out, misfit

FILE = "cross_validation"


@dataclass(frozen=True)
class CrossValidationError:
    """The error of one field at readings that were not fitted.

    Attributes
    ----------
    readings : the number of readings.
    rmse : the root mean square error.
    relative : its ratio to the root mean square of the readings; None if these are all zero.
    by_fold : the relative error of each fold, with the root mean square of all readings, so that
        `relative`² is the mean square weighted by the readings of each; None for a fold without readings.
    spread : the standard deviation of `by_fold`.
    """

    readings: int
    rmse: float
    relative: float | None
    by_fold: tuple[float | None, ...]
    spread: float | None


class CrossValidation(eqx.Module):
    """Every reading with the prediction of a fit that did not see it.

    Attributes
    ----------
    observations : all readings, with the fields of the equation.
    predictions : (n, c) every field at every reading; NaN in rows without a measured value.
    fold : (n,) the fold in which a reading was held out, from 0; -1 for rows without a measured value.
    by : "reading", "sensor" or "block", which the folds consist of.

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
        """The number of folds."""
        return int(self.fold.max()) + 1

    @property
    def errors(self) -> dict[str, CrossValidationError]:
        """The error of each measured field, over all folds and in each of them."""
        hidden = self.observations.hidden_fields
        return {
            name: self._error(column, name)
            for column, name in enumerate(self.observations.fields)
            if name not in hidden
        }

    def _error(self, column: int, name: str) -> CrossValidationError:
        rows, _, truth, _ = self.observations.measured(name)
        predicted = self.predictions[rows, column]
        rmse, relative = misfit(predicted, truth)
        size = float(np.sqrt(np.mean(truth**2)))
        parts = [self.fold[rows] == fold for fold in range(self.folds)]
        errors = [misfit(predicted[part], truth[part])[0] if part.any() else None for part in parts]
        by_fold = tuple(e / size if e is not None and size > 0 else None for e in errors)
        errors_of_folds = [error for error in by_fold if error is not None]
        spread = float(np.std(errors_of_folds, ddof=1)) if len(errors_of_folds) > 1 else None
        return CrossValidationError(len(rows), rmse, relative, by_fold, spread)

    def as_held_out(self, domain: Domain) -> HeldOutPredictions:
        """The readings with their predictions, and with interpolation from the other folds."""
        interpolated = interpolate_left_out(self.observations, domain, self.fold)
        return HeldOutPredictions(self.observations, self.predictions, interpolated, self.folds)

    def save(self, folder: str | Path) -> None:
        """Write everything into `folder` (safetensors + JSON)."""
        serialise.save(folder, FILE, self)

    @staticmethod
    def load(folder: str | Path) -> "CrossValidation | None":
        """The result that `save` wrote, or None if there is none."""
        return serialise.load(folder, FILE) if serialise.exists(folder, FILE) else None


Report = Callable[[str], None]


@checked
def cross_validate(
    observations: Readings,
    pde: Governing,
    domain: Where,
    conditions: Sequence[AbstractCondition] = (),
    *,
    folds: int = 5,
    model: ModelChoice | None = None,
    training: Training | None = None,
    seed: Seed = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    say: Report | None = None,
) -> CrossValidation:
    """The predictions of every reading by fits that did not see it.

    The problem is fitted `folds` times, each time without one part of the readings. The parts are
    disjoint and contain every reading once. The fit that predicts a part does not use it at all: a share
    `training.hold_out` of the other readings estimates the noise and stops the training, as in
    `reconstruct`. All fits start from one model, whose scales are those of all readings.

    Parameters
    ----------
    observations, pde, domain, conditions, model, training, seed, progress
        As in `reconstruct`; a budget is that of one fit. `training.hold_out_by` says whether the parts
        consist of single readings, of whole sensors or of whole blocks of space and time.
    folds
        The number of parts, from 2 to the number of readings.
    checkpoint
        A folder that stores the progress; finished fits are not repeated after a kill.
    say
        A function that is called with a line of text for each fit, such as `print`.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat({1: 1.0}), n=60)
    >>> domain = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> network = pgt.PINN(pgt.Scaling.fit(readings, domain), width=8, layers=2)
    >>> brief = pgt.Training(steps=3, collocation=20, polish=False)
    >>> found = cross_validate(
    ...     readings, pgt.Heat(0.01), domain, folds=2, model=network, training=brief
    ... )
    >>> found.predictions.shape, found.errors["u"].readings, len(found.errors["u"].by_fold)
    ((60, 1), 60, 2)
    """
    observations, pde, domain = as_problem(observations, pde, domain)
    conditions = at_axis(conditions, pde, domain)
    pde, conditions = bordered(pde, conditions)
    training = training or Training()
    observations = match_fields(observations, pde, domain)
    training = replace(training, hold_out_by=held_out_by(observations, training))
    parts = splits.folds(observations, folds, seed, held_out_groups(observations, training, domain))
    plan = choose(observations, pde, domain, conditions, model=model, training=training, seed=seed)
    network = plan.candidates[0].build(seed)
    fits = _Fits(observations, pde, domain, tuple(conditions), network, training, seed, progress)
    if not checkpoint:
        return fits.of(parts, None, say)
    require_writable(Path(checkpoint), "write another checkpoint=")
    with lock_folder(Path(checkpoint), below=True):
        return fits.of(parts, Path(checkpoint), say)


def _is_done(folder: Path | None) -> bool:
    return folder is not None and serialise.exists(folder.parent, folder.name)


@dataclass(frozen=True)
class _Fits:
    """The problem and the settings that the fits of all folds share."""

    observations: Observations
    pde: AbstractPDE
    domain: Domain
    conditions: tuple[AbstractCondition, ...]
    model: AbstractFieldModel
    training: Training
    seed: int
    progress: bool | None

    def of(self, parts: Sequence[np.ndarray], folder: Path | None, say: Report | None):
        """The cross-validation, with every part predicted by the fit without it."""
        count = len(self.observations)
        predictions, fold = np.full(self.observations.values.shape, np.nan), np.full(count, -1)
        for number, rows in enumerate(parts):
            fold_folder = folder / f"fold-{number + 1}" if folder else None
            if say is not None:
                description = f"{count - len(rows)} readings, to predict {len(rows)} others"
                message = "finished before" if _is_done(fold_folder) else description
                say(f"fold {number + 1} of {len(parts)}: {message}")
            predictions[rows], fold[rows] = self.predictions_or_stored(rows, fold_folder), number
        by = held_out_by(self.observations, self.training)
        return CrossValidation(self.observations, predictions, fold, by)

    def predictions_or_stored(self, rows: np.ndarray, folder: Path | None) -> np.ndarray:
        """The predictions of these rows, stored beside the checkpoint in `folder` if there is one."""
        if folder is None:
            return self.predicted(rows, None)
        parent, name, identity = folder.parent, folder.name, self.identity(rows)
        if _is_done(folder):
            saved = serialise.load(parent, name)
            require_same(parent, saved["identity"], identity)
            return saved["predictions"]
        predictions = self.predicted(rows, folder)
        saved = {"identity": identity, "predictions": predictions}
        serialise.save(parent, name, saved, copy=False)
        shutil.rmtree(folder, ignore_errors=True)  # the checkpoint of a finished fit is not needed
        return predictions

    def predicted(self, rows: np.ndarray, checkpoint: Path | None) -> np.ndarray:
        others = self.observations.take(np.setdiff1d(np.arange(len(self.observations)), rows))
        task = assemble(
            others, self.pde, self.domain, self.conditions,
            model=self.model, training=self.training, seed=self.seed,
        )  # fmt: skip
        # Only the predictions are kept, so the fit needs no posterior.
        outcome = fit_task(
            task, checkpoint=checkpoint, progress=self.progress, is_kept=lambda outcome: False
        )
        fit = outcome.fit
        field = Evaluation(fit.model, fit.pde, task.problem.observations, None, self.domain)
        return field.predict_readings(self.observations.take(rows))

    def identity(self, rows: np.ndarray) -> Identity:
        return {"seed": self.seed, "training": contents(self.training)} | identity_parts(
            self.observations, self.pde, self.domain, self.conditions, self.model,
            {"held out": rows},
        )  # fmt: skip
