"""The report's content, read without a browser."""

import json
import re
from dataclasses import replace

import pytest
import report_cases as cases
import xarray as xr
from page_reader import Reader

from pgt.core.errors import InputError
from pgt.report import Tables, write_report
from pgt.report.page import page

NASTY = "</script><script>alert(1)</script>&\"'<img src=x onerror=alert(2)>"


def test_text_from_outside_stays_text():
    data = cases.heat(summary=cases.SUMMARY | {"device": NASTY, "training": {NASTY: NASTY}})
    attack = replace(
        cases.renamed(replace(data, error_bars=None), NASTY), run_file=NASTY,
        history=cases.history(NASTY, unknowns=(NASTY,)), residual=xr.Dataset({NASTY: data.field["u"]}),
        tables=Tables(coefficients={NASTY: (1.0, None)}),
    )  # fmt: skip
    text = page(attack)
    read = Reader(text)
    assert read.tags.count("script") == Reader(page(data)).tags.count("script") == 2
    assert "img" not in read.tags
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    contents = re.search(r'id="payload">(.*?)</script>', text, re.DOTALL)
    assert contents
    assert json.loads(contents[1])["viewers"]["field"]["layers"][0]["name"] == NASTY


def test_nothing_is_fetched():
    text = page(cases.wake())
    read = Reader(text)
    assert not {"link", "iframe", "img", "base", "object"} & set(read.tags)
    assert not [v for k, v in read.attributes if k in ("src", "action") or "//" in (v or "")]
    hrefs = [value for name, value in read.attributes if name == "href"]
    assert hrefs
    assert all(value.startswith("#") for value in hrefs)
    policy = dict(read.attributes)["content"] or ""
    assert "default-src 'none'" in re.findall(r'content="([^"]*)"', text)[0]
    assert policy
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_links_lead_somewhere():
    read = Reader(page(cases.wake()))
    ids = [value for name, value in read.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {v[1:] for n, v in read.attributes if n == "href" and v} <= set(ids)


def test_writing_is_all_or_nothing(tmp_path):
    path = tmp_path / "report.html"
    assert write_report(cases.heat(), path) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match="missing"):
        write_report(cases.heat(), tmp_path / "missing" / "report.html")
