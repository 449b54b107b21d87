"""Figures that compare many runs, and the colours all figures share."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, StrMethodFormatter

from pgt.bench import paper
from pgt.bench.columns import VOLUME, velocity_error
from pgt.bench.experiments import GAMMA, NOISE, Run
from pgt.bench.methods import METHODS
from pgt.bench.records import Pick, Records, value
from pgt.plots import pieces
from pgt.plots.pieces import INK, PALETTE, SIZE

BLUE, ORANGE, GREEN, PINK, AMBER, SKY, GREY, OLIVE = PALETTE
COLOURS = {
    "pgt": BLUE, "pgt-anchors": SKY, "pgt-uw": PINK, "pinn": ORANGE, "siren": GREEN,
    "siren-pde": GREEN, "wire": PINK, "wire-pde": PINK, "fno": AMBER, "deeponet": GREY,
    "pinnsformer": OLIVE, "gamma-none": INK, "gamma-heat": BLUE, "gamma-learnable": SKY,
    "gamma-drift": GREEN, "gamma-both-ways": ORANGE,
}  # fmt: skip
GRID = {"color": "#E6E6E6", "linewidth": 0.6}


def noise_curves(records: Records) -> Figure | None:
    """Error and residual against noise; the paper's curves dashed."""
    runs = records.runs("noise")
    figure = Figure(figsize=(7.0, 2.6), layout="constrained")
    drawn = 0
    for axes, (what, pick, name) in zip(
        figure.subplots(1, 2),
        (("mean rel. $L^2$ of u and v", velocity_error, "error"), ("residual", "residual", "residual")),
        strict=True,
    ):  # fmt: skip
        for method in NOISE:
            colour, label = COLOURS[method], METHODS[method].label.split(",")[0]
            drawn += _spread(
                axes, records, [r for r in runs if r.method == method], pick, colour, label
            )
            theirs = {level: row[name] for (m, level), row in paper.NOISE.items() if m == method}
            axes.plot([*theirs], [*theirs.values()], "--o", color=colour, lw=1.0, ms=2.5, alpha=0.6,
                      label=f"{label}, paper")  # fmt: skip
        pieces.styled(axes).set(yscale="log", xlabel="noise η", ylabel=what)
        axes.grid(axis="y", **GRID)
    figure.axes[1].legend(
        loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=SIZE, labelcolor=INK
    )
    return figure if drawn else None


def _spread(
    axes: Axes, records: Records, runs: Sequence[Run], pick, colour: str, label: str
) -> int:
    """Means over the seeds, with bars from the smallest to the largest; how many were drawn."""
    found = {run.problem.noise: _values(records.of(run), pick) for run in runs}
    found = {level: values for level, values in found.items() if len(values)}
    mean = np.array([values.mean() for values in found.values()])
    low = mean - np.array([values.min() for values in found.values()])
    high = np.array([values.max() for values in found.values()]) - mean
    if found:
        axes.errorbar([*found], mean, np.stack([low, high]), fmt="-o", color=colour, lw=1.4, ms=3.5,
                      elinewidth=0.8, label=label)  # fmt: skip
    return len(found)


def _values(found: Sequence[dict], pick: Pick) -> np.ndarray:
    values = (value(record, pick) for record in found)
    return np.array([v for v in values if v is not None], float)


def gamma_ratios(records: Records) -> Figure | None:
    """The error with each kernel over the error without, seed by seed: below 1 the kernel helps."""
    runs = records.runs("gamma")
    at = {(r.problem.kind, r.problem.noise, r.method, r.problem.readings): r for r in runs}
    counts = sorted({run.problem.readings for run in runs})
    levels = sorted({run.problem.noise for run in runs})
    figure = Figure(figsize=(7.4, 4.4), layout="constrained")
    table = figure.subplots(2, len(levels), squeeze=False, sharex=True, sharey=True)
    drawn = 0
    for axes_row, kind in zip(table, ("wake", "heat"), strict=True):
        for axes, level in zip(axes_row, levels, strict=True):
            pieces.styled(axes).axhline(1.0, color=INK, linewidth=0.8)
            for place, method in enumerate(GAMMA[1:]):
                pairs = [
                    (n, _ratios(records, at[kind, level, method, n], at[kind, level, GAMMA[0], n]))
                    for n in counts
                    if (kind, level, method, n) in at
                ]
                drawn += _dodged(axes, pairs, method, 1.06 ** (place - 1.5))
            noise = f"{100 * level:g} % noise" if level else "clean"
            axes.set_title(f"{kind}, {noise}", fontsize=SIZE, color=INK)
            axes.set(xscale="log", yscale="log", xticks=counts)
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
            axes.xaxis.set_minor_locator(NullLocator())
            for formatted in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
                formatted(StrMethodFormatter("{x:g}"))
            axes.tick_params(axis="y", which="minor", labelsize=SIZE - 1, labelcolor=INK)
            axes.grid(axis="y", **GRID)
    for axes in table[-1]:
        axes.set_xlabel("readings")
    figure.supylabel("error / error without Γ", fontsize=SIZE, color=INK)
    handles, labels = table[0, 0].get_legend_handles_labels()
    if not drawn:
        return None
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False,
                  fontsize=SIZE, labelcolor=INK)  # fmt: skip
    return figure


def _ratios(records: Records, run: Run, without: Run) -> np.ndarray:
    """Both runs of a seed see the same readings, so they are compared with each other."""
    plain = {r["run"]["seed"]: value(r, VOLUME) for r in records.of(without)}
    pairs = [(value(r, VOLUME), plain.get(r["run"]["seed"])) for r in records.of(run)]
    return np.array([ours / other for ours, other in pairs if ours and other], float)


def _dodged(axes: Axes, pairs: Sequence[tuple[int, np.ndarray]], method: str, shift: float) -> int:
    """Every seed as a dot, their geometric means joined; moved sideways so that none is hidden."""
    pairs = [(count, ratios) for count, ratios in pairs if len(ratios)]
    colour = COLOURS[method]
    for count, ratios in pairs:
        axes.plot(np.full(len(ratios), count * shift), ratios, "o", color=colour, ms=2.5, alpha=0.5)
    means = [np.exp(np.log(ratios).mean()) for _, ratios in pairs]
    axes.plot([count * shift for count, _ in pairs], means, color=colour, linewidth=1.2,
              label=METHODS[method].label)  # fmt: skip
    return len(pairs)
