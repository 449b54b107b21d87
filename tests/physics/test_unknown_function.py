"""Functions that are learnt with the field: what stands for them, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import legendre

import pgt
from pgt.core.unknown import Unknown
from pgt.physics.curved_coordinates import with_attributes
from pgt.physics.derivatives import residual
from pgt.physics.equation import over_range
from pgt.physics.unknown_function import StateFunction

CONDUCTIVITY = pgt.UnknownFunction("x", "y", positive=True, initial=2.0)
PLATE = pgt.Equation("u_t = div(k*grad(u)) + q", k=CONDUCTIVITY, q=pgt.UnknownFunction("x"))


def test_the_equation_is_that_of_the_function():
    def field(z):
        x, y, t = z
        return jnp.stack([jnp.sin(x) * y**2 + t, 0.3 * x * y, x**2])

    def flux(z):
        k = 2.0 * jnp.exp(field(z)[1])
        return k * jax.grad(lambda z: field(z)[0])(z)[:2]

    with jax.enable_x64(True):
        z = jnp.array([0.4, 0.9, 0.3])
        found = residual(PLATE, field, z)
        divergence = jnp.trace(jax.jacfwd(flux)(z)[:, :2])
        expected = 1.0 - divergence - field(z)[2]
        assert float(found["equation"]) == pytest.approx(float(expected), rel=1e-12)
        assert float(found["q_y"]) == float(found["log_k_t"]) == 0.0


def test_a_source_is_found_with_its_band():
    """u_t = 0.1 u_xx + q with q = 1 + sin 2πx, whose series is known."""
    modes, n = np.pi * np.arange(1, 40), np.arange(1, 40)
    amplitude = np.where(n % 2, 4 / modes, 0.0) + (n == 2)

    def truth(x, t):
        rate = 0.1 * modes**2
        grown = amplitude / rate * (1 - np.exp(-rate * np.atleast_1d(t)[:, None]))
        return np.sum(grown * np.sin(np.outer(x, modes)), axis=1)

    points = np.random.default_rng(0).uniform(size=(60, 2))
    values = truth(*points.T)
    values = values + 0.01 * values.std() * np.random.default_rng(1).standard_normal(60)
    readings = pgt.Observations.from_arrays(points, values[:, None], coords=("x", "t"), fields="u")
    pde = pgt.Equation("u_t = D*u_xx + q", D=0.1, q=pgt.UnknownFunction("x"))
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    model = pgt.Features(
        pgt.Scaling.fit(readings.aligned(pde.fields), domain), count=150, band=(10.0, 4.0)
    )
    known = [pgt.Initial(u=0), pgt.Dirichlet(axis="x", u=0)]
    result = pgt.reconstruct(
        readings, pde, domain, known, model=model, error_bars=pgt.Posterior(), progress=False
    )
    found = result.functions(x=41)
    assert found.q.dims == ("x",)
    inside = (found.x > 0.05) & (found.x < 0.95)  # at the walls u = 0 says little of it
    true = 1 + np.sin(2 * np.pi * found.x)
    gap = (found.q - true).where(inside, drop=True)
    assert float(np.sqrt((gap**2).mean())) < 0.05 * float(np.sqrt((true**2).mean()))
    covered = np.abs(gap) < 2 * found.q_std.where(inside, drop=True)
    assert float(covered.mean()) > 0.7
    assert result.field_error["q"].value < 0.3


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((), {}, "name the coordinates"),
        (("x", "x"), {}, "each once"),
        (("s", "x"), {}, "out of"),
        (("x",), {"initial": 1.0}, "positive=True"),
        (("x",), {"positive": True, "initial": -1.0}, "above 0"),
        (("x",), {"positive": True, "initial": float("nan")}, "above 0"),
    ],
)
def test_what_is_no_function_is_refused(arguments, options, said):
    with pytest.raises(pgt.InputError, match="UnknownFunction") as caught:
        pgt.UnknownFunction(*arguments, **options)
    assert said in str(caught.value)


# ------------------------------------------------------------------------------- of the state


def known_state(weights, **options):
    """A function of u with these weights, as it is where they are known."""
    state = StateFunction.of(pgt.UnknownFunction("u", **options))
    return StateFunction(
        state.field, state.positive, state.between, tuple(map(jnp.asarray, weights))
    )


def test_a_function_of_the_state_is_a_sum_of_polynomials():
    weights = np.array([1.0, 0.5, -0.2, 0.1, 0.0, 0.0, 0.0, 0.05])
    with jax.enable_x64(True):
        plain = known_state(weights, between=(0.0, 2.0))
        u = np.linspace(0.1, 1.9, 7)
        exact = legendre.Legendre(weights, domain=[0.0, 2.0])
        for order in range(3):
            found = [float(plain(jnp.asarray(v), order)) for v in u]
            np.testing.assert_allclose(found, exact.deriv(order)(u) if order else exact(u))
        positive = known_state(np.exp(weights), positive=True, between=(0.0, 2.0))
        found = [float(positive(jnp.asarray(v))) for v in u]
        np.testing.assert_allclose(found, np.exp(exact(u)))
        assert float(plain(jnp.asarray(5.0))) == pytest.approx(float(exact(2.0)))


@pytest.mark.parametrize(
    "text", ["u_t = div(D(u)*grad(u))", "u_t = diff(D*u_x, x)", "u_t = D*u_xx + D_x*u_x"]
)
def test_derivatives_of_a_function_of_the_state_follow_the_chain_rule(text):
    pde = pgt.Equation(text, coords=("x", "t"), D=pgt.UnknownFunction("u", between=(0.0, 1.0)))
    weights = [1.0, 0.5, *[0.0] * 6]  # D = 0.5 + u
    known = tuple(Unknown(value) for value in weights)
    state = StateFunction("u", False, (0.0, 1.0), known)
    pde = with_attributes(pde, states={"D": state})
    with jax.enable_x64(True):
        z = jnp.array([0.3, 0.2])
        (row,) = residual(pde, lambda z: jnp.array([z[0] ** 2 + z[1]]), z).values()
        u, slope, bend = 0.09 + 0.2, 0.6, 2.0
    assert float(row) == pytest.approx(1.0 - ((0.5 + u) * bend + slope**2), abs=1e-6)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: pgt.UnknownFunction("u", "v"), "one field"),
        (lambda: pgt.UnknownFunction("x", between=(0, 1)), "between"),
        (lambda: pgt.UnknownFunction("u", between=(1, 0)), "between"),
        (
            lambda: pgt.Equation("u_t = div(D*grad(u))", coords=("x",), D=pgt.UnknownFunction("s")),
            "neither a coordinate nor a field",
        ),
    ],
)
def test_what_is_no_function_of_the_state_is_refused(make, said):
    with pytest.raises(pgt.InputError, match=said):
        make()


def test_a_function_that_the_text_does_not_use_is_refused():
    with pytest.raises(pgt.InputError, match="does not occur"):
        pgt.Equation("u_t = u_xx", q=pgt.UnknownFunction("x"))


def test_a_function_of_the_state_is_over_the_range_of_the_readings():
    pde = pgt.Equation("u_t = div(D(u)*grad(u))", coords=("x", "t"), D=pgt.UnknownFunction("u"))
    readings = pgt.Observations.from_arrays({"x": [0.1, 0.2], "t": [0.0, 0.1]}, {"u": [1.0, 3.0]})
    box = pgt.Domain(x=(0, 1), t=(0, 1))
    assert over_range(pde, readings, box).states["D"].between == pytest.approx((0.9, 3.1))
    walls = pgt.Initial(u="x*(1-x)"), pgt.Dirichlet("x", u="4+t"), pgt.Neumann("x", u=9.0)
    low, high = over_range(pde, readings, box, walls).states["D"].between
    assert -0.3 < low < 0.0
    assert 5.0 <= high < 5.3
    hidden = pgt.Observations.none(("x", "t"), ("u",))
    with pytest.raises(pgt.InputError, match="between="):
        over_range(pde, hidden, box)
