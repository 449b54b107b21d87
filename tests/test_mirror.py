"""The tests mirror the package: a reader who knows a module knows where it is tested."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "pgt"

# Nothing in them could fail by itself; the command is tested as one.
PLAIN = {"ground/types.py", "ground/version.py", "bench/paper.py", "__main__.py"}
# What crosses modules: the pages in a browser, runs from a table to the report, and files that are
# wrong in every way.
WIDER = {"report/test_viewer.py", "live/test_page.py", "end_to_end/test_fits.py"} | {
    f"runs/test_broken_{what}.py" for what in ("inputs", "keys", "run_files")
}


def namesake(module: Path) -> Path:
    return module.with_name(f"test_{module.name.lstrip('_')}")


MODULES = {
    path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"
}


@pytest.mark.parametrize("module", sorted(MODULES), ids=str)
def test_every_module_has_its_namesake(module):
    if module.as_posix() not in PLAIN:
        assert (TESTS / namesake(module)).is_file()


def test_every_test_below_a_folder_has_its_module():
    written = {path.relative_to(TESTS) for path in TESTS.rglob("*/test_*.py")}
    known = {namesake(module).as_posix() for module in MODULES} | WIDER
    assert sorted({path.as_posix() for path in written} - known) == []


def test_what_tests_share_lies_in_its_folder():
    loose = {path.name for path in TESTS.glob("*.py") if not path.name.startswith("test_")}
    assert loose == {"conftest.py"}, "move it to tests/common"


def test_nothing_private_lies_loose_at_the_top():
    named = {"__init__.py", "__main__.py", "metrics.py"}
    loose = {path.name for path in PACKAGE.glob("*.py")} - named
    assert loose == {"_reconstruct.py"}
