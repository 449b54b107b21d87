"""Who may import whom, read from the source without running it; and other rules of the house."""

import ast
import re
import subprocess
from pathlib import Path

import jaxtyping
import numpy as np
import pytest

from pgt.core.arguments import number_and_unit
from pgt.core.unknown import Unknown
from pgt.uncertainty import sensor_placement

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pgt"

# From the bottom up. Parts on one line never import each other; a part may import every lower line.
LINES = (
    ("core",),
    ("geometry",),
    ("data",),
    ("nn", "kernels"),
    ("models", "physics"),
    ("inference",),
    ("training",),
    ("problem",),
    ("methods",),
    ("discovery",),
    ("uncertainty",),
    ("reconstruction",),
    ("families",),
    ("_reconstruct",),
    ("shapes", "extend", "sklearn", "xarray"),
    ("config",),
    ("runs",),
    ("sweep", "live"),
    ("cli",),
    ("__main__",),
)
CORE_LINES = LINES[:-6]
CORE = {part for line in CORE_LINES for part in line}
# Beside the lines: of the core they see `data` only, and what lies above the core may use them all.
RIM = {"metrics", "plots", "report", "datasets", "io"}
# The wake as a MAT file; folders of simulations; boundary values in a file.
BESIDE = {"datasets": {"io"}, "families": {"io"}, "physics": {"io"}}
ONLY_AT_THE_RIM = {"pydantic", "plotly", "beartype", "h5netcdf"}


def allowed(part: str) -> set[str]:
    if part in RIM:
        return {"core", "geometry", "data"} | BESIDE.get(part, set())
    (height,) = (row for row, line in enumerate(LINES) if part in line)
    lower = {other for line in LINES[:height] for other in line}
    return lower | (RIM if height >= len(CORE_LINES) else BESIDE.get(part, set()))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Dotted names imported anywhere in a file: `from pgt import nn` counts as `pgt.nn`."""
    package = ["pgt", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def test_a_part_imports_only_what_lies_below_it():
    known = {part for line in LINES for part in line} | RIM
    assert {part_of(path) for path in FILES} <= known, "give these their place above"
    wrong = [
        f"{path.relative_to(ROOT)} imports pgt.{other}"
        for path in FILES
        for other in sorted(parts_used(path) - {part_of(path)} - allowed(part_of(path)))
    ]
    assert wrong == []


def parts_used(path: Path) -> set[str]:
    return {name.split(".")[1] for name in imports(path) if name.startswith("pgt.")}


def test_other_packages_stay_where_they_belong():
    """The core runs without those of the rim; the package, without its benchmarks."""
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (*FILES, PACKAGE / "__init__.py")
        for name in sorted({name.split(".")[0] for name in imports(path)})
        if name == "pgt_bench" or (name in ONLY_AT_THE_RIM and part_of(path) in CORE)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "part", ["problem", "methods/closed_form", "methods/second_order", "uncertainty", "io"]
)
def test_the_map_of_a_large_folder_names_every_file(part):
    said = ast.get_docstring(ast.parse((PACKAGE / part / "__init__.py").read_text("utf-8")))
    names = {path.stem for path in (PACKAGE / part).glob("*.py") if not path.stem.startswith("_")}
    missing = names - set(re.findall(r"\w+", said))
    assert not missing, f"say in pgt/{part}/__init__.py where these belong"


def test_annotations_are_checked_while_tests_run():
    assert Unknown(1).value == 1
    with pytest.raises(jaxtyping.TypeCheckError):
        Unknown(1).in_units_of("one")
    with pytest.raises(jaxtyping.TypeCheckError):  # where no shape is named
        number_and_unit(3)
    with pytest.raises(jaxtyping.TypeCheckError):  # two sizes of one name
        sensor_placement._remaining_variance(np.zeros((3, 2, 1)), np.zeros((4, 4)))


def test_no_file_names_a_place_outside_the_repository():
    # Put together here, so that this file does not find itself.
    forbidden = re.compile("|".join(("/" + r"work\b", r"\.\./" + "shared", "/" + "tmp/venv")))
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        data = path.read_bytes() if path.is_file() else b"\0"
        if b"\0" not in data:
            assert not forbidden.search(data.decode("utf-8", "replace")), name
