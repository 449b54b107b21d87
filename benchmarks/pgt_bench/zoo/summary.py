"""What stored records say together: errors by problem, ours against rivals, stated against true."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pgt_bench.stored import read_record
from pgt_bench.tables import table
from pgt_bench.zoo.catalogue import ALL
from pgt_bench.zoo.methods import BANDS, METHODS, OURS, RIVALS
from pgt_bench.zoo.problem import HELD_BACK, LATER, TUNED

LABELS = {TUNED: "tuned on", HELD_BACK: "held back", LATER: "added later"}
ANSWERED = {"Features": "sum of sines", "PINN": "tanh network"}


@dataclass(frozen=True)
class Found:
    """The records in a folder, in the order of the catalogue."""

    records: tuple[dict, ...]

    @staticmethod
    def read(folder: Path) -> "Found":
        return Found(tuple(read_record(path) for path in sorted(folder.glob("*.json"))))

    def of(self, problem: str, method: str) -> list[dict]:
        wanted = (problem, method)
        return [r for r in self.records if (r["run"]["problem"], r["run"]["method"]) == wanted]

    def error(self, problem: str, method: str) -> float | None:
        """The geometric mean over the seeds; None where one of them failed, or none ran."""
        found = [r.get("errors", {}).get("measured") for r in self.of(problem, method)]
        return geometric_mean(found)

    def hidden(self, problem: str, method: str) -> dict[str, float | None]:
        """The same of the fields that nobody read."""
        found = [r.get("errors", {}).get("hidden", {}) for r in self.of(problem, method)]
        return {
            name: geometric_mean([one.get(name) for one in found])
            for name in ALL[problem].readings.hidden
        }

    @property
    def problems(self) -> list[str]:
        present = {record["run"]["problem"] for record in self.records}
        return [name for name in ALL if name in present]

    @property
    def ran(self) -> list[str]:
        """The methods that have records."""
        present = {record["run"]["method"] for record in self.records}
        return [name for name in METHODS if name in present]

    @property
    def methods(self) -> list[str]:
        """Those of them that are set beside each other."""
        return [name for name in self.ran if METHODS[name].competes]

    def coverage(self) -> dict[str, list[float]]:
        """By problem, the share of each field that the bands of a run hold, of all its runs."""
        shares: dict[str, list[float]] = {}
        for record in self.records:
            if record["run"]["method"] == BANDS and record.get("coverage"):
                own = shares.setdefault(record["run"]["problem"], [])
                own += record["coverage"].values()
        return shares

    def ratio(self, problem: str) -> float | None:
        """The error of the default over that of the best rival."""
        ours = self.error(problem, OURS)
        theirs = [e for e in (self.error(problem, name) for name in RIVALS) if e is not None]
        return ours / min(theirs) if ours is not None and theirs else None

    def pairs(self) -> list[tuple[dict, float, float]]:
        """Every record of the default with the error it states and the true one."""
        ours = [r for r in self.records if r["run"]["method"] == OURS and r.get("stated")]
        return [
            (r, r["stated"]["value"], r["errors"]["measured"])
            for r in ours
            if r["stated"]["value"] and r["errors"]["measured"]
        ]


def geometric_mean(values: Sequence[float | None]) -> float | None:
    """None where a value is missing, or there is none."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return float(np.exp(np.mean(np.log(np.maximum(known, 1e-300)))))


# ------------------------------------------------------------------------------- words


def summary(found: Found) -> str:
    """All of it as Markdown: every problem, then the score."""
    if not found.records:
        return "No runs are stored yet; `pgt bench zoo` makes them."
    return f"{errors_table(found)}\n\n{score(found)}"


def score(found: Found) -> str:
    """What the problems say together, by group, and where it was measured."""
    parts = [f"{LABELS[group].capitalize()}: {line}" for group, line in _against_rivals(found)]
    return "\n\n".join([*parts, *_stated(found), _measured(found)])


def errors_table(found: Found) -> str:
    """A row for every problem; the smallest error of a row is bold, hidden fields are in brackets."""
    head = ["problem", "group", *found.methods, "ours / best rival", "ours answered by"]
    rows = []
    for name in found.problems:
        errors = {method: found.error(name, method) for method in found.methods}
        best = min((e for e in errors.values() if e is not None), default=math.nan)
        ratio = found.ratio(name)
        group = LABELS[ALL[name].group]
        cells = [_cell(found, name, method, error, best) for method, error in errors.items()]
        shown = "" if ratio is None else f"{ratio:.2g}"
        rows.append([name, group, *cells, shown, _answered(found, name)])
    return table(head, rows)


def _answered(found: Found, problem: str) -> str:
    """The models of the default's runs, and the commits they were measured at."""
    ours = found.of(problem, OURS)
    named = dict.fromkeys(str(record["model"]) for record in ours if record.get("model"))
    return ", ".join([*(ANSWERED.get(name, name) for name in named), *_commits(ours)])


def _cell(found: Found, problem: str, method: str, error: float | None, best: float) -> str:
    if error is None:
        return "failed" if found.of(problem, method) else "–"
    said = f"**{error:.1e}**" if error <= best else f"{error:.1e}"
    hidden = [f"{n} {e:.1e}" for n, e in found.hidden(problem, method).items() if e is not None]
    return f"{said} ({', '.join(hidden)})" if hidden else said


def _against_rivals(found: Found) -> Iterable[tuple[str, str]]:
    for group in LABELS:
        wanted = [name for name in found.problems if ALL[name].group == group]
        ratios = {name: found.ratio(name) for name in wanted}
        known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
        if known:
            worst = max(known, key=lambda name: known[name])
            better = sum(ratio < 1 for ratio in known.values())
            yield (
                group,
                (
                    f"better than the best rival on {better} of {len(known)} problems; ours / best "
                    f"rival {geometric_mean([*known.values()]):.2g} (geometric mean), at worst "
                    f"{known[worst]:.2g} ({worst})."
                ),
            )


def _stated(found: Found) -> list[str]:
    """Of the stated error, and of the bands."""
    ratios = np.array([true / said for _, said, true in found.pairs()])
    parts = []
    if ratios.size:
        near = int(((ratios > 0.5) & (ratios < 2)).sum())
        parts.append(
            f"The stated error is within a factor 2 of the true one in {near} of {ratios.size} runs, "
            f"at worst {ratios.max():.2g} times too small and {1 / ratios.min():.2g} times too large."
        )
        parts[-1] += _near_by_group(found)
    if inside := [
        _is_inside(r["stated"], e) for r, _, e in found.pairs() if r["stated"].get("high")
    ]:
        parts.append(
            f"The interval stated for it holds the true error in {sum(inside)} "
            f"of {len(inside)} runs."
        )
    return parts + _covered(found.coverage())


def _near_by_group(found: Found) -> str:
    """The same by group, where there are several."""
    counts = {group: [0, 0] for group in LABELS}
    for record, said, true in found.pairs():
        own = counts[ALL[record["run"]["problem"]].group]
        own[0] += 0.5 < true / said < 2
        own[1] += 1
    known = [f"{LABELS[g]} {near} of {total}" for g, (near, total) in counts.items() if total]
    return f" By group: {', '.join(known)}." if len(known) > 1 else ""


def _covered(shares: dict[str, list[float]]) -> list[str]:
    """What the bands hold, every problem counting alike; of the lowest, the lowest of its fields."""
    if not shares:
        return []
    lowest = min(shares, key=lambda name: min(shares[name]))
    average = np.mean([np.mean(own) for own in shares.values()])
    several = "problem" if len(shares) == 1 else "problems"
    return [
        f"Bands of 90 % (`{BANDS}`) hold {average:.2f} of the field on average over {len(shares)} "
        f"{several}, at least {min(shares[lowest]):.3f} ({lowest}).{_covered_by_group(shares)}"
    ]


def _covered_by_group(shares: dict[str, list[float]]) -> str:
    """The same by group, where there are several."""
    own = {g: [np.mean(s) for name, s in shares.items() if ALL[name].group == g] for g in LABELS}
    known = [f"{LABELS[group]} {np.mean(means):.2f}" for group, means in own.items() if means]
    return f" By group: {', '.join(known)}." if len(known) > 1 else ""


def _is_inside(stated: dict, true: float) -> bool:
    return (stated.get("low") or 0.0) <= true <= stated["high"]


def _measured(found: Found) -> str:
    """Where, when in the history of the source, and for how long."""
    places = sorted({r["device"] for r in found.records if "device" in r})
    commits = {method: _commits_of(found, method) for method in found.ran}
    seconds = sorted({r["run"]["seconds"] for r in found.records})
    seeds = sorted({r["run"]["seed"] for r in found.records})
    parts = [f"Seconds given: {', '.join(f'{s:g}' for s in seconds)}"]
    parts += [f"taken: {', '.join(_taken(found))}"] if _taken(found) else []
    parts += [f"seeds: {', '.join(map(str, seeds))}"]
    parts += [f"measured on {'; '.join(places)}"] if places else []
    known = [f"{method} {', '.join(own)}" for method, own in commits.items() if own]
    parts += [f"commits: {'; '.join(known)}"] if known else []
    return "; ".join(parts) + "." + _mixed(commits.get(OURS, []))


def _commits_of(found: Found, method: str) -> list[str]:
    return _commits([r for r in found.records if r["run"]["method"] == method])


def _commits(records: Iterable[dict]) -> list[str]:
    return [f"`{c}`" for c in sorted({str(r["commit"]) for r in records if r.get("commit")})]


def _mixed(commits: Sequence[str]) -> str:
    """Said where no one version of the code has the score."""
    if len(commits) < 2:
        return ""
    runs = f"The runs of `{OURS}` are of {len(commits)} commits"
    return f" {runs}: no one version of the code has these scores."


def _taken(found: Found) -> list[str]:
    """From the least to the most seconds of every method, compiling and all."""
    every = {
        method: [r["took"] for r in found.records if r["run"]["method"] == method and "took" in r]
        for method in found.ran
    }
    return [f"{name} {min(took):.0f} to {max(took):.0f}" for name, took in every.items() if took]
