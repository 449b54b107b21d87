"""The page lists the problems as they are."""

from pathlib import Path

import made_zoo

from pgt_bench.zoo import page
from pgt_bench.zoo.catalogue import ALL
from pgt_bench.zoo.summary import Found, score

DOCS = Path(__file__).parents[3] / "docs" / "zoo.md"


STORED = Path(__file__).parents[3] / "benchmarks" / "results" / "zoo"


def test_the_documentation_says_what_is_stored():
    text = DOCS.read_text(encoding="utf-8")
    shown = {
        name: text.split(f"<!-- {name}:begin -->")[1].split(f"<!-- {name}:end -->")[0].strip()
        for name in ("problems", *page.MACHINES)
    }
    assert shown["problems"] == page.problems_tables(STORED)
    assert f"{len(ALL)} problems" in text
    for name in page.MACHINES:
        assert shown[name].startswith(score(Found.read(STORED / name)))


def test_a_page_is_rewritten_between_its_markers(tmp_path):
    records, document = tmp_path / "gpu", tmp_path / "docs" / "zoo.md"
    made_zoo.write(records, [made_zoo.record("beam", "ours", 0.5)])
    document.parent.mkdir()
    marks = [f"<!-- {name}:{end} -->" for name in ("problems", "gpu") for end in ("begin", "end")]
    document.write_text("\n".join(["before", *marks, "after"]), encoding="utf-8")
    page.write(records, document)
    assert page.write(records, document)[1][-1] == document
    text = document.read_text(encoding="utf-8")
    assert text.startswith("before")
    assert text.rstrip().endswith("after")
    assert "| on an H200 |" in text
    assert "| `beam` | a beam on an elastic bed, fourth order | 60, 5 % | 5.0e-01 | – |" in text
