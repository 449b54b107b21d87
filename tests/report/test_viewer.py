"""The report in a real browser: it opens, it moves, it can be used without a mouse."""

import re
import struct
from dataclasses import replace

import browser as real
import numpy as np
import pytest
import report_cases as cases

from pgt.report import write_report

PICTURE = "document.querySelector('#field canvas').toDataURL()"
SLIDER = "document.querySelector('#field input[type=range]')"
READOUT = "document.querySelector('#field .readout').textContent"
SENSORS = "document.querySelectorAll('#field .map .sensor').length"
READY = "Boolean(document.querySelector('#field .map text, #field .profile text'))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with real.opened(tmp_path_factory.mktemp("profile")) as window:
        yield window


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {"heat": cases.heat(), "wake": walled(cases.wake()), "block": cases.block()}
    made["all fitted"] = all_fitted(made["heat"])
    return {name: write_report(data, folder / f"{name}.html") for name, data in made.items()}


def walled(data):
    """With a wall of three points."""
    line = np.array([[2.0, 0.0], [2.5, 0.5], [3.0, 0.0]])
    return replace(data, tables=replace(data.tables, walls={"hull": [line]}))


def all_fitted(data):
    nothing = data.readings.held_out.take(np.zeros(0, int))
    return replace(data, readings=replace(data.readings, held_out=nothing))


@pytest.fixture
def show(browser, pages):
    """Opens a page; afterwards the browser must have had nothing to complain about or to fetch."""
    browser.problems.clear()
    browser.requests.clear()

    def opened(name, **how):
        browser.open(pages[name], **how)
        browser.wait_for(READY)
        browser.settle()
        return browser

    yield opened
    browser.settle()
    assert browser.problems == []
    assert set(browser.requests) <= {path.as_uri() for path in pages.values()}


def choose(browser, label: str, index: int) -> None:
    """Pick from the list with this label, as a person would."""
    browser.evaluate(
        f"""(() => {{
          const list = [...document.querySelectorAll('#field label')]
            .find((l) => l.textContent.startsWith('{label}')).querySelector('select');
          list.selectedIndex = {index};
          list.dispatchEvent(new Event('change'));
        }})()"""
    )


@pytest.mark.parametrize("name", ["heat", "wake", "block"])
def test_arrow_keys_move_the_slider_and_the_picture(show, name):
    browser = show(name)
    before = browser.evaluate(PICTURE), browser.evaluate(f"{SLIDER}.value")
    drawing = "document.querySelector('#field .profile').innerHTML + " + PICTURE
    whole = browser.evaluate(drawing)
    browser.evaluate(f"{SLIDER}.focus()")
    browser.press("ArrowRight", 39)
    browser.settle()
    assert int(browser.evaluate(f"{SLIDER}.value")) == int(before[1]) + 1
    assert browser.evaluate(drawing) != whole
    assert browser.evaluate(f"{SLIDER}.getAttribute('aria-valuetext')").startswith(("t =", "z ="))
    if name != "heat":  # the map of x and t stays, its line moves
        assert browser.evaluate(PICTURE) != before[0]
    browser.press("ArrowLeft", 37)
    browser.settle()
    assert browser.evaluate(PICTURE) == before[0]


def test_fields_can_be_switched_and_sensors_hidden(show):
    browser = show("wake")
    u, drawn = browser.evaluate(PICTURE), browser.evaluate(SENSORS)
    assert drawn > 10
    counted = re.findall(r"(\d+) (?:fitted|held-out)", browser.evaluate(READOUT))
    assert sum(map(int, counted)) == drawn
    browser.evaluate("document.querySelector('#field input[type=checkbox]').click()")
    assert browser.evaluate(SENSORS) == 0
    browser.evaluate("document.querySelector('#field input[type=checkbox]').click()")
    choose(browser, "Show", 2)
    assert browser.evaluate(PICTURE) != u
    assert browser.evaluate(SENSORS) == 0
    assert "No sensor read p" in browser.evaluate(READOUT)


def test_the_map_lies_the_right_way_round_and_reads_out_its_values(show):
    browser = show("block")
    corners = browser.evaluate(
        """(() => {
          const c = document.querySelector('#field canvas');
          const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
          const green = (x, y) => data[4 * (y * (c.height - 1) * c.width + x * (c.width - 1)) + 1];
          return [green(0, 1), green(1, 1), green(0, 0), green(1, 0)];
        })()"""
    )
    assert corners == sorted(corners)  # in viridis green grows with the value: x < y, upwards
    browser.evaluate("document.querySelector('#field .map svg').focus()")
    for _ in range(20):
        browser.press("ArrowRight", 39)
        browser.press("ArrowUp", 38)
    z = float(browser.evaluate(f"{SLIDER}.value")) / 7
    said = browser.evaluate(READOUT)
    assert said.startswith("x = 1, y = 1: T = ")
    assert float(said.split()[-1]) == pytest.approx(3 + 4 * z, abs=2e-3)


def test_everything_can_be_reached_with_the_tab_key(show):
    browser = show("wake")
    reached = set()
    for _ in range(40):
        browser.press("Tab", 9)
        reached.add(browser.evaluate("document.activeElement.tagName.toLowerCase()"))
    assert {"a", "select", "input", "button", "svg", "summary"} <= reached


@pytest.mark.parametrize("name", ["heat", "wake", "block"])
def test_a_phone_shows_the_whole_width(show, name):
    browser = show(name, width=390, height=844)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    picture = browser.screenshot()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">I", picture[16:20]) == (390,)
    sizes = browser.evaluate(
        "[...document.querySelectorAll('.controls :is(select, button, [type=range])')]"
        ".map((e) => e.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 40  # a finger's width
    right = browser.evaluate(
        "Math.max(...[...document.querySelectorAll('.controls *')]"
        ".map((e) => e.getBoundingClientRect().right))"
    )
    assert right <= 390 - 15


def test_hostile_names_do_nothing(browser, tmp_path):
    nasty = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'
    data = cases.renamed(cases.block(run_file=nasty), nasty)
    browser.problems.clear()
    browser.open(write_report(data, tmp_path / "hostile.html"))
    browser.wait_for(READY)
    assert browser.evaluate("window.hacked") is None
    assert browser.evaluate("document.querySelector('h1').textContent") == nasty
    assert browser.problems == []
