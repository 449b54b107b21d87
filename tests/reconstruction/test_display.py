"""A result at a glance: a few lines, a figure and a page."""

import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


@pytest.fixture(scope="module")
def result():
    readings = pgt.sample(pgt.datasets.heat({1: 1.0}, x=11, t=11), n=25)
    model = pgt.Features(pgt.Scaling.fit(readings, DOMAIN), count=30, band=5.0)
    pde = pgt.Heat(pgt.Unknown(0.01, positive=True))
    return pgt.reconstruct(readings, pde, DOMAIN, model=model, error_bars="posterior")


def test_a_few_lines_say_what_it_is(result):
    said = repr(result)
    assert len(said) <= 600
    for words in (
        "of u over x, t",
        "u_t = diffusivity*lap(u)",
        "25 fitted",
        "diffusivity = ",
        "verdict",
    ):
        assert words in said
    assert "of the spread" in said


def test_it_draws_itself_and_writes_its_page(result, tmp_path):
    assert result.plot(x=5, t=4).axes[0].get_xlabel() == "$t$"
    page = result.report(tmp_path / "page.html", x=5, t=4)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_points_outside_are_answered_with_a_warning_and_a_mark(result):
    with pytest.warns(
        pgt.DoubtWarning, match=r"1 of 2 points lie outside Domain\(x=\(0, 1\)"
    ) as seen:
        answer = result.at(x=[0.5, 9.0], t=0.5)
    assert seen[0].filename == __file__
    assert answer.outside.values.tolist() == [False, True]
    with pytest.warns(pgt.DoubtWarning, match="2 of 4 points"):
        grid = result.grid(x=[0.5, -1.0], t=2)
    assert grid.outside.dims == ("t", "x")
    assert grid.outside.values.tolist() == [[False, True]] * 2
    assert "outside" not in result.grid(x=2, t=2).coords


def test_a_name_that_one_would_guess_is_answered_with_the_right_one(result):
    with pytest.raises(
        AttributeError, match=r"no attribute 'suspects'; did you mean 'suspicious\(\)'"
    ):
        _ = result.suspects
    with pytest.raises(AttributeError, match=r"did you mean 'parameters'\?"):
        _ = result.parameter
    with pytest.raises(AttributeError, match=r"no attribute 'colour'$"):
        _ = result.colour
    assert not hasattr(result, "__array__")


def test_it_is_asked_by_the_names_of_axes(result):
    by_name = result.at(x=0.5, t=[0.1, 0.2])
    np.testing.assert_array_equal(by_name.u, result.at([[0.5, 0.1], [0.5, 0.2]]).u)
    for wrong in ({}, {"points": [[0.5, 0.5]], "x": 0.5}):
        with pytest.raises(InputError, match="either points, or every axis"):
            result.at(**wrong)
