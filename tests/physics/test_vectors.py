"""The terms of vector equations, by hand, and body forces that do not fit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nested_derivatives import NestedDerivatives

import pgt
from pgt.core.errors import InputError
from pgt.core.registry import parts
from pgt.methods.plan import choose
from pgt.physics.derivatives import residual
from pgt.physics.vectors import (
    as_fields,
    as_forces,
    forces_at,
)

COORDS = ("x", "y", "t")


def at(x, y, t):
    """u = x y + t, v = 3 x - y² at one point."""

    def flow(z):
        return jnp.stack([z[0] * z[1] + z[2], 3 * z[0] - z[1] ** 2])

    return NestedDerivatives(flow, jnp.array([x, y, t]), COORDS, ("u", "v"))


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


# ------------------------------------------------------------------------------- names

CASES = {
    "heat": (pgt.Heat, (0.1,), {"source": "x*t"}),
    "wave": (pgt.Wave, (0.5,), {}),
    "burgers": (pgt.Burgers, (0.1,), {}),
    "allen_cahn": (pgt.AllenCahn, (0.1,), {}),
    "advection_diffusion": (pgt.AdvectionDiffusion, (0.5, 0.1), {}),
    "poisson": (pgt.Poisson, ("x",), {}),
    "laplace": (pgt.Laplace, (), {}),
    "navier_stokes": (pgt.NavierStokes2D, (0.1,), {}),
    "navier_stokes_3d": (pgt.NavierStokes3D, (0.1,), {}),
    "stokes": (pgt.Stokes, (0.1,), {}),
    "boussinesq": (pgt.Boussinesq, (0.1, 0.2, 1.0), {}),
    "shallow_water": (pgt.ShallowWater, (), {"coriolis": 0.3}),
    "darcy": (pgt.Darcy, (0.1,), {"fluxes": True, "storage": 0.2}),
    "elasticity": (pgt.Elasticity, (1.0, 0.3), {}),
    "acoustics": (pgt.Acoustics, (0.5,), {"dimension": 2}),
    "maxwell": (pgt.Maxwell, (), {}),
    "helmholtz": (pgt.Helmholtz, (2.0,), {}),
}


def test_every_equation_is_here():
    assert set(CASES) == {
        n for n, c in parts("equation").items() if c.__module__.startswith("pgt.")
    }


@pytest.mark.parametrize("name", CASES)
def test_another_name_leaves_the_residual_alone(name):
    equation, coefficients, options = CASES[name]
    plain = equation(*coefficients, **options)
    names = [f"field_{letter}" for letter in "abcd"[: len(plain.fields)]]
    other = equation(*coefficients, **options, fields=names if len(names) > 1 else names[0])
    assert other.fields == tuple(names)
    weights = np.random.default_rng(0).normal(size=(len(names), len(plain.coords)))
    z = jnp.linspace(0.2, 0.7, len(plain.coords))
    left, right = (residual(pde, lambda z: jnp.sin(weights @ z), z) for pde in (plain, other))
    assert jax.tree.map(float, left) == jax.tree.map(float, right)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (("T", "S"), "the equation has the fields u; write 1 different name"),
        ("x", "'x' cannot be the name of a field"),
        ("T_x", "'T_x' cannot be the name of a field"),
        ("my T", "'my T' cannot be the name"),
    ],
)
def test_names_that_are_none(fields, message):
    with pytest.raises(InputError, match=message):
        as_fields("Heat", fields, ("u",))


def test_conditions_and_readings_use_the_new_name():
    readings = {"x": [0.2, 0.4, 0.6], "t": [0.1, 0.5, 0.9], "T": [1.0, 2.0, 1.5]}
    plan = choose(
        pgt.Observations.from_arrays({a: readings[a] for a in ("x", "t")}, {"T": readings["T"]}),
        pgt.Heat(0.01, fields="T"),
        pgt.Domain(x=(0, 1), t=(0, 1)),
        [pgt.Dirichlet("x", T=0.0)],
    )
    assert plan.first.problem.observations.fields == ("T",)
    assert [one.model for one in plan.candidates] == ["Solver", "Features"]
