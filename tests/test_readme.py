"""What the README says must run, its numbers must be the stored ones, and links lead somewhere."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import fresh_python

ROOT = fresh_python.ROOT
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def load_tables():
    folder = str(ROOT / "benchmarks")
    if folder not in sys.path:  # as for a script that is started there
        sys.path.append(folder)
    return load_script("tables.py")


def load_script(name: str):
    path = ROOT / "benchmarks" / name
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(code: str, folder: Path) -> str:
    found = fresh_python.run("-c", code, folder=folder)
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout


def test_the_example_of_the_readme_runs(tmp_path):
    (code,) = blocks(ROOT / "README.md")
    assert len([line for line in code.splitlines() if line]) <= 16
    assert "'u':" in run(code, tmp_path)
    assert (tmp_path / "runs" / "mine" / "field.png").is_file()


def test_results_in_readme_and_documentation_are_the_stored_ones():
    tables = load_tables()
    for path, text in tables.pages().items():
        page = path.read_text(encoding="utf-8")
        assert tables.rewritten(page, text) == page


def stored(name: str) -> dict:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def rows_of(page: Path, part: str) -> list[list[str]]:
    """The cells of the rows that hold a text."""
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|") and part in line]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_a_row_about_a_network_reads_the_error_of_the_network():
    """Not that of the law, which answers by default."""
    families = stored("pretrained")["families"]
    for name, family in families.items():
        (row,) = rows_of(ROOT / "docs" / "measurements.md", f"| `{name}` |")
        for cell, kind in ((1, "clean"), (2, "noise")):
            assert row[cell] == f"{family[kind]['median']:.1e}"
            assert row[cell + 2] == f"{family[kind]['network']:.1e}"
    rows = rows_of(ROOT / "README.md", "| pretrained network |")
    assert [row[2] for row in rows] == [f"{families['heat']['clean']['network']:.1e}"]


def test_every_row_of_the_readme_says_who_answered():
    rows = rows_of(ROOT / "README.md", "`")
    answered = [row for row in rows if len(row) == 5 and row[0] != "what"]
    assert 6 <= len(answered) <= 8
    assert all(len(row[1]) > 2 for row in answered), "no empty cell, no dash"
    models = {"viscosity": "PGT", "wake of a cylinder": "SIREN", "drag": "SIREN"}
    for part, model in models.items():
        assert all(model in row[1] for row in answered if part in row[0])


def test_every_benchmark_and_what_it_leaves_is_listed():
    folder = ROOT / "benchmarks"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    scripts = [
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if is_script(path)
    ]
    named = {name.removeprefix("benchmarks/") for name in re.findall(r"[\w/]+\.py", listed)}
    assert len(scripts) > 20
    assert not set(scripts) - named
    assert all((folder / name).is_file() for name in named - {"NAME.py"})
    assert not [path for path in (folder / "results").iterdir() if f"`{path.stem}`" not in listed]


def is_script(path: Path) -> bool:
    return "__main__" in path.read_text(encoding="utf-8")


def test_links_and_file_names_lead_somewhere():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"`((?:pgt|tests|examples|benchmarks|docs)/[\w/]+\.(?:py|md))`", text)
        linked = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
        assert [name for name in named if not (ROOT / name).exists()] == [], page
        places = {link: page.parent / link.partition("#")[0] for link in linked}
        assert [link for link, place in places.items() if not place.exists()] == [], page


def test_names_in_the_table_of_equations_exist():
    text = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "pgt").rglob("*.py"))
    for name in re.findall(r"`(\w+(?:\.\w+)?)`", text):
        last = name.split(".")[-1]
        assert re.search(rf"(?:def|class) {last}\b|^ +{last}\b", source, re.MULTILINE), name
