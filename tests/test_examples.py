"""Every script in examples runs, at a tiny size; they do what the guides do, which are tested too."""

import fresh_python
import pytest

EXAMPLES = sorted((fresh_python.ROOT / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    found = fresh_python.run(script, 2, folder=tmp_path)
    assert found.returncode == 0, found.stderr[-2000:]
    assert "relative L2 error" in found.stdout
    assert "nan" not in found.stdout
