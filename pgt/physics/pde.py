"""What a governing equation is: `AbstractPDE`, a system `residual = 0` in physical units."""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Powers
from pgt.core.numpy_constants import convert_numpy_arrays_anew
from pgt.data.coordinate_systems import CARTESIAN
from pgt.kernels.kernel import AbstractKernel

convert_numpy_arrays_anew()  # equations and conditions may hold functions of users


@dataclass(frozen=True)
class About:
    """Starting values for an equation and the units that fit it, as `pgt init` and errors show them.

    Parameters
    ----------
    equation
        The equation as text, with the names of the arguments.
    coefficients
        Good starting values by argument.
    box, measured, conditions
        The domain, the fields to measure, and conditions, as tables of a run file.
    units
        The powers of length and time in the units of fields.
    fields
        The names of all fields in this text; a user may rename them.

    >>> About("u_t = spread*u_xx", {"spread": 0.01}, box={"x": (0, 1), "t": (0, 1)}).measured
    ('u',)
    """

    equation: str
    coefficients: Mapping[str, Any] = field(default_factory=dict)
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    measured: tuple[str, ...] = ("u",)
    conditions: tuple[Mapping[str, Any], ...] = ()
    units: Mapping[str, Powers] = field(default_factory=dict)
    fields: tuple[str, ...] = ("u",)


FLAT_ENDS = {"kind": "dirichlet", "axis": "x", "u": 0}


# ------------------------------------------------------------------------------- pde


# Names that a residual cannot have, because other loss terms and columns of the history use them.
TAKEN = ("data", "bc", "ic", "gauge", "variance", "step", "held_out")


@runtime_checkable
class Derivatives(Protocol):
    """The fields and their derivatives at one point, by name.

    `d("u")` is the field, `d("u_xx")` its second derivative along x, `d("x")` the coordinate itself,
    `d.laplacian("u")` the sum of second derivatives over the spatial axes (cheaper than asking for each).
    """

    def __call__(self, name: str) -> Float[Array, ""]: ...

    def laplacian(self, field: str) -> Float[Array, ""]: ...


class Quantity(NamedTuple):
    """A derived quantity: a formula of fields and derivatives, which are given by name."""

    parts: tuple[str, ...]
    formula: Callable


class AbstractPDE(eqx.Module):
    """A system of equations `residual = 0` for named fields over named coordinates, in physical units.

    Coefficients are numbers or `Unknown`. Each `Unknown` is replaced by its value before `residual` is
    called, so the equation is written as if all coefficients were numbers. `about` holds starting values.

    >>> from pgt.kernels import NoKernel
    >>> class Decay(AbstractPDE):
    ...     rate: float
    ...     coords: tuple[str, ...] = eqx.field(static=True, default=("t",))
    ...     fields: tuple[str, ...] = eqx.field(static=True, default=("u",))
    ...
    ...     def residual(self, d):
    ...         return {"decay": d("u_t") + self.rate * d("u")}
    ...
    ...     def kernel(self):
    ...         return NoKernel()
    >>> Decay(rate=2.0).fields
    ('u',)
    """

    part: ClassVar[str] = "equation"
    about: ClassVar[About | None] = None
    coords: eqx.AbstractVar[tuple[str, ...]]
    fields: eqx.AbstractVar[tuple[str, ...]]
    # The coordinate system of the domain, which determines the Laplacian (`in_domain`).
    coordinates: str = eqx.field(static=True, default=CARTESIAN, kw_only=True)

    @abc.abstractmethod
    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        """The left minus the right side of each equation at one point, by name."""

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """Derived quantities that the equation defines; results show them together with the fields."""
        return {}

    @abc.abstractmethod
    def kernel(self) -> AbstractKernel:
        """The kernel whose Green's function fits this equation."""
