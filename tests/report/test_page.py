"""The report's content, read without a browser."""

import base64
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
import report_cases as cases
import verdict_cases as verdicts
import xarray as xr
from hypothesis import given

from pgt.ground.errors import InputError
from pgt.ground.numbers import number
from pgt.ground.verdict import Doubt, HeldOut, Verdict
from pgt.report import Tables, write_report
from pgt.report.charts import line_chart
from pgt.report.colours import colour_maps
from pgt.report.page import page
from pgt.report.payload import LEVELS, MISSING, payload
from pgt.training.loop import DIVERGED
from pgt.trust.convergence import Descent
from pgt.trust.held_out import Unseen

NASTY = "</script><script>alert(1)</script>&\"'<img src=x onerror=alert(2)>"


class Reader(HTMLParser):
    """The words, tags and attributes of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.attributes, self.words, self.inside = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"script", "style"} & set(self.inside):
            self.words.append(data)


def text_of(data) -> str:
    return " ".join(" ".join(Reader(page(data)).words).split())


def codes_of(layer: dict, shape: tuple[int, ...]) -> np.ndarray:
    differences = np.frombuffer(zlib.decompress(base64.b64decode(layer["codes"])), "<u2")
    codes = differences.reshape(shape)
    for axis in range(max(codes.ndim - 2, 0), codes.ndim):
        codes = np.cumsum(codes, axis, dtype=np.uint16)
    return codes


def test_it_says_what_was_measured_and_inferred():
    text = text_of(cases.wake())
    assert "Sensors read u and v at 600 places and instants" in text
    assert "540 of these rows were fitted and 60 held out" in text
    assert "p was never measured and follows from the equation alone" in text
    assert "viscosity 0.0101 0.0097 to 0.0105" in text
    assert 'name = "navier-stokes-2d"' in text
    assert "never measured" not in text_of(cases.heat())


def test_ranges_and_errors_carry_their_units():
    data = cases.heat()
    read = np.concatenate([data.fitted.values, data.held_out.values])
    error = np.sqrt(np.mean((data.readings.predictions - data.held_out.values) ** 2))
    text = text_of(data)
    assert f"{number(read.min())} to {number(read.max())} K" in text
    assert f"u 12 {number(error)} K" in text


def test_a_sound_fit_raises_no_doubt():
    assert cases.heat().verdict.doubts == ()
    assert "Nothing in these numbers gives cause for doubt" in text_of(cases.heat())


def test_the_verdict_is_printed_as_it_is():
    """Whatever stands in it: the report decides nothing."""
    doubts = (Doubt("large_error", "It is too warm."), Doubt("far_readings", "One is far & away."))
    errors = {"u": HeldOut(12, 0.5, 0.25, of_spread=0.75)}
    for converged, answer, card in (
        (True, "Yes. So it is.", "converged yes"),
        (False, "No. So it is.", "converged no"),
        (None, "Cannot be told. So it is.", "converged not known"),
    ):
        verdict = Verdict(converged, "So it is.", errors, doubts)
        text = text_of(replace(cases.heat(), verdict=verdict))
        for words in (answer, card, "Take care It is too warm. One is far & away."):
            assert words in text
        assert "held-out error u 25\N{NO-BREAK SPACE}%".replace("\xa0", " ") in text
        assert "u 12 0.5 K 25 % 75 %" in text
    nothing = text_of(replace(cases.heat(), verdict=Verdict(None, "", {})))
    assert "held-out error not known" in nothing
    assert "No readings were held out, so there is no independent measure of error" in nothing


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"keep": [0, 1]}, "Few readings were held out: u (2)"),
        ({"keep": []}, "No reading of u was held out"),
        ({"off": 1.0}, "The held-out error of u is large"),
        ({"off": np.nan}, "12 predictions at held-out readings are not finite"),
        ({"values": {"u": np.full(3, np.nan)}}, "u: not a single finite value"),
        ({"descent": Descent(DIVERGED)}, "The fit has not converged. Training diverged"),
        ({"free_fields": {"p": "a constant"}}, "p was never measured, and the equations"),
        ({"coefficient_notes": {"nu": "at its bound"}}, "nu: at its bound."),
    ],
)
def test_doubts_are_said_plainly(change, words):
    field = verdicts.heat_field()
    fitted, held_out = verdicts.readings_of(field, ("u",), 120)
    given = dict(change)
    held_out = held_out.take(np.asarray(given.pop("keep", np.arange(12)), int))
    found = verdicts.evidence(field, fitted, held_out, **given)
    assert words in text_of(cases.judged(field, found))


def test_it_says_which_readings_are_the_judges():
    data = cases.heat()
    assert "held out one by one, at random" in text_of(data)
    settings = {"training": {"hold_out_by": "block"}}
    blocked = replace(data, summary=dict(data.summary) | settings)
    assert "in whole blocks of space and time" in text_of(blocked)
    readings = data.fitted  # 108, beside the 12 that were held out of the fit
    guess = np.asarray(readings.values) * 1.02
    found = verdicts.heat(unseen=Unseen(readings, guess, folds=4))
    crossed = cases.judged(data.field, found)
    said = "each reading was predicted by a fit that did not see it: u 2"
    assert f"4-fold cross-validation, folds made of single readings: {said}" in text_of(crossed)
    assert "held out to tell when to stop" in text_of(crossed)
    assert "u at 108 held-out readings" in text_of(crossed)
    with pytest.raises(InputError, match="predictions"):
        replace(crossed.readings, predictions=guess[:3])


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


@pytest.mark.parametrize("case", [cases.heat, cases.wake, cases.block])
def test_values_survive_the_packing(case):
    data = case()
    packed = payload(data)["viewers"]["field"]
    shape = tuple(len(axis["places"]) for axis in packed["axes"])
    assert [axis["name"] for axis in packed["axes"]] == [a for a in "tzyx" if a in data.field.dims]
    for layer in packed["layers"][: len(data.fields)]:
        truth = data.field[layer["name"]].transpose(*(axis["name"] for axis in packed["axes"]))
        found = layer["least"] + layer["step"] * codes_of(layer, shape)
        assert (
            np.abs(found - truth).max() <= 0.51 * float(truth.max() - truth.min()) / LEVELS + 1e-6
        )


def test_holes_stay_holes_and_uneven_grids_become_even():
    x = np.array([0.0, 1.0, 4.0, 9.0])
    field = xr.Dataset(
        {"u": (("y", "x"), [x, 2 * x, np.full(4, np.nan)])}, {"x": x, "y": [2.0, 1, 0]}
    )
    data = cases.report(field, ("u",), 6)
    packed = payload(data)["viewers"]["field"]
    codes = codes_of(packed["layers"][0], (3, 4))
    assert (codes == MISSING).tolist() == [[True] * 4, [False] * 4, [False] * 4]
    layer = packed["layers"][0]
    assert np.allclose(layer["least"] + layer["step"] * codes[2], [0, 3, 6, 9], atol=0.01)


def test_a_large_grid_is_thinned_and_says_so():
    x, t = np.linspace(0, 1, 600), np.linspace(0, 1, 300)
    field = xr.Dataset({n: (("t", "x"), np.outer(t, x)) for n in "uv"}, {"x": x, "t": t})
    data = cases.report(field, ("u",), 3000)
    packed = payload(data)
    assert packed["viewers"]["field"]["note"] == (
        "Thinned for this page: 240 × 240 of 600 × 300 positions (x, t)."
    )
    assert packed["readings"]["u"]["note"] == "2000 of 3000 readings are drawn."
    assert len(page(data)) < 600_000


@pytest.mark.parametrize("constant", [0.0, 3.0, np.nan])
def test_a_field_without_range_is_drawn_all_the_same(constant):
    data = cases.block()
    flat = replace(data, field=0 * data.field + constant, residual=0 * data.field)
    layer = payload(flat)["viewers"]["field"]["layers"][0]
    assert layer["low"] < layer["high"]
    assert text_of(flat)


def test_colour_maps_are_even_and_monotonic():
    for name, colours in colour_maps().items():
        linear = np.where(
            colours <= 10, colours / 255 / 12.92, ((colours / 255 + 0.055) / 1.055) ** 2.4
        )
        lightness = np.cbrt(linear @ [0.2126, 0.7152, 0.0722])
        steps = np.diff(lightness)
        steps = np.concatenate([steps[:127], -steps[128:]]) if name == "diverging" else steps
        assert (steps > -0.004).all()
        assert steps.std() < 0.7 * steps.mean()


def test_writing_is_all_or_nothing(tmp_path):
    path = tmp_path / "report.html"
    assert write_report(cases.heat(), path) == path
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match="missing"):
        write_report(cases.heat(), tmp_path / "missing" / "report.html")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"field": xr.Dataset()}, "no variables"),
        ({"field": xr.Dataset({"u": ("point", [1.0])})}, "x, y, z and t"),
        ({"history": xr.Dataset()}, "step"),
        ({"error_bars": xr.Dataset({"w": ("x", [1.0])}, {"x": [0.0]})}, "same grid"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(InputError, match=message):
        replace(cases.heat(), **change)


def test_bad_readings_and_tables_are_named():
    with pytest.raises(InputError, match=r"shape \(3, 1\); give \(12, 1\)"):
        replace(cases.heat().readings, predictions=np.zeros((3, 1)))
    with pytest.raises(InputError, match=r"\(low, high\)"):
        Tables(coefficients={"nu": (1.0, (1.0,))})


@given(st.lists(st.floats(width=32), max_size=8))
def test_any_history_can_be_drawn(losses):
    chart = line_chart({"loss": (np.arange(len(losses)), losses)}, "step", "loss")
    assert "nan" not in chart
    assert "inf" not in chart
