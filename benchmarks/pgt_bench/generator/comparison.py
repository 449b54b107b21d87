"""Ours beside rivals on generated problems: a line of JSON for every seed, a table and a summary."""

import json
import os
import statistics
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pgt.core.errors import DoubtWarning, InputError
from pgt.core.provenance import provenance
from pgt_bench.generator import REPORTED, draw
from pgt_bench.stored import plain
from pgt_bench.tables import table
from pgt_bench.zoo.answers import Asked
from pgt_bench.zoo.methods import OURS, RIVALS, installed, require_methods
from pgt_bench.zoo.runner import answered

SMALLEST = 1e-9  # of the spread: errors below it are counted as this large
NEAR, TOO_SMALL, TOO_LARGE = 2.0, 3.0, 5.0  # times the true error


def seeds_of(text: str) -> tuple[int, ...]:
    """Seeds from text.

    >>> seeds_of("0:3,1000")
    (0, 1, 2, 1000)
    """
    found: list[int] = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        try:
            found += range(int(first), int(last)) if colon else [int(first)]
        except ValueError:
            raise InputError(f"--seeds {text}: write such as 0:20, or 3,7,1000:1010.") from None
    if not found or min(found) < 0:
        raise InputError(f"--seeds {text}: no seeds; write such as 0:20.")
    return tuple(dict.fromkeys(found))


# ------------------------------------------------------------------------------- runs


def compare(
    seeds: Iterable[int],
    seconds: float,
    path: Path,
    rivals: Sequence[str] = (),
    tell: Callable[[dict], None] = lambda record: None,
) -> list[dict]:
    """The records of these seeds, run unless they stand in the file, to which each is added when done.

    `rivals`: by name; all that are installed where none is named.
    """
    rivals = tuple(rivals) or tuple(name for name in RIVALS if name in installed())
    require_methods(rivals)
    known = {record["seed"]: record for record in read(path)}
    for record in known.values():
        if record["seconds"] != seconds:
            raise InputError(
                f"{path} has runs of {record['seconds']:g} s; name another file with -o, or ask for as "
                "many with --seconds."
            )
    found = []
    for seed in seeds:
        if seed not in known:
            known[seed] = run(seed, seconds, rivals)
            append(path, known[seed])
        found.append(known[seed])
        tell(known[seed])
    return found


def run(seed: int, seconds: float, rivals: Sequence[str]) -> dict:
    """The record of one seed."""
    problem = draw(seed)
    asked = Asked(problem, problem.load(seed), seconds, seed)
    record = {
        "seed": seed, "seconds": seconds, "kind": problem.name, "about": problem.about,
        "axes": problem.domain.axes, "readings": len(problem.places), "noise": dict(problem.noise),
        "placement": problem.placement,
    } | provenance()  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        ours, answer = answered(OURS, asked)
        if answer is not None and answer.result is not None:
            stated = answer.result.field_error.items()
            ours["stated_by_field"] = {name: error.value for name, error in stated}
            ours["doubts"] = list(answer.result.verdict().kinds)
        others = {name: answered(name, asked)[0] for name in rivals}
    record |= {"ours": ours, "rivals": others}
    return {name: plain(value) for name, value in record.items()}


def read(path: Path) -> list[dict]:
    """The records of a file; a last line that was not finished is left out."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    found = []
    for number, line in enumerate(lines, 1):
        if not line.endswith("\n"):
            break
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {number}: {error}; delete the line.") from None
    return found


def append(path: Path, record: dict) -> None:
    """Add one line in one piece, in the place of one that was not finished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        whole = path.read_bytes()
        if whole and not whole.endswith(b"\n"):
            os.truncate(path, whole.rfind(b"\n") + 1)
    line = json.dumps(record, allow_nan=False) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, line.encode())
        os.fsync(file)
    finally:
        os.close(file)


# ------------------------------------------------------------------------------- what they say


@dataclass(frozen=True)
class Line:
    """One record as the table shows it. Errors are relative to the spread of the fields that were read;
    None where a method failed."""

    record: dict

    @property
    def error(self) -> float | None:
        return _error(self.record["ours"])

    @property
    def best_rival(self) -> tuple[str, float] | None:
        errors = {name: _error(rival) for name, rival in self.record["rivals"].items()}
        known = {name: error for name, error in errors.items() if error is not None}
        return min(known.items(), key=lambda pair: pair[1]) if known else None

    @property
    def ratio(self) -> float | None:
        """Our error over the best rival's."""
        best = self.best_rival
        if self.error is None or best is None:
            return None
        return max(self.error, SMALLEST) / max(best[1], SMALLEST)

    @property
    def is_ahead(self) -> bool:
        """Whether our answer is better than every rival's; not where we have none."""
        return self.error is not None and (self.ratio is None or self.ratio < 1)

    @property
    def stated_over_true(self) -> dict[str, float]:
        """By field, hidden ones too, where an error is stated and the true one known."""
        ours = self.record["ours"]
        if "failed" in ours:
            return {}
        true = ours["errors"]["fields"] | ours["errors"]["hidden"]
        stated = ours.get("stated_by_field") or {}
        return {
            name: max(stated[name], SMALLEST) / max(error, SMALLEST)
            for name, error in true.items()
            if error is not None and stated.get(name) is not None
        }

    @property
    def pace(self) -> float:
        """Seconds taken over seconds asked for."""
        return self.record["ours"]["took"] / self.record["seconds"]

    def cells(self) -> list[str]:
        record, ours, best = self.record, self.record["ours"], self.best_rival
        noise = max(record["noise"].values(), default=0.0)
        hidden = () if "failed" in ours else ours["errors"]["hidden"]
        stated = [
            f"{name}{' (hidden)' if name in hidden else ''} {factor:.2g}"
            for name, factor in self.stated_over_true.items()
        ]
        return [
            str(record["seed"]),
            record["kind"],
            str(record["readings"]),
            f"{100 * noise:.1f} %" if noise else "",
            _failure(ours) if self.error is None else f"{self.error:.1e}",
            "" if best is None else f"{best[1]:.1e} {best[0]}",
            "" if self.ratio is None else f"{self.ratio:.2g}",
            ", ".join(stated),
            f"{self.pace:.2f}",
            ", ".join(ours.get("doubts", ())),
            record["about"],
        ]


HEAD = (
    "seed", "kind", "readings", "noise", "our error", "best rival", "ratio", "stated/true",
    "taken/asked", "doubts", "what",
)  # fmt: skip


def _error(part: dict) -> float | None:
    return None if "failed" in part else part["errors"]["measured"]


def _failure(part: dict) -> str:
    return part.get("failed", "not finite")


def report(records: Sequence[dict]) -> str:
    """The table and the summary."""
    lines = [Line(record) for record in records]
    return "\n\n".join([table(HEAD, [line.cells() for line in lines]), *_summary(lines)])


def _summary(lines: Sequence[Line]) -> Iterator[str]:
    total = len(lines)
    if not total:
        return
    commits = sorted({str(line.record["commit"]) for line in lines})
    seeds = [line.record["seed"] for line in lines]
    purpose = "reporting" if min(seeds) >= REPORTED else "tuning"
    yield f"{total} problems, {purpose} seeds, commit {', '.join(commits)}"
    ratios = [line.ratio for line in lines if line.ratio is not None]
    ahead = sum(line.is_ahead for line in lines)
    mean = f"{statistics.geometric_mean(ratios):.2g}" if ratios else "unknown"
    yield f"Ahead of every rival: {ahead} of {total}; geometric mean of our error over theirs: {mean}"
    yield _calibration([f for line in lines for f in line.stated_over_true.values()])
    yield f"Seconds taken over those asked for: {max(line.pace for line in lines):.2f} at most"
    failed = [line for line in lines if line.error is None]
    yield f"Failed: {len(failed)}" + "".join(
        f"\n  seed {line.record['seed']} ({line.record['kind']}): {_failure(line.record['ours'])}"
        f" at {line.record['ours'].get('failed_at', 'its end')}"
        for line in failed
    )


def _calibration(factors: Sequence[float]) -> str:
    if not factors:
        return "No stated errors"
    value = np.asarray(factors)
    shares = {
        f"within {NEAR:g} times the true one": np.mean((value < NEAR) & (value > 1 / NEAR)),
        f"more than {TOO_SMALL:g} times too small": np.mean(value < 1 / TOO_SMALL),
        f"more than {TOO_LARGE:g} times too large": np.mean(value > TOO_LARGE),
    }
    said = ", ".join(f"{100 * share:.0f} % {words}" for words, share in shares.items())
    return f"Of {len(factors)} stated errors {said}"
