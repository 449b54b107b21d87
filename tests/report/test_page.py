"""The report's content, read without a browser."""

import base64
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import hypothesis.strategies as st
import numpy as np
import pytest
import report_cases as cases
import xarray as xr
from hypothesis import given

from pgt.ground.errors import InputError
from pgt.report import Folds, words, write_report
from pgt.report.charts import line_chart
from pgt.report.colours import colour_maps
from pgt.report.numbers import number, ticks
from pgt.report.page import page
from pgt.report.payload import LEVELS, MISSING, payload

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
    read = np.concatenate([data.observations.values, data.held_out.values])
    error = np.sqrt(np.mean((data.predictions - data.held_out.values) ** 2))
    text = text_of(data)
    assert f"{number(read.min())} to {number(read.max())} K" in text
    assert f"u 12 {number(error)} K" in text


def test_the_error_is_relative_to_size_and_to_spread():
    (misfit,) = words.misfits(cases.block())
    data = cases.block()
    wrong = np.linalg.norm(data.predictions - data.held_out.values)
    assert misfit.relative == pytest.approx(wrong / np.linalg.norm(data.held_out.values))
    spread = np.concatenate([data.observations.values, data.held_out.values]).std()
    assert misfit.of_spread == pytest.approx(misfit.rms / spread)


def test_a_sound_fit_raises_no_doubt():
    assert words.doubts(cases.heat()) == []
    assert "Nothing in these numbers gives cause for doubt" in text_of(cases.heat())


def test_doubts_are_said_plainly():
    data = cases.heat()
    few = replace(data, held_out=data.held_out.take([0, 1]), predictions=data.predictions[:2])
    assert "Few readings were held out: u (2)" in text_of(few)
    none = replace(
        data, held_out=data.held_out.take(np.zeros(0, int)), predictions=np.zeros((0, 1))
    )
    assert "No reading of u was held out" in text_of(none)
    far = replace(data, predictions=data.predictions + 1.0)
    assert "The held-out error of u is large" in text_of(far)
    broken = replace(data, predictions=np.full_like(data.predictions, np.nan))
    assert "12 predictions at held-out readings are not finite" in text_of(broken)
    told = replace(data, warnings=("Worse than radial basis functions.",))
    assert "Worse than radial basis functions." in text_of(told)


def test_it_says_which_readings_are_the_judges():
    data = cases.heat()
    assert "held out one by one, at random" in text_of(data)
    settings = {"training": {"hold_out_by": "block"}}
    blocked = replace(data, summary=dict(data.summary) | settings)
    assert "in whole blocks of space and time" in text_of(blocked)
    readings = data.observations  # 108, beside the 12 that were held out of the fit
    guess = np.asarray(readings.values) * 1.02
    crossed = replace(data, folds=Folds(4, readings, guess))
    (misfit,) = words.misfits(crossed)
    assert (misfit.count, misfit.relative) == (108, pytest.approx(0.02))
    said = "each reading was predicted by a fit that did not see it: u 2"
    assert f"4-fold cross-validation, folds made of single readings: {said}" in text_of(crossed)
    with pytest.raises(InputError, match="predictions"):
        replace(data, folds=Folds(4, readings, guess[:3]))


def test_known_noise_excuses_an_error_of_its_size():
    data = cases.heat()
    noise = np.full_like(data.observations.values, 0.6)
    noisy = replace(data.observations, noise=noise)
    far = replace(data, observations=noisy, predictions=data.predictions + 1.0)
    assert not any("large" in doubt for doubt in words.doubts(far))


@pytest.mark.parametrize(
    ("summary", "rate", "converged"),
    [
        ({"stopped": "held-out error stopped falling"}, 5.0, True),
        ({"stopped": "budget spent"}, 5.0, False),
        ({"stopped": "budget spent"}, 0.1, True),
        ({"stopped": "budget spent", "polish_costs": [3.0, 0.2, 0.1, 0.1, 0.1, 0.1]}, 5.0, True),
        ({"stopped": "budget spent", "polish_costs": [16.0, 8.0, 4.0, 2.0, 1.0]}, 0.1, False),
        ({"stopped": "budget spent", "polish_costs": [16e-8, 8e-8, 4e-8, 2e-8, 1e-8]}, 5.0, True),
        ({"stopped": "diverged: the loss stayed non-finite"}, 0.1, False),
    ],
)
def test_convergence_is_judged(summary, rate, converged):
    data = cases.heat(summary=summary, history=cases.history("data", rate=rate))
    assert words.convergence(data)[0] is converged
    assert any("not converged" in doubt for doubt in words.doubts(data)) is not converged


def test_without_a_history_convergence_is_not_claimed():
    empty = cases.history("data").isel(step=slice(0))
    data = cases.heat(summary={}, history=empty)
    assert words.convergence(data)[0] is None
    assert "Cannot be told" in text_of(data)


def test_text_from_outside_stays_text():
    data = cases.heat(summary=cases.SUMMARY | {"device": NASTY, "training": {NASTY: NASTY}})
    renamed = {"u": NASTY}
    field = data.field.rename(renamed)
    field[NASTY].attrs["units"] = NASTY
    readings = [replace(r, fields=(NASTY,)) for r in (data.observations, data.held_out)]
    history = cases.history(NASTY, unknowns=(NASTY,))
    attack = replace(
        data, field=field, observations=readings[0], held_out=readings[1], history=history,
        residual=xr.Dataset({NASTY: data.field["u"]}), coefficients={NASTY: (1.0, None)},
        error_bars=None, run_file=NASTY, title=NASTY, warnings=(NASTY,),
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
    text = text_of(flat)
    assert ("not a single finite value" in text) is bool(np.isnan(constant))


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
        ({"predictions": np.zeros((3, 1))}, r"shape \(3, 1\); give \(12, 1\)"),
        ({"field": xr.Dataset()}, "no variables"),
        ({"field": xr.Dataset({"u": ("point", [1.0])})}, "x, y, z and t"),
        ({"history": xr.Dataset()}, "step"),
        ({"error_bars": xr.Dataset({"w": ("x", [1.0])}, {"x": [0.0]})}, "same grid"),
        ({"coefficients": {"nu": (1.0, (1.0,))}}, r"\(low, high\)"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(InputError, match=message):
        replace(cases.heat(), **change)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_value(value):
    text = number(value, 4).replace("−", "-").replace(" × 10", "e")
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    assert float(text.translate(raised)) == pytest.approx(value, rel=6e-4, abs=1e-310)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_and_inside(low, length):
    found = ticks(low, low + length)
    assert 2 <= len(found) <= 11
    slack = 1e-6 * length + 1e-9 * abs(low)
    assert all(low - slack <= tick <= low + length + slack for tick in found)


@given(st.lists(st.floats(width=32), max_size=8))
def test_any_history_can_be_drawn(losses):
    chart = line_chart({"loss": (np.arange(len(losses)), losses)}, "step", "loss")
    assert "nan" not in chart
    assert "inf" not in chart
