"""The page of results is rewritten between its markers, and says what the stored records say."""

import fresh_python
import pytest
from made_records import store_everything

from pgt.core.errors import InputError
from pgt_bench import results
from pgt_bench.figures import FIGURES
from pgt_bench.records import Records

ROOT = fresh_python.ROOT


STORED = ROOT / "benchmarks" / "results" / "tables"


PAGE = ROOT / "docs" / "results.md"


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return store_everything(tmp_path_factory.mktemp("records"))


def blank() -> str:
    return "\n".join(f"<!-- {name}:begin -->old<!-- {name}:end -->" for name in results.SECTIONS)


@pytest.mark.slow
def test_the_page_and_its_figures(everything, tmp_path):
    page = tmp_path / "results.md"
    page.write_text(f"before\n{blank()}\nafter", encoding="utf-8")
    written = results.write(everything, page, tmp_path / "figures")
    assert [path.stem for path in written] == [*FIGURES, "results"]
    assert all(path.read_bytes()[1:4] == b"PNG" for path in written[:-1])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter")
    assert "old" not in text
    assert all(f"](figures/{name}.png)" in text for name in FIGURES)
    assert set(results.CAPTIONS) == set(FIGURES)
    results.write(everything, page, tmp_path / "figures")
    assert page.read_text(encoding="utf-8") == text, "writing twice changes nothing"


def test_a_page_without_markers_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"<!-- heat:begin -->"):
        results.rewritten("nothing here", Records(tmp_path), {}, "figures")


def test_the_committed_page_says_what_the_stored_records_say():
    page = PAGE.read_text(encoding="utf-8")
    shown = Records(STORED)
    drawn = results.draw(shown)
    assert results.rewritten(page, shown, drawn, "figures") == page
    assert {path.stem for path in (PAGE.parent / "figures").glob("*.png")} >= set(drawn)
