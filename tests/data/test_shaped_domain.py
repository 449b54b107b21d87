"""A shape in a box, asked what a box is asked; and shapes that do not belong in theirs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.data.sampling import Graded, Uniform

HOLE = pgt.shapes.Disk((1, 0.5), 0.2, name="hole")
PLATE = pgt.Domain(x=(0, 2), y=(0, 1), t=(0, 3), shape=-HOLE)
AREA = 2 - np.pi * 0.04


def test_samples_fill_the_inside_evenly():
    points = np.asarray(PLATE.sample(jax.random.key(0), 20000))
    left = points[points[:, 0] < 0.8]
    assert len(left) / len(points) == pytest.approx(0.8 / AREA, rel=0.02)
    assert left[:, 1].mean() == pytest.approx(0.5, abs=0.01)


def test_graded_points_crowd_at_the_walls_of_the_shape():
    channel = pgt.Domain(x=(-2, 8), y=(-2, 2), t=(0, 1), shape=-pgt.shapes.Disk(radius=0.5))
    points = np.asarray(channel.near_walls(jax.random.key(0), 4000, reach=0.05))
    away = channel.distance(points)
    assert (away <= 0).all()
    # density e^(-d / 0.2) around a circle: (0.5 + d) e^(-d / 0.2), with a mean distance of 0.255
    assert -away.mean() == pytest.approx(0.255, rel=0.05)
    assert points[:, 2].mean() == pytest.approx(0.5, abs=0.03)
    half = np.asarray(Graded().draw(jax.random.key(0), channel, 4000))
    anywhere = np.asarray(Uniform().draw(jax.random.key(0), channel, 4000))
    close, usual = (np.mean(-channel.distance(p) < 0.2) for p in (half, anywhere))
    assert close > 8 * usual


def test_quadrature_is_true_to_the_area():
    points, weights = PLATE.quadrature(4000)
    assert PLATE.contains(points).all()
    assert weights.sum() == pytest.approx(3 * AREA, rel=1e-6)
    # ∫ x over the plate, whose middle is at 1
    assert points[:, 0] @ weights == pytest.approx(3 * AREA, rel=2e-3)


def test_a_part_of_a_wall_is_chosen_by_a_condition():
    part = PLATE.wall("hole", where="x < 1 and y > 0.5")
    assert part.area == pytest.approx(0.4 * np.pi / 4, rel=2e-3)
    assert (np.asarray(part.places)[:, 0] < 1).all()
    box = pgt.Domain(x=(0, 1), y=(0, 1))
    assert box.walls("x", "lower", where="y < 0.25").area == pytest.approx(0.25, rel=1e-2)
    with pytest.raises(InputError, match="nothing is left"):
        PLATE.wall("hole", where="x < 0")
    with pytest.raises(InputError, match="where"):
        PLATE.wall("hole", where=3)  # pyright: ignore[reportArgumentType]


def test_the_start_and_means_over_space_keep_to_the_shape():
    start = PLATE.start().nodes(100)
    assert PLATE.contains(start).all()
    assert (start[:, 2] == 0).all()
    points, weights = PLATE.instants().mean_nodes(jnp.zeros(3))
    assert PLATE.contains(np.asarray(points)).all()
    assert weights.sum() == pytest.approx(1.0)


def test_readings_in_an_obstacle_are_named():
    readings = pgt.Observations.from_arrays(
        {"x": [0.1, 1.0], "y": [0.5, 0.5], "t": [0, 0]}, {"u": [1.0, 2.0]}
    )
    with pytest.raises(InputError, match=r"1 reading.* row 1: x = 1, y = 0.5, t = 0.*hole"):
        readings.check_inside(PLATE)


DISK = pgt.shapes.Disk(name="disk")
BROKEN = {
    "outside the box": (DISK.moved(5, 5), "nothing of the shape lies in the box"),
    "hole larger than the shape": (DISK - pgt.shapes.Disk(radius=2), "nothing of the shape"),
    "nothing in common": (DISK & DISK.moved(3, 0), "nothing of the shape"),
    "millimetres": (pgt.shapes.Disk(radius=500, name="disk"), "'disk' is 500 times larger"),
    "kilometres": (pgt.shapes.Disk(radius=0.001, name="disk"), "'disk' is 1e\\+03 times smaller"),
    "all of the box": (pgt.shapes.Disk(radius=10), "no wall of the shape lies in the box"),
    "an obstacle elsewhere": (-pgt.shapes.Disk((9, 9), 1), "no wall of the shape lies in the box"),
    "the box is filled": (-pgt.shapes.Disk(radius=9), "nothing of the shape"),
    "of space": (pgt.shapes.Ball(), "does not fit the axes x, y"),
    "no shape": ("disk", "write a shape, such as Disk"),
    "empty formula": (pgt.shapes.Formula("x^2 + y^2 + 1"), "nothing of the shape"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_shapes_that_do_not_belong_in_their_box_are_refused(what):
    shape, words = BROKEN[what]
    with pytest.raises(InputError, match=words) as refused:
        pgt.Domain(x=(-1, 1), y=(-1, 1), shape=shape)
    assert "\n" not in str(refused.value)


def test_a_small_hole_that_may_be_a_larger_one_in_other_units_is_warned_of():
    hole = pgt.shapes.Disk(centre=(0.0005, 0.0005), radius=0.0002, name="hole")
    with pytest.warns(
        UserWarning, match=r"2.5e\+03 times smaller.*scaled\(1000\), unless it is that"
    ):
        pgt.Domain(x=(0, 1), y=(0, 1), shape=-hole)


def test_a_shape_needs_axes_of_space():
    with pytest.raises(InputError, match="two or three axes of space"):
        pgt.Domain(x=(0, 1), t=(0, 1), shape=DISK)
    with pytest.raises(InputError, match="the domain has no shape"):
        pgt.Domain(x=(0, 1), y=(0, 1)).wall("disk")
    with pytest.raises(InputError, match="has no shape"):
        pgt.Domain(x=(0, 1), y=(0, 1)).distance([[0, 0]])


@pytest.mark.parametrize(
    ("width", "said"), [(1e-5, "too thin for its box"), (1e-8, "walls closer to each other than")]
)
def test_a_ring_that_is_too_thin_is_called_so(width, said, monkeypatch):
    monkeypatch.setattr(
        "pgt.data.shape_points.MAX_POINTS_TRIED", 1 << 16
    )  # as with the many points, only sooner
    ring = pgt.shapes.Disk(radius=0.9, name="rim") - pgt.shapes.Disk(
        radius=0.9 - width, name="bore"
    )
    with pytest.raises(InputError, match=said):
        pgt.Domain(x=(-1, 1), y=(-1, 1), shape=ring).even(100)


def test_a_formula_thinner_than_its_grid_is_refused():
    thin = pgt.shapes.Formula("abs(sqrt(x^2 + y^2) - 0.9) - 0.0005")
    with pytest.raises(InputError, match=r"0\.0014. of the box .* walls were found around 0\.000"):
        pgt.Domain(x=(-1, 1), y=(-1, 1), shape=thin)
