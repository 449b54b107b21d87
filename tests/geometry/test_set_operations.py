import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry import Ball, Complement, Difference, Disk, Union

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
