"""Pictures of the zoo: who is near the best how often, and whether stated errors are true."""

import numpy as np
from matplotlib.figure import Figure

from pgt.plots import pieces
from pgt.plots.pieces import INK, PALETTE, SIZE
from pgt_bench.figures import GRID
from pgt_bench.zoo.catalogue import ALL
from pgt_bench.zoo.methods import METHODS
from pgt_bench.zoo.summary import LABELS, Found

FARTHEST = 1e4  # times the best: beyond this, how far no longer matters


def profile(found: Found) -> Figure | None:
    """The share of problems on which a method is within a factor of the best of all methods, among those
    that it was run on."""
    errors = {
        name: {method: found.error(name, method) for method in found.methods}
        for name in found.problems
    }
    best = {
        name: min((e for e in row.values() if e is not None), default=None)
        for name, row in errors.items()
    }
    judged = [name for name, smallest in best.items() if smallest is not None]
    if len(found.methods) < 2 or not judged:
        return None
    figure = Figure(figsize=(5.2, 3.0), layout="constrained")
    axes = pieces.styled(figure.subplots())
    for index, method in enumerate(found.methods):
        ran = [name for name in judged if found.of(name, method)]
        if not ran:
            continue
        factors = [_over(errors[name][method], best[name]) for name in ran]
        axes.step(*_steps(np.array(factors)), where="post", lw=1.5,
                  color=PALETTE[index % len(PALETTE)], label=METHODS[method].label)  # fmt: skip
    axes.set(xscale="log", xlim=(1, FARTHEST), ylim=(0, 1.02),
             xlabel="within this factor of the smallest error", ylabel="share of problems")  # fmt: skip
    axes.grid(**GRID)
    axes.legend(
        loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=SIZE, labelcolor=INK
    )
    return figure


def _over(error: float | None, best: float | None) -> float:
    """How many times the best; infinite for a method that failed."""
    return np.inf if error is None or best is None else error / best


def _steps(factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factors from 1 up, and the share of problems within each."""
    within = np.sort(factors[factors <= FARTHEST])
    at = np.concatenate([[1.0], within, [FARTHEST]])
    return at, np.array([np.mean(factors <= factor) for factor in at])


def stated_and_true(found: Found) -> Figure | None:
    """A point for every run of the default; the band is a factor of 2 to both sides."""
    pairs = found.pairs()
    if not pairs:
        return None
    figure = Figure(figsize=(4.0, 3.6), layout="constrained")
    axes = pieces.styled(figure.subplots())
    values = np.array([value for _, *two in pairs for value in two])
    ends = np.array([values.min() / 3, values.max() * 3])
    axes.plot(ends, ends, color=INK, lw=0.8)
    axes.fill_between(ends, ends / 2, ends * 2, color=GRID["color"], lw=0)
    for (group, label), colour in zip(LABELS.items(), PALETTE, strict=False):
        chosen = [pair for pair in pairs if ALL[pair[0]["run"]["problem"]].group == group]
        if chosen:
            axes.errorbar(
                [said for _, said, _ in chosen], [true for *_, true in chosen],
                xerr=np.array([_reach(record) for record, *_ in chosen]).T,
                fmt="o", ms=3.5, elinewidth=0.7, color=colour, label=label,
            )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends,
             xlabel="stated error of the field", ylabel="true error")  # fmt: skip
    axes.legend(frameon=False, fontsize=SIZE, labelcolor=INK)
    return figure


def _reach(record: dict) -> tuple[float, float]:
    """From the stated value to the ends of its interval, where there is one."""
    said = record["stated"]
    low, high = said.get("low"), said.get("high")
    value = said["value"]
    return (max(value - low, 0.0) if low else 0.0, max(high - value, 0.0) if high else 0.0)


FIGURES = {
    "profile": profile,
    "stated": stated_and_true,
}
