"""The base class of families, families by name, and the coefficients that a user gives.

A family is a distribution over systems of one equation: it draws coefficients and initial states at
random, and it holds the solutions at fixed nodes. Networks train on these draws.
"""

import abc
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from pgt.core.arguments import MAX_NUMBER, Limits, Positive
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.parser import suggestion
from pgt.core.registry import parts
from pgt.core.types import Key
from pgt.core.unknown import Unknown, is_unknown
from pgt.data.domain import Domain
from pgt.nn.scaling import Scaling
from pgt.physics.coefficient_tree import current
from pgt.physics.equation_checks import same_equation
from pgt.physics.pde import AbstractPDE

Range = tuple[Positive, Positive]  # the least and the greatest value of a coefficient
Nodes = Annotated[int, Limits(at_least=2, at_most=10_000)]  # the number of nodes along an axis
Number = float | Float[Array | np.ndarray, "..."]
Coefficients = Mapping[str, float | Float[Array | np.ndarray, ""]]


class SampledSystem(eqx.Module):
    """One system of a family: its coefficients, named as in the equation, and its fields at the nodes.

    The last axis of `values` indexes the fields; the axes before it are those of the domain, in order.
    Under `vmap` every array has one more leading axis.

    >>> import pgt
    >>> system = pgt.families.get("heat").draw(jax.random.key(0))
    >>> system.values.shape, sorted(system.coefficients)
    ((64, 65, 1), ['diffusivity'])
    """

    coefficients: dict[str, Float[Array, "..."]]
    values: Float[Array, "*grid c"]


class AbstractFamily(eqx.Module):
    """A distribution over systems of one equation with different coefficients and initial states.

    A network that was trained on a family predicts any of its systems without further training. `draw` is
    a pure function of its key and works under `jit` and `vmap`.

    >>> import pgt
    >>> isinstance(pgt.families.get("burgers"), AbstractFamily)
    True
    """

    part: ClassVar[str] = "family"
    name: eqx.AbstractVar[str]
    fields: eqx.AbstractVar[tuple[str, ...]]

    def __init_subclass__(cls, **settings):
        super().__init_subclass__(**settings)
        declared = vars(cls).get("axes")
        if isinstance(declared, dict):
            # JAX caches the precision of an array that it meets again, so each access gets new arrays.
            fresh = property(lambda _: {name: np.array(line) for name, line in declared.items()})
            type.__setattr__(cls, "axes", fresh)

    @property
    @abc.abstractmethod
    def domain(self) -> Domain:
        """The domain, which all systems share."""

    @property
    @abc.abstractmethod
    def axes(self) -> dict[str, np.ndarray]:
        """The nodes along every axis, in the order of the domain; the end of a period is not a node."""

    @property
    @abc.abstractmethod
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The least and the greatest value of each coefficient."""

    @abc.abstractmethod
    def draw(self, key: Key, coefficients: Coefficients | None = None) -> SampledSystem:
        """A random system, in which the given `coefficients` are fixed."""

    @abc.abstractmethod
    def equation(self, **coefficients: Any) -> AbstractPDE:
        """The equation with these coefficients."""

    @abc.abstractmethod
    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " k"]:
        """The dimensionless numbers that a network receives; within the family they are about -1 to 1."""

    @property
    def number_names(self) -> tuple[str, ...]:
        """The names of `numbers`: first the scaled coefficients, then the size and mean of the field."""
        scaling = jax.eval_shape(lambda: _unit_scaling(self))
        ones = {name: jax.ShapeDtypeStruct((), jnp.float32) for name in self.ranges}
        count = jax.eval_shape(self.numbers, ones, scaling).size
        names = [f"the scaled {name}" for name in self.ranges]
        return (*names, "the size of the field", "its mean", *("a number",) * 9)[:count]

    def pde(self, coefficients: Coefficients) -> AbstractPDE:
        """The equation of a system with all its coefficients, which may be JAX tracers."""
        check_names(self, coefficients, complete=True)
        return with_traced_coefficients(self.equation, coefficients)

    def nearest_coefficients(self, coefficients: Coefficients) -> dict[str, float]:
        """The coefficients of the system that `draw` returns when these are given."""
        return {name: float(value) for name, value in coefficients.items()}

    def split(self) -> "tuple[AbstractFamily, AbstractFamily]":
        """A family for training and one for validation; they differ where the systems are stored."""
        return self, self

    def without_systems(self) -> "AbstractFamily":
        """The family without stored systems, as the file of a trained network holds it."""
        return self

    def dataset(self, system: SampledSystem) -> xr.Dataset:
        """A system as a labeled dataset, whose attributes are the coefficients."""
        axes, values = self.axes, np.asarray(system.values)
        coefficients = {name: float(value) for name, value in system.coefficients.items()}
        fields = {name: (tuple(axes), values[..., i]) for i, name in enumerate(self.fields)}
        return xr.Dataset(fields, axes, coefficients | {"family": self.name})


def _unit_scaling(family: AbstractFamily) -> Scaling:
    """The scaling of fields with mean 0 and spread 1 on the family's domain."""
    domain, c = family.domain, len(family.fields)
    return Scaling(
        middle=jnp.asarray((domain.lower + domain.upper) / 2, jnp.float32),
        half_extent=jnp.asarray(domain.extent / 2, jnp.float32),
        mean=jnp.zeros(c), spread=jnp.ones(c),
        resolution=jnp.asarray(domain.extent / 10, jnp.float32),
        periodic=tuple(axis in domain.periodic for axis in domain.axes),
    )  # fmt: skip


# ------------------------------------------------------------------------------- by name


def names() -> tuple[str, ...]:
    """The names of all families, including those of installed packages.

    >>> "heat" in names()
    True
    """
    return tuple(parts("family"))


@checked
def get(name: str, **settings) -> AbstractFamily:
    """The family of that name; `settings`, such as `nodes` or the range of a coefficient, configure it.

    >>> get("heat", diffusivity=(0.01, 0.02)).ranges
    {'diffusivity': (0.01, 0.02)}
    """
    known = parts("family")
    if name not in known:
        listed = ", ".join(known)
        raise InputError(
            f"there is no family {name!r}; they are {listed}.{suggestion(name, known)}"
        )
    return known[name](**settings)


def as_family(given: AbstractFamily | str) -> AbstractFamily:
    """The family itself, or the one of that name."""
    return get(given) if isinstance(given, str) else given


# ------------------------------------------------------------------------------- coefficients


def check_names(family: AbstractFamily, coefficients: Coefficients, complete: bool = False) -> None:
    """Raise for coefficients that the family does not have and, if `complete`, for missing ones."""
    known = tuple(family.ranges)
    for name in coefficients:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise InputError(f"{family.name} has no coefficient {name!r}; its own: {listed}.")
    missing = [name for name in known if name not in coefficients]
    if complete and missing:
        raise InputError(f"{family.name}: give its coefficient {missing[0]!r} as well.")


def with_traced_coefficients(
    equation: Callable[..., AbstractPDE], coefficients: Coefficients
) -> AbstractPDE:
    """The equation with these coefficients, which may be JAX tracers.

    The constructor of an equation checks the values of its coefficients, and a tracer has none. So the
    equation is first built with an `Unknown` for each coefficient, which the coefficient then replaces.
    """
    with jax.ensure_compile_time_eval():
        placeholders = {name: Unknown(1.0, positive=True) for name in coefficients}
        pde = _call_equation(equation, placeholders)
    replacements = {
        id(placeholder): coefficients[name] for name, placeholder in placeholders.items()
    }
    return jax.tree.map(lambda node: replacements.get(id(node), node), pde, is_leaf=is_unknown)


def _call_equation(equation: Callable[..., AbstractPDE], coefficients: dict) -> AbstractPDE:
    try:
        inspect.signature(equation).bind(**coefficients)
    except (TypeError, ValueError) as error:  # A builtin without a signature raises ValueError.
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


def log_uniform(key: Key, low: float, high: float) -> Float[Array, ""]:
    """A random number between two positive bounds, uniform in its logarithm."""
    return jnp.exp(jax.random.uniform(key, minval=np.log(low), maxval=np.log(high)))


# ------------------------------------------------------------------------------- dimensionless


def centered(number: Number, low: float, high: float) -> Float[Array, "..."]:
    """The logarithm of a number, scaled to -1 at `low` and 1 at `high`; 0 where these are equal.

    >>> centered(0.1, 0.01, 1.0).round(6).item(), centered(1.0, 1.0, 1.0).item()
    (0.0, 0.0)
    """
    middle, half = np.log(low * high) / 2, np.log(high / low) / 2
    return (jnp.log(number) - middle) / (half or 1.0)


def extents(scaling: Scaling) -> Float[Array, " d"]:
    """The lengths of the axes, with time last."""
    return 2 * jnp.asarray(scaling.half_extent)


def field_sizes(scaling: Scaling, typical: float, unit: Number = 1.0) -> list[Float[Array, ""]]:
    """The log-spread and the mean of the first field, on which a nonlinear equation depends.

    Both are relative to `unit`, such as L / T for a velocity, times the family's `typical` spread.
    """
    spread, mean = jnp.asarray(scaling.spread)[0], jnp.asarray(scaling.mean)[0]
    return [jnp.log(spread / unit / typical), mean / unit / typical]


def nodes_of(domain: Domain, **counts: int) -> dict[str, np.ndarray]:
    """Evenly spaced nodes along each axis; both ends are nodes, but not the upper end of a periodic axis.

    >>> {a: n.tolist() for a, n in nodes_of(Domain(x=(0, 1), periodic=("x",)), x=4).items()}
    {'x': [0.0, 0.25, 0.5, 0.75]}
    """
    return {
        axis: np.linspace(*domain.bounds(axis), counts[axis], endpoint=axis not in domain.periodic)
        for axis in domain.axes
    }


CoefficientSource = Mapping | AbstractPDE


def coefficient_values(family: AbstractFamily, given: CoefficientSource) -> dict[str, float]:
    """The given coefficients as numbers; an `Unknown` has its initial guess.

    >>> import pgt
    >>> coefficient_values(pgt.families.get("heat"), pgt.Heat(0.02))
    {'diffusivity': 0.02}
    """
    if isinstance(given, AbstractPDE):
        values = {name: _coefficient_of(given, name) for name in family.ranges}
        values = {name: current(value) for name, value in values.items() if value is not None}
    else:
        values = {name: value for name, value in given.items() if value is not None}
        check_names(family, dict.fromkeys(values, 1.0))
    return {name: _as_number(family, name, value) for name, value in values.items()}


def known_coefficients(family: AbstractFamily, given: CoefficientSource | None) -> dict[str, float]:
    """The known coefficients by name; raises where `given` is another equation than the family's.

    A coefficient that is an `Unknown` of the equation is left out.
    """
    numbers = coefficient_values(family, given or {})
    if not has_equation_of(family, given or {}):
        raise InputError(
            f"assimilate: the equation is not that of the family {family.name!r}, whose law and solver "
            "answer; use pgt.reconstruct with your equation."
        )
    for name in unknown_names(family, given or {}):
        del numbers[name]
    return numbers


def unknown_names(family: AbstractFamily, given: CoefficientSource) -> list[str]:
    """The coefficients of an equation that are `Unknown`."""
    if not isinstance(given, AbstractPDE):
        return []
    return [name for name in family.ranges if is_unknown(_coefficient_of(given, name))]


def holds_equation(family: AbstractFamily) -> bool:
    """Whether the family holds its equation; simulations in the file of a network do not."""
    return getattr(family, "form", family) is not None


def has_equation_of(family: AbstractFamily, given: CoefficientSource) -> bool:
    """Whether `given` is the family's equation; another equation may have coefficients of equal names."""
    if not isinstance(given, AbstractPDE) or not holds_equation(family):
        return True
    numbers = coefficient_values(family, given)
    return len(numbers) == len(family.ranges) and same_equation(given, family.pde(numbers))


def equation_doubts(family: AbstractFamily, given: CoefficientSource) -> list[str]:
    """Sentences that warn of unknown coefficients and of an equation that is not the family's."""
    numbers = coefficient_values(family, given)
    doubts = [
        f"{name} is unknown: {numbers[name]:g} is its first guess"
        for name in unknown_names(family, given)
    ]
    if not has_equation_of(family, given):
        doubts.append(f"the equation is not that of the family {family.name!r}")
    return doubts


def _coefficient_of(pde: AbstractPDE, name: str):
    held = getattr(pde, "coefficients", {})  # A text equation keeps its coefficients in a dict.
    return held.get(name, getattr(pde, name, None))


def _as_number(family: AbstractFamily, name: str, value) -> float:
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    low, high = family.ranges[name]
    lower_bound = (
        0.0 if low > 0 else -math.inf
    )  # Some coefficients, such as velocities, have a sign.
    if not lower_bound < number <= MAX_NUMBER or math.isinf(number):
        request = "a number above 0" if low > 0 else "a number"
        raise InputError(
            f"{family.name}: the coefficient {name!r} is {value!r}; write {request}. Its systems have "
            f"{low:g} to {high:g}."
        )
    return number
