"""Rows and tables of Markdown, for the README and the page of measurements; who answered and where."""

from collections.abc import Sequence


def as_table(title: str, head: str, rows: list[str]) -> str | None:
    if not rows:
        return None
    return "\n".join([title, "", head, "|---" * (head.count("|") - 1) + "|", *rows])


def as_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def mean_of(runs: list[dict], name: str) -> float:
    return sum(run[name] for run in runs) / len(runs)


def in_per_cent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


METHODS = {
    "Features": "sum of sines",
    "Solver": "equation solved on a mesh",
    "PINN": "tanh network, Gauss–Newton",
    "SIREN": "SIREN, SOAP",
    "PGT": "PGT, SOAP",
}
POLISHED = "PGT, SOAP, then Gauss–Newton"


def answered_by(record: dict) -> str:
    """The method that made a field, as its record names it; a dash where the record does not."""
    if "model" in record:
        return METHODS[record["model"]]
    return "sum of sines" if record.get("stopped") == "solved in closed form" else "–"


def measured_on(result: dict) -> str:
    """The device, of which a CPU is called no more than that, and the commit."""
    return f"{device_of(result)}, `{result['commit'] or 'unknown'}`"


def all_measured_on(results: Sequence[dict]) -> str:
    """The device of the first result, and the commits of all."""
    commits = "`, `".join(dict.fromkeys(str(result["commit"] or "unknown") for result in results))
    return f"{device_of(results[0])}, `{commits}`"


def device_of(result: dict) -> str:
    kind, _, name = result["device"].partition(": ")
    return name if name != kind else kind.upper()
