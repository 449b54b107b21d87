"""The record of first-order training: losses, weights, errors and coefficients over the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, isfinite
from typing import SupportsFloat

import numpy as np
import xarray as xr

Columns = dict[str, list[float]]
# The held-out error is still falling if the last checks, of which the first number is the share,
# lowered it below the second number times the smallest error before them.
RECENT_SHARE, FALLING_ERROR_SHARE = 0.2, 0.95
# The smallest number of checks that show whether the error is still falling.
MIN_CHECKS_FOR_NOISE = 4


@dataclass
class History:
    """The course of the training of one network, with an entry per check, by kind and name.

    >>> history = History.empty(["data", "heat"], ["diffusivity"])
    >>> history.add(1, 0.9, {"data": 1.0, "heat": 0.3}, {"data": 1, "heat": 1}, {"diffusivity": 0.2})
    True
    >>> float(history.dataset().loss.sel(step=1, term="heat"))
    0.3
    """

    step: list[int] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    loss: Columns = field(default_factory=dict)
    weight: Columns = field(default_factory=dict)
    coefficient: Columns = field(default_factory=dict)

    @staticmethod
    def empty(terms: Sequence[str], coefficients: Sequence[str]) -> "History":
        """A history with these columns and no entries."""
        loss, weight = ({name: [] for name in terms} for _ in range(2))
        return History(loss=loss, weight=weight, coefficient={name: [] for name in coefficients})

    @staticmethod
    def from_flat(
        flat: Mapping[str, Sequence[float]], coefficients: Sequence[str] = ()
    ) -> "History":
        """A history from the flat columns of the first stored benchmark records: `data`, `weight_data`
        and `unknown_0` side by side."""
        terms = [name for name in flat if f"weight_{name}" in flat]
        unknowns = [name for k in range(len(flat)) if (name := f"unknown_{k}") in flat]
        names = coefficients if len(coefficients) == len(unknowns) else unknowns
        return History(
            [int(step) for step in flat.get("step", ())],
            list(flat.get("held_out", ())),
            {name: list(flat[name]) for name in terms},
            {name: list(flat[f"weight_{name}"]) for name in terms},
            {n: list(flat[u]) for n, u in zip(names, unknowns, strict=True)},
        )

    @property
    def best(self) -> float:
        """The smallest held-out error so far; infinite if there is none."""
        return min(filter(isfinite, self.held_out), default=inf)

    @property
    def noise(self) -> float:
        """An upper bound of the noise: the smallest held-out error once it has stopped falling.

        Before that it is 0, since most of the error is due to the unfinished training.

        >>> History(held_out=[1.0, 0.5, 0.3, 0.2, 0.1]).noise
        0.0
        >>> History(held_out=[1.0, 0.5, 0.102, 0.101, 0.1, 0.1]).noise
        0.1
        """
        count = len(self.held_out)
        before = self.held_out[: count - max(round(RECENT_SHARE * count), 1)]
        is_falling = self.best < FALLING_ERROR_SHARE * min(filter(isfinite, before), default=inf)
        return 0.0 if is_falling or count < MIN_CHECKS_FOR_NOISE else self.best

    def add(
        self,
        step: int,
        held_out: SupportsFloat,
        losses: Mapping[str, SupportsFloat],
        weights: Mapping[str, SupportsFloat],
        coefficients: Mapping[str, SupportsFloat],
    ) -> bool:
        """Add an entry, and return whether its held-out error is the smallest so far.

        The error is NaN without held-out readings.
        """
        improved = float(held_out) < self.best
        self.step.append(int(step))
        self.held_out.append(float(held_out))
        kinds = (self.loss, losses), (self.weight, weights), (self.coefficient, coefficients)
        for columns, values in kinds:
            for name, column in columns.items():
                column.append(float(values[name]))
        return improved

    def dataset(self) -> xr.Dataset:
        """The history as a dataset.

        `loss` and `weight` are over step and term, `held_out` over step, and `coefficient` over step and
        unknown.
        """
        return xr.Dataset(
            {
                "loss": (("step", "term"), self._table(self.loss)),
                "weight": (("step", "term"), self._table(self.weight)),
                "held_out": ("step", np.asarray(self.held_out, float)),
                "coefficient": (("step", "unknown"), self._table(self.coefficient)),
            },
            {
                "step": np.asarray(self.step, int),
                "term": np.asarray(list(self.loss), str),
                "unknown": np.asarray(list(self.coefficient), str),
            },
        )

    def _table(self, columns: Columns) -> np.ndarray:
        return np.asarray(list(columns.values()), float).reshape(len(columns), len(self.step)).T


def median(histories: Sequence[History]) -> History:
    """The median history, at every step over the networks that have this step."""
    rows = [{step: row for row, step in enumerate(history.step)} for history in histories]
    steps = sorted(set().union(*rows))

    def middle(columns: Sequence[list[float]]) -> list[float]:
        pairs = list(zip(columns, rows, strict=True))
        return [float(np.median([c[r[step]] for c, r in pairs if step in r])) for step in steps]

    def by_name(kind: str) -> Columns:
        tables: list[Columns] = [getattr(history, kind) for history in histories]
        return {name: middle([table[name] for table in tables]) for name in tables[0]}

    held_out = middle([history.held_out for history in histories])
    return History(steps, held_out, *(by_name(kind) for kind in ("loss", "weight", "coefficient")))


@dataclass
class Logbook:
    """The state of the training loop between runs of compiled steps.

    It has a history of each network, the share of the budget that was spent when the held-out error of
    each was smallest, the seconds spent, and the reason why the training stopped.
    """

    histories: list[History]
    best_shares: list[float]
    seconds: float = 0.0
    first_step_seconds: float = 0.0
    stopped: str = ""

    @staticmethod
    def empty(count: int, terms: Sequence[str], coefficients: Sequence[str]) -> "Logbook":
        """A logbook of `count` networks without entries."""
        return Logbook([History.empty(terms, coefficients) for _ in range(count)], [0.0] * count)

    def plain(self) -> dict:
        """The logbook as plain data, for a checkpoint."""
        return asdict(self)

    @staticmethod
    def from_plain(saved: dict) -> "Logbook":
        """The inverse of `plain`."""
        histories = [History(**history) for history in saved["histories"]]
        rest = {name: value for name, value in saved.items() if name != "histories"}
        return Logbook(histories, **rest)
