"""The page of the zoo: its problems, and what stored records say."""

from pathlib import Path

from pgt import plots
from pgt.core.files import in_one_piece
from pgt_bench.results import DPI, between, link
from pgt_bench.tables import table
from pgt_bench.zoo.catalogue import ALL
from pgt_bench.zoo.figures import FIGURES
from pgt_bench.zoo.problem import ZooProblem
from pgt_bench.zoo.summary import LABELS, Found, summary

CAPTIONS = {
    "profile": "The share of problems, among those that it was run on, on which a method is within a "
    "factor of the smallest error.",
    "later": "The same of the problems added later alone.",
    "stated": "The error that the default states for its field against the true one. Grey: within a "
    "factor of 2; above the line the stated error is too small.",
}


def write(folder: Path, page: Path | None = None) -> tuple[str, list[Path]]:
    """The summary of the records in a folder, and the files written: `summary.md` and figures there.

    With a page, what stands there between the markers of "problems", and between those named like the
    folder (`<!-- gpu:begin -->`), is made anew; its figures go into the folder `figures` beside it.
    """
    found = Found.read(folder)
    text = summary(found)
    stem = folder / "zoo" if page is None else page.parent / "figures" / f"zoo-{folder.name}"
    figures = {name: make(found) for name, make in FIGURES.items()}
    drawn = {
        name: plots.save(figure, stem.with_name(f"{stem.name}-{name}.png"), DPI)
        for name, figure in figures.items()
        if figure is not None
    }
    target = folder / "summary.md" if page is None else page
    shown = text if page is None else _rewritten(page, folder.name, text, drawn)
    with in_one_piece(target) as unfinished:
        unfinished.write_text(shown.rstrip("\n") + "\n", encoding="utf-8")
    return text, [*drawn.values(), target]


def _rewritten(page: Path, section: str, text: str, drawn: dict[str, Path]) -> str:
    pictures = [
        f"![{CAPTIONS[name]}]({link(page, path)})\n\n*{CAPTIONS[name]}*"
        for name, path in drawn.items()
    ]
    whole = between(page.read_text(encoding="utf-8"), "problems", problems_table())
    return between(whole, section, "\n\n".join([text, *pictures]))


def problems_table() -> str:
    """Every problem in a row, from the records themselves."""
    head = ["problem", "kind", "what", "axes", "readings", "noise", "hidden", "known", "group"]
    return table(head, [_row(problem) for problem in ALL.values()])


def _row(problem: ZooProblem) -> list[str]:
    how = problem.readings
    axes = [f"{a}*" if a in problem.domain.periodic else a for a in problem.domain.axes]
    known = dict.fromkeys(type(c).__name__.lower() for c in problem.conditions)
    return [
        f"`{problem.name}`",
        problem.kind,
        problem.about,
        ", ".join(axes),
        str(how.count),
        f"{100 * how.noise:g} %" if how.noise else "",
        ", ".join(how.hidden),
        ", ".join(known),
        LABELS[problem.group],
    ]
