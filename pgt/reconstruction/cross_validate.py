"""How far to trust a fit when nobody knows the truth: every reading is predicted by a fit without it."""

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import numpy as np

from pgt.data import splits
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.ground import serialise
from pgt.models.base import AbstractFieldModel
from pgt.nn.precision import is_double, precision
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.training.assemble import assemble, checked, groups_of
from pgt.training.checkpoint import fingerprint, require_same
from pgt.training.default_model import default_model
from pgt.training.fit import fit_task
from pgt.training.losses import averaged_axes, reading_rows
from pgt.training.settings import Training


def cross_validate(
    observations: Observations,
    pde: AbstractPDE,
    domain: Domain,
    conditions: Sequence[AbstractCondition] = (),
    *,
    folds: int = 5,
    model: AbstractFieldModel | None = None,
    training: Training | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    say: Callable[[str], None] | None = None,
) -> CrossValidation:
    """Fit `folds` times, each time without one part of the readings, and predict that part.

    The parts are disjoint and hold every reading once. A part is not used for anything in the fit that
    predicts it: noise is estimated and training stopped with a share `training.hold_out` of the others,
    as in `reconstruct`. All fits start from one model, whose scales are those of all readings.

    Parameters
    ----------
    observations, pde, domain, conditions, model, training, seed, progress
        As in `reconstruct`; a budget is that of one fit. `training.hold_out_by` says whether the parts
        are made of single readings or of whole blocks of space and time.
    folds
        The number of parts, from 2 to the number of readings.
    checkpoint
        A folder to save progress in; finished fits are not repeated after a kill.
    say
        Is told which fit begins: `print`, for example.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), 20, seed=0)
    >>> domain = pgt.Domain(x=(0, 1), t=(0, 1))
    >>> network = pgt.SIREN(pgt.Scaling.fit(readings, domain), width=8, layers=2)
    >>> brief = pgt.Training(steps=2, collocation=8, polish=False)
    >>> found = cross_validate(
    ...     readings, pgt.Heat(0.01), domain, folds=2, model=network, training=brief
    ... )
    >>> found.predictions.shape, found.errors["u"].readings, len(found.errors["u"].by_fold)
    ((20, 1), 20, 2)
    """
    training = training or Training()
    observations = checked(observations, pde, domain)
    parts = splits.folds(observations, folds, seed, groups_of(observations, training))
    fits = _Fits(
        observations, pde, domain, tuple(conditions),
        model or default_model(observations, pde, domain, seed=seed), training, seed, progress,
    )  # fmt: skip
    predictions = np.full(observations.values.shape, np.nan)
    fold = np.full(len(observations), -1)
    for number, rows in enumerate(parts):
        place = Path(checkpoint) / f"fold-{number + 1}" if checkpoint else None
        if say is not None:
            others = len(observations) - len(rows)
            task = f"{others} readings, to predict {len(rows)} others"
            say(f"fold {number + 1} of {folds}: {'done before' if _is_done(place) else task}")
        predictions[rows], fold[rows] = fits.remembered(rows, place), number
    return CrossValidation(observations, predictions, fold, training.hold_out_by)


def _is_done(place: Path | None) -> bool:
    return place is not None and serialise.exists(place.parent, place.name)


@dataclass(frozen=True)
class _Fits:
    """What all fits have in common."""

    observations: Observations
    pde: AbstractPDE
    domain: Domain
    conditions: tuple[AbstractCondition, ...]
    model: AbstractFieldModel
    training: Training
    seed: int
    progress: bool | None

    def remembered(self, rows: np.ndarray, place: Path | None) -> np.ndarray:
        """The predictions of these rows: kept beside the folder `place` once they are made."""
        if place is None:
            return self.predicted(rows, None)
        folder, name, identity = place.parent, place.name, self.identity(rows)
        if _is_done(place):
            saved = serialise.load(folder, name)
            require_same(folder, saved["identity"], identity)
            return saved["predictions"]
        predictions = self.predicted(rows, place)
        serialise.save(folder, name, {"identity": identity, "predictions": predictions})
        shutil.rmtree(place, ignore_errors=True)  # the checkpoint of a finished fit
        return predictions

    def predicted(self, rows: np.ndarray, checkpoint: Path | None) -> np.ndarray:
        others = self.observations.take(np.setdiff1d(np.arange(len(self.observations)), rows))
        task = assemble(
            others, self.pde, self.domain, self.conditions,
            model=self.model, training=self.training, seed=self.seed,
        )  # fmt: skip
        outcome = fit_task(task, checkpoint=checkpoint, progress=self.progress)
        fitted = task.problem.observations
        return predict_readings(outcome.fit.model, fitted, self.observations.take(rows))

    def identity(self, rows: np.ndarray) -> dict:
        parts = (self.observations, self.pde, self.conditions, self.model, rows)
        described = (self.domain, self.pde, self.conditions, self.model)
        return {
            "seed": self.seed,
            "training": self.training.describe(),
            "problem": fingerprint(described, eqx.filter(parts, eqx.is_array)),
        }


def predict_readings(
    model: AbstractFieldModel, fitted: Observations, readings: Observations
) -> np.ndarray:
    """(n, c) what a model that encodes `fitted` says of readings, averages over boxes included."""
    if not len(readings):
        return np.zeros((0, len(readings.fields)))
    # The misfit of readings of zero; every field is asked for, also where it was not measured.
    zeros, everywhere = np.zeros_like(readings.values), np.ones_like(readings.mask)
    asked = dataclasses.replace(readings, values=zeros, mask=everywhere)
    with precision(is_double(model)):
        return np.asarray(_values(model, fitted, asked, averaged_axes(readings)), float)


@eqx.filter_jit
def _values(model, fitted: Observations, asked: Observations, averaged: tuple[str, ...]):
    context = model.encode(fitted)
    rows = reading_rows(lambda z: model.decode(context, z), asked, model.scaling, averaged)
    return rows * model.scaling.spread
