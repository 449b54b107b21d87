"""The code of the pages: each page is a script, its blocks in one namespace from the first to the last.

    python docs/pages.py [PAGE ...]

runs pages (all of them by default) and puts the pictures that they write into docs/figures. Shown
code stands in ```python fences; what the text claims of it is checked in <!-- check ... -->.

    python docs/pages.py --notebook FOLDER PAGE ...

writes a Jupyter notebook of each page instead.
"""

import json
import re
import runpy
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
_BLOCK = re.compile(r"^```python\n(.*?)^```$|^<!-- check\n(.*?)^-->$", re.DOTALL | re.MULTILINE)


def pages() -> list[Path]:
    """Every page of the site."""
    return sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)


def script(page: Path) -> str:
    """The code of a page, each line at the number it has on the page; empty where there is none."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for block in _BLOCK.finditer(text):
        part = 1 if block[1] is not None else 2
        start = text.count("\n", 0, block.start(part))
        code = block[part].splitlines()
        lines[start : start + len(code)] = code
    return "\n".join(lines).strip("\n") and "\n".join(lines)


def run(page: Path) -> None:
    """Run a page in a folder of its own, and keep the pictures that it shows."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        file = Path(folder, f"{page.stem}.py")
        file.write_text(script(page), encoding="utf-8")
        runpy.run_path(str(file))
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, FIGURES / picture.name)


def notebook(page: Path, folder: Path) -> Path:
    """The text and the shown code of a page as a Jupyter notebook; its checks are left out."""
    parts = re.split(
        r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M
    )
    cells = []
    for place, part in enumerate(parts):
        kind = "code" if place % 2 else "markdown"
        source = re.sub(r"^<!-- check\n.*?^-->$", "", part, flags=re.DOTALL | re.M).strip()
        code = {"execution_count": None, "outputs": []} if kind == "code" else {}
        if source:
            cell = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
            cells.append(cell | {"id": f"cell-{place}"} | code)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{page.stem}.ipynb"
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def main(words: list[str]) -> None:
    if words[:1] == ["--notebook"]:
        for page in words[2:]:
            print(notebook(Path(page), Path(words[1])))
        return
    for chosen in map(Path, words) if words else pages():
        if script(chosen):
            print(f"{chosen}:", flush=True)
            run(chosen.resolve())


if __name__ == "__main__":
    main(sys.argv[1:])
