"""Derivatives by name: against finite differences, nested differentiation and exact solutions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exact_solutions import ALL_PDES
from nested_derivatives import random_points, residual_at

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown
from pgt.physics import Equation, Heat, NavierStokes2D
from pgt.physics.derivatives import (
    IN_SPACE,
    NAMED,
    differentiate,
    parse_name,
    parts_of,
    quantity,
    requested,
    residual,
    residual_and_size,
    units_of,
)

COORDS, FIELDS = ("x", "y", "t"), ("u", "v")
QUICK = {"xla_backend_optimization_level": 0}  # small programs: compiling them is the cost
POINT = np.array([0.3, -0.7, 0.45])


def field(z):
    x, y, t = z
    return jnp.stack([jnp.sin(2 * x + y) * jnp.exp(-t * y), x**3 * y**2 * t**2 + jnp.cos(x * t)])


def finite_difference(function, z, along, step):
    """Central differences of any order on the host."""
    if not along:
        return np.asarray(function(z))
    shift = np.zeros_like(z)
    shift[along[-1]] = step
    ahead = finite_difference(function, z + shift, along[:-1], step)
    behind = finite_difference(function, z - shift, along[:-1], step)
    return (ahead - behind) / (2 * step)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("u", (0, ())),
        ("v_t", (1, (2,))),
        ("u_yx", (0, (0, 1))),
        ("u_xtx", (0, (0, 0, 2))),
    ],
)
def test_names(name, expected):
    assert parse_name(name, COORDS, FIELDS) == expected


@pytest.mark.parametrize("name", ["w", "u_z", "u_", "_x", "u_xq", "x_u", "", "lap(u)"])
def test_wrong_names_are_named_with_the_remedy(name):
    with pytest.raises(InputError, match=f"'{name}'".replace("(", r"\(").replace(")", r"\)")) as e:
        parse_name(name, COORDS, FIELDS)
    assert "u, v" in str(e.value)
    assert "u_xx" in str(e.value)


def test_a_residual_gets_exactly_what_it_asks_for():
    assert set(requested(Heat(0.1))) == {"u_t", "lap(u)"}
    assert set(requested(Heat(Unknown(0.1)))) == {"u_t", "lap(u)"}
    assert set(requested(Heat(0.1, source="x*t"))) == {"u_t", "lap(u)", "x", "t"}
    third = Equation("u_t + 6*u*u_x + u_xxx = 0")
    assert set(requested(third)) == {"u_t", "u", "u_x", "u_xxx"}
    flow = set(requested(NavierStokes2D(0.01)))
    assert flow >= {"u", "v", "u_x", "u_y", "u_t", "v_x", "v_y", "v_t", "p_x", "p_y"}
    assert not {"p", "p_t", "u_xt"} & flow


NAMES = (
    "u",
    "v",
    "u_x",
    "v_t",
    "u_xx",
    "u_xy",
    "v_yt",
    "v_tt",
    "u_xxx",
    "v_xxy",
    "u_xyt",
    "v_xxyy",
)


@pytest.fixture(scope="module")
def table():
    with jax.enable_x64(True):
        names = (*NAMES, "lap(u)", "lap(v)", "x", "t")
        read = differentiate(field, names, COORDS, FIELDS)

        def run(z):
            values = read(z)
            return {n: values(n) if "(" not in n else values.laplacian(n[4:-1]) for n in names}

        return jax.jit(run, compiler_options=QUICK)(POINT)


@pytest.mark.parametrize("name", NAMES)
def test_against_finite_differences(table, name):
    index, along = parse_name(name, COORDS, FIELDS)
    with jax.enable_x64(True):
        step = 10.0 ** (-4 + 0.7 * max(len(along) - 1, 0))
        expected = finite_difference(field, POINT, along, step)[index]
    assert float(table[name]) == pytest.approx(float(expected), rel=2e-4, abs=2e-4)


# One of every kind; the others are compiled by `make smoke`.
OFTEN = {
    "heat_1d", "heat_2d", "burgers", "advection_diffusion_2d", "wave_1d", "poisson_2d", "laplace_3d",
    "allen_cahn", "taylor_green", "maxwell_in_a_conductor",
}  # fmt: skip
CASES = [
    pytest.param(case, id=case.name, marks=[] if case.name in OFTEN else pytest.mark.slow)
    for case in ALL_PDES
]


@pytest.mark.parametrize("case", CASES)
def test_residuals_vanish_on_exact_solutions(case):
    """Through the engine, and equal to nested differentiation on a field that solves nothing."""

    def wrong(z):
        return case.solution(z) * (1 + 0.1 * z[0] ** 2) + jnp.sin(z).sum()

    @functools.partial(jax.jit, compiler_options=QUICK)
    @jax.vmap
    def run(z):
        return (
            residual(case.pde, case.solution, z),
            residual(case.pde, wrong, z),
            residual_at(case.pde, wrong, z),
        )

    with jax.enable_x64(True):
        exact, ours, nested = run(random_points(case.bounds, case.pde.coords, 8))
    for name in exact:
        assert np.abs(exact[name]).max() < 1e-10, name
        assert np.abs(ours[name]).max() > 1e-3, name
        np.testing.assert_allclose(ours[name], nested[name], rtol=1e-9, atol=1e-9)


def test_the_size_of_an_equation_is_that_of_its_terms():
    """u = sin x · exp(-t): u_t = u_xx = -u, so that u_t - 3 u_xx = 2u with terms of 4|u|."""

    def field(z):
        return jnp.array([jnp.sin(z[0]) * jnp.exp(-z[1])])

    z = jnp.array([0.7, 0.2])
    ((r, size),) = residual_and_size(Heat(3.0), field, z).values()
    u = float(field(z)[0])
    assert float(r) == pytest.approx(2 * u, rel=1e-5)
    assert float(size) == pytest.approx(4 * u, rel=1e-5)


# ------------------------------------------------------------------------------- quantities

QUANTITIES_COORDS = ("x", "y", "t")


def test_values_by_hand():
    def flow(z):
        x, y, _ = z
        return jnp.stack([3 * x + 5 * y, 7 * x - 2 * y])

    names = ("u", "v", "u_x", "u_y", "v_x", "v_y")
    table = differentiate(flow, names, QUANTITIES_COORDS, ("u", "v"))(jnp.array([1.0, 0.0, 2.0]))
    found = {
        name: float(quantity(name, table, QUANTITIES_COORDS, ("u", "v")))
        for name in (*NAMED, "u_y")
    }
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
    assert units_of(name, units, QUANTITIES_COORDS, ("u", "v", "c", "w")) == expected
