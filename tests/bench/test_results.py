"""The page of results is rewritten between its markers, and says what the stored records say."""

import fresh_python
import pytest

from pgt.core.errors import InputError
from pgt_bench import results
from pgt_bench.records import Records

ROOT = fresh_python.ROOT


STORED = ROOT / "benchmarks" / "results" / "tables"


PAGE = ROOT / "docs" / "results.md"


def test_a_page_without_markers_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"<!-- heat:begin -->"):
        results.rewritten("nothing here", Records(tmp_path), {}, "figures")


def test_the_committed_page_says_what_the_stored_records_say():
    page = PAGE.read_text(encoding="utf-8")
    shown = Records(STORED)
    drawn = results.draw(shown)
    assert results.rewritten(page, shown, drawn, "figures") == page
    assert {path.stem for path in (PAGE.parent / "figures").glob("*.png")} >= set(drawn)
