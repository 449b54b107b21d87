"""What every equation has: coordinates, fields, coefficients as leaves, and a kernel."""

import jax
import jax.numpy as jnp
import pytest
from nested_derivatives import NestedDerivatives

from pgt.kernels.kernel import AbstractKernel
from pgt.physics.exact import ALL_PDES
from pgt.physics.pde import TAKEN, AbstractPDE, Derivatives

cases = pytest.mark.parametrize("case", ALL_PDES, ids=lambda case: case.name)


@cases
def test_pde_is_a_pytree_with_a_kernel(case):
    assert set(case.bounds) == set(case.pde.coords)
    leaves = jax.tree.leaves(case.pde)
    assert all(isinstance(leaf, float) for leaf in leaves)
    kernel = case.pde.kernel()
    assert isinstance(kernel, AbstractKernel)
    d = len(case.pde.coords)
    influence = kernel.log_influence(jnp.full(d, 0.3), jnp.full(d, 0.2), jnp.full(d, 0.01))
    assert not bool(jnp.isnan(influence).any())


@cases
def test_no_residual_has_a_name_that_a_history_uses(case):
    pde = case.pde

    def residuals(place):
        here = NestedDerivatives(case.solution, place, pde.coords, pde.fields)
        assert isinstance(here, Derivatives)
        return pde.residual(here)

    names = jax.eval_shape(residuals, jnp.zeros(len(pde.coords)))  # which are known without numbers
    assert not set(names) & set(TAKEN)


def test_an_equation_without_a_residual_cannot_be_made():
    class Nothing(AbstractPDE):
        coords: tuple[str, ...] = ("x",)
        fields: tuple[str, ...] = ("u",)

    with pytest.raises(TypeError, match="residual"):
        Nothing()
