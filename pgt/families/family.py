"""What a family is: a law from which systems are drawn."""

import abc
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from pgt.data.domain import Domain
from pgt.families.system import System
from pgt.ground.arguments import Limits, Positive
from pgt.ground.errors import InputError
from pgt.ground.types import Key
from pgt.ground.unknown import Unknown, is_unknown
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE

Range = tuple[Positive, Positive]  # of a coefficient: the least and the greatest that are drawn
Nodes = Annotated[int, Limits(at_least=2, at_most=10_000)]  # along an axis
Coefficients = Mapping[str, float | Float[Array | np.ndarray, ""]]


class AbstractFamily(eqx.Module):
    """A law from which systems are drawn: one equation, many coefficients and states.

    A network that is trained over a family answers for each of its systems at once. Everything is a
    pure function of a key and works under `jit` and `vmap`.

    >>> import pgt
    >>> isinstance(pgt.families.get("burgers"), AbstractFamily)
    True
    """

    part: ClassVar[str] = "family"
    # Whether the same key draws the same system from what `without_systems` leaves.
    keeps_systems: ClassVar[bool] = True
    name: eqx.AbstractVar[str]
    fields: eqx.AbstractVar[tuple[str, ...]]

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        written = vars(cls).get("axes")
        if isinstance(written, dict):
            # JAX remembers the precision in which it first met an array that stays: give it new ones.
            fresh = property(lambda _: {name: np.array(line) for name, line in written.items()})
            type.__setattr__(cls, "axes", fresh)

    @property
    @abc.abstractmethod
    def domain(self) -> Domain:
        """Where the systems live; the same for all."""

    @property
    @abc.abstractmethod
    def axes(self) -> dict[str, np.ndarray]:
        """The nodes along every axis of the domain, in its order; a period is not closed."""

    @property
    @abc.abstractmethod
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Between which bounds each coefficient lies."""

    @abc.abstractmethod
    def draw(self, key: Key, coefficients: Coefficients | None = None) -> System:
        """A system; coefficients that are given are not drawn."""

    @abc.abstractmethod
    def equation(self, **coefficients: Any) -> AbstractPDE:
        """The equation, with its coefficients as a user would give them."""

    @abc.abstractmethod
    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " k"]:
        """What a network is told of a system: dimensionless, about -1 to 1 within the family."""

    @property
    def told(self) -> tuple[str, ...]:
        """What `numbers` are, in words; those beyond the coefficients say how large the field is."""
        scaling = jax.eval_shape(lambda: _unit_scaling(self))
        ones = {name: jax.ShapeDtypeStruct((), jnp.float32) for name in self.ranges}
        count = jax.eval_shape(self.numbers, ones, scaling).size
        names = [f"the scaled {name}" for name in self.ranges]
        return (*names, "the size of the field", "its mean", *("a number",) * 9)[:count]

    def pde(self, coefficients: Coefficients) -> AbstractPDE:
        """The equation of a system; its coefficients may be traced by JAX."""
        check_names(self, coefficients, whole=True)
        return filled(self.equation, coefficients)

    def settled(self, coefficients: Coefficients) -> dict[str, float]:
        """Those that a system which is drawn with these has: where few are stored, the nearest."""
        return {name: float(value) for name, value in coefficients.items()}

    def stored(self, key: Key) -> Int[Array, ""] | None:
        """Which of the systems that it keeps a key draws; None where every draw is a new one."""
        return None

    def parted(self) -> "tuple[AbstractFamily, AbstractFamily]":
        """To train on, and to judge by: where few systems are kept, some are not shown to a network."""
        return self, self

    def without_systems(self) -> "AbstractFamily":
        """What of the family a file of a trained network keeps: all but stored systems."""
        return self

    def dataset(self, system: System) -> xr.Dataset:
        """A system as labelled data, to be looked at, sampled or stored."""
        axes, values = self.axes, np.asarray(system.values)
        coefficients = {name: float(value) for name, value in system.coefficients.items()}
        fields = {name: (tuple(axes), values[..., i]) for i, name in enumerate(self.fields)}
        return xr.Dataset(fields, axes, coefficients | {"family": self.name})


def _unit_scaling(family: AbstractFamily) -> Scaling:
    """Of fields with spread 1 on the family's own domain."""
    domain, c = family.domain, len(family.fields)
    return Scaling(
        middle=jnp.asarray((domain.lower + domain.upper) / 2, jnp.float32),
        half_extent=jnp.asarray(domain.extent / 2, jnp.float32),
        mean=jnp.zeros(c), spread=jnp.ones(c),
        resolution=jnp.asarray(domain.extent / 10, jnp.float32),
        periodic=tuple(axis in domain.periodic for axis in domain.axes),
    )  # fmt: skip


def check_names(family: AbstractFamily, coefficients: Coefficients, whole: bool = False) -> None:
    """Refuse a coefficient that the family does not have, and where the whole is wanted one too few."""
    known = tuple(family.ranges)
    for name in coefficients:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise InputError(f"{family.name} has no coefficient {name!r}; its own: {listed}.")
    missing = [name for name in known if name not in coefficients]
    if whole and missing:
        raise InputError(f"{family.name}: give its coefficient {missing[0]!r} as well.")


def filled(equation: Callable[..., AbstractPDE], coefficients: Coefficients) -> AbstractPDE:
    """An equation whose coefficients may be traced, which its constructor could not look at.

    It is made with unknowns in their places, which are then filled.
    """
    with jax.ensure_compile_time_eval():
        places = {name: Unknown(1.0, positive=True) for name in coefficients}
        pde = _called(equation, places)
    given = {id(place): coefficients[name] for name, place in places.items()}
    return jax.tree.map(lambda n: given.get(id(n), n), pde, is_leaf=is_unknown)


def _called(equation: Callable[..., AbstractPDE], coefficients: dict) -> AbstractPDE:
    try:
        inspect.signature(equation).bind(**coefficients)
    except (TypeError, ValueError) as error:  # ValueError: a builtin says nothing of itself
        listed = ", ".join(coefficients) or "none"
        raise InputError(
            f"the equation does not take these coefficients, {listed}: {error}."
        ) from error
    pde = equation(**coefficients)
    if not isinstance(pde, AbstractPDE):
        raise InputError(
            f"the equation is called and must return one, such as pgt.Heat; it gave {pde!r:.60}."
        )
    return pde


def nodes_of(domain: Domain, **counts: int) -> dict[str, np.ndarray]:
    """Evenly spaced nodes by axis: both ends, or one where the axis is periodic.

    >>> {a: n.tolist() for a, n in nodes_of(Domain(x=(0, 1), periodic=("x",)), x=4).items()}
    {'x': [0.0, 0.25, 0.5, 0.75]}
    """
    return {
        axis: np.linspace(*domain.bounds(axis), counts[axis], endpoint=axis not in domain.periodic)
        for axis in domain.axes
    }


def log_uniform(key: Key, low: float, high: float) -> Float[Array, ""]:
    """A number between two positive ones, all orders of magnitude being equally likely."""
    return jnp.exp(jax.random.uniform(key, minval=np.log(low), maxval=np.log(high)))
