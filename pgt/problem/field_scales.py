"""Typical sizes of all quantities before the fit, which make a problem independent of its units.

The domain gives the size of the coordinates, and the readings give that of their fields. The equation
then gives the sizes of residuals and conditions, of fields without readings, and of unknown
coefficients. So the minimized numbers are the same in meters and in millimeters.

**Unknown coefficients.** A residual is divided by its typical size. If the first guess of a coefficient
is far too large, that size is enormous: every field seems to fulfill the equation, and the readings are
fitted best if the coefficient vanishes. So no size exceeds that of the terms without an unknown
coefficient, in a field that varies much faster than the domain suggests.

**Unknown functions in conditions.** The spread of a function on a wall is that at which its term in the
condition is as large as the others. Its mean is that at which the condition holds for fields that equal
their means.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, is_unknown, resolve
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.scaling import Scaling
from pgt.physics.condition_values import Varying
from pgt.physics.conditions import AbstractCondition
from pgt.physics.derivatives import parse_name
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import Bordered, filled, functions_of, wall_fields

# The factor by which a field may vary faster along an axis than half of the domain's extent suggests.
MAX_EXTRA_VARIATION = 10.0
# The factor on a coefficient by which its term vanishes.
VANISHING_FACTOR = 1e-8
# A size has decreased if it is below this share of the former one; otherwise the difference may be
# rounding.
MAX_RATIO_OF_FALL = 0.99
# The number of random fields. With so many, their root mean square is known to a tenth.
RANDOM_FIELDS = 64
# The limits of the secant method: the number of steps, and the logarithm of a ratio that counts as
# zero. A term does not depend on its argument if it grows with a smaller power of it than the second
# number.
MAX_SECANT_STEPS, LOG_RATIO_TOLERANCE = 8, 1e-4
# The standard deviation of the logarithm of a positive function while its mean is searched for.
LOG_FUNCTION_SPREAD = 0.5

Model = TypeVar("Model", bound=AbstractFieldModel)
ResidualSizes = Mapping[str, Float[np.ndarray, "..."]]
# A function that gives the size of each residual, for an equation without unknowns; infinite if
# undefined.
SizeFunction = Callable[[AbstractPDE, Scaling], ResidualSizes]


def known_term_sizes(
    pde: AbstractPDE, scaling: Scaling, sizes_of: SizeFunction
) -> dict[str, np.ndarray]:
    """The largest size of the terms without an unknown coefficient, by residual.

    It is infinite for a residual without such terms. The result is empty if nothing is unknown.
    """
    nodes, tree = jax.tree.flatten(pde, is_leaf=is_unknown)
    positions = [k for k, node in enumerate(nodes) if is_unknown(node)]
    if not positions:
        return {}
    varied = replace(scaling, half_extent=np.asarray(scaling.half_extent) / MAX_EXTRA_VARIATION)

    @cache
    def at(factors: frozenset[tuple[int, float]]) -> ResidualSizes:
        moved = {k: _scaled_value(nodes[k], factor) for k, factor in factors}
        chosen = [moved.get(k, node) for k, node in enumerate(nodes)]
        return sizes_of(resolve(tree.unflatten(chosen)), varied)

    # In single precision, a number that is 10⁸ times too large would leave no digit of the others.
    with jax.enable_x64(True):
        return {name: _least_size(at, name, positions) for name in at(frozenset())}


def _least_size(
    at: Callable[[frozenset[tuple[int, float]]], ResidualSizes], name: str, positions: list[int]
) -> np.ndarray:
    """The size of one residual if every coefficient is so small or so large that its terms vanish."""
    factors = frozenset[tuple[int, float]]()
    size = at(factors)[name]
    for position in positions:
        others = factors
        for factor in (VANISHING_FACTOR, 1 / VANISHING_FACTOR):
            tried = at(others | {(position, factor)})[name]
            if np.sum(tried) < MAX_RATIO_OF_FALL * np.sum(size):
                factors, size = others | {(position, factor)}, tried
    if not factors:  # no term of this residual can vanish
        return np.full_like(size, np.inf)
    # If the size still decreases in proportion to the factor, there is no term without an unknown.
    nearly = frozenset((k, np.sqrt(f)) for k, f in factors)
    return np.where(size < VANISHING_FACTOR**0.25 * at(nearly)[name], np.inf, size)


def _scaled_value(node: Unknown, factor: float) -> float:
    """The value of a coefficient times a factor, within its bounds."""
    value = float(node.value)
    return value * factor if node.bounds is None else float(np.clip(value * factor, *node.bounds))


class RandomFields:
    """Derivatives of random fields of the size that the scales suggest: u ~ spread, u_x ~ spread / half
    extent.

    An instance that is called with a name returns the value in one of the fields, chosen by `index`.
    """

    def __init__(self, pde: AbstractPDE, scaling: Scaling, draws: int):
        self.pde, self.scaling = pde, scaling
        self.random = [np.random.default_rng(seed) for seed in range(draws)]
        self.drawn: dict[str, np.ndarray] = {}
        self.index = jnp.zeros((), int)

    def __call__(self, name: str):
        if name not in self.drawn:
            self.drawn[name] = self.draw(name)
        return jnp.asarray(self.drawn[name])[self.index]

    def laplacian(self, field: str):
        axes = [c for c in self.pde.coords if c != "t"]
        return jnp.sum(jnp.stack([self(f"{field}_{a}{a}") for a in axes]))

    def draw(self, name: str) -> np.ndarray:
        """A new value of this name for every field, independent of earlier ones."""
        scaling = self.scaling
        normal = np.array([random.standard_normal() for random in self.random])
        if name in self.pde.coords:
            axis = self.pde.coords.index(name)
            zero = scaling.origin.along(self.pde.coords)[axis]
            half = np.asarray(scaling.half_extent, float)[axis]
            return zero + float(scaling.middle[axis]) + half * np.tanh(normal)
        field, along = parse_name(name, self.pde.coords, self.pde.fields)
        size = float(scaling.spread[field] / np.prod(np.asarray(scaling.half_extent)[list(along)]))
        zero = scaling.origin.along(self.pde.fields)[field]
        return size * normal + (0.0 if along else zero + float(scaling.mean[field]))

    def values(self, rows: Callable):
        """The value of `rows()` for each of the fields."""

        def in_field(index):
            self.index = index
            return rows()

        return jax.vmap(in_field)(jnp.arange(len(self.random)))

    def differences(self, rows: Callable):
        """The differences of `rows()` between pairs of fields."""
        table = self.values(rows)
        return jax.tree.map(lambda column: _differences(np.asarray(column, float)), table)


def typical_residuals(pde: AbstractPDE, scaling: Scaling) -> dict[str, np.ndarray]:
    """The root mean square of each residual for random fields of the given scales.

    This makes every equation dimensionless: its loss is the same number in meters and in millimeters.
    Differences of two random fields are used, so that a source does not count. Nor does a first guess
    of a coefficient that is far too large.
    """

    def sizes_of(pde: AbstractPDE, scaling: Scaling):
        return {
            name: _rms_or_infinite(gaps)
            for name, gaps in _residual_differences(pde, scaling).items()
        }

    limits = known_term_sizes(pde, scaling, sizes_of)
    sizes = {name: _rms_of_one(gaps) for name, gaps in _residual_differences(pde, scaling).items()}
    return {name: _cap(size, limits.get(name)) for name, size in sizes.items()}


def typical_condition_rows(condition: AbstractCondition, pde, scaling: Scaling):
    """The root mean square of each row of a condition for random fields of the given scales."""
    point = condition.nodes(1)[0]

    def gaps(pde: AbstractPDE, scaling: Scaling):
        typical = RandomFields(pde, scaling, RANDOM_FIELDS)
        condition_without_unknowns = filled(condition, pde)

        def evaluate(z, name: str):
            # A periodic condition uses the same name at two points, where the values differ.
            return jnp.asarray(typical.draw(name))[typical.index]

        return typical.differences(lambda: condition_without_unknowns.rows(evaluate, point))

    def sizes_of(pde: AbstractPDE, scaling: Scaling):
        return {"": _rms_or_infinite(gaps(pde, scaling))}

    limits = known_term_sizes(pde, scaling, sizes_of) if isinstance(pde, Bordered) else {}
    return _cap(_rms_of_one(gaps(pde, scaling)), limits.get(""))


def with_hidden_scales(model: Model, observations: Observations, pde: AbstractPDE) -> Model:
    """The model with scales for fields without readings, such as a pressure.

    Only a field that still has the neutral scale, mean 0 and spread 1, gets a new one: the spread at
    which its terms are as large as the others of its equations (U² for the pressure of a flow). The mean
    of the logarithm of a positive unknown function is found in the same way, so that the start of a fit
    does not depend on a first guess.
    """
    scaling = model.scaling
    _check_sizes(scaling, pde)
    mean, spread = np.array(scaling.mean), np.array(scaling.spread)
    unread = ~np.asarray(observations.mask).any(axis=0) & (mean == 0) & (spread == 1)
    hidden = [int(k) for k in np.flatnonzero(unread)]
    if not hidden or len(hidden) == len(mean):
        return model
    spread[hidden] = 0.0  # absent until its size is found
    positive = log_fields(pde)
    for field in hidden * 2:  # twice, since the first field did not know the sizes of the others
        sized = replace(scaling, mean=mean, spread=spread)
        if pde.fields[field] in positive:
            mean[field] = _balanced_level(field, sized, partial(_residual_values, pde))
        differences = partial(_residual_differences, pde)
        spread[field] = _balanced_spread(field, sized, differences) or 0.0
    spread[hidden] = np.where(spread[hidden] > 0, spread[hidden], 1.0)
    return eqx.tree_at(lambda m: m.scaling, model, replace(scaling, mean=mean, spread=spread))


def _check_sizes(scaling: Scaling, pde: AbstractPDE) -> None:
    """Raise if the scales of a model belong to other fields or coordinates."""
    for kind, names, sizes in (
        ("fields", pde.fields, scaling.mean),
        ("coordinates", pde.coords, scaling.middle),
    ):
        if len(sizes) != len(names):
            raise InputError(
                f"model=: it was made for {len(sizes)} {kind}, the equation has {len(names)}, "
                f"{', '.join(names)}. A model needs scales for all of them, also where nothing is read: "
                "pgt.Scaling.fit(readings.aligned(pde.fields), domain).",
                about="model",
            )


def log_fields(pde: AbstractPDE) -> set[str]:
    """The fields that are logarithms of positive unknown functions."""
    named = functions_of(pde).items()
    return {function.field(name) for name, function in named if function.positive}


def with_unknown_units(pde: AbstractPDE, scaling: Scaling) -> AbstractPDE:
    """The equation with a suitable unit for every plain `Unknown`.

    The unit is the starting value or, if larger, the value at which the term of the coefficient is as
    large as the others. The step of an optimizer is a share of it, so it does not depend on the units
    of the problem.
    """
    nodes, tree = jax.tree.flatten(pde, is_leaf=is_unknown)

    def in_suitable_unit(position: int, node: Unknown) -> Unknown:
        def gaps(value: float):
            return _residual_differences(
                tree.unflatten([*nodes[:position], value, *nodes[position + 1 :]]), scaling
            )

        start = abs(float(node.value))
        balanced = list(find_balance(gaps, start or 1.0).values())
        return node.in_units_of(max(start, min(balanced)) if balanced else start or 1.0)

    return tree.unflatten(
        [in_suitable_unit(k, n) if is_unknown(n) and n.is_plain else n for k, n in enumerate(nodes)]
    )


def _balanced_spread(
    field: int, scaling: Scaling, differences: Callable[[Scaling], dict[str, np.ndarray]]
) -> float | None:
    """The spread at which the terms of a field are as large as the others; None if no row determines it.

    It is the median over the rows.
    """

    def at(size: float):
        spread = np.array(scaling.spread)
        spread[field] = size
        return differences(replace(scaling, spread=spread))

    balanced = list(find_balance(at, float(np.max(scaling.spread))).values())
    return float(np.median(balanced)) if balanced else None


def _balanced_level(
    field: int, scaling: Scaling, values: Callable[[Scaling], dict[str, np.ndarray]]
) -> float:
    """The mean of a logarithm at which its terms are as large as the others, known sources included.

    It is 0 if no row determines it, for example because the function is a factor of all terms.
    """
    spread = np.array(scaling.spread)
    spread[field] = LOG_FUNCTION_SPREAD

    def at(size: float):
        mean = np.array(scaling.mean)
        with np.errstate(divide="ignore"):
            mean[field] = np.log(size)
        return values(replace(scaling, mean=mean, spread=spread))

    balanced = list(find_balance(at, 1.0).values())
    return float(np.log(np.median(balanced))) if balanced else 0.0


def find_balance(gaps: Callable[[float], dict[str, np.ndarray]], start: float) -> dict[str, float]:
    """The argument of `gaps`, by equation, whose terms are as large as the rest at argument 0.

    It is found by the secant method on logarithms, which is exact after one step for a power of the
    argument.
    """
    at_zero = gaps(0.0)
    balanced = {}
    for name, others in at_zero.items():

        def excess(size: float, name=name, others=others) -> float:
            added, present = _rms_of_one(gaps(size)[name] - others), _rms_of_one(others)
            return float(np.log(added / present)) if min(added, present) > 0 else np.nan

        log_size, value = np.log(start), excess(start)
        slope = 1.0
        for _ in range(MAX_SECANT_STEPS):
            if not abs(value) > LOG_RATIO_TOLERANCE:
                break
            next_log_size = log_size - value / slope
            next_value = excess(float(np.exp(next_log_size)))
            slope = (next_value - value) / (next_log_size - log_size)
            if not abs(slope) > LOG_RATIO_TOLERANCE:  # the term does not depend on its argument
                break
            log_size, value = next_log_size, next_value
        if abs(value) <= LOG_RATIO_TOLERANCE:
            balanced[name] = float(np.exp(log_size))
    return balanced


def _residual_differences(pde: AbstractPDE, scaling: Scaling) -> dict[str, np.ndarray]:
    """The differences of each residual between pairs of random fields."""
    pde, typical = resolve(pde), RandomFields(pde, scaling, RANDOM_FIELDS)
    return typical.differences(lambda: pde.residual(typical))


def _residual_values(pde: AbstractPDE, scaling: Scaling) -> dict[str, np.ndarray]:
    """The values of each residual for random fields."""
    pde, typical = resolve(pde), RandomFields(pde, scaling, RANDOM_FIELDS)
    table = typical.values(lambda: pde.residual(typical))
    return {name: np.asarray(column, float) for name, column in table.items()}


def _differences(table: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # ∞ - ∞ is NaN, which `_rms_of_one` leaves out
        return table[0::2] - table[1::2]


def _rms_of_one(gaps: np.ndarray) -> np.ndarray:
    """The root mean square of one of two independent values that differ by `gaps`."""
    # A random field outside the equation's domain, such as a negative u in log(u), is left out.
    usable = np.isfinite(gaps)
    total = np.sum(np.where(usable, gaps, 0.0) ** 2, axis=0)
    return np.asarray(np.sqrt(total / np.maximum(usable.sum(axis=0), 1) / 2))


def _rms_or_infinite(gaps: np.ndarray) -> np.ndarray:
    """The root mean square as above, or ∞ if most random fields are outside the equation's domain."""
    usable = np.isfinite(gaps).mean(axis=0)
    return np.where(usable >= 0.5, _rms_of_one(gaps), np.inf)


def _cap(size: np.ndarray, known: np.ndarray | None) -> np.ndarray:
    return _or_one(size if known is None else np.asarray(np.minimum(size, known)))


def _or_one(size: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(size > 0, size, 1.0), np.float32)


def with_wall_scales(
    model: Model, pde: AbstractPDE, conditions: Sequence[AbstractCondition], domain: Domain
) -> Model:
    """The model with scales for unknown functions of the conditions that have none yet."""
    if not wall_fields(pde):
        return model
    scaling, local = model.scaling, model.scaling.origin.domain(domain)
    for condition in conditions:
        for name in _wall_functions(condition):
            field = pde.fields.index(name)
            if scaling.mean[field] == 0 and scaling.spread[field] == 1:
                function = _WallFunction(condition.bind(local, pde.fields), pde, field)
                scaling = function.with_scales(scaling)
    return eqx.tree_at(lambda m: m.scaling, model, scaling)


def _wall_functions(condition: AbstractCondition) -> list[str]:
    nodes = jax.tree.leaves(condition, is_leaf=lambda node: isinstance(node, Varying))
    return [node.field for node in nodes if isinstance(node, Varying)]


class _WallFunction:
    """A condition and one of its unknown functions, which is `field` of the equation."""

    def __init__(self, condition: AbstractCondition, pde: AbstractPDE, field: int):
        self.condition, self.pde, self.field = filled(condition, pde), pde, field
        self.point = condition.nodes(1)[0]

    def with_scales(self, scaling: Scaling) -> Scaling:
        """The scales with the mean and the spread of the function."""
        mean, spread = np.array(scaling.mean), np.array(scaling.spread)
        spread[self.field] = 0.0
        scaling = replace(scaling, mean=mean, spread=spread)
        is_log = self.pde.fields[self.field] in log_fields(self.pde)
        mean[self.field] = (
            _balanced_level(self.field, scaling, self._values) if is_log else self._mean(scaling)
        )
        spread[self.field] = _balanced_spread(self.field, scaling, self._differences) or 1.0
        return replace(scaling, mean=mean, spread=spread)

    def _mean(self, scaling: Scaling) -> float:
        """The mean at which the condition holds for fields that equal their means."""

        def rows(value: float):
            def evaluate(z, name: str):
                field, along = parse_name(name, self.pde.coords, self.pde.fields)
                zero = scaling.origin.along(self.pde.fields)[field] + float(scaling.mean[field])
                return jnp.asarray(0.0 if along else value if field == self.field else zero)

            return np.asarray(self.condition.rows(evaluate, self.point), float)

        without, slope = rows(0.0), rows(1.0) - rows(0.0)
        depends = slope != 0
        return float(np.mean(-without[depends] / slope[depends])) if depends.any() else 0.0

    def _differences(self, scaling: Scaling) -> dict[str, np.ndarray]:
        """The differences of each row between pairs of random fields."""
        typical = RandomFields(self.pde, scaling, RANDOM_FIELDS)
        return _by_row(typical.differences(lambda: self._rows(typical)))

    def _values(self, scaling: Scaling) -> dict[str, np.ndarray]:
        """The values of each row for random fields."""
        typical = RandomFields(self.pde, scaling, RANDOM_FIELDS)
        return _by_row(np.asarray(typical.values(lambda: self._rows(typical)), float))

    def _rows(self, typical: RandomFields):
        return self.condition.rows(lambda z, name: typical(name), self.point)


def _by_row(table: np.ndarray) -> dict[str, np.ndarray]:
    """The values of every row of a condition, by its number."""
    return {str(row): column for row, column in enumerate(table.T)}
