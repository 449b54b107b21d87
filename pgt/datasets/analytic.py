"""Exact solutions on a grid.

Every axis is a number of evenly spaced points over the interval named in the docstring, or an array
of positions. All quantities are dimensionless (unit "1").
"""

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.special
import xarray as xr

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.number_arrays import as_numbers
from pgt.data.domain import Real

Axis = int | np.integer | Sequence[Real] | np.ndarray


@checked
def heat(
    modes: Mapping[int, Real] | None = None,
    diffusivity: Real = 0.01,
    x: Axis = 101,
    t: Axis = 101,
) -> xr.Dataset:
    """Heat equation u_t = ν u_xx with u = 0 at both ends of [0, 1], for t in [0, 1].

    u(x, t) = Σ_n a_n exp(−ν (nπ)² t) sin(nπx), with `modes` = {n: a_n}, {4: 1} if left out.

    >>> field = heat(x=11, t=3)
    >>> field.u.dims, field.u.shape
    (('t', 'x'), (3, 11))
    """
    modes = {4: 1.0} if modes is None else modes
    _check_positive("diffusivity", diffusivity)
    x, t = _axis("x", x, 0, 1), _axis("t", t, 0, 1)
    u = np.zeros((len(t), len(x)))
    for n, amplitude in modes.items():
        decay = np.exp(-diffusivity * (n * np.pi) ** 2 * t)
        u += amplitude * np.outer(decay, np.sin(n * np.pi * x))
    attributes = {"diffusivity": diffusivity, "modes": str(dict(modes))}
    return _dataset("heat", "u_t = diffusivity u_xx", {"t": t, "x": x}, {"u": u}, attributes)


@checked
def burgers(viscosity: Real = 0.01 / np.pi, x: Axis = 201, t: Axis = 101) -> xr.Dataset:
    """Burgers' equation u_t + u u_x = ν u_xx from u(x, 0) = −sin πx on [−1, 1], t in [0, 1].

    Cole–Hopf, with f(y) = exp(−cos(πy) / 2πν):

        u(x, t) = −∫ sin π(x−η) f(x−η) exp(−η²/4νt) dη / ∫ f(x−η) exp(−η²/4νt) dη

    by Gauss–Hermite quadrature (Basdevant et al. 1986), the largest exponent taken out first.

    >>> field = burgers(x=21, t=[0.0, 0.5])
    >>> [round(float(u), 3) for u in field.u.sel(x=-0.5)]
    [1.0, 0.593]
    """
    _check_positive("viscosity", viscosity)
    x, t = _axis("x", x, -1, 1), _axis("t", t, 0, 1)
    nodes, weights = scipy.special.roots_hermite(_HERMITE_NODES)
    nodes, weights = nodes[weights > 0], weights[weights > 0]
    u = np.empty((len(t), len(x)))
    for row, time in enumerate(t):
        y = x[:, None] - np.sqrt(4 * viscosity * time) * nodes
        exponent = np.log(weights) - np.cos(np.pi * y) / (2 * np.pi * viscosity)
        share = scipy.special.softmax(exponent, axis=1)
        u[row] = -(np.sin(np.pi * y) * share).sum(axis=1)
    attributes = {"viscosity": viscosity}
    return _dataset(
        "burgers", "u_t + u u_x = viscosity u_xx", {"t": t, "x": x}, {"u": u}, attributes
    )


@checked
def travelling_wave(speed: Real = 1.0, x: Axis = 101, t: Axis = 101) -> xr.Dataset:
    """Wave equation u_tt = c² u_xx, periodic in x on [0, 1], t in [0, 1]: u = sin 2π(x − ct).

    >>> field = travelling_wave(speed=0.5, x=[0.25], t=[0.0, 0.5])
    >>> [round(abs(float(u)), 3) for u in field.u[:, 0]]
    [1.0, 0.0]
    """
    x, t = _axis("x", x, 0, 1), _axis("t", t, 0, 1)
    u = np.sin(2 * np.pi * (x - speed * t[:, None]))
    attributes = {"speed": speed}
    return _dataset("travelling_wave", "u_tt = speed² u_xx", {"t": t, "x": x}, {"u": u}, attributes)


@checked
def advected_gaussian(
    velocity: Real = 0.5,
    diffusivity: Real = 0.005,
    centre: Real = 0.25,
    width: Real = 0.05,
    x: Axis = 101,
    t: Axis = 101,
) -> xr.Dataset:
    """Advection–diffusion u_t + a u_x = D u_xx of a Gaussian, x and t in [0, 1].

    u = w/s · exp(−(x − x₀ − at)² / 2s²) with s² = w² + 2Dt: it travels, widens and keeps its mass.

    >>> peak = advected_gaussian(t=[0.0, 1.0]).u.idxmax("x")
    >>> peak.values.tolist()
    [0.25, 0.75]
    """
    _check_positive("diffusivity", diffusivity)
    _check_positive("width", width)
    x, t = _axis("x", x, 0, 1), _axis("t", t, 0, 1)
    variance = width**2 + 2 * diffusivity * t[:, None]
    distance = x - centre - velocity * t[:, None]
    u = width / np.sqrt(variance) * np.exp(-(distance**2) / (2 * variance))
    attributes = {
        "velocity": velocity,
        "diffusivity": diffusivity,
        "centre": centre,
        "width": width,
    }
    equation = "u_t + velocity u_x = diffusivity u_xx"
    return _dataset("advected_gaussian", equation, {"t": t, "x": x}, {"u": u}, attributes)


@checked
def taylor_green(viscosity: Real = 0.01, x: Axis = 33, y: Axis = 33, t: Axis = 11) -> xr.Dataset:
    """Taylor–Green vortex: 2D incompressible Navier–Stokes, x and y in [0, 2π], t in [0, 1].

    u = sin x cos y e^{−2νt},  v = −cos x sin y e^{−2νt},  p = (cos 2x + cos 2y) e^{−4νt} / 4.

    >>> list(taylor_green(x=5, y=5, t=2).data_vars)
    ['u', 'v', 'p']
    """
    _check_positive("viscosity", viscosity)
    x, y = _axis("x", x, 0, 2 * np.pi), _axis("y", y, 0, 2 * np.pi)
    t = _axis("t", t, 0, 1)
    across, up = x[None, None, :], y[None, :, None]
    decay = np.exp(-2 * viscosity * t)[:, None, None]
    fields = {
        "u": np.sin(across) * np.cos(up) * decay,
        "v": -np.cos(across) * np.sin(up) * decay,
        "p": (np.cos(2 * across) + np.cos(2 * up)) * decay**2 / 4,
    }
    equation = "incompressible Navier-Stokes, density 1"
    attributes = {"viscosity": viscosity}
    return _dataset("taylor_green", equation, {"t": t, "y": y, "x": x}, fields, attributes)


# The largest number of points along one axis.
MAX_POINTS = 100_000
_HERMITE_NODES = 400  # exact to rounding for viscosities from 0.001 to 1 and t up to 1


def _axis(name: str, axis: Axis, low: Real, high: Real) -> np.ndarray:
    if isinstance(axis, (int, np.integer)):
        if not 2 <= axis <= MAX_POINTS:
            raise InputError(
                f"{name}={axis}: write a number of points from 2 to {MAX_POINTS}, or positions."
            )
        return np.linspace(low, high, int(axis))
    positions = as_numbers(name, axis)
    if positions.ndim != 1 or positions.size == 0 or not np.isfinite(positions).all():
        raise InputError(f"{name} must be a number of points or a list of finite positions.")
    return positions


def _check_positive(name: str, value: Real) -> None:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name}={value}: write a positive number.")


def _dataset(name: str, equation: str, axes: Mapping, fields: Mapping, attributes: Mapping):
    dimensions = tuple(axes)
    return xr.Dataset(
        {field: (dimensions, values, {"units": "1"}) for field, values in fields.items()},
        {axis: (axis, positions, {"units": "1"}) for axis, positions in axes.items()},
        {
            "title": name.replace("_", " "),
            "equation": equation,
            "source": f"exact solution, pgt.datasets.{name}",
            **attributes,
        },
    )
