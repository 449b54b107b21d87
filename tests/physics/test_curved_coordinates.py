"""Equations in cylindrical and spherical coordinates, on exact solutions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.physics.curved_coordinates import at_axis, in_domain
from pgt.physics.derivatives import DerivativeTable, requested, residual

POLAR = pgt.Domain(r=(0, 1), t=(0, 1), coordinates="polar")
BALL = pgt.Domain(r=(0, 1), t=(0, 1), coordinates="spherical")


def bessel(x):
    """J0 by its series."""
    total, term = 0.0, 1.0
    for m in range(1, 25):
        total, term = total + term, -term * x**2 / 4 / m**2
    return total


def sinc(x):
    """sin x / x by its series, smooth at 0."""
    total, term = 0.0, 1.0
    for m in range(1, 25):
        total, term = total + term, -term * x**2 / (2 * m) / (2 * m + 1)
    return total


def largest(pde, domain, exact, points):
    pde = in_domain(pde, domain)
    with jax.enable_x64(True):
        rows = [residual(pde, exact, jnp.asarray(z, float)) for z in points]
    return max(abs(float(value)) for row in rows for value in row.values())


PLACES = [(0.0, 0.3), (1e-9, 0.3), (0.1, 0.2), (0.9, 0.8)]


@pytest.mark.parametrize(
    ("domain", "shape"), [(POLAR, bessel), (BALL, sinc)], ids=["cylinder", "sphere"]
)
@pytest.mark.parametrize(
    "pde",
    [
        pgt.Heat(0.3),
        pgt.Equation("u_t = 0.3*lap(u)"),
        pgt.Equation("u_t = div(k*grad(u))", k=0.3),
        pgt.AdvectionDiffusion(velocity=0.0, diffusivity=0.3),
    ],
    ids=["Heat", "lap", "div", "AdvectionDiffusion"],
)
def test_cooling_of_a_cylinder_and_a_sphere(domain, shape, pde):
    def exact(z):
        return jnp.array([jnp.exp(-0.3 * 4.0 * z[1]) * shape(2.0 * z[0])])

    assert largest(pde, domain, exact, PLACES) < 1e-10


@pytest.mark.parametrize(
    ("axes", "coordinates", "exact"),
    [
        (("r", "z"), "axisymmetric", lambda z: bessel(2 * z[0]) * jnp.exp(-2 * z[1])),
        (("r", "θ"), "polar", lambda z: z[0] ** 3 * jnp.cos(3 * z[1])),
        (("r", "θ"), "spherical", lambda z: z[0] ** 2 * (3 * jnp.cos(z[1]) ** 2 - 1)),
        (("r", "θ"), "spherical", lambda z: jnp.cos(z[1]) / z[0] ** 2),
    ],
)
@pytest.mark.parametrize("pde", [pgt.Laplace(), pgt.Equation("lap(u) = 0"), "div(grad(u)) = 0"])
def test_harmonic_functions_in_two_coordinates(axes, coordinates, exact, pde):
    pde = pgt.Equation(pde) if isinstance(pde, str) else pde
    domain = pgt.Domain(**dict.fromkeys(axes, (0.5, 1)), coordinates=coordinates)
    points = [(0.6, 0.7), (0.9, 0.5)]
    assert largest(pde, domain, lambda z: jnp.array([exact(z)]), points) < 1e-10


def test_theis_solution_of_a_well():
    storage, k, r, t = 2.5e-5, 66.0, 30.0, 0.01
    pde = in_domain(
        pgt.Equation("S*s_t = div(k*grad(s))", S=storage, k=k),
        pgt.Domain(r=(0.1, 100), t=(0, 1), coordinates="polar"),
    )
    u = storage * r**2 / (4 * k * t)  # s = E1(u)
    slopes = {"s_t": 1 / t, "s_r": -2 / r, "s_rr": (2 + 4 * u) / r**2}
    with jax.enable_x64(True):
        known = {n: jnp.asarray(np.exp(-u) * v) for n, v in slopes.items()} | {"r": jnp.asarray(r)}
        row = pde.residual(DerivativeTable({n: known[n] for n in requested(pde)}))
    assert abs(float(row["equation"])) < 1e-10


def test_a_ball_cools_as_its_series_says():
    result = pgt.solve(
        pgt.Heat(0.3), BALL, [pgt.Initial(u="1-r^2"), pgt.Dirichlet("r", side="upper", u=0.0)]
    )
    n = np.arange(1, 60)
    weights = 12 * (-1.0) ** (n + 1) / (n * np.pi) ** 3
    for r, t in ((0.3, 0.2), (0.7, 0.5)):
        terms = weights * np.sin(n * np.pi * r) * np.exp(-0.3 * (n * np.pi) ** 2 * t) / r
        assert float(result.at(r=r, t=t).u.item()) == pytest.approx(terms.sum(), abs=2e-7)
    total = result.integrals.total(t=[0.0, 0.2, 0.2001]).total.to_numpy()
    flux = result.integrals.flux(axis="r", side="upper", t=[0.2], coefficient=0.3).flux.item()
    assert total[0] == pytest.approx(8 * np.pi / 15, rel=1e-6)
    assert (total[1] - total[2]) / 1e-4 == pytest.approx(flux, rel=1e-3)


def test_fields_have_no_slope_at_the_axis_unless_something_else_is_said():
    pde = in_domain(pgt.Heat(0.3), POLAR)
    (added,) = at_axis((), pde, POLAR)
    assert isinstance(added, pgt.Neumann)
    assert (added.axis, added.side, dict(added.values)) == (("r",), "lower", {"u": 0.0})
    held = (pgt.Dirichlet("r", side="lower", u=1.0),)
    assert at_axis(held, pde, POLAR) == held
    ring = pgt.Domain(r=(0.1, 1), t=(0, 1), coordinates="polar")
    assert at_axis((), pde, ring) == ()


@pytest.mark.parametrize(
    "pde", [pgt.Burgers(0.1), pgt.Heat(0.1, source="x"), pgt.Acoustics(1.0)], ids=str
)
def test_terms_that_are_not_known_in_these_coordinates_are_refused(pde):
    with pytest.raises(pgt.InputError, match="Write the equation as text"):
        in_domain(pde, POLAR)


def test_a_vector_has_no_laplacian_or_curl_there():
    disk = pgt.Domain(r=(0.1, 1), θ=(0, 1), coordinates="polar")
    for text in ("dot(lap((u, v)), (u, v)) = 0", "curl((u, v)) = 0"):
        with pytest.raises(pgt.InputError, match="coordinates"):
            residual(
                in_domain(pgt.Equation(text, fields=("u", "v"), coords=("r", "θ")), disk),
                lambda z: z, jnp.ones(2),
            )  # fmt: skip
