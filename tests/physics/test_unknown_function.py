"""Functions that are learnt with the field: what stands for them, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.physics.derivatives import residual
from pgt.physics.unknown_function import constancy

CONDUCTIVITY = pgt.UnknownFunction("x", "y", positive=True, initial=2.0)
PLATE = pgt.Equation("u_t = div(k*grad(u)) + q", k=CONDUCTIVITY, q=pgt.UnknownFunction("x"))


def test_they_are_fields_that_do_not_change_along_other_coordinates():
    assert PLATE.coords == ("x", "y", "t")
    assert PLATE.fields == ("u", "log_k", "q")
    assert constancy(PLATE.functions, PLATE.coords) == ("log_k_t", "q_y", "q_t")
    assert set(PLATE.quantities) == {"k"}


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


def test_a_derivative_of_the_function_may_be_written():
    one = pgt.Equation("u_t = k*u_xx + k_x*u_x", k=pgt.UnknownFunction("x", positive=True))
    two = pgt.Equation("u_t = diff(k*u_x, x)", k=pgt.UnknownFunction("x", positive=True))

    def field(z):
        return jnp.stack([jnp.sin(z[0]) * z[1], z[0] ** 2])

    with jax.enable_x64(True):
        z = jnp.array([0.4, 0.9])
        found = [float(residual(pde, field, z)["equation"]) for pde in (one, two)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


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


def test_an_equation_without_one_has_none_to_show():
    readings = pgt.sample(pgt.datasets.heat(), n=20)
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    model = pgt.Features(pgt.Scaling.fit(readings, domain), count=20, band=(4.0, 2.0))
    result = pgt.reconstruct(readings, pgt.Heat(0.01), domain, model=model, progress=False)
    with pytest.raises(pgt.InputError, match="has no unknown function"):
        result.functions()


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((), {}, "name the coordinates"),
        (("x", "x"), {}, "each once"),
        (("s",), {}, "out of"),
        (("x",), {"initial": 1.0}, "positive=True"),
        (("x",), {"positive": True, "initial": -1.0}, "above 0"),
        (("x",), {"positive": True, "initial": float("nan")}, "above 0"),
    ],
)
def test_what_is_no_function_is_refused(arguments, options, said):
    with pytest.raises(pgt.InputError, match="UnknownFunction") as caught:
        pgt.UnknownFunction(*arguments, **options)
    assert said in str(caught.value)


def test_a_function_that_the_text_does_not_use_is_refused():
    with pytest.raises(pgt.InputError, match="does not occur"):
        pgt.Equation("u_t = u_xx", q=pgt.UnknownFunction("x"))
