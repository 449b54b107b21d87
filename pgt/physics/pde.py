"""What a governing equation is."""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Powers
from pgt.data.coordinate_systems import CARTESIAN
from pgt.kernels.kernel import AbstractKernel


@dataclass(frozen=True)
class About:
    """Where to begin with an equation, and which units fit it. `pgt init` and the errors say so.

    Parameters
    ----------
    equation
        In text, with the names of the arguments.
    coefficients
        Good starting values by argument.
    box, measured, conditions
        The domain, what to measure in it, and what may be known besides, as tables of a run file.
    units
        Of the fields that stand beside lengths and times.
    fields
        The names of all fields in this text; a user may give them others.

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

# What a governing equation is.


# What a residual cannot be called: other terms of the loss, and what stands beside them in a history.
TAKEN = ("data", "bc", "ic", "gauge", "variance", "step", "held_out")


@runtime_checkable
class Derivatives(Protocol):
    """The field and its derivatives at one point, by name.

    `d("u")` is the field, `d("u_xx")` its second derivative along x, `d("x")` the coordinate itself,
    `d.laplacian("u")` the sum of second derivatives over the spatial axes (cheaper than asking for each).
    """

    def __call__(self, name: str) -> Float[Array, ""]: ...

    def laplacian(self, field: str) -> Float[Array, ""]: ...


class Quantity(NamedTuple):
    """A formula of some fields and derivatives, by their names."""

    parts: tuple[str, ...]
    formula: Callable


class AbstractPDE(eqx.Module):
    """A system of equations `residual = 0` for named fields over named coordinates, in physical units.

    Coefficients are numbers or `Unknown`; by the time `residual` is called every `Unknown` has been
    replaced by its value, so the equation is written as if all coefficients were numbers. `about` says,
    where it is given, how to begin with it.

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
    # Those of the domain in which it holds (`in_domain`): what a Laplacian is there.
    coordinates: str = eqx.field(static=True, default=CARTESIAN, kw_only=True)

    @abc.abstractmethod
    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        """Left minus right side of each equation at one point, by name."""

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """What it has names for beside fields and derivatives; shown together with the fields."""
        return {}

    @abc.abstractmethod
    def kernel(self) -> AbstractKernel:
        """How influence spreads under this equation."""
