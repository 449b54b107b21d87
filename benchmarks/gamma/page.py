"""Write the tables of docs/paper.md from the records of the study.

    python benchmarks/gamma/page.py                       # from benchmarks/results/gamma

What has no record has no row. Numbers only: what follows from them is written by hand.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "gamma", ROOT / "docs" / "paper.md"
BEGIN, END = "<!-- {}:begin -->", "<!-- {}:end -->"

FAMILIES = {"heat": "heat", "advection_diffusion": "advection–diffusion", "wave": "waves"}
SYSTEMS = {"few": "32 systems", "many": "new systems"}
COLUMN = "inside, 64, 0"  # coefficients as in training, 64 readings without noise
# The rows of the table of errors: the name shown; network, Γ and its place in the records.
ROWS = {
    "PGT, no Γ": ("answerer", "none", "both"),
    "PGT, Γ as in the paper": ("answerer", "equation", "encoder"),
    "PGT, Γ causal, in both places": ("answerer", "equation", "both"),
    "**PGT, Γ symmetric, in both places**": ("answerer", "symmetric", "both"),
    "hypernetwork, no Γ": ("writer", "none", "encoder"),
    "hypernetwork, Γ symmetric": ("writer", "symmetric", "encoder"),
    "FNO": ("fno", "none", "both"),
    "Perceiver": ("perceiver", "none", "both"),
    "DeepONet": ("deeponet", "none", "both"),
    "Gaussian process": ("gp", "none", "both"),
}


class Records:
    """All records of a folder, by what was trained."""

    def __init__(self, folder: Path):
        loaded = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
        keys = ("systems", "network", "guide", "place", "family")
        self.all = {tuple(r[k] for k in keys): r for r in loaded if "network" in r}

    def errors(self, systems: str, row: tuple[str, str, str], family: str) -> np.ndarray | None:
        """The median relative error of each seed."""
        if row[0] == "gp":  # learns from no system
            systems = "closed" if ("closed", *row, family) in self.all else "many"
        found = self.all.get((systems, *row, family))
        return None if found is None else np.array(found["errors"][COLUMN]["median"])


def error_table(records: Records) -> str:
    """Errors in percent: mean over seeds and range."""
    columns = list(product(FAMILIES, SYSTEMS))
    heads = ["", *(f"{FAMILIES[family]}, {SYSTEMS[systems]}" for family, systems in columns)]
    rows = [
        [name, *(_percent(records.errors(systems, row, family)) for family, systems in columns)]
        for name, row in ROWS.items()
    ]
    return _table(heads, rows)


def _percent(errors: np.ndarray | None) -> str:
    if errors is None:
        return "–"
    shown = (100 * np.array([errors.min(), errors.mean(), errors.max()])).tolist()
    low, middle, high = (f"{e:.2g}" if e < 10 else f"{e:.0f}" for e in shown)
    return middle if low == high else f"{middle} ({low}–{high})"


def ratio_table(records: Records) -> str:
    """Error with Γ over that without, seed by seed: geometric mean and range."""
    columns = list(product(FAMILIES, SYSTEMS))
    rows = []
    for name, row in ROWS.items():
        if row[1] == "none":
            continue
        without = (row[0], "none", "encoder" if row[0] == "writer" else "both")
        cells = [
            _ratio(records.errors(systems, row, family), records.errors(systems, without, family))
            for family, systems in columns
        ]
        rows.append([name, *cells])
    heads = ["", *(f"{FAMILIES[family]}, {SYSTEMS[systems]}" for family, systems in columns)]
    return _table(heads, rows)


def _ratio(own: np.ndarray | None, without: np.ndarray | None) -> str:
    if own is None or without is None:
        return "–"
    found = own / without
    return f"{np.exp(np.log(found).mean()):.2f} ({found.min():.2f}–{found.max():.2f})"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def measured(records: Records) -> str:
    """On what, from which commit, how long."""
    found = [r for r in records.all.values() if "steps" in r]
    where = sorted({f"{r['device']}, commit `{r['commit']}`" for r in found})
    how = sorted({(r["steps"], r["batch"], len(r["seeds"]), r["test"]) for r in found})
    said = ["{} steps of {} systems, {} seeds, {} systems in the test.".format(*h) for h in how]
    return " ".join([f"{'; '.join(where)}.", *said])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    records = Records(parser.parse_args().results)
    text = PAGE.read_text(encoding="utf-8")
    for name, make in ("errors", error_table), ("ratios", ratio_table), ("measured", measured):
        begin, end = BEGIN.format(name), END.format(name)
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{make(records)}\n\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
