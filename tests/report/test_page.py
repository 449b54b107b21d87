"""The report's content, read without a browser."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
import report_cases as cases
import xarray as xr
from page_reader import Reader, text_of

from pgt.core.doubt import Doubt, HeldOutError, Verdict
from pgt.core.errors import InputError
from pgt.core.stage import Stage
from pgt.report import Tables, write_report
from pgt.report.page import page


def test_the_verdict_is_printed_as_it_is():
    """Whatever stands in it: the report decides nothing."""
    doubts = (Doubt("large_error", "It is too warm."), Doubt("far_readings", "One is far & away."))
    errors = {"u": HeldOutError(12, 0.5, 0.25, of_spread=0.75)}
    for converged, answer, card in (
        (True, "Yes. So it is.", "converged yes"),
        (False, "No. So it is.", "converged no"),
        (None, "Unknown. So it is.", "converged not known"),
    ):
        verdict = Verdict(converged, "So it is.", errors, doubts)
        text = text_of(replace(cases.heat(), verdict=verdict))
        for words in (answer, card, "Take care It is too warm. One is far & away."):
            assert words in text
        assert "held-out error, of the spread u 75\N{NO-BREAK SPACE}%".replace("\xa0", " ") in text
        assert "u 12 0.5 K 25 % 75 %" in text
    nothing = text_of(replace(cases.heat(), verdict=Verdict(None, "", {})))
    assert "held-out error, of the spread not known interpolation instead not known" in nothing
    errors = {"u": HeldOutError(12, 0.5, 0.25, 0.5, 0.75, 1.5)}
    beside = text_of(replace(cases.heat(), verdict=Verdict(True, "", errors)))
    assert "interpolation instead u 150 %" in beside
    assert "75 % 150 %: worse, and not by chance" in beside
    assert "No readings were held out, so there is no independent measure of error" in nothing


def test_suspicious_readings_and_drifting_sensors_are_listed():
    worst = pd.DataFrame({"x": [0.1], "field": ["u"], "misfit": [-20.0], "held_out": [False]})
    sensors = pd.DataFrame({"x": [0.2], "field": ["u"], "offset_t": [9.0]})
    tables = Tables(suspicious=worst, drifting=sensors, noise={"u": 0.021})
    shown = text_of(cases.heat(tables=tables))
    assert "Suspicious readings x field misfit 0.1 u −20" in shown
    assert "Drifting sensors x field offset t 0.2 u 9" in shown
    assert "0.021 K (estimated)" in shown
    nothing = Tables(suspicious=worst.iloc[:0], drifting=sensors.iloc[:0])
    quiet = text_of(cases.heat(tables=nothing))
    assert "Suspicious" not in quiet
    assert "Drifting" not in quiet


def test_every_stage_has_its_row_and_its_curve():
    names = ["Gauss-Newton", "under a prior"]
    stages = [Stage(name, (2.0, 1.0, 0.5), 1.5, "patience").plain for name in names]
    data = cases.heat()
    text = text_of(replace(data, summary={**data.summary, "stages": stages}))
    for number, name in enumerate(names, 1):
        assert f"{name} 2 2 to 0.5 1.5 s the held-out error no longer falls" in text
        assert f"{number}. {name}" in text
    assert "under a prior" not in text_of(data)


# ------------------------------------------------------------------------------- the page

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


def test_writing_is_all_or_nothing(tmp_path):
    path = tmp_path / "report.html"
    assert write_report(cases.heat(), path) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match="missing"):
        write_report(cases.heat(), tmp_path / "missing" / "report.html")
