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


def measured_on(result: dict) -> str:
    return f"{result['device']}, `{result['commit'] or 'unknown'}`"
