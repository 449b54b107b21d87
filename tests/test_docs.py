"""The site builds without a warning, its code runs as shown, and what it lists is what there is."""

import inspect
import json
import re
import runpy
import shlex
import zlib
from pathlib import Path
from types import SimpleNamespace

import fresh_python
import pytest
import run_file_words
import typer.main
from public_names import public_names

import pgt
from pgt.cli import app
from pgt_bench.command import bench

ROOT = fresh_python.ROOT
DOCS = ROOT / "docs"


pages = SimpleNamespace(**runpy.run_path(str(DOCS / "pages.py")))
SCRIPTS = [page for page in pages.pages() if pages.script(page)]
# Minutes of compiling and training: `make smoke` runs these, `make test` those that are quickest.
LONG = (
    "paper",
    "stated-errors",
    "pretrained",
    "extending",
    "families",
    "guides/solver",
    *tuple(
        f"guides/{name}"
        for name in (
            "groundwater",
            "heat-from-sensors",
            "outliers",
            "plate-with-a-hole",
            "unknown-inflow",
            "piv",
            "pumping-test",
            "rod",
            "unknown-function",
            "your-own-equation",
        )
    ),
)


def name_of(page: Path) -> str:
    return page.relative_to(DOCS).with_suffix("").as_posix()


# ------------------------------------------------------------------------------- the code


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, id=name_of(page), marks=pytest.mark.slow if name_of(page) in LONG else []
        )
        for page in SCRIPTS
    ],
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    script = tmp_path / "page.py"  # its lines have the numbers they have on the page
    script.write_text(pages.script(page), encoding="utf-8")
    if "pgt.reconstruct(" not in script.read_text(encoding="utf-8"):
        monkeypatch.chdir(tmp_path)  # nothing is trained: no need to start anew
        runpy.run_path(str(script))
        return
    found = fresh_python.run("-W", "error", script, folder=tmp_path)
    assert found.returncode == 0, found.stderr[-2000:]


def test_figures_of_the_guides_are_those_their_code_writes():
    for page in (DOCS / "guides").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        shown = set(re.findall(r"\]\(\.\./figures/([\w-]+\.png)\)", text))
        assert shown == set(re.findall(r'"([\w-]+\.png)"', text)), page


def test_a_notebook_has_the_text_and_the_code_of_its_page(tmp_path):
    page = DOCS / "guides" / "heat-from-sensors.md"
    written = pages.notebook(page, tmp_path)
    cells = json.loads(written.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    shown = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    assert code == [block.rstrip("\n") for block in shown]
    text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    assert "<!-- check" not in text
    assert text.startswith("# Heat from sensors")


def test_every_public_name_has_a_runnable_example():
    names = public_names()
    assert [name for name, thing in names.items() if ">>> " not in (thing.__doc__ or "")] == []


# ------------------------------------------------------------------------------- the site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    found = fresh_python.run("-m", "sphinx", "-q", "-W", "--keep-going", "-E", DOCS, folder)
    assert found.returncode == 0, found.stderr[-3000:]
    return folder


def test_every_public_name_is_in_the_site(site):
    content = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(content).decode("utf-8").splitlines()
    listed = {line.split()[0] for line in lines if line.split()[1].startswith("py:")}
    modules = {name for name in pgt.__all__ if inspect.ismodule(getattr(pgt, name))}
    expected = {f"pgt.{name}" for name in modules | set(public_names())}
    assert expected <= listed, f"describe these in docs/api: {sorted(expected - listed)}"


def test_nothing_is_fetched_by_who_reads_it(site):
    found = list(site.rglob("*.html"))
    assert len(found) > 20
    remote = re.compile(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"(?:https?:)?//")
    for page in found:
        assert not remote.search(page.read_text(encoding="utf-8")), page.name


# ------------------------------------------------------------------------------- what it says


@pytest.fixture(scope="module")
def run_file_page() -> dict[str, str]:
    """The text below every heading of the page of formats."""
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    sections = re.split(r"^#{3,4} (.+)$", text, flags=re.MULTILINE)
    return {
        heading.replace("`", ""): body
        for heading, body in zip(sections[1::2], sections[2::2], strict=True)
    }


def test_run_file_tables_are_those_of_the_checks(run_file_page):
    for heading, (section, target) in run_file_words.TABLES.items():
        expected = run_file_words.rows(section, target)
        found = re.findall(
            r"^\| (`.+?) \| (.+?) \| (.+?) \| (.+) \|$", run_file_page[heading], re.M
        )
        wanted = "\n".join(f"| {' | '.join(row)} | ... |" for row in expected)
        shown = [row[:3] for row in found]
        assert shown == expected, f"docs/formats.md, {heading} should have the rows\n{wanted}"


def test_every_part_of_a_run_file_is_shown_with_its_keys(run_file_page):
    for heading, kind in run_file_words.KINDS.items():
        body = run_file_page[heading]
        shown = dict(re.findall(r"^\| `(\w+)` \| (?:.+ \| )?(.+) \|$", body, re.M))
        expected = run_file_words.parts_of(kind)
        assert {name: shown.get(name) for name in expected} == expected, heading
        explained = set(
            re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.+?) \| [^|]+ \|$", body, re.M)))
        )
        keys = {key for text in expected.values() for key in re.findall(r"`(\w+)", text)}
        assert keys <= explained, (heading, keys - explained)


def command_lines() -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *pages.pages()]]
    inline = [line for text in texts for line in re.findall(r"`(pgt [a-z][^`\n]*)`", text)]
    return inline + [line for text in texts for line in re.findall(r"^pgt .+$", text, re.M)]


def test_commands_and_options_exist():
    lines = sorted(set(command_lines()))
    assert len(lines) > 20
    for line in lines:
        parse_command(line)


def parse_command(line: str) -> None:
    """Raises where there is no such command or option."""
    words = shlex.split(line, comments=True)[1:]
    is_bench = words[0] == "bench"  # a command of its own package, which may not be installed
    command = typer.main.get_command(bench if is_bench else app)
    words = words[1:] if is_bench else words
    context = command.context_class(command)
    while words and (resolve := getattr(command, "resolve_command", None)):
        name, command, words = resolve(context, words)
        context = command.context_class(command, info_name=name, parent=context)
    if words:
        command.make_parser(context).parse_args(words)


def test_numbers_of_prose_are_stored_ones():
    pages = (DOCS / "measurements.md", DOCS / "results.md")
    stored = "".join(page.read_text(encoding="utf-8") for page in pages)
    text = "".join(
        (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("choosing", "pretrained")
    )
    numbers = re.findall(r"\d\.\de-\d\d|[\d.]+ times as long", text)
    assert len(numbers) > 8
    missing = [n for n in numbers if not re.search(rf"(?<![\d.]){re.escape(n)}(?![\d.])", stored)]
    assert not missing
