import numpy as np
import pytest
import scipy.special
import xarray as xr
from central_differences import FIRST, SECOND

from pgt import datasets
from pgt.core.errors import InputError

STEP = 1e-2


def stencil(centres, step=STEP):
    """Nine positions around each centre, flattened: the solutions can be asked anywhere."""
    return (np.asarray(centres)[:, None] + step * np.arange(-4, 5)).ravel()


def derivative(array, axis, order, step=STEP):
    weights = (FIRST if order == 1 else SECOND) / step**order
    return array.coarsen({axis: 9}).construct({axis: ("centre_" + axis, "offset")}) @ xr.DataArray(
        weights, dims="offset"
    )


def middle(array, *axes):
    """The value at the centres along the axes that are not differentiated."""
    for axis in axes:
        array = array.isel({axis: slice(4, None, 9)}).rename({axis: "centre_" + axis})
    return array.drop_vars(list(array.coords))


def terms(dataset, axes, step=STEP):
    """A function giving derivatives by name on the centres, e.g. d("u", "x", 2)."""
    bare = dataset.drop_vars(list(dataset.coords))

    def d(field, axis=None, order=1):
        if axis is None:
            return middle(bare[field], *axes)
        others = [a for a in axes if a != axis]
        return middle(derivative(bare[field], axis, order, step), *others)

    return d


X, T = stencil([0.2, 0.45, 0.8]), stencil([0.2, 0.5, 0.9])


def test_heat_solves_its_equation():
    field = datasets.heat({1: 0.5, 3: 0.7}, diffusivity=0.02, x=X, t=T)
    d = terms(field, "xt")
    assert float(abs(d("u", "t") - 0.02 * d("u", "x", 2)).max()) < 1e-9
    default = datasets.heat()
    np.testing.assert_allclose(default.u.sel(t=0), np.sin(4 * np.pi * default.x), atol=1e-14)
    np.testing.assert_allclose(default.u.isel(x=[0, -1]), 0, atol=1e-14)
    assert default.attrs["diffusivity"] == 0.01


@pytest.mark.parametrize("viscosity", [0.05, 0.2])
def test_burgers_solves_its_equation(viscosity):
    step = 4e-3
    x, t = stencil([-0.6, 0.1, 0.3], step), stencil([0.2, 0.6, 0.9], step)
    d = terms(datasets.burgers(viscosity, x=x, t=t), "xt", step)
    residual = d("u", "t") + d("u") * d("u", "x") - viscosity * d("u", "x", 2)
    assert float(abs(residual).max()) < 1e-8


@pytest.mark.parametrize("viscosity", [0.1, 1.0])
def test_burgers_equals_its_fourier_series(viscosity):
    # Cole–Hopf once more: exp(−k cos πx) has Bessel coefficients, and each mode decays by itself.
    field = datasets.burgers(viscosity, x=41, t=11)
    mode, k = np.arange(60), 1 / (2 * np.pi * viscosity)
    start = scipy.special.iv(mode, k) * (-1.0) ** mode * np.where(mode == 0, 1, 2)
    decayed = start * np.exp(-viscosity * (mode * np.pi) ** 2 * field.t.values[:, None])
    phase = np.pi * np.outer(mode, field.x)
    slope = decayed @ (-np.pi * mode[:, None] * np.sin(phase))
    exact = -2 * viscosity * slope / (decayed @ np.cos(phase))
    np.testing.assert_allclose(field.u, exact, atol=1e-12)


def test_burgers_meets_the_published_slope():
    # Basdevant et al. 1986: the steepest slope at x = 0 is −152.00516, at t = 1.6037 / π.
    h = 1e-5
    field = datasets.burgers(0.01 / np.pi, x=[-h, h], t=[1.6037 / np.pi])
    slope = float(field.u[0, 1] - field.u[0, 0]) / (2 * h)
    assert slope == pytest.approx(-152.00516, rel=1e-5)


def test_travelling_wave_solves_its_equation():
    d = terms(datasets.travelling_wave(0.7, x=X, t=T), "xt")
    assert float(abs(d("u", "t", 2) - 0.49 * d("u", "x", 2)).max()) < 1e-8


def test_advected_gaussian_solves_its_equation_and_keeps_its_mass():
    field = datasets.advected_gaussian(0.3, 0.02, width=0.2, x=X, t=T)
    d = terms(field, "xt")
    residual = d("u", "t") + 0.3 * d("u", "x") - 0.02 * d("u", "x", 2)
    assert float(abs(residual).max()) < 1e-9
    wide = datasets.advected_gaussian(x=np.linspace(-3, 4, 1001), t=3)
    np.testing.assert_allclose(wide.u.integrate("x"), 0.05 * np.sqrt(2 * np.pi), rtol=1e-12)


def test_taylor_green_solves_navier_stokes():
    viscosity = 0.1
    d = terms(datasets.taylor_green(viscosity, x=X, y=X + 1, t=T), "xyt")
    for field, direction in (("u", "x"), ("v", "y")):
        convection = d("u") * d(field, "x") + d("v") * d(field, "y")
        diffusion = viscosity * (d(field, "x", 2) + d(field, "y", 2))
        residual = d(field, "t") + convection + d("p", direction) - diffusion
        assert float(abs(residual).max()) < 1e-9
    assert float(abs(d("u", "x") + d("v", "y")).max()) < 1e-11


def test_nonsense_is_refused():
    with pytest.raises(InputError, match="diffusivity=-1"):
        datasets.heat(diffusivity=-1)
    with pytest.raises(InputError, match="x=1"):
        datasets.heat(x=1)
    with pytest.raises(InputError, match=r"t=\[0.0, nan\]"):
        datasets.heat(t=[0.0, np.nan])
