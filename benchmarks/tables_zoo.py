"""The zoo: what all defaults are worth on its problems, in one row for each machine."""

from pathlib import Path

import numpy as np
from table_text import device_of

from pgt_bench.zoo.methods import OURS, RIVALS
from pgt_bench.zoo.summary import Found

MACHINES = {"gpu": "an H200, 60 s each", "cpu": "two cores, 120 s each"}
OPTIONAL = "jinns"  # the rival that has not run everywhere
# The kinds of answer of the default, by the model that its records name.
KINDS = {"sum of sines": ("Features",), "network": ("PINN", "SIREN", "PGT")}
MIXED = (
    "A row with several commits of ours is put together from runs at each of them: no one version of "
    "the code has that score."
)


def stored_zoos(folder: Path) -> dict[str, Found]:
    """By machine, where there are records of the default with an error that it states."""
    found = {machine: Found.read(folder / machine) for machine in MACHINES}
    return {machine: part for machine, part in found.items() if part.pairs()}


def problems_of(found: Found) -> int:
    """On how many problems the default has run."""
    return len({record["run"]["problem"] for record in _ours(found)})


def answered_by(found: Found) -> str:
    """By how many fields each kind of model has answered, the most frequent first."""
    counts = {
        kind: sum(record.get("model") in models for record in _ours(found))
        for kind, models in KINDS.items()
    }
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{kind} on {count}" for kind, count in ordered if count)


def ahead(found: Found) -> str:
    """On how many problems ours is better than the best rival."""
    ratios = _ratios(found)
    return f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)}"


def stated_well(found: Found) -> str:
    """On how many the stated error is within a factor two of the true one."""
    stated = _stated(found)
    return f"{((stated > 0.5) & (stated < 2)).sum()} of {len(stated)}"


def rivals_of(found: Found) -> str:
    """Who ours is compared with: how often the optional one ran, and where on another device."""
    ran = [r for r in found.records if r["run"]["method"] == OPTIONAL]
    home = {device_of(record) for record in _ours(found)}
    away = [device_of(record) for record in ran if device_of(record) not in home]
    other = f", {len(away)} of them on an {away[0]}" if away else ""
    return f"the best of RBF, a Gaussian process and {OPTIONAL} ({OPTIONAL} on {len(ran)}{other})"


def commits_of(found: Found) -> str:
    """Of the default first, then those of the rivals."""
    ours = _commits(_ours(found))
    rivals = _commits([r for r in found.records if r["run"]["method"] in RIVALS])
    one = "ours" if len(ours) == 1 else f"ours, {len(ours)} commits"
    parts = [f"{one}: {_listed(ours)}", f"rivals: {_listed(rivals)}" if rivals else ""]
    return "; ".join(filter(None, parts))


def is_mixed(found: Found) -> bool:
    """Are the runs of the default of more than one commit?"""
    return len(_commits(_ours(found))) > 1


def _ours(found: Found) -> list[dict]:
    return [r for r in found.records if r["run"]["method"] == OURS]


def _commits(records: list[dict]) -> list[str]:
    return sorted({str(record["commit"]) for record in records if record.get("commit")})


def _listed(commits: list[str]) -> str:
    return ", ".join(f"`{commit}`" for commit in commits)


def _ratios(found: Found) -> list[float]:
    return [ratio for problem in found.problems if (ratio := found.ratio(problem)) is not None]


def _stated(found: Found) -> np.ndarray:
    return np.array([said / true for _, said, true in found.pairs()])
