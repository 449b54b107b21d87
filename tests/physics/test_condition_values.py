"""Known functions of the coordinates: numbers, formulas, functions and tables."""

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from nested_derivatives import residual_at

import pgt
from pgt.core.errors import InputError
from pgt.physics import Heat, Initial


@pytest.mark.parametrize(
    "source",
    [
        "x*t + 2",
        lambda x, t: x * t + 2,
        lambda t, x: x * t + 2,
        lambda a, b: a * b + 2,
        lambda *, x, t, shift=2.0: x * t + shift,
        lambda **point: point["x"] * point["t"] + 2,
    ],
)
def test_a_source_may_be_written_in_many_ways(source):
    z = jnp.array([0.5, 3.0])
    residual = residual_at(Heat(0.1, source=source), lambda z: 0 * z[:1], z)["heat"]
    assert float(residual) == pytest.approx(-3.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Heat(0.1, source="sin(y)"), r"Heat\(source\): unknown name 'y'"),
        (lambda: Heat(0.1, source="sin("), "end of the text"),
        (lambda: Heat(0.1, source=lambda a, b, c: a), "write `lambda x, t"),
        (lambda: Initial(u=([0.0, 1.0], [1.0])), "one value per coordinate"),
        (lambda: Initial(u=([1.0, 0.0], [1.0, 2.0])), "increasing"),
        (lambda: Initial(u=([0.0, 1.0], [1.0, np.nan])), "NaN or inf"),
        (lambda: Initial(u=(1.0, 2.0, 3.0)), "pair"),
        (
            lambda: Initial(u=xr.DataArray([0.0, 1.0], dims="time")),
            "not one of r, θ, x, y, z and t",
        ),
        (lambda: Initial(u=xr.DataArray([0.0, 1.0], dims="x")), "assign_coords"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


# ------------------------------------------------------------------------------- binding

DOMAIN = pgt.Domain(x=(0, 2), y=(0, 1), shape=-pgt.shapes.Disk((1, 0.5), 0.2, name="hole"))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (lambda: pgt.Dirichlet(wall="hol", u=0.0), r"Dirichlet\(wall='hol'\): there is no wall"),
        (lambda: pgt.Neumann(wall="hole", where="q < 0", u=0.0), "unknown name 'q'"),
        (lambda: pgt.Dirichlet(wall="hole", where="x < 0", u=0.0), "nothing is left"),
        (lambda: pgt.Dirichlet("x", wall="hole", u=0.0), "has no axis or side"),
    ],
)
def test_walls_that_are_not_there_are_told_of_the_condition(condition, words):
    with pytest.raises(InputError, match=words):
        condition().bind(DOMAIN, ("u",))
