"""How far to trust a fit when nobody knows the truth: every reading is predicted by a fit without it."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pgt.data import splits
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.ground import serialise
from pgt.ground.arguments import Seed
from pgt.ground.checked import checked
from pgt.ground.content import contents
from pgt.ground.files import require_writable
from pgt.ground.owner import owned
from pgt.methods.fit import fit_task
from pgt.models.base import AbstractFieldModel
from pgt.physics.bordered import bordered
from pgt.physics.conditions import AbstractCondition
from pgt.physics.given import Governing, Readings, Where, as_problem
from pgt.physics.pde import AbstractPDE
from pgt.reconstruction.cross_validation import CrossValidation
from pgt.reconstruction.evaluation import Evaluation
from pgt.training.assemble import Model, assemble, groups_of, held_out_by, matched
from pgt.training.checkpoint import require_same
from pgt.training.default_model import suited_model
from pgt.training.identity import Identity, parts_of
from pgt.training.settings import Training

Say = Callable[[str], None]


@checked
def cross_validate(
    observations: Readings,
    pde: Governing,
    domain: Where,
    conditions: Sequence[AbstractCondition] = (),
    *,
    folds: int = 5,
    model: Model | None = None,
    training: Training | None = None,
    seed: Seed = 0,
    checkpoint: str | Path | None = None,
    progress: bool | None = None,
    say: Say | None = None,
) -> CrossValidation:
    """Fit `folds` times, each time without one part of the readings, and predict that part.

    The parts are disjoint and hold every reading once. A part is not used for anything in the fit that
    predicts it: noise is estimated and training stopped with a share `training.hold_out` of the others,
    as in `reconstruct`. All fits start from one model, whose scales are those of all readings.

    Parameters
    ----------
    observations, pde, domain, conditions, model, training, seed, progress
        As in `reconstruct`; a budget is that of one fit. `training.hold_out_by` says whether the parts
        are made of single readings, of whole sensors or of whole blocks of space and time.
    folds
        The number of parts, from 2 to the number of readings.
    checkpoint
        A folder to save progress in; finished fits are not repeated after a kill.
    say
        Is told which fit begins: `print`, for example.

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
    pde, conditions = bordered(pde, conditions)
    training = training or Training()
    observations = matched(observations, pde, domain)
    training = replace(training, hold_out_by=held_out_by(observations, training))
    parts = splits.folds(observations, folds, seed, groups_of(observations, training, domain))
    if model is None:
        model = suited_model(
            observations, pde, domain,
            conditions=conditions, seconds=training.seconds, seed=seed,
        )  # fmt: skip
    elif not isinstance(model, AbstractFieldModel):
        model = model(seed)
    fits = _Fits(observations, pde, domain, tuple(conditions), model, training, seed, progress)
    if not checkpoint:
        return fits.of(parts, None, say)
    require_writable(Path(checkpoint), "write another checkpoint=")
    with owned(Path(checkpoint), below=True):
        return fits.of(parts, Path(checkpoint), say)


def _is_done(folder: Path | None) -> bool:
    return folder is not None and serialise.exists(folder.parent, folder.name)


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

    def of(self, parts: Sequence[np.ndarray], folder: Path | None, say: Say | None):
        """Every part predicted by the fit without it."""
        count = len(self.observations)
        predictions, fold = np.full(self.observations.values.shape, np.nan), np.full(count, -1)
        for number, rows in enumerate(parts):
            place = folder / f"fold-{number + 1}" if folder else None
            if say is not None:
                task = f"{count - len(rows)} readings, to predict {len(rows)} others"
                done = "done before" if _is_done(place) else task
                say(f"fold {number + 1} of {len(parts)}: {done}")
            predictions[rows], fold[rows] = self.remembered(rows, place), number
        by = held_out_by(self.observations, self.training)
        return CrossValidation(self.observations, predictions, fold, by)

    def remembered(self, rows: np.ndarray, folder: Path | None) -> np.ndarray:
        """The predictions of these rows: kept beside the checkpoint in `folder` once they are made."""
        if folder is None:
            return self.predicted(rows, None)
        beside, name, identity = folder.parent, folder.name, self.identity(rows)
        if _is_done(folder):
            saved = serialise.load(beside, name)
            require_same(beside, saved["identity"], identity)
            return saved["predictions"]
        predictions = self.predicted(rows, folder)
        saved = {"identity": identity, "predictions": predictions}
        serialise.save(beside, name, saved, copy=False)
        shutil.rmtree(folder, ignore_errors=True)  # the checkpoint of a finished fit
        return predictions

    def predicted(self, rows: np.ndarray, checkpoint: Path | None) -> np.ndarray:
        others = self.observations.take(np.setdiff1d(np.arange(len(self.observations)), rows))
        task = assemble(
            others, self.pde, self.domain, self.conditions,
            model=self.model, training=self.training, seed=self.seed,
        )  # fmt: skip
        # Not the fit is kept but its predictions, which need no posterior.
        outcome = fit_task(
            task, checkpoint=checkpoint, progress=self.progress, is_kept=lambda outcome: False
        )
        fit = outcome.fit
        field = Evaluation(fit.model, fit.pde, task.problem.observations, None, self.domain)
        return field.of_readings(self.observations.take(rows))

    def identity(self, rows: np.ndarray) -> Identity:
        return {"seed": self.seed, "training": contents(self.training)} | parts_of(
            self.observations, self.pde, self.domain, self.conditions, self.model,
            {"held out": rows},
        )  # fmt: skip
