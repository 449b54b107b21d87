"""Values on a wall that hold by construction."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.models.boundary_lift import Lifted

AROUND = pgt.Domain(x=(-2, 2), y=(-2, 2), shape=-pgt.shapes.Disk(radius=0.5, name="cylinder"))
RESTING = "1 - 0.25/(x^2 + y^2)"
FIELDS = ("u", "v", "p")
POINTS = AROUND.even(12)
READINGS = pgt.Observations.from_arrays(
    dict(zip("xy", POINTS.T, strict=True)), {"u": POINTS[:, 0], "v": POINTS[:, 1]}
).aligned(FIELDS)
SCALING = pgt.Scaling.fit(READINGS, AROUND)
PINN = pgt.PINN(SCALING, width=4, layers=2)
Z = jnp.array([1.2, -0.7])


def lifted(model: pgt.extend.AbstractFieldModel = PINN, **values):
    return Lifted(model, AROUND, FIELDS, RESTING, "cylinder", **(values or {"u": 0, "v": "x*y"}))


def test_on_the_wall_the_values_hold_whatever_the_weights():
    for seed in range(3):
        model = lifted(pgt.PINN(SCALING, width=4, layers=2, seed=seed))
        for angle in (0.0, 1.0, 4.0):
            z = 0.5 * jnp.array([jnp.cos(angle), jnp.sin(angle)])
            u, v, _ = model.decode((), z)
            assert u == pytest.approx(0, abs=1e-6)
            assert v == pytest.approx(float(z[0] * z[1]), abs=1e-6)


def test_elsewhere_it_is_the_value_and_the_distance_times_the_field():
    x, y = Z
    own = PINN.decode((), Z)
    away = 1 - 0.25 / (x**2 + y**2)
    expected = jnp.array([away * own[0], x * y + away * own[1], own[2]])
    np.testing.assert_allclose(lifted().decode((), Z), expected, rtol=1e-5)
    slope = jax.jacfwd(lambda z: lifted().decode((), z))(Z)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": {}}, "no field is prescribed"),
        ({"values": {"T": 0}}, "the fields are u, v, p"),
        ({"fields": ("u", "v")}, "the model has 3 fields"),
        ({"away": "1 - 0.25/(x^2 + q^2)"}, "q"),
        ({"values": {"u": "t"}}, "t"),
        ({"away": "x"}, "vanish on the wall"),
        ({"wall": "rim"}, "no wall 'rim'"),
    ],
)
def test_mistakes_are_named(change, words):
    change = {"fields": FIELDS, "away": RESTING, "wall": "cylinder", "values": {"u": 0}} | change
    arguments = PINN, AROUND, change["fields"], change["away"], change["wall"]
    with pytest.raises(InputError, match=words):
        Lifted(*arguments, **change["values"])


def test_far_from_zero_formulas_would_not_hold():
    there = pgt.Domain(x=(1e6, 1e6 + 1), y=(0, 1))
    points = {"x": 1e6 + POINTS[:, 0] / 4 + 0.5, "y": POINTS[:, 1] / 4 + 0.5}
    readings = pgt.Observations.from_arrays(points, {"u": POINTS[:, 0]})
    network = pgt.PINN(pgt.Scaling.fit(readings, there), width=4, layers=2)
    with pytest.raises(InputError, match="far from zero"):
        Lifted(network, there, ("u",), "y", u=0)
