"""A wall of a shape that is an end of the box, too: what is known of both is said."""

import warnings

import pytest

import pgt
from pgt import _reconstruct
from pgt.physics.condition_overlap import on_ends, warn_of_overlap

COMB = pgt.shapes.Polygon(
    [(0, 0), (4, 0), (4, 3), (3, 3), (3, 1), (1, 1), (1, 3), (0, 3)], name="fins"
)
SINK = pgt.Domain(x=(0, 4), y=(0, 3), shape=COMB)
BASE = pgt.Dirichlet("y", side="lower", u=60.0)


def said(conditions, domain=SINK):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_overlap(conditions, domain)
    return [str(warning.message) for warning in caught]


def test_two_conditions_on_one_place_are_said_with_the_words_that_part_them():
    (line,) = said([BASE, pgt.Robin(wall="fins", coefficient=2.0, u=40.0)])
    assert "22% of the wall 'fins'" in line
    assert "Robin and Dirichlet" in line
    assert "where='y > 0'" in line
    assert said([BASE, pgt.Robin(wall="fins", where="y > 0", coefficient=2.0, u=40.0)]) == []


@pytest.mark.parametrize(
    "conditions",
    [
        [BASE],
        [BASE, pgt.Dirichlet(wall="fins", u=60.0)],  # the same: no contradiction
        [BASE, pgt.Neumann(wall="fins", v=0.0)],  # of another field
        [pgt.Dirichlet("y", side="lower", where="x > 5", u=1.0), pgt.Neumann(wall="fins", u=0.0)],
    ],
)
def test_conditions_that_do_not_meet_are_not_said(conditions):
    assert said(conditions) == []


def test_a_circle_that_touches_an_end_and_a_box_alone_are_not_said():
    round_one = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=pgt.shapes.Disk(name="rim"))
    both = [pgt.Dirichlet("y", u=0.0), pgt.Neumann(wall="rim", u=0.0)]
    assert said(both, round_one) == []
    assert said([BASE], pgt.Domain(x=(0, 4), y=(0, 3))) == []


def test_lids_of_a_tube_are_counted():
    tube = pgt.shapes.Cylinder(radius=1, z=(0, 2), name="tube")
    lids = on_ends(pgt.Domain(x=(-1, 1), y=(-1, 1), z=(0, 2), shape=tube), "tube")
    assert lids == pytest.approx(1 / 3, abs=0.01)
    longer = pgt.shapes.Cylinder(radius=1, z=(-1, 3), name="tube")
    assert on_ends(pgt.Domain(x=(-1, 1), y=(-1, 1), z=(0, 2), shape=longer), "tube") < 0.01
    assert on_ends(pgt.Domain(x=(-2, 2), y=(-2, 2), z=(0, 2), shape=longer), "tube") == 0


def test_a_reconstruction_says_it_before_the_fit(monkeypatch):
    def solve(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(_reconstruct, "solve", solve)
    readings = pgt.Observations.from_arrays(
        {"x": [0.5, 3.5, 2], "y": [2, 2, 0.5]}, {"u": [1, 2, 3]}
    )
    model = pgt.Features(pgt.Scaling.fit(readings, SINK), count=20, band=3.0, domain=SINK)
    said = pytest.warns(UserWarning, match="of the wall 'fins'")
    with said, pytest.raises(KeyboardInterrupt):
        pgt.reconstruct(
            readings, pgt.Laplace(), SINK, [BASE, pgt.Neumann(wall="fins", u=0.0)], model=model
        )


def test_a_wall_that_is_nowhere_in_the_box_shares_nothing():
    far = pgt.shapes.Rectangle((-9, 9), (-9, 9), name="far") - pgt.shapes.Disk(radius=0.3)
    assert on_ends(pgt.Domain(x=(-1, 1), y=(-1, 1), shape=far), "far") == 0.0


def test_a_wall_that_comes_to_an_end_of_the_box_is_looked_at_over_time():
    piston = pgt.shapes.Rectangle((-1, 0), (-1, 2), name="piston").moving(x="t")
    domain = pgt.Domain(x=(-1, 2), y=(0, 1), t=(0, 1), shape=-piston)
    assert on_ends(domain, "piston") == 0.0
    held = pgt.shapes.Polygon([(0, 0), (1, 0), (1, 1), (0, 1)], name="block")
    domain = pgt.Domain(x=(-2, 2), y=(0, 1), t=(0, 1), shape=held.moving(x="0.5*t"))
    assert on_ends(domain, "block") == pytest.approx(0.5, abs=0.01)
