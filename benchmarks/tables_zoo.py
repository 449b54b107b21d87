"""The zoo: what all defaults are worth on 60 problems, in one row for each machine."""

from pathlib import Path

import numpy as np
from table_text import as_row, as_table

from pgt.bench.zoo.methods import OURS
from pgt.bench.zoo.summary import Found, geometric_mean

MACHINES = {"gpu": "an H200, 60 s each", "cpu": "two cores, 120 s each"}


def zoo_table(folder: Path) -> str | None:
    """From the folders of records; None where there are none."""
    found = {machine: Found.read(folder / machine) for machine in MACHINES}
    rows = [zoo_row(MACHINES[name], part) for name, part in found.items() if part.pairs()]
    return as_table(
        "The zoo, 60 problems of all kinds, nothing set but the seconds: ours against the best of "
        "RBF, a Gaussian process and, where it has records, jinns; and the error that is stated for a "
        "field against its true one:",
        "| on | ahead of the best rival | ours / best rival, geometric mean (worst) | stated error "
        "within a factor 2 | at worst too small / too large by | commits |",
        rows,
    )


def zoo_row(name: str, found: Found) -> str:
    ratios, stated = _ratios(found), _stated(found)
    return as_row(
        name,
        ahead(found),
        f"{geometric_mean(ratios):.2g} ({max(ratios):.2g})",
        stated_well(found),
        f"{1 / stated.min():.2g} / {stated.max():.2g}",
        commits_of(found),
    )


def ahead(found: Found) -> str:
    """On how many problems ours is better than the best rival."""
    ratios = _ratios(found)
    return f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"


def stated_well(found: Found) -> str:
    """On how many the stated error is within a factor two of the true one."""
    stated = _stated(found)
    return f"{((stated > 0.5) & (stated < 2)).sum()} of {len(stated)}"


def commits_of(found: Found) -> str:
    commits = {r["commit"] for r in found.records if r["run"]["method"] == OURS}
    return ", ".join(f"`{commit}`" for commit in sorted(commits))


def _ratios(found: Found) -> list[float]:
    return [ratio for problem in found.problems if (ratio := found.ratio(problem)) is not None]


def _stated(found: Found) -> np.ndarray:
    return np.array([said / true for _, said, true in found.pairs()])
