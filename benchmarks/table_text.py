"""Rows and tables of Markdown, for the README and the page of measurements."""


def as_table(title: str, head: str, rows: list[str]) -> str | None:
    if not rows:
        return None
    return "\n".join([title, "", head, "|---" * (head.count("|") - 1) + "|", *rows])


def as_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def mean_of(runs: list[dict], name: str) -> float:
    return sum(run[name] for run in runs) / len(runs)


def in_words(parameters: int) -> str:
    return f"{parameters / 1e3:.0f} k" if parameters < 1e6 else f"{parameters / 1e6:.1f} M"


def in_per_cent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


def measured_on(result: dict) -> str:
    """The device, of which a CPU is called no more than that, and the commit."""
    kind, _, name = result["device"].partition(": ")
    return f"{name if name != kind else kind.upper()}, `{result['commit'] or 'unknown'}`"
