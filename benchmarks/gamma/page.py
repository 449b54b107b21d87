"""Write the tables and figures of docs/gamma.md from the records of the study.

    python benchmarks/gamma/page.py                       # from benchmarks/results/gamma

What has no record has no row. Numbers only: what follows from them is written by hand.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator, StrMethodFormatter

from pgt.plots import pieces
from pgt.plots.pieces import INK, PALETTE, SIZE

ROOT = Path(__file__).parents[2]
RESULTS, PAGE, FIGURES = (
    ROOT / "benchmarks" / "results" / "gamma", ROOT / "docs" / "gamma.md", ROOT / "docs" / "figures",
)  # fmt: skip
BEGIN, END = "<!-- {}:begin -->", "<!-- {}:end -->"

FAMILIES = {"heat": "heat", "advection_diffusion": "advection–diffusion", "wave": "waves"}
GUIDES = {
    "none": "none", "spreading": "spreading only", "equation": "of the equation",
    "equation, learnt": "of the equation, learnt strength", "symmetric": "symmetric in time",
    "symmetric, learnt": "symmetric in time, learnt strength",
}  # fmt: skip
NETWORKS = {
    "writer": "writer", "answerer": "answerer", "perceiver": "Perceiver", "fno": "FNO",
    "deeponet": "DeepONet", "gp": "Gaussian process", "floor": "floor: the family's own law",
}  # fmt: skip
PLACES = {"encoder": "encoder", "query": "query", "both": "encoder and query"}
COUNTS = (16, 64, 256)
COLUMNS = {
    "16": "inside, 16, 0", "64": "inside, 64, 0", "256": "inside, 256, 0",
    "64, 5 % noise": "inside, 64, 0.05", "64, outside": "outside, 64, 0",
}  # fmt: skip
BLUE, ORANGE, GREEN, PINK, AMBER, SKY, GREY, OLIVE = PALETTE
COLOURS = {
    "spreading": GREY, "equation": BLUE, "equation, learnt": SKY, "symmetric": ORANGE,
    "symmetric, learnt": AMBER, "writer": BLUE, "answerer": ORANGE, "perceiver": GREEN,
    "fno": AMBER, "deeponet": PINK, "gp": GREY, "floor": INK,
}  # fmt: skip
GRID = {"color": "#E6E6E6", "linewidth": 0.6}


class Records:
    """All records of a folder, by what was trained."""

    def __init__(self, folder: Path):
        loaded = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
        self.all = {tuple(r[k] for k in KEYS): r for r in loaded if "network" in r}
        self.cold = [r for r in loaded if "network" not in r]  # fits that start from nothing

    def errors(self, key: tuple[str, ...], column: str, of: str = "median") -> np.ndarray | None:
        """One number for each seed."""
        found = self._found(key)
        return None if found is None else np.array(found["errors"][column][of])

    def _found(self, key: tuple[str, ...]) -> dict | None:
        """Without Γ it has no place; spreading is what the heat equation does."""
        systems, network, guide, place, family = key
        if (family, guide) == ("heat", "spreading"):
            guide = "equation"
        if guide == "none":
            place = "encoder" if network == "writer" else "both"
        return self.all.get((systems, network, guide, place, family))


SHOWN = "symmetric"  # the Γ in the figure of rivals
KEYS = ("systems", "network", "guide", "place", "family")


# --------------------------------------------------------------------------------- tables


def ratio_table(records: Records, systems: str, column: str) -> str:
    """Error with Γ over that without, seed by seed: geometric mean and range."""
    rows = []
    for network, place, guide in _guided():
        cells = [
            _ratio(records, (systems, network, guide, place, family), column) for family in FAMILIES
        ]
        if any(cell != "–" for cell in cells):
            rows.append([NETWORKS[network], PLACES[place], GUIDES[guide], *cells])
    return _table(["network", "Γ in", "Γ", *FAMILIES.values()], rows)


def _guided() -> list[tuple[str, str, str]]:
    guides = [g for g in GUIDES if g != "none"]
    places = [("writer", "encoder"), *(("answerer", p) for p in ("both", "encoder", "query"))]
    return [(network, place, guide) for (network, place), guide in product(places, guides)]


def ratios(records: Records, key: tuple[str, ...], column: str) -> np.ndarray | None:
    systems, network, _, place, family = key
    own = records.errors(key, column)
    without = records.errors((systems, network, "none", place, family), column)
    return None if own is None or without is None else own / without


def _ratio(records: Records, key: tuple[str, ...], column: str) -> str:
    if key[2] == "spreading" and key[-1] == "heat":
        return "–"
    found = ratios(records, key, column)
    if found is None:
        return "–"
    middle = f"{np.exp(np.log(found).mean()):.2f}"
    # Bold where all seeds agree that it helps or harms by more than rounding.
    clear = found.max() < 0.99 or found.min() > 1.01
    shown = f"**{middle}**" if clear else middle
    return f"{shown} ({found.min():.2f}–{found.max():.2f})"


def error_table(records: Records, systems: str, family: str) -> str:
    """Median errors of all networks of one family: mean over seeds and range."""
    rows = []
    for network, place, guide in _everything():
        key = (systems, network, guide, place, family)
        if key not in records.all:
            continue
        found = [records.errors(key, column) for column in COLUMNS.values()]
        worst = records.errors(key, COLUMNS["64"], "tenth")
        assert worst is not None
        gamma = "" if guide == "none" else f"{GUIDES[guide]} ({PLACES[place]})"
        rows.append([NETWORKS[network], gamma, *(_percent(e) for e in found), _percent(worst)])
    heads = ["network", "Γ", *COLUMNS, "64, worst tenth"]
    return _table(heads, rows)


def _everything() -> list[tuple[str, str, str]]:
    unguided = [(name, "both", "none") for name in NETWORKS if name not in ("writer", "answerer")]
    first = [("writer", "encoder", "none")] + [g for g in _guided() if g[0] == "writer"]
    second = [("answerer", "both", "none")] + [g for g in _guided() if g[0] == "answerer"]
    return first + second + unguided


def _percent(errors: np.ndarray | None) -> str:
    if errors is None:
        return "–"
    low, middle, high = (f"{100 * e:.2g}" for e in (errors.min(), errors.mean(), errors.max()))
    return middle if low == high else f"{middle} ({low}–{high})"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# -------------------------------------------------------------------------------- figures


def ratio_figure(records: Records, systems: str) -> Figure:
    """Error with Γ over that without by number of readings; below 1 it helps."""
    figure = Figure(figsize=(7.4, 4.8), layout="constrained")
    table = figure.subplots(2, len(FAMILIES), sharex=True, sharey="row")
    shown = [guide for guide in GUIDES if guide != "none"]
    for row, (network, place) in zip(
        table, (("writer", "encoder"), ("answerer", "both")), strict=True
    ):
        for axes, family in zip(row, FAMILIES, strict=True):
            pieces.styled(axes).axhline(1.0, color=INK, linewidth=0.8)
            for shift, guide in enumerate(shown):
                if (family, guide) != ("heat", "spreading"):
                    key = (systems, network, guide, place, family)
                    _dodged(axes, records, key, 1.07 ** (shift - 2))
            _axes_of_counts(axes, f"{NETWORKS[network]}, {FAMILIES[family]}")
    figure.supylabel("error / error without Γ", fontsize=SIZE, color=INK)
    handles = {}
    for axes in table.flat:
        handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    _legend(figure, handles, 3)
    return figure


def _dodged(axes, records: Records, key: tuple[str, ...], shift: float) -> None:
    found = [(n, ratios(records, key, f"inside, {n}, 0")) for n in COUNTS]
    pairs = [(n, r) for n, r in found if r is not None]
    colour = COLOURS[key[2]]
    for count, values in pairs:
        axes.plot(np.full(len(values), count * shift), values, "o", color=colour, ms=2.2, alpha=0.5)
    means = [np.exp(np.log(values).mean()) for _, values in pairs]
    if pairs:
        axes.plot([n * shift for n, _ in pairs], means, color=colour, lw=1.2, label=GUIDES[key[2]])


def rival_figure(records: Records) -> Figure:
    """Errors by number of readings, coefficients inside and outside: networks without Γ and with one."""
    figure = Figure(figsize=(7.4, 5.0), layout="constrained")
    table = figure.subplots(2, len(FAMILIES), sharex=True, sharey=True)
    handles = {}
    for row, where in zip(table, ("inside", "outside"), strict=True):
        for axes, family in zip(row, FAMILIES, strict=True):
            pieces.styled(axes)
            for network in NETWORKS:
                place = "encoder" if network == "writer" else "both"
                for guide, style, more in (
                    ("none", "-", ""),
                    (SHOWN, "--", f", Γ {GUIDES[SHOWN]}"),
                ):
                    key = ("many", network, guide, place, family)
                    _line(axes, records, key, where, style, f"{NETWORKS[network]}{more}")
            _axes_of_counts(axes, f"{FAMILIES[family]}, {where}")
            axes.yaxis.set_minor_formatter(NullFormatter())
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
            axes.set_ylim(1e-3, 1.2)
    figure.supylabel("relative error, clean readings", fontsize=SIZE, color=INK)
    _legend(figure, handles, 3)
    return figure


def _line(axes, records: Records, key, where: str, style: str, name: str) -> None:
    found = [records.errors(key, f"{where}, {n}, 0") for n in COUNTS]
    if any(e is None for e in found):
        return
    errors, colour = np.array(found), COLOURS[key[1]]
    low, middle, high = (f(errors, axis=1) for f in (np.nanmin, np.nanmean, np.nanmax))
    axes.plot(COUNTS, middle, style, color=colour, lw=1.2, label=name)
    axes.fill_between(COUNTS, low, high, color=colour, alpha=0.15, lw=0)


def _axes_of_counts(axes, title: str) -> None:
    axes.set_title(title, fontsize=SIZE, color=INK)
    axes.set(xscale="log", yscale="log", xticks=COUNTS)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    for formatted in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        formatted(StrMethodFormatter("{x:g}"))
    axes.tick_params(axis="y", which="minor", labelsize=SIZE - 2, labelcolor=INK)
    axes.grid(axis="y", **GRID)
    if axes.get_subplotspec().is_last_row():
        axes.set_xlabel("readings")


def _legend(figure: Figure, handles: dict, columns: int) -> None:
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns, frameon=False,
        fontsize=SIZE, labelcolor=INK,
    )  # fmt: skip


# ----------------------------------------------------------------------------------- page


def measured(records: Records) -> str:
    """On what, from which commit, how long."""
    trained = [r for r in records.all.values() if "steps" in r]
    rest = [r for r in records.all.values() if "steps" not in r]
    lines = []
    for kind, found in (("Networks", trained), ("Closed forms", rest)):
        where = sorted({f"{r['device']}, commit `{r['commit']}`" for r in found})
        if where:
            lines.append(f"{kind}: {'; '.join(where)}.")
    for steps in sorted({(r["steps"], r["batch"], len(r["seeds"]), r["test"]) for r in trained}):
        lines.append("{} steps of {} systems, {} seeds, {} systems in the test.".format(*steps))
    return " ".join(lines)


def cold_table(records: Records) -> str:
    """Fits from nothing: every system an entry."""
    rows = [
        [
            FAMILIES[r["family"]], ", ".join(f"{100 * e:.2g}" for e in r["errors"]),
            ", ".join(f"{s:.0f}" for s in r["seconds"]), f"{r['device']}, commit `{r['commit']}`",
        ]
        for r in records.cold
    ]  # fmt: skip
    return _table(
        ["family", "errors in %", "seconds of a processor, with compiling", "measured on"], rows
    )


def write(page: Path, records: Records) -> None:
    parts = {
        "clean": ratio_table(records, "many", COLUMNS["64"]),
        "sparse": ratio_table(records, "many", COLUMNS["16"]),
        "noise": ratio_table(records, "many", COLUMNS["64, 5 % noise"]),
        "outside": ratio_table(records, "many", COLUMNS["64, outside"]),
        "few": ratio_table(records, "few", COLUMNS["64"]),
        "measured": measured(records),
        "cold": cold_table(records),
    }
    for systems, family in product(("many", "few"), FAMILIES):
        parts[f"{systems}-{family}"] = error_table(records, systems, family)
    text = page.read_text()
    for name, part in parts.items():
        begin, end = BEGIN.format(name), END.format(name)
        if begin in text:
            before, rest = text.split(begin)
            text = f"{before}{begin}\n\n{part}\n\n{end}{rest.split(end)[1]}"
    page.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    records = Records(parser.parse_args().results)
    write(PAGE, records)
    for name, figure in (
        ("gamma-many", ratio_figure(records, "many")),
        ("gamma-rivals", rival_figure(records)),
    ):
        figure.savefig(FIGURES / f"{name}.png", dpi=160)


if __name__ == "__main__":
    main()
