"""The heat equation: its residual, a learnt diffusivity, its kernel and its mistakes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from exact_solutions.scalar import heat_mode
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, resolve
from pgt.physics import Heat


def test_residual_of_a_polynomial_by_hand():
    # u = x² y² t: u_t = x² y², ∇²u = 2 t (x² + y²)
    def field(z):
        return (z[0] ** 2 * z[1] ** 2 * z[2])[None]

    found = residual_at(Heat(0.5, 2, source=3.0), field, jnp.array([1.0, 2.0, 3.0]))
    assert list(found) == ["heat"]
    assert float(found["heat"]) == pytest.approx(4 - 0.5 * 6 * 5 - 3)


def test_unknown_coefficients_are_resolved_and_learnable():
    with jax.enable_x64(True):
        pde = Heat(Unknown(0.3, positive=True))
        field = heat_mode(0.1, 1)
        z = jnp.array([0.4, 0.5])

        def loss(pde):
            return residual_at(resolve(pde), field, z)["heat"] ** 2

        gradient = eqx.filter_grad(loss)(pde)
        # r = (α - 0.1) π² u, so dr²/d(log α) = 2 r α π² u
        u = field(z)[0]
        r = (0.3 - 0.1) * jnp.pi**2 * u
        assert float(gradient.diffusivity.raw) == pytest.approx(float(2 * r * 0.3 * jnp.pi**2 * u))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Heat(-1.0), r"Heat\(diffusivity=-1.0\): diffusivity must be a number above 0"),
        (
            lambda: Heat(float("nan")),
            r"Heat\(diffusivity=nan\): .* a pgt.Unknown\(...\) to learn it, or text with its unit",
        ),
        (lambda: Heat(0.1, dimension=4), r"dimension must be 1, 2 or 3"),
        (lambda: Heat(0.0), "diffusivity must be a number above 0"),
        (lambda: Heat(1e308), r"above 0 up to 1e\+30"),
        (lambda: Heat(Unknown(-0.1)), r"Heat\(diffusivity\) is -0.1"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
