"""Derived quantities: what they are made of, their values by hand, and their units."""

import jax.numpy as jnp
import pytest

from pgt.core.errors import InputError
from pgt.physics.derivatives import differentiate
from pgt.physics.quantities import IN_SPACE, NAMED, parts_of, quantity, units_of

COORDS = ("x", "y", "t")


def test_derived_quantities():
    fields = ("u", "v", "p")
    assert parts_of("vorticity", COORDS, fields) == ("v_x", "u_y")
    assert parts_of("speed", ("x",), ("speed",)) == ("speed",)  # a field of that name goes first
    with pytest.raises(InputError, match="'v_x'"):
        parts_of("vorticity", COORDS, ("u",))


def test_values_by_hand():
    def flow(z):
        x, y, _ = z
        return jnp.stack([3 * x + 5 * y, 7 * x - 2 * y])

    names = ("u", "v", "u_x", "u_y", "v_x", "v_y")
    table = differentiate(flow, names, COORDS, ("u", "v"))(jnp.array([1.0, 0.0, 2.0]))
    found = {name: float(quantity(name, table, COORDS, ("u", "v"))) for name in (*NAMED, "u_y")}
    expected = {"vorticity": 7 - 5, "divergence": 3 - 2, "speed": 58**0.5, "u_y": 5}
    assert found == pytest.approx(expected)


def test_values_in_space_by_hand():
    def flow(z):
        x, y, z = z
        return jnp.stack([3 * x + 5 * y + 2 * z, 7 * x - 2 * y + z, 4 * x + 3 * y + 6 * z])

    coords, fields = ("x", "y", "z"), ("u", "v", "w")
    wanted = dict.fromkeys(part for name in IN_SPACE for part in parts_of(name, coords, fields))
    table = differentiate(flow, wanted, coords, fields)(jnp.array([1.0, 0.0, 0.0]))
    found = {name: float(quantity(name, table, coords, fields)) for name in IN_SPACE}
    expected = {
        "vorticity": 12**0.5, "vorticity_x": 2, "vorticity_y": -2, "vorticity_z": 2,
        "divergence": 7, "speed": 74**0.5,
    }  # fmt: skip
    assert found == pytest.approx(expected)
    units = {"w": "m s-1", "y": "m"}
    assert units_of("vorticity_x", units, coords, fields) == "m s-1 m-1"


def test_in_the_plane_w_is_some_other_field():
    assert parts_of("speed", COORDS, ("u", "v", "w")) == ("u", "v")
    with pytest.raises(InputError, match="'vorticity_x'"):
        parts_of("vorticity_x", COORDS, ("u", "v", "w"))
    space = ("x", "y", "z")  # a derivative of a field of that name goes first, too
    assert parts_of("vorticity_x", space, ("u", "v", "w", "vorticity")) == ("vorticity_x",)


def test_a_field_goes_before_the_quantity_of_its_name():
    table = differentiate(lambda z: 4 * z, ("speed",), ("x",), ("speed",))(jnp.array([2.0]))
    assert float(quantity("speed", table, ("x",), ("speed",))) == 8.0
    assert units_of("speed", {"speed": "rpm", "u": "m s-1"}, ("x",), ("speed",)) == "rpm"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("u", "m s-1"),
        ("u_xx", "m s-1 m-2"),
        ("u_xt", "m s-1 m-1 s-1"),
        ("vorticity", "m s-1 m-1"),
        ("speed", "m s-1"),
        ("c", "1"),
        ("c_x", "m-1"),
        ("w", None),
        ("u_y", None),
    ],
)
def test_units(name, expected):
    units = {"u": "m s-1", "v": "m s-1", "c": "1", "x": "m", "t": "s"}
    assert units_of(name, units, COORDS, ("u", "v", "c", "w")) == expected
