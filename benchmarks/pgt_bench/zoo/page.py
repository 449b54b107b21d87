"""The page of the zoo: what stored records say of every problem, and together."""

from pathlib import Path

from pgt import plots
from pgt.core.files import in_one_piece
from pgt_bench.results import DPI, between, link
from pgt_bench.tables import table
from pgt_bench.zoo.catalogue import ALL
from pgt_bench.zoo.figures import FIGURES
from pgt_bench.zoo.methods import OURS, RIVALS
from pgt_bench.zoo.summary import LABELS, Found, score, summary

CAPTIONS = {
    "profile": "The share of problems, among those that it was run on, on which a method is within a "
    "factor of the smallest error.",
    "stated": "The error that the default states for its field against the true one. Grey: within a "
    "factor of 2; above the line the stated error is too small.",
}
MACHINES = {"gpu": "on an H200", "cpu": "on two cores"}  # the folders of the page
ANSWERED = {"Features": "sines", "PINN": "network", "SIREN": "network", "Solver": "mesh"}


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
    shown = text if page is None else _rewritten(page, folder, drawn)
    with in_one_piece(target) as unfinished:
        unfinished.write_text(shown.rstrip("\n") + "\n", encoding="utf-8")
    return text, [*drawn.values(), target]


def _rewritten(page: Path, folder: Path, drawn: dict[str, Path]) -> str:
    pictures = [f"![]({link(page, path)})\n\n*{CAPTIONS[name]}*" for name, path in drawn.items()]
    whole = between(page.read_text(encoding="utf-8"), "problems", problems_tables(folder.parent))
    return between(whole, folder.name, "\n\n".join([score(Found.read(folder)), *pictures]))


def problems_tables(folder: Path) -> str:
    """Every problem in a row, by group: the errors on each machine, and the best rival of all."""
    machines = {title: Found.read(folder / name) for name, title in MACHINES.items()}
    machines = {title: found for title, found in machines.items() if found.records}
    head = ["problem", "what", "readings", *machines, "best rival", "answered by"]
    parts = []
    for group, label in LABELS.items():
        rows = [_row(name, machines) for name, problem in ALL.items() if problem.group == group]
        parts += [f"**{label.capitalize()}**", table(head, rows)]
    return "\n\n".join(parts)


def _row(name: str, machines: dict[str, Found]) -> list[str]:
    how = ALL[name].readings
    readings = str(how.count) + (f", {100 * how.noise:g} %" if how.noise else "")
    readings += f", {' and '.join(how.hidden)} hidden" if how.hidden else ""
    return [
        f"`{name}`",
        ALL[name].about,
        readings,
        *(_error(found, name) for found in machines.values()),
        _best_rival(name, machines),
        " / ".join(dict.fromkeys(filter(None, (_who(found, name) for found in machines.values())))),
    ]


def _error(found: Found, name: str) -> str:
    """Bold where it is below that of the best rival of the machine; hidden fields in brackets."""
    error, ratio = found.error(name, OURS), found.ratio(name)
    if error is None:
        return "–"
    said = f"**{error:.1e}**" if ratio is not None and ratio < 1 else f"{error:.1e}"
    hidden = [f"{field} {e:.1e}" for field, e in found.hidden(name, OURS).items() if e is not None]
    return f"{said} ({', '.join(hidden)})" if hidden else said


def _best_rival(name: str, machines: dict[str, Found]) -> str:
    errors = [
        (error, rival)
        for found in machines.values()
        for rival in RIVALS
        if (error := found.error(name, rival)) is not None
    ]
    return "{1} {0:.1e}".format(*min(errors)) if errors else "–"


def _who(found: Found, name: str) -> str:
    named = dict.fromkeys(str(r["model"]) for r in found.of(name, OURS) if r.get("model"))
    return ", ".join(dict.fromkeys(ANSWERED.get(model, model) for model in named))
