"""Elasticity: its moduli, its residuals, its kernel and its mistakes."""

import jax.numpy as jnp
import pytest
from nested_derivatives import residual_at

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, resolve
from pgt.kernels.elliptic import PoissonKernel
from pgt.physics import Elasticity


def squeezed(z):
    """u = x², and nothing else."""
    return jnp.zeros_like(z).at[0].set(z[0] ** 2)


@pytest.mark.parametrize(
    ("options", "stiffness"),
    [
        # λ + 2μ of E = 2.6, ν = 0.3, where μ = 1 and λ = 1.5, or 6/7 in a plate; the strain is 2 x.
        ({}, 3.5),
        ({"dimension": 3}, 3.5),
        ({"plane": "stress"}, 2 + 6 / 7),
    ],
)
def test_the_stiffness_against_one_strain(options, stiffness):
    pde = Elasticity(2.6, 0.3, **options)
    found = residual_at(pde, squeezed, 0.5 * jnp.ones(len(pde.coords)))
    assert list(found) == [f"balance_{axis}" for axis in pde.coords]
    assert float(found["balance_x"]) == pytest.approx(2 * stiffness, rel=1e-5)
    assert float(found["balance_y"]) == pytest.approx(0)


def test_forces_and_mixed_derivatives_by_hand():
    # u = x y z: ∂y ∇·u = z, ∂z ∇·u = y; ∇²u = 0
    def field(z):
        return jnp.stack([jnp.prod(z), 0 * z[0], 0 * z[0]])

    pde = Elasticity(2.6, 0.3, 3, source=(1.0, None, "z"))
    found = residual_at(pde, field, jnp.array([2.0, 3.0, 4.0]))
    expected = {"balance_x": 1, "balance_y": 2.5 * 4, "balance_z": 2.5 * 3 + 4}
    assert {name: float(value) for name, value in found.items()} == pytest.approx(expected)


def test_both_moduli_may_be_unknown():
    pde = Elasticity(Unknown(2.6, positive=True), Unknown(0.3, bounds=(0.0, 0.49)))
    found = residual_at(resolve(pde), squeezed, jnp.ones(2))
    assert float(found["balance_x"]) == pytest.approx(7, rel=1e-5)
    assert Elasticity(1.0, 0.3, influence_radius=3.0).kernel() == PoissonKernel(3.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Elasticity(0.0, 0.3), r"Elasticity\(young=0.0\): young must be a number above 0"),
        (
            lambda: Elasticity(1.0, 0.5),
            r"Elasticity\(ratio=0.5\): ratio must be a number above -1 and below 0.5",
        ),
        (lambda: Elasticity(1.0, Unknown(-2.0)), r"Elasticity\(ratio\) is -2"),
        (lambda: Elasticity(1.0, 0.3, 1), r"Elasticity\(dimension=1\): dimension must be 2 or 3"),
        (lambda: Elasticity(1.0, 0.3, plane="stres"), "plane must be 'strain' or 'stress'"),
        (lambda: Elasticity(1.0, 0.3, 3, plane="stress"), "leave plane out"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
