import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry import Ball, Complement, Difference, Disk, Formula, Rectangle, Union

PLACES = np.random.default_rng(0).uniform(-2, 2, (400, 2))
LEFT, RIGHT = Disk((-0.5, 0)), Disk((0.5, 0))


def test_the_algebra_is_that_of_sets():
    a, b = LEFT.inside(PLACES), RIGHT.inside(PLACES)
    assert ((LEFT | RIGHT).inside(PLACES) == (a | b)).all()
    assert ((LEFT & RIGHT).inside(PLACES) == (a & b)).all()
    assert ((LEFT - RIGHT).inside(PLACES) == (a & ~b)).all()
    assert ((-LEFT).inside(PLACES) == ~a).all()
    assert (Difference(Disk(radius=2), LEFT, RIGHT).inside(PLACES) == (
        Disk(radius=2).inside(PLACES) & ~a & ~b
    )).all()  # fmt: skip


def test_placing_goes_there_and_back():
    placed = Rectangle((0, 1), (0, 2)).scaled(2).rotated(90).moved(1, -1)
    # (1, 2) becomes (2, 4), then (-4, 2), then (-3, 1)
    assert placed.inside(np.array([[-2.9, 0.9], [-3.1, 0.9], [-2.9, 1.1]])).tolist() == [
        True,
        False,
        False,
    ]
    lower, upper = placed.bounds()
    assert lower == pytest.approx([-3, -1])
    assert upper == pytest.approx([1, 1])


def test_a_formula_inside_learns_its_box():
    shape = -(Formula("x^2 + y^2 - 1").moved(1, 0) | Disk())
    assert np.isfinite(shape.within([-2, -2], [3, 2]).leaves()[0].bounds()).all()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Disk() - Ball(), r"plane and of space together: Disk \(2D\), Ball \(3D\)"),
        (lambda: Disk() | 3, "is no shape"),
        (lambda: Union(), "give one shape at least"),
        (lambda: Complement("disk"), "is no shape"),
        (lambda: Disk().moved(1), "write 2 numbers"),
        (lambda: Disk().scaled(0), "above 0"),
        (lambda: Ball().rotated(30), "name the axis"),
        (lambda: Ball().rotated(30, (0, 0, 0)), "an axis has a direction"),
    ],
)
def test_what_cannot_be_put_together_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()
