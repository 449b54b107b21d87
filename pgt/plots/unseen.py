"""What a network that was trained over a family is worth on systems that it has not seen."""

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.observations import Observations
from pgt.plots import pieces
from pgt.plots.pieces import INK, PALETTE, SIZE

KINDS = {"clean": "clean readings", "noisy": "5 % noise"}


@checked
def unseen(
    errors: Mapping[str, Mapping[str, float]],
    systems: Sequence[tuple[xr.Dataset, xr.Dataset, Observations]] = (),
) -> Figure:
    """The error by number of readings; then a few systems, truth beside answer and what lies between.

    Parameters
    ----------
    errors
        Of a `Card`: by number of readings the median and the worst tenth, clean and with noise.
    systems
        Truth, answer and readings of each; of several fields the first is drawn.

    >>> row = {"clean_median": 0.01, "clean_tenth": 0.03, "noisy_median": 0.02, "noisy_tenth": 0.05}
    >>> unseen({"16": row, "64": row}).axes[0].get_xlabel()
    'readings'
    """
    if not errors:
        raise InputError("unseen(errors={}): there is no number of readings; give a card's errors.")
    wanted = [f"{kind}_{of}" for kind in KINDS for of in ("median", "tenth")]
    for number, row in errors.items():
        if not (number.isdecimal() and int(number) and {*wanted} <= {*row}):
            raise InputError(
                f"unseen(errors=...) has {number!r}: {row!r}; give a card's errors by number of readings."
            )
    figure = Figure(figsize=(8.1, 2.4 + 1.75 * len(systems)), layout="constrained")
    grid = figure.add_gridspec(1 + len(systems), 3, height_ratios=[1.4, *[1.0] * len(systems)])
    _by_number(figure.add_subplot(grid[0, :2]), errors)
    for index, (truth, answer, readings) in enumerate(systems):
        row = [figure.add_subplot(grid[index + 1, column]) for column in range(3)]
        name = str(next(iter(truth.data_vars)))
        panels = pieces.triple(truth[name], answer[name], pieces.middle(truth[name]))
        pieces.compare_row(figure, row, panels, pieces.Marks(readings), pieces.label(truth[name]))
        if index == 0:
            row[0].set_title("truth and readings", fontsize=SIZE, color=INK)
            row[1].set_title("answer", fontsize=SIZE, color=INK)
    return figure


def _by_number(axes: Axes, errors: Mapping[str, Mapping[str, float]]) -> None:
    pieces.styled(axes)
    counts = sorted(map(int, errors))
    ends = []
    for (kind, words), colour in zip(KINDS.items(), PALETTE, strict=False):
        median, tenth = (
            np.array([errors[str(n)][f"{kind}_{of}"] for n in counts]) for of in ("median", "tenth")
        )
        axes.loglog(counts, median, color=colour, linewidth=1.4, marker="o", markersize=3)
        axes.fill_between(counts, median, tenth, color=colour, alpha=0.15, linewidth=0)
        ends.append((float(np.log10(median[-1])), words, colour))
    axes.set(xlabel="readings", ylabel="relative error: median to worst tenth", xticks=counts)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.6)
    low, high = np.log10(axes.get_ylim())
    pieces.name_ends(axes, [((y - low) / (high - low), name, c) for y, name, c in ends])
