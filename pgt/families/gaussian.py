"""The Gaussian of systems that were drawn: its patterns, what readings say of them, how well they do."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

LEVELS = 10 ** np.arange(-4.0, 0.01, 0.125)  # σ that are tried, in shares of the readings' spread
SMALLEST = 1e-4  # spread, of that of the field
LEVEL = 0.9  # of a field that bands hold
RARE = 0.99  # of systems held out fit their readings better
FIFTHS = 5  # parts of the systems that are left out in turn
HELD, NOISE = 12, 0.05  # systems of each kind held out, and how noisy their readings are

Table = Float[np.ndarray, "m c r"]


class Judged(NamedTuple):
    """On systems whose coefficients are not among those that the patterns come from: median and worst
    tenth of the error with clean readings, relative to the spread of a system, what bands are multiplied
    with where readings are clean and where they are noisy, and the largest σ that is usual."""

    median: float
    tenth: float
    factors: tuple[float, float]
    usual: float

    def factor(self, level: float) -> float:
        """That of readings with noise of this level."""
        return self.factors[level >= NOISE / 2]


def patterns_of(values: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean (node, field) and patterns (node, field, r), whose amounts have variance 1."""
    mean = values.mean(axis=0, dtype=float)
    flat = (
        (values - mean.astype(values.dtype)).reshape(len(values), -1).astype(np.float32, copy=False)
    )
    _, ways = np.linalg.eigh((flat @ flat.T).astype(float) / len(flat))
    kept = ways[:, ::-1][:, :count] / len(flat) ** 0.5
    table = (flat.T @ kept.astype(np.float32)).reshape(*mean.shape, -1)
    return mean, table.astype(float)


def floor(table: Table) -> Float[np.ndarray, " c"]:
    """A small share of the spread of each field: there are places where all systems agree."""
    return SMALLEST * np.sqrt(np.sum(table**2, axis=(0, 2)) / len(table))


def spreads(table: Table, root, least) -> Float[np.ndarray, "m c"]:
    """σ of the fields, given a root of the covariance of the amounts."""
    return np.hypot(np.sqrt(np.sum((table @ root) ** 2, axis=-1)), least)


def conditioned(values, mean, table: Table, is_read) -> tuple[np.ndarray, np.ndarray, float]:
    """Amounts, a root of their covariance, and the most probable σ, in units of the readings' spread.

    >>> table = np.ones((3, 1, 1))
    >>> read = np.array([[2.0], [2.1], [1.9]])
    >>> amounts, root, level = conditioned(read, np.zeros((3, 1)), table, np.ones((3, 1), bool))
    >>> amounts.round(1).tolist(), root.shape
    ([2.0], (1, 1))
    """
    unit = np.array([_spread(values[row, c]) for c, row in enumerate(is_read.T)])
    rows = (table / unit[:, None])[is_read]  # k r
    misses = ((values - mean) / unit)[is_read]
    sizes, ways = np.linalg.eigh(rows.T @ rows)
    sizes = np.maximum(sizes, 0.0)
    told = ways.T @ (rows.T @ misses)
    variance = LEVELS[:, None] ** 2
    fits = np.sum(told**2 / (sizes + variance), axis=1)
    surprise = (misses @ misses - fits) / variance[:, 0]
    size = np.log1p(sizes / variance).sum(axis=1) + len(misses) * np.log(variance[:, 0])
    level = float(LEVELS[np.argmin(surprise + size)])
    inner = sizes + level**2
    return ways @ (told / inner), level * ways / np.sqrt(inner), level


def _spread(values: np.ndarray) -> float:
    size = float(np.std(values)) if values.size else 0.0
    return size if size > 0 else 1.0


# ------------------------------------------------------------------------------- held out


def kinds(coefficients: np.ndarray, stored: np.ndarray | None = None) -> np.ndarray:
    """To which of a few sets of coefficients a system belongs; -1 at the ends of a range. Where sets are
    not a few, to which fifth of the `stored` systems, or of all where each of them is a new one."""
    rows, kinds = np.unique(coefficients, axis=0, return_inverse=True)
    kinds = kinds.ravel()
    if not 3 <= len(rows) <= len(coefficients) // HELD:
        given = np.arange(len(coefficients)) if stored is None else stored
        return np.unique(given, return_inverse=True)[1].ravel() % FIFTHS
    is_end = ((rows == rows.min(axis=0)) | (rows == rows.max(axis=0))).any(axis=1)
    return np.where(is_end[kinds], -1, kinds)


def judged(values, kinds, count: int, is_read, sensors: int, instants: int) -> Judged:
    """Kind after kind is left out, and read by sensors that stand still."""
    scores = []
    draw = np.random.default_rng(0)
    for kind in sorted(set(kinds[kinds >= 0].tolist())):
        law = patterns_of(values[kinds != kind], count)
        for truth in values[kinds == kind][:HELD]:
            places = _standing(draw, len(truth) // instants, sensors, instants)
            scores.append([_score(draw, law, truth, places, is_read, n) for n in (0.0, NOISE)])
    errors = [clean[0] for clean, _ in scores]
    clean, noisy = (np.concatenate([pair[k][1] for pair in scores]) for k in (0, 1))
    return Judged(
        float(np.median(errors)), float(np.quantile(errors, 0.9)),
        (float(np.quantile(clean, LEVEL)), float(np.quantile(noisy, LEVEL))),
        float(np.quantile([noisy[2] for _, noisy in scores], RARE)),
    )  # fmt: skip


def _score(draw, law, truth, places, is_read, noise: float):
    """Relative error, errors in units of the stated spread at some nodes, and the σ found."""
    mean, table = law
    read = np.where(is_read, truth[places], np.nan)
    read = read + noise * truth.std(axis=0) * draw.normal(size=read.shape)
    amounts, root, level = conditioned(read, mean[places], table[places], np.isfinite(read))
    miss = mean + table @ amounts - truth
    some = draw.choice(len(truth), min(len(truth), 500), replace=False)
    spread = spreads(table[some], root, floor(table))
    size = np.linalg.norm(truth - truth.mean(axis=0))
    return np.linalg.norm(miss) / size, np.abs(miss[some] / spread).ravel(), level


def _standing(draw, places: int, sensors: int, instants: int) -> np.ndarray:
    """The nodes of sensors that stand still, at every instant."""
    chosen = draw.choice(places, min(sensors, places), replace=False)
    return (chosen[:, None] * instants + np.arange(instants)).ravel()
