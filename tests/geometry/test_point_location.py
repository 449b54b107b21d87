import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry.point_location import Bins, where_true

PLACES = np.array([[-1.0, 0.0], [0.5, 0.2], [2.0, 3.0]])


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("x < 0", [True, False, False]),
        ("x >= 0.5", [False, True, True]),
        ("0 < x < 1", [False, True, False]),
        ("x > 0 and y < 1", [False, True, False]),
        ("x < 0 or y > 1", [True, False, True]),
        ("x^2 + y^2 <= 1", [True, True, False]),
        ("1 < 2", [True, True, True]),
        ("(x > 0) and (y < 1)", [False, True, False]),
        ("((x + 1) * (y - 1) > 0) or (x < 0)", [True, False, True]),
        ("(x + 1) < (y + 1)", [True, False, True]),
    ],
)
def test_conditions_choose_places(text, holds):
    assert where_true(text, PLACES, ("x", "y")).tolist() == holds


@pytest.mark.parametrize("text", ["x", "x <", "x == 0", "z < 0", "x < 0 <", "x < 0 and", ""])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(InputError):
        where_true(text, PLACES, ("x", "y"))


@pytest.mark.parametrize(
    ("text", "sign"), [("x > 0 && y < 1", "&&"), ("not x > 0", "not"), ("x == 0", "==")]
)
def test_signs_of_other_languages_are_named(text, sign):
    with pytest.raises(InputError, match=f"{sign!r} cannot be read here; write 'x > 0 and y < 1'"):
        where_true(text, PLACES, ("x", "y"))


def test_every_point_meets_all_members_whose_box_holds_it():
    random = np.random.default_rng(0)
    low = random.uniform(0, 1, (40, 2))
    high = low + random.uniform(0, 0.3, (40, 2))
    points = random.uniform(-0.2, 1.4, (300, 2))
    met = np.zeros((300, 40), bool)
    for rows, members in Bins.build(low, high, cells=64).pairs(points):
        assert len(np.unique(rows)) == len(rows)
        met[rows, members] = True
    inside = np.all((points[:, None] >= low) & (points[:, None] <= high), axis=2)
    assert met[inside].all()
