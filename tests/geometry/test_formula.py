import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.geometry import Formula


def test_distance_of_a_formula_that_is_no_distance_is_right_near_its_boundary():
    ring = Formula("x^2 + y^2 - 4", (-3, 3), (-3, 3))
    assert ring.distance(np.array([[2.01, 0.0], [0.0, 1.98]])) == pytest.approx(
        [0.01, -0.02], rel=0.01
    )


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Formula("x^2 + q"), "unknown name 'q'"),
        (lambda: Formula("x^2 +"), "expected"),
        (lambda: Formula("1"), "names neither x nor y"),
        (lambda: Formula("x^2 + y^2 - 1").walls(), "between which numbers"),
        (lambda: Formula("x^2 + y^2 + 1", (-1, 1), (-1, 1)).walls(), "changes its sign nowhere"),
    ],
)
def test_what_is_no_formula_of_a_shape_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()


def test_a_sheet_that_bends_everywhere_has_the_volume_that_counting_finds():
    text = "abs(sin(x)*cos(y) + sin(y)*cos(z) + sin(z)*cos(x)) - 0.4"
    sheet = pgt.Domain(**dict.fromkeys("xyz", (0, 2 * np.pi)), shape=pgt.shapes.Formula(text))
    cells = (np.arange(200) + 0.5) / 200 * 2 * np.pi
    x, y, z = np.meshgrid(cells, cells, cells, sparse=True)
    inside = np.abs(np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x)) < 0.4
    assert sheet.volume == pytest.approx(inside.mean() * (2 * np.pi) ** 3, rel=2e-3)


@pytest.mark.parametrize(
    ("text", "area", "length", "corners"),
    [
        ("max(abs(x) - 1, abs(y) - 0.5)", 2.0, 6.0, 4),
        ("abs(x) + abs(y) - 0.9", 1.62, 3.6 * np.sqrt(2), 4),
        ("max(x^2 + y^2 - 1, -y)", np.pi / 2, np.pi + 2, 2),
        ("x^4 + y^4 - 1", 3.7081493546, 7.0176979, 0),
    ],
)
def test_corners_of_a_formula_are_not_cut_off(text, area, length, corners):
    shape = Formula(text, (-1.5, 1.5), (-1.2, 1.3))
    assert shape.measure() == pytest.approx(area, rel=1e-4)
    assert shape.walls().weights.sum() == pytest.approx(length, rel=1e-4)
    assert len(shape.corners()) == corners


def test_limits_that_cut_a_formula_off_are_refused():
    cut = pgt.shapes.Formula("x^2 + y^2 - 4", x=(-1.5, 3), y=(-3, 3))
    with pytest.raises(InputError, match="make them wider than the shape"):
        pgt.Domain(x=(-3, 3), y=(-3, 3), shape=cut)
    whole = pgt.shapes.Formula("x^2 + y^2 - 4", x=(-2.1, 2.1), y=(-2.1, 2.1)).moved(0.5, 0)
    assert pgt.Domain(x=(-3, 3), y=(-3, 3), shape=whole).volume == pytest.approx(4 * np.pi, 1e-4)
