"""The size everything has before anything is fitted: what makes a problem free of its units.

The domain gives the size of the coordinates, the readings that of their fields. From these and the
equation follow the size of each residual and condition, of fields without a reading, and of unknown
coefficients: in metres or millimetres the numbers that are minimised are the same.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pgt.data.observations import Observations
from pgt.ground.errors import InputError
from pgt.ground.unknown import Unknown, is_unknown, resolve
from pgt.models.base import AbstractFieldModel
from pgt.nn.scaling import Scaling
from pgt.physics.bordered import Bordered, filled, functions_of
from pgt.physics.conditions import AbstractCondition
from pgt.physics.derivatives import parse_name
from pgt.physics.pde import AbstractPDE
from pgt.training.known_terms import of_known_terms

DRAWS = 64  # random fields: enough to know their root mean square to a tenth
MOST_SECANTS, BALANCED = 8, 1e-4  # steps, and the logarithm of a ratio that counts as none
FLAT = 1e-3  # the power of its argument with which a term does not grow
LOG_SPREAD = 0.5  # of the logarithm of a positive function, whose level is looked for
Model = TypeVar("Model", bound=AbstractFieldModel)


class Typical:
    """Derivatives of random fields of the size the scales suggest: u ~ spread, u_x ~ spread / half
    extent. `typical(name)` is the number in one of them, chosen by `index`."""

    def __init__(self, pde: AbstractPDE, scaling: Scaling, draws: int):
        self.pde, self.scaling = pde, scaling
        self.random = [np.random.default_rng(seed) for seed in range(draws)]
        self.known: dict[str, np.ndarray] = {}
        self.index = jnp.zeros((), int)

    def __call__(self, name: str):
        if name not in self.known:
            self.known[name] = self.draw(name)
        return jnp.asarray(self.known[name])[self.index]

    def laplacian(self, field: str):
        axes = [c for c in self.pde.coords if c != "t"]
        return jnp.sum(jnp.stack([self(f"{field}_{a}{a}") for a in axes]))

    def draw(self, name: str) -> np.ndarray:
        """A new number for every field, though the name be known."""
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
        """`rows()` for each of the fields."""

        def in_one(index):
            self.index = index
            return rows()

        return jax.vmap(in_one)(jnp.arange(len(self.random)))

    def differences(self, rows: Callable):
        """The same, every second one minus the one before."""
        table = self.values(rows)
        return jax.tree.map(lambda column: _differences(np.asarray(column, float)), table)


def typical_residuals(
    pde: AbstractPDE, scaling: Scaling, draws: int = DRAWS
) -> dict[str, np.ndarray]:
    """Root-mean-square of each residual for random fields of the given scales.

    This makes every equation dimensionless: in metres or millimetres its loss is the same number.
    Differences of two draws are taken, so that a source or a boundary value does not count. A first
    guess of a coefficient that is far too large does not count either (known_terms.py).
    """

    def sized(pde: AbstractPDE, scaling: Scaling):
        return {name: _defined(gaps) for name, gaps in _gaps(pde, scaling, draws).items()}

    known = of_known_terms(pde, scaling, sized)
    sizes = {name: _size(gaps) for name, gaps in _gaps(pde, scaling, draws).items()}
    return {name: _capped(size, known.get(name)) for name, size in sizes.items()}


def typical_rows(condition: AbstractCondition, pde, scaling: Scaling, draws: int = 16):
    """The same for what a condition wants to be zero."""
    point = condition.nodes(1)[0]

    def gaps(pde: AbstractPDE, scaling: Scaling):
        typical, known = Typical(pde, scaling, draws), filled(condition, pde)

        def evaluate(z, name: str):
            # Periodic conditions ask for the same name at two places: those are different numbers.
            return jnp.asarray(typical.draw(name))[typical.index]

        return typical.differences(lambda: known.rows(evaluate, point))

    def sized(pde: AbstractPDE, scaling: Scaling):
        return {"": _defined(gaps(pde, scaling))}

    known = of_known_terms(pde, scaling, sized) if isinstance(pde, Bordered) else {}
    return _capped(_size(gaps(pde, scaling)), known.get(""))


def with_hidden_scales(model: Model, observations: Observations, pde: AbstractPDE) -> Model:
    """The model with scales for fields that have no reading, such as a pressure.

    Only a field that still has the neutral scale, mean 0 and spread 1, is given one: that at which its
    terms are as large as the others of the equations it is in (U² for the pressure of a flow). Of a
    positive unknown function the mean is such, too: where a fit begins does not hang on a first guess.
    """
    scaling = model.scaling
    _check_sizes(scaling, pde)
    mean, spread = np.array(scaling.mean), np.array(scaling.spread)
    unread = ~np.asarray(observations.mask).any(axis=0) & (mean == 0) & (spread == 1)
    hidden = [int(k) for k in np.flatnonzero(unread)]
    if not hidden or len(hidden) == len(mean):
        return model
    spread[hidden] = 0.0  # as if it were not there, until its size is found
    positive = logarithms(pde)
    for field in hidden * 2:  # twice: the first in turn did not know the size of the others
        sized = replace(scaling, mean=mean, spread=spread)
        if pde.fields[field] in positive:
            mean[field] = _balancing_level(field, sized, pde)
        spread[field] = _balancing_spread(field, sized, pde)
    spread[hidden] = np.where(spread[hidden] > 0, spread[hidden], 1.0)
    return eqx.tree_at(lambda m: m.scaling, model, replace(scaling, mean=mean, spread=spread))


def _check_sizes(scaling: Scaling, pde: AbstractPDE) -> None:
    """Refuse the scales of a model that was made for other fields or coordinates."""
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


def logarithms(pde: AbstractPDE) -> set[str]:
    """The fields that stand for positive unknown functions."""
    named = functions_of(pde).items()
    return {function.field(name) for name, function in named if function.positive}


def with_unknown_units(pde: AbstractPDE, scaling: Scaling) -> AbstractPDE:
    """The equation with every plain `Unknown` counted in a unit that suits it: its starting value or,
    where larger, the value at which its term is as large as the others.

    An optimiser's step is a share of that unit, whatever units the problem is written in.
    """
    nodes, tree = jax.tree.flatten(pde, is_leaf=is_unknown)

    def suited(position: int, node: Unknown) -> Unknown:
        def gaps(value: float):
            return _gaps(
                tree.unflatten([*nodes[:position], value, *nodes[position + 1 :]]), scaling
            )

        start = abs(float(node.value))
        found = list(balance(gaps, start or 1.0).values())
        return node.in_units_of(max(start, min(found)) if found else start or 1.0)

    return tree.unflatten(
        [suited(k, n) if is_unknown(n) and n.is_plain else n for k, n in enumerate(nodes)]
    )


def _balancing_spread(field: int, scaling: Scaling, pde) -> float:
    """The spread at which a field's terms are as large as the others: the median over the equations;
    0 where no equation tells."""

    def gaps(size: float):
        trial = np.array(scaling.spread)
        trial[field] = size
        return _gaps(pde, replace(scaling, spread=trial))

    found = list(balance(gaps, float(scaling.spread.max())).values())
    return float(np.median(found)) if found else 0.0


def _balancing_level(field: int, scaling: Scaling, pde) -> float:
    """The mean of a logarithm at which its terms are as large as the others, known sources included;
    0 where no equation tells, as where the function stands in all terms."""
    spread, known = np.array(scaling.spread), resolve(pde)
    spread[field] = LOG_SPREAD

    def values(size: float):
        mean = np.array(scaling.mean)
        with np.errstate(divide="ignore"):
            mean[field] = np.log(size)
        typical = Typical(pde, replace(scaling, mean=mean, spread=spread), DRAWS)
        table = typical.values(lambda: known.residual(typical))
        return {name: np.asarray(column, float) for name, column in table.items()}

    found = list(balance(values, 1.0).values())
    return float(np.log(np.median(found))) if found else 0.0


def balance(gaps: Callable[[float], dict[str, np.ndarray]], start: float) -> dict[str, float]:
    """For each equation the argument of `gaps` at which it adds as much as there is at 0.

    The secant method on logarithms, exact after one step for a product of the argument.
    """
    without = gaps(0.0)
    found = {}
    for name, others in without.items():

        def excess(size: float, name=name, others=others) -> float:
            added, present = _size(gaps(size)[name] - others), _size(others)
            return float(np.log(added / present)) if min(added, present) > 0 else np.nan

        here, value = np.log(start), excess(start)
        slope = 1.0
        for _ in range(MOST_SECANTS):
            if not abs(value) > BALANCED:
                break
            there = here - value / slope
            following = excess(float(np.exp(there)))
            slope = (following - value) / (there - here)
            if not abs(slope) > FLAT:  # a term that is no larger however large its argument
                break
            here, value = there, following
        if abs(value) <= BALANCED:
            found[name] = float(np.exp(here))
    return found


def _gaps(pde: AbstractPDE, scaling: Scaling, draws: int = DRAWS) -> dict[str, np.ndarray]:
    """Differences of each residual between two random fields."""
    pde, typical = resolve(pde), Typical(pde, scaling, draws)
    return typical.differences(lambda: pde.residual(typical))


def _differences(table: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # of two infinities: no number, and `_size` leaves it out
        return table[0::2] - table[1::2]


def _size(gaps: np.ndarray) -> np.ndarray:
    """Root mean square of one of the two fields that differ by `gaps`."""
    # A draw may lie outside an equation's reach, such as log(u) of a negative u: leave it out.
    usable = np.isfinite(gaps)
    total = np.sum(np.where(usable, gaps, 0.0) ** 2, axis=0)
    return np.asarray(np.sqrt(total / np.maximum(usable.sum(axis=0), 1) / 2))


def _defined(gaps: np.ndarray) -> np.ndarray:
    """The same, infinite where more draws than not lie outside an equation's reach."""
    usable = np.isfinite(gaps).mean(axis=0)
    return np.where(usable >= 0.5, _size(gaps), np.inf)


def _capped(size: np.ndarray, known: np.ndarray | None) -> np.ndarray:
    return _or_one(size if known is None else np.asarray(np.minimum(size, known)))


def _or_one(size: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(size > 0, size, 1.0), np.float32)
