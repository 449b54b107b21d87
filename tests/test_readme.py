"""What the README says must run, its numbers must be the stored ones, and links lead somewhere."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import fresh_python
import pytest

ROOT = fresh_python.ROOT
PAGES = [ROOT / "README.md", ROOT / "benchmarks/README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def load_tables():
    folder = str(ROOT / "benchmarks")
    if folder not in sys.path:  # as for a script that is started there
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location("tables", ROOT / "benchmarks" / "tables.py")
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


@pytest.mark.parametrize("name", ["verdicts", "verdicts-other"])
def test_the_page_counts_the_verdicts_that_are_stored(name):
    page = page_of("start.md")
    kinds = stored(name)["kinds"].values()
    cells = " | ".join(f"{kind['right']} of {kind['as_meant']}" for kind in kinds)
    assert f"| {cells} |" in page
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
    assert f"v was wrong by {resting['v']:.1e} with it" in page
    assert f"and by {soft['v']:.1e} with a soft wall" in page
    assert f"the drag by {resting['drag']:.1e} and {soft['drag']:.1e}" in page


def test_what_is_said_of_rows_of_the_equation_is_stored():
    families = stored("equation-rows")["families"]
    ratios = {name: found["more"] / found["answer"] for name, found in families.items()}
    assert all(found["own"] > found["answer"] for found in families.values())
    assert all(abs(ratios[name] - 1 / 3) < 0.07 for name in ("heat", "burgers"))  # a third
    assert abs(ratios["advection_diffusion"] - 2 / 3) < 0.07  # two thirds
    assert ratios["wave"] > 1
    assert "to a third for heat and Burgers' equation, to two thirds" in page_of("pretrained.md")


MEASURED = {"device": "cpu: cpu", "commit": "abc"}


def results_of_all_kinds() -> dict[str, dict]:
    """What the benchmarks store, by the name of the file, with made-up numbers."""
    run = {"seconds": 9.6, "first_step_seconds": 3.0, "parameter_count": 32153}
    runs = [run | {"rel_l2": error} for error in (1e-5, 3e-5)]
    errors = {
        "relative_l2": {"u": 0.1, "v": 0.2, "p": 0.3},
        "overall": {"stacked": 0.1, "mean": 0.2},
    }
    flow = {"u": 0.001, "v": 0.002, "p": 0.003}
    fit = {"rel_l2": 1e-7, "model": "Features"}
    size = {"step": 900, "all": 2000, "programs": 70}
    compiled = {"programs": {"before": size, "now": size}}
    step = {"milliseconds": 8.0, "first_step_seconds": 5, "peak_bytes": 2**30}
    return {
        "heat": MEASURED | {"runs": runs, "rel_l2": 2e-5},
        "wake": MEASURED | run | {"snapshot": errors, "volume": errors, "residual": 1e-6},
        "step": MEASURED
        | {"torch_milliseconds": 80.0, "adam": step, "soap": step | {"milliseconds": 10.0}},
        "anchors": MEASURED
        | {"rows": [step | {"readings": 1000}], "time_exponent": 0.5, "memory_exponent": 0.25},
        "first-step": MEASURED
        | {"rows": {"rod": {"about": "a rod", "seconds": 9.0, "import_seconds": 1.5}}},
        "million": MEASURED
        | {"weights": 10**6, "rows": 3000}
        | {"runs": [step | {"memory": None, "seconds_per_step": None}]},
        "predict-memory": MEASURED
        | {"points": 10**7, "rows": {"grid to CSV": {"peak_bytes": 2**29, "seconds": 44.7}}},
        "fit-cost": MEASURED
        | {"rows": {"rod": {"about": "A rod.", "model": "Features", "cpu_seconds": 27.4}}},
        "pressure": MEASURED | {"snapshot": flow, "volume": flow, "seconds": 99.6},
        "two-coefficients": MEASURED
        | {"relative_errors": {"convection": -0.0004, "viscosity": 0.012}},
        "rivals": {
            "rows": {
                "WIRE": MEASURED
                | {"rel_l2": 0.002, "steps": 1000, "parameters": 1234, "cpu_seconds": 17.6}
            }
        },
        "diffusivity-coverage": MEASURED | {"inside": 17, "draws": 20},
        "bands-heat": MEASURED | {"inside": {"field": {"u": 0.9}, "reading": {"u": 0.91}}},
        "bands-wake": MEASURED
        | {"inside": {"field": {"u": 0.8, "v": 0.9}, "reading": {"u": 0.88}}},
        "shapes": MEASURED
        | {
            "readings": 100,
            "points": 10**6,
            "fields": {"ring": {"with functions": fit, "without": fit | {"rel_l2": 1e-5}}},
            "measures": {"disk": {"measure": 1e-9, "boundary": 2e-9}},
            "inside": {"polygon of 1000 edges": 0.25},
        },
        "unknown-functions": MEASURED
        | {"source": [{"rel_l2": 0.021, "inside": 0.9, "model": "Features"}] * 2},
        "cylinder": MEASURED
        | {"settings": {"samples": 500, "model": "siren"}}
        | {"wall": flow | {"drag": 0.005, "lift": 0.01, "seconds": 150.2}},
        "box-cost": MEASURED
        | {
            "fits": {
                "pinn": compiled | {"ratios": {"now": {"compile": 1.1, "step": 0.99}}},
                "pgt": compiled,
            }
        },
        "dns-3d": MEASURED
        | {"settings": {"viscosity": 0.01, "samples": 10**4, "noise": 0.01}}
        | {"fits": {"default": flow | run | {"w": 0.004, "model": "PGT"}}},
        "unheard-of": {},
    } | results_of_families()


def results_of_families() -> dict[str, dict]:
    """Those about families."""
    answers = {"median": 0.004, "tenth": 0.03, "gp": 0.05, "inside": 0.91} | {
        "network": 0.02, "network inside": 0.88,
    }  # fmt: skip
    asked = ("at once", "from the law", "from nothing")
    refined = {label: {"median": 1e-4, "seconds": 0.35} for label in asked}
    scored = {"median": 5.27, "tenth": 7.59, "seconds": 0.012, "systems": 100}
    return {
        "pretrained": MEASURED
        | {"systems": 100, "readings": 64}
        | {"families": {"heat": {"clean": answers, "noise": answers, "milliseconds": 20.6}}},
        "throughput": MEASURED
        | {"readings": 64, "across": 64, "families": {"heat": {"256": 1234.5}}}
        | {"networks": {"heat": {"256": 4567.8}}},
        "refined": {
            "readings": 64,
            "families": {"heat": MEASURED | refined | {"systems": 20}},
        },
        "yardstick": {
            "nodes": 128,
            "readings": 500,
            "published": {"A": {"where": "B 2024", "poisson": [4.5, 20.0], "burgers": 2.7}},
            "laws": {
                "poisson": MEASURED | {"rows": {"inverse": {"floor": scored, "zero-shot": scored}}},
                "flow": MEASURED | {"rows": {"inverse": {"floor": scored}}},
                "burgers": MEASURED
                | {"rows": {"sensors": {"floor": scored, "network": scored | {"median": 8.76}}}},
            },
        },
    }


def test_tables_of_all_kinds(tmp_path):
    tables = load_tables()
    assert all("No results" in text for text in tables.pages(tmp_path).values())
    text = tables.all_tables(results_of_all_kinds(), tmp_path)
    known = "boundary and initial values known"
    by = "PGT, SOAP, then Gauss–Newton"
    spread = "2.0e-05 (1.0e-05 to 3.0e-05)"
    assert f"| one mode, {known} | {by} | {spread} | 10 | 3 | 32 k | CPU" in text
    fields = "1.0e-01 / 2.0e-01 / 3.0e-01"
    assert (
        f"| a model by name | PGT, SOAP | 1.0e-01 | 2.0e-01 | {fields} | 1.0e-01 | 1.0e-06 | 10 |"
        in text
    )
    assert "| eager PyTorch, Adam | 80.0 | 1.0 | – | CPU, `abc` |" in text
    assert "| pgt, Adam | 8.0 | 10.0 | 5 |" in text
    assert "| pgt, SOAP | 10.0 | 8.0 | 5 |" in text
    assert "| 1,000 | 8.0 | 1.00 GiB |" in text
    assert "| a rod | 9.0 | 1.5 | CPU, `abc` |" in text
    assert "all 1,000,000 weights" in text
    assert "| as usual | 5.0 | – | 1 GB | CPU, `abc` |" in text
    assert "| grid to CSV | 0.50 GiB | 45 | CPU, `abc` |" in text
    assert "| A rod | sum of sines | 27 | – | CPU, `abc` |" in text
    each = "1.0e-03 / 2.0e-03 / 3.0e-03"
    assert (
        f"| wake from u and v | PGT, SOAP | u / v / p: snapshot {each}, volume {each}, 100 s |"
        in text
    )
    assert "| convection 0.04 %, viscosity 1.2 % |" in text
    assert "| WIRE | 2.0e-03 | 1,000 | 1,234 | 18 | CPU, `abc` |" in text
    assert "| 17 of 20 |" in text
    assert "| of fields u 0.900; of readings u 0.910 |" in text
    assert "| of fields u 0.800, v 0.900; of readings u 0.880 |" in text
    assert "| conduction in a ring | 1.0e-07 (sum of sines) | 1.0e-05 (sum of sines) |" in text
    assert "| area or volume of 1 shapes, largest relative error | 1.0e-09 |" in text
    assert "| inside test of 1,000,000 points, polygon of 1000 edges | 0.25 s |" in text
    assert (
        "| source q(x) of a rod, 60 readings | sum of sines | 2.1 %, 2.1 % | 0.90, 0.90 |" in text
    )
    assert f"| the wall, where the fluid rests | SIREN, SOAP | {each} | 0.5 % / 1 % | 150 |" in text
    assert (
        "| PINN | the commit measured on | 900 (900) | 2000 (2000) | 1.10 | 0.99 | CPU, `abc`"
        in text
    )
    default = "all defaults of that commit: PGT, SOAP"
    assert f"| {default} | 1.0e-03 / 2.0e-03 / 4.0e-03 / 3.0e-03 | 10 | 32 k | CPU" in text
    assert "| `heat` | 256 | 1234 | 4568 | CPU, `abc` |" in text
    for who, answer, took in (
        ("law and solver", "4.0e-03 (3.0e-02) | 0.91", "21 ms"),
        ("network", "2.0e-02 | 0.88", "–"),
        ("Gaussian process, no equation", "5.0e-02 | –", "–"),
    ):
        assert f"| `heat` | {who} | {answer} | {answer} | {took} | CPU, `abc` |" in text
    assert f"| `heat` | 20 |{' 1.0e-04, 0.35 s |' * 3} – | CPU, `abc` |" in text
    score = "5.3 (7.6), 0.012 s"
    assert f"| poisson, inverse | 100 | {score} | {score} | – | 20.0 | CPU, `abc` |" in text
    assert f"| flow, inverse | 100 | – | {score} | – | – | CPU, `abc` |" in text
    assert f"| burgers, sensors | 100 | – | {score} | – | 2.7 | CPU, `abc` |" in text
    network = "8.8 (7.6), 0.012 s"
    assert f"| burgers, sensors: the pretrained network | 100 | {network} |{' – |' * 3} CPU" in text
    for table in text.split("\n\n"):
        lines = [line for line in table.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1, "every row has the same cells"


def rows_of(page: Path, part: str) -> list[list[str]]:
    """The cells of the rows that hold a text."""
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|") and part in line]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_a_row_about_a_network_reads_the_error_of_the_network():
    families = stored("pretrained")["families"]
    for name, family in families.items():
        rows = rows_of(ROOT / "docs" / "measurements.md", f"| `{name}` |")
        by = {row[1]: row for row in rows if len(row) == 8 and not row[1].isdigit()}
        assert set(by) == {"law and solver", "network", "Gaussian process, no equation"}
        for cell, kind in ((2, "clean"), (4, "noise")):
            row = family[kind]
            assert by["network"][cell] == f"{row['network']:.1e}"
            assert by["law and solver"][cell] == f"{row['median']:.1e} ({row['tenth']:.1e})"
        assert by["network"][6] == "–", "the stored time is that of the law"
    rows = rows_of(ROOT / "README.md", "| pretrained network |")
    assert [row[2] for row in rows] == [f"{families['heat']['clean']['network']:.1e}"]


def test_every_row_of_the_readme_says_who_answered():
    rows = rows_of(ROOT / "README.md", "`")
    answered = [row for row in rows if len(row) == 5 and row[0] != "what"]
    assert len(answered) >= 14
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


def test_every_rival_is_shown_trained():
    rows = stored("rivals")["rows"]
    assert set(rows) == {"PINN", "SIREN", "WIRE", "FNO", "DeepONet", "PINNsFormer"}
    assert all(row["rel_l2"] < 0.01 for row in rows.values())
    assert all(row["cpu_seconds"] < 90 for row in rows.values()), "about a minute on two cores"


def test_a_row_of_several_commits_says_so():
    tables = load_tables()
    readme, measurements = (text for text in tables.pages().values())
    for machine in ("gpu", "cpu"):
        files = (ROOT / "benchmarks" / "results" / "zoo" / machine).glob("*.ours.*.json")
        records = [json.loads(path.read_text()) for path in files]
        commits = {record["commit"] for record in records}
        count = "ours:" if len(commits) == 1 else f"ours, {len(commits)} commits:"
        for text in (readme, measurements):
            assert f"{count} {', '.join(f'`{commit}`' for commit in sorted(commits))}" in text
            assert len(commits) == 1 or "no one version" in text
        assert f"| {len(records)} problems of all kinds" in readme


def test_every_benchmark_and_what_it_leaves_is_listed():
    folder = ROOT / "benchmarks"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    scripts = [
        path.relative_to(folder).as_posix() for path in folder.rglob("*.py") if is_script(path)
    ]
    named = {name.removeprefix("benchmarks/") for name in re.findall(r"[\w/]+\.py", listed)}
    assert len(scripts) > 30
    assert not set(scripts) - named
    assert all((folder / name).is_file() for name in named - {"NAME.py"})
    assert not [path for path in (folder / "results").iterdir() if f"`{path.stem}`" not in listed]


def is_script(path: Path) -> bool:
    return "__main__" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_file_names_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:pgt|examples|benchmarks|docs)/[\w/]+\.(?:py|md))`", text)
    linked = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert all((ROOT / name).exists() for name in named)
    assert all((page.parent / link.partition("#")[0]).exists() for link in linked)


def test_names_in_the_table_of_equations_exist():
    text = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "pgt").rglob("*.py"))
    for name in re.findall(r"`(\w+(?:\.\w+)?)`", text):
        last = name.split(".")[-1]
        assert re.search(rf"(?:def|class) {last}\b|^ +{last}\b", source, re.MULTILINE), name
