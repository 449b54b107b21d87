"""What every equation has: coordinates, fields, coefficients as leaves, and a kernel."""

import jax
import jax.numpy as jnp
import pytest
from exact_solutions import ALL_PDES
from nested_derivatives import NestedDerivatives, random_points, residual_at

import pgt
from pgt.kernels.kernel import AbstractKernel
from pgt.physics.pde import TAKEN, AbstractPDE, Derivatives

# ------------------------------------------------------------------------------- pde

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


# ------------------------------------------------------------------------------- exact cases


@cases
def test_residual_vanishes_on_the_exact_solution_and_nowhere_near(case):
    def residuals(z, error):
        def field(z):
            return case.solution(z) * (1 + error * z[0] ** 2) + error * jnp.sin(3 * z).sum()

        return residual_at(case.pde, field, z)

    with jax.enable_x64(True):
        z = random_points(case.bounds, case.pde.coords, 20)
        compiled = jax.jit(jax.vmap(residuals, in_axes=(0, None)))
        exact, wrong = compiled(z, 0.0), compiled(z, 0.1)
        for name in exact:
            assert exact[name].shape == (20,), name
            assert float(jnp.abs(exact[name]).max()) < 1e-10, name
            assert float(jnp.abs(wrong[name]).max()) > 1e-3, name


def test_coefficients_without_a_meaning_are_named():
    for make, name in (
        (lambda: pgt.Acoustics(1.0, 0.0), "density"),
        (lambda: pgt.AllenCahn(0.1, float("inf")), "reaction"),
        (lambda: pgt.Boussinesq(0.1, -1.0, 1.0), "diffusivity"),
        (lambda: pgt.Maxwell(0.0), "permittivity"),
        (lambda: pgt.Poisson(0.0, influence_radius=0.0), "influence_radius"),
        (lambda: pgt.Laplace(4), "dimension"),
        (lambda: pgt.Wave(0.0), "speed"),
    ):
        with pytest.raises(pgt.InputError, match=rf"\({name}="):
            make()


def test_an_equation_without_a_residual_cannot_be_made():
    class Nothing(AbstractPDE):
        coords: tuple[str, ...] = ("x",)
        fields: tuple[str, ...] = ("u",)

    with pytest.raises(TypeError, match="residual"):
        Nothing()
