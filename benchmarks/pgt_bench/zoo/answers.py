"""What a method says about a problem, and how the library itself is asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

import pgt
from pgt._reconstruct import reconstruct
from pgt.models.pgt import PGT
from pgt.physics.conditions import AbstractCondition, Dirichlet, Initial
from pgt.training.settings import Posterior, Training
from pgt_bench.interpolation import gaussian_process, rbf, with_conditions
from pgt_bench.methods import scaling_of
from pgt_bench.problems import Setup
from pgt_bench.zoo.problem import ZooProblem

LEVEL = 0.9
MOST = 1500  # readings for methods whose work grows as their number cubed


@dataclass(frozen=True)
class Answer:
    """The fields on the truth's grid; `about`: plain data for the record; `band`: where there is one;
    `result`: what the library itself gave."""

    fields: xr.Dataset
    about: dict[str, Any] = field(default_factory=dict)
    band: xr.Dataset | None = None
    result: Any = None


@dataclass(frozen=True)
class Asked:
    """What is asked of every method alike."""

    problem: ZooProblem
    setup: Setup
    seconds: float
    seed: int

    @property
    def axes(self) -> dict[str, Any]:
        """The truth's grid, by axis in the order of the domain."""
        return {axis: self.setup.truth[axis].to_numpy() for axis in self.setup.domain.axes}

    @property
    def points(self) -> np.ndarray:
        """All points of that grid, the last axis fastest."""
        mesh = np.meshgrid(*self.axes.values(), indexing="ij")
        return np.stack([m.ravel() for m in mesh], axis=-1)

    def dataset(self, table: np.ndarray, fields: tuple[str, ...]) -> xr.Dataset:
        """Values (n, c) at `points` as fields on the grid; those not among them are unknown."""
        shape = tuple(len(positions) for positions in self.axes.values())
        columns = {name: table[:, k] for k, name in enumerate(fields)}
        unknown = np.full(len(table), np.nan)
        return xr.Dataset(
            {
                name: (tuple(self.axes), columns.get(name, unknown).reshape(shape))
                for name in self.setup.pde.fields
            },
            self.axes,
        )


# ------------------------------------------------------------------------------- the library


def by_default(asked: Asked) -> Answer:
    """Everything left as it is."""
    return _reconstructed(asked, None)


def with_bands(asked: Asked) -> Answer:
    """Everything left as it is, and error bars asked for."""
    return _reconstructed(asked, None, Posterior())


def by_model(build: Callable[[Setup, int], Any]) -> Callable[[Asked], Answer]:
    """A model with its own defaults, all else left as it is."""
    return lambda asked: _reconstructed(asked, lambda seed: build(asked.setup, seed))


def pgt_model(setup: Setup, seed: int):
    return PGT.for_problem(setup.observations, setup.pde, setup.domain, seed=seed)


def named_model(name: str) -> Callable[[Setup, int], Any]:
    """A model of the library by its public name, looked up when it is first needed."""
    return lambda setup, seed: getattr(pgt, name)(scaling_of(setup), seed=seed)


def _reconstructed(asked: Asked, model, error_bars: Posterior | None = None) -> Answer:
    setup = asked.setup
    result = reconstruct(
        setup.observations, setup.pde, setup.domain, setup.conditions, model=model,
        training=Training(seconds=asked.seconds), error_bars=error_bars, seed=asked.seed,
        progress=False,
    )  # fmt: skip
    about = {
        "model": result.summary["model"],
        "parameters": result.summary["parameter_count"],
        "stopped": result.summary["stopped"],
        "stated": stated(result.summary),
    }
    band = None if result.members is None else result.band(level=LEVEL, **asked.axes)
    return Answer(result.grid(**asked.axes), about, band, result)


def stated(summary: dict) -> dict[str, float | None] | None:
    """The relative error that a result claims of its field, with an interval where it gives one."""
    said = summary.get("expected_error")
    if said is not None:
        return {name: said.get(name) for name in ("value", "low", "high")}
    held_out = summary["held_out_error"]
    return None if held_out is None else {"value": float(held_out), "low": None, "high": None}


# ------------------------------------------------------------------------------- interpolation


def by_rbf(asked: Asked) -> Answer:
    known = _read(asked)
    found = rbf(known, asked.setup.domain, asked.points)
    return _interpolated(asked, known, found)


def by_gaussian_process(asked: Asked) -> Answer:
    known, noisy = _read(asked), asked.problem.readings.noise > 0
    found = gaussian_process(
        known, asked.setup.domain, asked.points, noise=noisy, seed=asked.seed
    )  # fmt: skip
    return _interpolated(asked, known, found)


def _interpolated(asked: Asked, known, found) -> Answer:
    about = {"readings_used": len(known), "chosen": found.chosen}
    return Answer(asked.dataset(found.predictions, known.fields), about)


def _read(asked: Asked):
    """At most `MOST` readings, and the values that conditions give of the fields that are read."""
    setup, readings = asked.setup, asked.setup.observations
    if len(readings) > MOST:
        rows = np.random.default_rng(asked.seed).choice(len(readings), MOST, replace=False)
        readings = readings.take(np.sort(rows))
    given = [c for c in setup.conditions if _gives_values(c, asked.problem.measured)]
    return with_conditions(readings, given, setup.domain)


def _gives_values(condition: AbstractCondition, fields: tuple[str, ...]) -> bool:
    return isinstance(condition, Dirichlet | Initial) and set(condition.values) <= set(fields)
