"""The command `pgt discover`: the term that the equation of a run file lacks."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages, stoppable
from pgt.cli.runs import RunFile, Set
from pgt.core.files import in_one_piece


def discover(
    run_file: RunFile,
    terms: Annotated[
        list[str], typer.Option("--term", help='A further candidate, such as "u*u_x".')
    ] = [],  # noqa: B006
    only: Annotated[
        bool, typer.Option("--only", help="No candidates but those of --term.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A JSON file with all numbers.")
    ] = None,
    overrides: Set = [],  # noqa: B006
    seconds: Annotated[
        float | None, typer.Option("--seconds", min=0.0, help="At most this long for each fit.")
    ] = None,
) -> None:
    """Find the terms that the equation lacks: candidates are weighed by evidence against the readings."""
    from pgt.config import load_run

    with mistakes_are_messages(), stoppable(lambda: "Stopped; nothing was saved."):
        run = load_run(run_file, overrides)
        from pgt.config.parts import Parts
        from pgt.discovery import discover as discover_terms

        parts = Parts(run)
        training = parts.training
        if seconds is not None:
            training = replace(training, seconds=seconds)
        found = discover_terms(
            parts.observations, parts.pde, parts.domain, parts.conditions, terms=terms, only=only,
            training=training,
        )  # fmt: skip
        if output is not None:
            numbers = {
                "terms": [asdict(term) for term in found.terms],
                "candidates": found.candidates.to_dict("records"),
                "discrepancies": [asdict(one) for one in found.discrepancies],
                "remaining": [asdict(one) for one in found.remaining],
                "noise": found.noise,
                "note": found.note,
            }
            with in_one_piece(output) as path:
                path.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    table = Table(title="Candidates, each alone")
    for name in ("term", "log-evidence", "coefficient", "standard deviation"):
        table.add_column(name, justify="left" if name == "term" else "right")
    for row in found.candidates.to_dict("records"):
        numbers = (f"{row['alone']:.1f}", f"{row['coefficient']:.4g}", f"{row['deviation']:.1g}")
        table.add_row(row["term"], *numbers)
    console().print(table)
    console().print(found.in_words, soft_wrap=True, highlight=False)
