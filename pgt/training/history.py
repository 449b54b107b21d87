"""What training writes down while it goes on: numbers by kind, and what the loop itself remembers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf, isfinite
from typing import SupportsFloat

import numpy as np
import xarray as xr

Columns = dict[str, list[float]]
# A share of the checks, and what these leave of an error that hardly falls.
LATELY, HARDLY = 0.2, 0.95
FEWEST_TO_TELL = 4  # checks


@dataclass
class History:
    """How the training of one network went: an entry per check, by kind and then by name.

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
        """Columns that wait for their first entry."""
        loss, weight = ({name: [] for name in terms} for _ in range(2))
        return History(loss=loss, weight=weight, coefficient={name: [] for name in coefficients})

    @staticmethod
    def from_flat(
        flat: Mapping[str, Sequence[float]], coefficients: Sequence[str] = ()
    ) -> "History":
        """As histories were once stored: `data` and `weight_data` side by side, and `unknown_0`."""
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
        """The least held-out error so far; infinite while there is none."""
        return min(filter(isfinite, self.held_out), default=inf)

    @property
    def noise(self) -> float:
        """The least held-out error once it hardly falls any more. Until then most of it is what the
        network has yet to learn, and nothing is known of the noise: 0.

        >>> History(held_out=[1.0, 0.5, 0.3, 0.2, 0.1]).noise
        0.0
        >>> History(held_out=[1.0, 0.5, 0.102, 0.101, 0.1, 0.1]).noise
        0.1
        """
        count = len(self.held_out)
        before = self.held_out[: count - max(round(LATELY * count), 1)]
        is_falling = self.best < HARDLY * min(filter(isfinite, before), default=inf)
        return 0.0 if is_falling or count < FEWEST_TO_TELL else self.best

    def add(
        self,
        step: int,
        held_out: SupportsFloat,
        losses: Mapping[str, SupportsFloat],
        weights: Mapping[str, SupportsFloat],
        coefficients: Mapping[str, SupportsFloat],
    ) -> bool:
        """One more entry; whether its held-out error is less than ever. It is NaN without readings."""
        improved = float(held_out) < self.best
        self.step.append(int(step))
        self.held_out.append(float(held_out))
        kinds = (self.loss, losses), (self.weight, weights), (self.coefficient, coefficients)
        for columns, values in kinds:
            for name, column in columns.items():
                column.append(float(values[name]))
        return improved

    def dataset(self) -> xr.Dataset:
        """`loss` and `weight` over step and term, `held_out`, `coefficient` over step and unknown."""
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
    """At every step the median over the networks that have it."""
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
    """What the loop remembers between runs of steps: a history of each network, and of all together
    the time spent and why it stopped."""

    histories: list[History]
    best_shares: list[float]  # of the budget, spent when the held-out error of each was least
    seconds: float = 0.0
    first_step_seconds: float = 0.0
    stopped: str = ""

    @staticmethod
    def empty(count: int, terms: Sequence[str], coefficients: Sequence[str]) -> "Logbook":
        return Logbook([History.empty(terms, coefficients) for _ in range(count)], [0.0] * count)

    def plain(self) -> dict:
        """As it is stored."""
        return asdict(self)

    @staticmethod
    def from_plain(saved: dict) -> "Logbook":
        histories = [History(**history) for history in saved["histories"]]
        rest = {name: value for name, value in saved.items() if name != "histories"}
        return Logbook(histories, **rest)
