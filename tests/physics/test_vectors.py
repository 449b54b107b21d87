"""The terms of vector equations, by hand, and body forces that do not fit."""

import jax.numpy as jnp
import pytest
from nested_derivatives import NestedDerivatives

from pgt.core.errors import InputError
from pgt.physics.vectors import (
    as_forces,
    carried,
    change,
    components,
    divergence,
    forces_at,
    space_of,
)

COORDS = ("x", "y", "t")


def at(x, y, t):
    """u = x y + t, v = 3 x - y² at one point."""

    def flow(z):
        return jnp.stack([z[0] * z[1] + z[2], 3 * z[0] - z[1] ** 2])

    return NestedDerivatives(flow, jnp.array([x, y, t]), COORDS, ("u", "v"))


def test_there_is_one_component_for_each_axis():
    assert [components(c) for c in (("x", "t"), COORDS)] == [("u",), ("u", "v")]
    assert components(("x", "y", "z")) == ("u", "v", "w")
    assert space_of(COORDS) == ("x", "y")


def test_terms_by_hand():
    d = at(2.0, 5.0, 1.0)
    assert float(divergence(d, COORDS)) == 5 - 10
    assert float(carried(d, "u", COORDS)) == 11 * 5 + (6 - 25) * 2
    assert float(change(d, "u", COORDS)) == 1.0
    assert change(d, "u", ("x", "y")) == 0.0


def test_forces_are_one_per_axis():
    forces = as_forces("Flow(source)", ("x*y", None), COORDS)
    assert [float(f) for f in forces_at(forces, at(2.0, 5.0, 1.0), COORDS)] == [10.0, 0.0]
    assert as_forces("Flow(source)", None, COORDS) == (None, None)
    with pytest.raises(InputError, match=r"must be 3 body forces \(f_x, f_y, f_z\)"):
        as_forces("Flow(source)", ("x", "y"), ("x", "y", "z"))
    with pytest.raises(InputError, match=r"Flow\(source\) must be 2 body forces"):
        as_forces("Flow(source)", "x", COORDS)
    with pytest.raises(InputError, match=r"Flow\(source\[1\]\): unknown name 'z'"):
        as_forces("Flow(source)", ("x", "z"), COORDS)
