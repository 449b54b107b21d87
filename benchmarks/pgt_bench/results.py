"""The page of results: what stands between its markers is written from stored records."""

import os
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from pgt import plots
from pgt.core.errors import InputError
from pgt.core.files import in_one_piece
from pgt_bench import tables
from pgt_bench.figures import FIGURES
from pgt_bench.records import Records

DPI = 130
SECTIONS: dict[str, Callable[[Records], str]] = {
    "heat": tables.heat,
    "wake": tables.wake,
    "ablation": tables.ablation,
    "noise": tables.noise,
    "gamma": tables.gamma,
}
# Name of a figure, its section, and what it shows.
CAPTIONS = {
    "heat-convergence": (
        "heat",
        "Root mean square misfit of the readings, in units of their spread, during training. M = 100, "
        "seed 0, equal seconds.",
    ),
    "wake-convergence": (
        "wake",
        "Misfit of the readings during training, our recipe, seed 0. Dashed: data only.",
    ),
    "wake-fields": (
        "wake",
        "Simulation, reconstruction by PGT through anchors and absolute error at t = 10.",
    ),
    "noise": ("noise", "Error and residual against noise: ours solid, the paper's dashed."),
    "gamma": (
        "gamma",
        "Error with a kernel divided by the error without, seed by seed (dots) and their geometric "
        "mean (lines). Below 1 the kernel helps.",
    ),
}


def write(folder: Path, document: Path, figures: Path) -> list[Path]:
    """Draw the figures and rewrite what stands between the markers of the document.

    Parameters
    ----------
    folder
        Holds the records, `<preset>/<run>.json`.
    document
        A Markdown page with a pair of markers for every section: `<!-- heat:begin -->`,
        `<!-- heat:end -->` and so on.
    figures
        Where PNGs go. A figure whose records are missing is left out.

    Returns
    -------
    The files written, the document last.
    """
    drawn = draw(Records(folder))
    text = rewritten(
        document.read_text(encoding="utf-8"), Records(folder), drawn, link(document, figures)
    )
    paths = [plots.save(figure, figures / f"{name}.png", DPI) for name, figure in drawn.items()]
    with in_one_piece(document) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    return [*paths, document]


def draw(records: Records) -> dict[str, Figure]:
    """The figures whose records exist."""
    figures = {name: make(records) for name, make in FIGURES.items()}
    return {name: figure for name, figure in figures.items() if figure is not None}


def rewritten(page: str, records: Records, drawn, link: str) -> str:
    """The page with every section between its markers made anew; `drawn` names its figures."""
    for section, make in SECTIONS.items():
        parts = [make(records)]
        parts += [
            f"![]({link}/{name}.png)\n\n*{caption}*"
            for name, (belongs, caption) in CAPTIONS.items()
            if belongs == section and name in drawn
        ]
        page = between(page, section, "\n\n".join(parts))
    return page


def between(page: str, section: str, text: str) -> str:
    """The page with what stands between the markers of a section replaced."""
    begin, end = f"<!-- {section}:begin -->", f"<!-- {section}:end -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise InputError(f"the page needs the markers {begin} and {end}, once each, in this order.")
    before, after = page.split(begin)[0], page.split(end)[1]
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def link(document: Path, figures: Path) -> str:
    return Path(os.path.relpath(figures, document.parent)).as_posix()
