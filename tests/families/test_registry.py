"""Families by name, and the page that lists them."""

import re
from pathlib import Path

import pytest

import pgt
from pgt.families.registry import get, names


def test_the_families_are_known_by_name_and_made_with_other_settings():
    assert {"heat", "advection_diffusion", "wave", "burgers"} <= set(names())
    assert all(get(name).name == name for name in names())
    assert get("heat", nodes=9).axes["x"].size == 9


def test_a_wrong_name_is_answered_with_the_near_one():
    with pytest.raises(pgt.InputError, match=r"no family 'heet'; .*Did you mean 'heat'\?"):
        get("heet")
    with pytest.raises(pgt.InputError, match="name must be"):
        get(3)


PAGE = Path(__file__).parents[2] / "docs" / "families.md"
MARKS = "<!-- families:begin -->", "<!-- families:end -->"


def row(family):
    """What the page says of a family."""
    what = re.sub(r"\s+", " ", type(family).__doc__.partition("\n\n")[0]).strip()
    periodic = family.domain.periodic
    axes = [
        f"{axis}{'*' * (axis in periodic)} {'{:g} to {:g}'.format(*family.domain.bounds(axis))}"
        for axis in family.domain.axes
    ]
    nodes = " × ".join(str(len(found)) for found in family.axes.values())
    bounds = [f"{name} {low:g} to {high:g}" for name, (low, high) in family.ranges.items()]
    cells = (
        f"`{family.name}`",
        what,
        ", ".join(family.fields),
        ", ".join(axes),
        nodes,
        ", ".join(bounds),
    )
    return f"| {' | '.join(cells)} |"


def table():
    head = "| name | what | fields | axes | nodes | coefficients |\n|---|---|---|---|---|---|"
    return "\n".join([head, *(row(get(name)) for name in sorted(names()))])


def test_the_page_lists_every_family_with_its_law_and_ranges():
    begin, end = MARKS
    shown = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0].strip()
    assert shown == table(), f"write this into {PAGE.name}:\n{table()}"
