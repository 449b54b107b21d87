"""Docstrings are written to be read as they stand; this makes a page of them."""

import html
import re
from functools import cache

import matplotlib as mpl
from matplotlib.path import Path
from matplotlib.textpath import TextPath

SIZE = 17  # pixels per em of a formula
_FORMULA = re.compile(r"\$\$ (.+?) \$\$", re.DOTALL)
_LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


def prepare(app, what, name, obj, options, lines: list[str]) -> None:
    """Sphinx hands over the lines of a docstring before it takes them apart."""
    text, sections = _split(lines)
    lines[:] = [*_formulas(_literal(text)), *sections]


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    """Prose, and the sections below it; an example after them needs a heading of its own."""
    marks = [row for row, line in enumerate(lines) if re.fullmatch(r"-{3,}", line)]
    if not marks:
        return lines, []
    text, sections = lines[: marks[0] - 1], lines[marks[0] - 1 :]
    examples = [row for row, line in enumerate(sections) if line.startswith(">>> ")]
    if examples and "Examples" not in sections:
        sections[examples[0] : examples[0]] = ["Examples", "--------"]
    return text, sections


def _literal(lines: list[str]) -> list[str]:
    """An indented paragraph is a formula in plain text, to be shown as it is."""
    found, above = [], ""
    for row, line in enumerate(lines):
        starts = line.startswith("    ") and row > 0 and not lines[row - 1].strip()
        if starts and not above.startswith((" ", ">>>", "..")) and not above.endswith("::"):
            found += ["::", ""]
        elif not line.startswith((" ", ">>>")) and "``" not in line:
            line = line.replace("|", r"\|")  # |x| is a size here, not a substitution
        found.append(line)
        above = line if line.strip() else above
    return found


def _formulas(lines: list[str]) -> list[str]:
    def directive(found: re.Match) -> str:
        return f".. raw:: html\n\n   <p>{drawn(' '.join(found[1].split()))}</p>\n"

    return _FORMULA.sub(directive, "\n".join(lines)).split("\n")


@cache  # of a page and of the list above it
def drawn(latex: str) -> str:
    """A formula as SVG: no script, no picture, the colour of the text around it."""
    with mpl.rc_context({"mathtext.fontset": "cm"}):
        path = TextPath((0, 0), f"${latex}$", size=SIZE)
    box = path.get_extents().padded(2)
    strokes = [
        "Z" if code == Path.CLOSEPOLY else _LETTERS[code] + " ".join(f"{v:.2f}" for v in vertices)
        for vertices, code in path.iter_segments(curves=True, simplify=False)
    ]
    view = f"{box.x0:.1f} {-box.y1:.1f} {box.width:.1f} {box.height:.1f}"
    return (
        f'<svg class="formula" role="img" aria-label="{html.escape(latex, quote=True)}" '
        f'width="{box.width:.0f}" height="{box.height:.0f}" viewBox="{view}">'
        f'<path transform="scale(1,-1)" fill="currentColor" d="{"".join(strokes)}"/></svg>'
    )
