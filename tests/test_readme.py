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


def test_the_page_counts_the_verdicts_that_are_stored():
    for name in ("verdicts", "verdicts-other"):
        kinds = stored(name)["kinds"].values()
        cells = " | ".join(f"{kind['right']} of {kind['as_meant']}" for kind in kinds)
        assert f"| {cells} |" in page_of("start.md")
        total, right = (sum(kind[key] for kind in kinds) for key in ("as_meant", "right"))
        assert right >= 0.95 * total


def stored(name: str) -> dict:
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def page_of(name: str) -> str:
    """Its text without line breaks."""
    return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())


def test_the_page_of_shapes_has_the_numbers_that_are_stored():
    page, fits = page_of("shapes.md"), stored("lift")["fits"]
    for case, what in (("ring", "u"), ("cylinder", "u"), ("cylinder", "drag")):
        soft, lifted = (
            ", ".join(f"{f[what]:.1e}" for f in fits if (f["case"], f["walls"]) == (case, walls))
            for walls in ("soft", "lifted")
        )
        assert f"| {soft} | {lifted} |" in page
    for gamma, word in (("plain", "as it is"), ("damped", "damped"), ("cut", "cut")):
        errors = [fit["error"] for fit in stored("sight")["fits"] if fit["gamma"] == gamma]
        first, second, third = (f"{error:.2f}" for error in errors)
        assert re.search(rf"{first}, {second} and {third} (of the spread )?{word}", page)
    resting, soft = (stored(name)["wall"] for name in ("cylinder-resting", "cylinder"))
    assert f"v was wrong by {resting['v']:.1e} with it and by {soft['v']:.1e}" in page
    assert f"the drag by {resting['drag']:.1e} and {soft['drag']:.1e}" in page


MEASURED = {"device": "cpu: cpu", "commit": "abc"}


def results_of_all_kinds() -> dict[str, dict]:
    """What the benchmarks store, by the name of the file, with made-up numbers."""
    run = {"seconds": 9.6, "first_step_seconds": 3.0, "parameter_count": 32153}
    errors = {"relative_l2": {"u": 0.1, "v": 0.2, "p": 0.3}, "overall": {"mean": 0.2}}
    flow = {"u": 0.001, "v": 0.002, "p": 0.003}
    fit = {"rel_l2": 1e-7, "model": "Features"}
    cost = {"model": "Features", "cpu_seconds": 27.4, "peak_bytes": 2**30}
    step = {"milliseconds": 8.0, "peak_bytes": 2**30, "readings": 1000}
    answers = {"median": 0.004, "gp": 0.05, "network": 0.02}
    scored = {"median": 5.27, "tenth": 7.59, "systems": 100}
    own = {
        "heat": {"runs": [run | {"rel_l2": e} for e in (1e-5, 3e-5)], "rel_l2": 2e-5},
        "wake": run | {"snapshot": errors},
        "anchors": {"rows": [step], "time_exponent": 0.5, "memory_exponent": 0.25},
        "predict-memory": {
            "points": 10**7,
            "rows": {"grid to CSV": {"peak_bytes": 2**29, "seconds": 44.7}},
        },
        "fit-cost": {"rows": {"rod": cost, "wells": cost | {"cpu_seconds": 9.0}}},
        "pressure": {"snapshot": flow, "seconds": 99.6},
        "two-coefficients": {"relative_errors": {"convection": -0.0004, "viscosity": 0.012}},
        "diffusivity-coverage": {"inside": 17, "draws": 20},
        "bands-heat": {"inside": {"field": {"u": 0.9}, "reading": {"u": 0.91}}},
        "shapes": {
            "readings": 100,
            "fields": {"ring": {"with functions": fit, "without": fit | {"rel_l2": 1e-5}}},
        },
        "unknown-functions": {"source": [fit | {"rel_l2": e, "inside": 1 - e} for e in (0.1, 0.3)]},
        "cylinder": {
            "settings": {"samples": 500, "model": "siren"},
            "wall": flow | {"drag": 0.005, "lift": 0.01, "seconds": 150.2},
        },
        "pretrained": {
            "systems": 100,
            "readings": 64,
            "families": {"heat": {"clean": answers, "noise": answers, "milliseconds": 20.6}},
        },
        "yardstick": {
            "nodes": 128,
            "readings": 500,
            "published": {"A": {"where": "B 2024", "poisson": [4.5, 20.0]}},
            "laws": {"poisson": MEASURED | {"rows": {"inverse": {"zero-shot": scored}}}},
        },
        "unheard-of": {},
    }
    return {name: MEASURED | result for name, result in own.items()}


def test_tables_of_all_kinds(tmp_path):
    tables = load_tables()
    assert all("No results" in text for text in tables.pages(tmp_path).values())
    found = results_of_all_kinds()
    text = tables.all_tables(found)
    each, where = "1.0e-03 / 2.0e-03 / 3.0e-03", "CPU, `abc` |"
    for row in (
        f"{tables.HEAT['heat']} | {tables.POLISHED} | 2.0e-05 (1.0e-05 to 3.0e-05) | 10 | {where}",
        f"PGT by name | PGT, SOAP | 2.0e-01 | 1.0e-01 / 2.0e-01 / 3.0e-01 | 10 | {where}",
        f"1,000 | 8.0 | 1.00 GiB | {where}",
        f"grid to CSV | 0.50 GiB | 45 | {where}",
        f"{tables.COSTS['rod']} | sum of sines | 27 | 1.0 GiB | {where}",
        f"wake from u and v | PGT, SOAP | u / v / p {each}, 100 s |",
        "17 of 20 |",
        "of fields u 0.900; of readings u 0.910 |",
        "conduction in a ring | 1.0e-07 (sum of sines) | 1.0e-05 (sum of sines) |",
        "source q(x) of a rod, 60 readings | sum of sines | 20.0 % (30.0 %) | 0.80 (0.70) |",
        f"the wall, where the fluid rests | SIREN, SOAP | {each} | 0.5 % / 1 % | 150 |",
        f"`heat` | 4.0e-03 | 4.0e-03 | 2.0e-02 | 2.0e-02 | 5.0e-02 | 5.0e-02 | 21 ms | {where}",
        f"poisson, inverse | 100 | 5.3 (7.6) | – | 20.0 | {where}",
    ):
        assert f"| {row}" in text, row
    assert "convection 0.04 %, viscosity 1.2 %" in text
    assert "takes 9 to 27 s of processor time and 1.0 to 1.0 GiB" in tables.cost_line(found)
    for table in text.split("\n\n"):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1, "every row has the same cells"


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


def test_a_model_that_a_script_names_has_the_size_that_is_stored():
    """Records of before models were named tell them apart by their parameters alone."""
    sizes = {"PGT": 571907, "SIREN": 264963}
    assert stored("viscosity")["parameter_count"] == sizes["PGT"]
    assert stored("default-wake")["parameter_count"] == sizes["SIREN"]
    assert stored("cylinder")["wall"]["parameter_count"] == sizes["SIREN"]


def test_runs_of_several_commits_are_no_row_of_the_readme():
    (text, _) = load_tables().pages().values()
    for machine in ("gpu", "cpu"):
        files = (ROOT / "benchmarks" / "results" / "zoo" / machine).glob("*.ours.*.json")
        records = [json.loads(path.read_text()) for path in files]
        commits = {record["commit"] for record in records}
        assert (f"| {len(records)} problems of all kinds" in text) == (len(commits) == 1)
        assert len(commits) > 1 or f"ours: `{commits.pop()}`" in text


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
