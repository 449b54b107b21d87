"""Every script in examples runs, at a tiny size."""

import fresh_python
import pytest

EXAMPLES = sorted((fresh_python.ROOT / "examples").glob("*.py"))
QUICK = "heat_from_sensors"  # the others do what a guide of the documentation does, which is tested


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(path, id=path.stem, marks=[] if path.stem == QUICK else pytest.mark.slow)
        for path in EXAMPLES
    ],
)
def test_example_runs(script, tmp_path):
    found = fresh_python.run(script, 2, folder=tmp_path)
    assert found.returncode == 0, found.stderr[-2000:]
    assert "relative L2 error" in found.stdout
    assert "nan" not in found.stdout
