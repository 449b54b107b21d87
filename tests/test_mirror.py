"""The tests mirror the packages: a reader who knows a module knows where it is tested."""

from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "pgt"

# Nothing in them could fail by itself: who calls them is tested.
PLAIN = {
    "core/types.py",
    "core/attempts.py",
    "core/dialect.py",
    "core/doubt.py",
    "core/numbers.py",
    "core/progress.py",
    "core/provenance.py",
    "core/stage.py",
    "__main__.py",
    "methods/finished_fit.py",
}
# What crosses modules: the pages in a browser, runs from a table to the report, and files that are
# wrong in every way.
WIDER = {"report/test_viewer.py", "end_to_end/test_fits.py"} | {
    f"runs/test_broken_{what}.py" for what in ("inputs", "keys")
}


def namesake(module: Path) -> str:
    return module.with_name(f"test_{module.name.lstrip('_')}").as_posix()


def of_folder(module: Path) -> str:
    """Parts of one kind may be tested together, in a file of the name of their folder."""
    return module.with_name(f"test_{module.parent.name}.py").as_posix()


MODULES = {
    path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"
}


def test_every_module_has_its_test_and_every_test_its_module():
    missing = [
        module
        for module in sorted(MODULES)
        if module.as_posix() not in PLAIN
        and not any((TESTS / name).is_file() for name in (namesake(module), of_folder(module)))
    ]
    assert missing == []
    known = {name(module) for module in MODULES for name in (namesake, of_folder)} | WIDER
    in_folders = {path.relative_to(TESTS).as_posix() for path in TESTS.rglob("*/test_*.py")}
    strays = {name for name in in_folders - known if not name.startswith("bench/")}
    assert sorted(strays) == [], "these tests have no module"


def test_nothing_lies_loose_at_the_top():
    shared = {path.name for path in TESTS.glob("*.py") if not path.name.startswith("test_")}
    assert shared == {"conftest.py"}, "move it to tests/common"
    named = {
        "__init__.py",
        "__main__.py",
        "metrics.py",
        "_reconstruct.py",
        "shapes.py",
        "extend.py",
        "sklearn.py",
        "xarray.py",
    }
    assert {path.name for path in PACKAGE.glob("*.py")} == named
