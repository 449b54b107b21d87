r"""Readings and a family whose law is known: the most probable system behind them.

A system of a family is its coefficients and independent standard normals. The solver turns both into
fields, and conditioning.py finds the normals that readings make most probable. Nothing is trained, and no
answer from so many readings can be better on average where the solver is linear: the law is all there is
to know. Networks over a family are measured against it.
"""

import dataclasses
import math
from collections.abc import Mapping
from itertools import product
from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.special import ndtri

from pgt.data.asked import as_points
from pgt.data.observations import Observations
from pgt.families.asking import Asking, asked, grid_for, precisely
from pgt.families.at_once import REACH, against, at_once, is_small
from pgt.families.conditioning import SETTLED, Conditioned, Errors, condition, with_rows
from pgt.families.family import AbstractFamily
from pgt.families.given import given_numbers, guessed, is_its_equation
from pgt.families.posing import Posed, as_posed
from pgt.families.registry import as_family
from pgt.families.said import Asked, Said, on_grid
from pgt.families.solved import AbstractSolved
from pgt.families.stencil import Stencil
from pgt.ground.arguments import Count, Limits
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.physics.pde import AbstractPDE

Draws = Annotated[int, Limits(at_least=0)]
FEW = 2000  # unknowns, up to which bands cost little
DRAWS = 64  # of the posterior, for bands
DOUBTED = 0.03  # of the spread: more may come of a coefficient that the search began far from
SUSPECT = 0.3  # of the spread: noise that large means another law
TRIED = {1: 7, 2: 4}  # values of a coefficient, by how many are not known


class Assimilated(eqx.Module):
    """The most probable system behind readings, with bands by Laplace's approximation.

    `coefficients` has those that were found among those that were given, `bands` what the former lie
    between with 90 %. `noise_level` is the σ of the readings that was found, in units of the spread of
    their field; where it was given, that of readings that have none. `outside` says in words why the
    readings are not those of a system of the family.
    """

    family: AbstractSolved
    coefficients: dict[str, float]
    bands: dict[str, tuple[float, float]]
    noise_level: float
    outside: tuple[str, ...]
    steps: int
    asking: Asking
    unknowns: Float[np.ndarray, " n"]
    draws: Float[np.ndarray, "k n"]
    apart: Float[np.ndarray, "*grid c"] | None = None  # by what readings say against the law

    @property
    def noise(self) -> Float[np.ndarray, "..."]:
        """The standard normals that make the state."""
        shape = self.family.noise_shape
        return self.unknowns[: math.prod(shape)].reshape(shape)

    def at(self, points: Float[np.ndarray, "m d"]) -> Said:
        """Most probable field and band at points, one a row; NaN as a band where none was asked for."""
        points = as_points(points, self.family.domain)
        fine = grid_for(self.family, points)
        stencil = Stencil.of(points, fine.axes, fine.domain)
        with precisely():
            asking = eqx.tree_at(lambda a: (a.family, a.stencil), self.asking, (fine, stencil))
            mean = np.asarray(_fields(asking, jnp.asarray(self.unknowns)))
            reach = np.full_like(mean, np.nan)
            if len(self.draws):
                spread = np.asarray(_spread(asking, mean, jnp.asarray(self.draws)))
                reach = REACH * np.hypot(spread, self._apart(points))
        return Said(mean, mean - reach, mean + reach, list(self.outside))

    def _apart(self, points: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m c"] | float:
        if self.apart is None:
            return 0.0
        between = Stencil.of(points, self.family.axes, self.family.domain, order=2)
        return np.asarray(between(self.apart))

    def grid(self, **axes: Asked) -> xr.Dataset:
        """Fields and bands (`u`, `u_low`, `u_high`) on a grid, by default the family's."""
        about = self.coefficients | {"outside": "; ".join(self.outside)}
        asked = axes or self.family.axes
        return on_grid(self.at, self.family.domain, self.family.fields, asked, about)


@checked
def assimilate(
    family: AbstractFamily | str,
    readings: Observations,
    coefficients: Mapping | AbstractPDE | None = None,
    *,
    start: xr.Dataset | None = None,
    draws: Draws | None = None,
    steps: Count = 25,
) -> Assimilated:
    """The most probable system of a family, given readings and the coefficients that are known.

    Parameters
    ----------
    family
        One that computes its systems, or its name; its law is taken for granted.
    readings
        Of any of its fields, in its own units; where their noise is not known it is estimated.
    coefficients
        Those that are known; the others are estimated within the family's ranges.
    start
        Fields at the nodes of the family to begin from, as an answer of a `Pretrained`; else the mean of
        the law. Where the solver is linear this changes nothing.
    draws
        From the posterior, for the bands; by default 64, and none where there are many unknowns.
    steps
        At the most.

    >>> import jax
    >>> import pgt
    >>> family = pgt.families.get("heat")
    >>> truth = family.dataset(family.draw(jax.random.key(1), {"diffusivity": 0.02}))
    >>> found = pgt.families.assimilate(family, pgt.sample(truth, n=40), {"diffusivity": 0.02})
    >>> bool(abs(found.grid().u - truth.u).max() < 1e-3), found.steps
    (True, 1)
    """
    solved = solving(as_family(family))
    if solved.forgets:
        raise InputError(
            f"assimilate: readings of {solved.name} do not lead back to its state: {solved.forgets}; use "
            "pgt.reconstruct with the equation."
        )
    readings = readings.wrapped(solved.domain).aligned(solved.fields)
    readings.check_inside(solved.domain)
    known = known_of(solved, coefficients)
    with precisely():
        asking, values, errors = asked(solved, readings, known)
        first = _started(asking, start)
        found = _conditioned(asking, values, errors, first, 1)
        if found.missed > SETTLED and steps > 1:  # the solver is not linear
            begun = _nearer(solved, readings, known, start, found)
            found = _conditioned(asking, values, errors, begun, steps - 1)
        if len(known) < len(solved.ranges) and (found.level > DOUBTED or found.missed > 1):
            others = _with_coefficients(asking, values, errors, first)
            again = _conditioned(asking, values, errors, others, steps)
            found = min(found, again, key=lambda f: f.linear.evidence)
        count = (DRAWS if asking.size <= FEW else 0) if draws is None else draws
        answer = _assimilated(asking, found, len(values), errors, count, solved)
        return _doubted(answer, as_posed(asking, values, errors))


def solving(family: AbstractFamily) -> AbstractSolved:
    """The family, which must be one that computes its systems."""
    if not isinstance(family, AbstractSolved):
        raise InputError(
            f"assimilate: {family.name} holds systems and computes none; give a family that solves its "
            "equation (a subclass of `pgt.families.AbstractSolved`)."
        )
    return family


def known_of(
    family: AbstractSolved, given: Mapping | AbstractPDE | None, asker: str = "assimilate"
) -> dict[str, float]:
    """The coefficients that are known, by name; an `Unknown` of an equation is none of them. `asker` is
    the function that the user called."""
    numbers = given_numbers(family, given or {})
    if not is_its_equation(family, given or {}):
        raise InputError(
            f"{asker}: the equation is not that of the family {family.name!r}, whose law and solver "
            "are taken at their word; use pgt.reconstruct with your equation."
        )
    for name in guessed(family, given or {}):
        del numbers[name]
    return numbers


# ------------------------------------------------------------------------------- the search


def _conditioned(asking: Asking, values, errors: Errors, start, steps: int) -> Conditioned:
    count, rough, last = len(values), asking.rough(), {}

    def read(z):
        if z.tobytes() not in last:  # a step begins where the one before it ended
            last.clear()
            last[z.tobytes()] = _read(asking, jnp.asarray(z))[:count]
        return last[z.tobytes()]

    def linearised(z):
        # Where a step ends is decided by the readings, not by the slopes: these may be rough.
        return read(z), _rows(rough, jnp.asarray(z))[:count]

    return condition(read, linearised, values, errors, start, steps)


def _nearer(
    family: AbstractSolved,
    readings: Observations,
    known: dict[str, float],
    start,
    found: Conditioned,
) -> Float[np.ndarray, " n"]:
    """Where to go on from: where the rough solver has settled, which costs less than a step of this."""
    if start is not None or len(known) < len(family.ranges) or not is_small(family):
        return found.mean
    quick = at_once(family, readings, known)
    return found.mean if quick is None else np.asarray(quick.found.unknowns)


def _started(asking: Asking, field: xr.Dataset | None) -> Float[np.ndarray, " n"]:
    """The noise of a field's state: at its first instant, or anywhere where there is no time."""
    if field is None:
        return np.zeros(asking.size)
    family = asking.family
    names = [name for name in family.fields if name in field]
    if not names or not set(family.axes) <= set(field.dims):
        raise InputError(
            f"assimilate(start=...): write a dataset of {', '.join(family.fields)} over "
            f"{', '.join(family.axes)}, as `Answer.grid` gives it."
        )
    first = field.isel(t=[0]) if "t" in family.axes else field
    readings = Observations.from_xarray(first[names], names)
    few = readings.take(np.arange(0, len(readings), math.ceil(len(readings) / 256)))
    known = {name: float(value) for name, value in asking.known.items()}
    start, values, errors = asked(family, few.wrapped(family.domain).aligned(family.fields), known)
    return _conditioned(start.rough(), values, errors, np.zeros(start.size), 1).mean


def _with_coefficients(asking: Asking, values, errors: Errors, start):
    """A start whose unknown coefficients are those, of a few, under which readings are most probable."""
    names = [name for name in asking.family.ranges if name not in asking.known]
    if len(names) not in TRIED:
        return start
    count = TRIED[len(names)]
    normals = ndtri((np.arange(count) + 0.5) / count)
    size, best = math.prod(asking.family.noise_shape), (np.inf, start)
    for chosen in product(normals, repeat=len(names)):
        held = asking.coefficients(jnp.concatenate([jnp.zeros(size), jnp.asarray(chosen)]))
        fixed = eqx.tree_at(lambda a: a.known, asking, held)
        found = _conditioned(fixed, values, errors, start[:size], 4)
        best = min(best, (found.linear.evidence, np.append(found.mean, chosen)), key=lambda b: b[0])
    return best[1]


def _assimilated(
    asking: Asking, found: Conditioned, count: int, errors: Errors, draws: int, family
) -> Assimilated:
    drawn = found.mean + found.linear.drawn(0, draws) if draws else np.zeros((0, asking.size))
    coefficients = asking.coefficients(jnp.asarray(found.mean))
    around = jax.vmap(asking.coefficients)(jnp.asarray(drawn)) if draws else {}
    bands = {
        name: tuple(np.quantile(values, (0.05, 0.95)).tolist())
        for name, values in around.items()
        if name not in asking.known
    }
    return Assimilated(
        family,
        {name: float(value) for name, value in coefficients.items()},
        bands,
        found.level,
        outside_of(found, count, errors),
        found.steps,
        asking,
        found.mean,
        drawn,
    )


def _doubted(answer: Assimilated, question: Posed) -> Assimilated:
    """With what the readings say against the law, where that costs little."""
    if not is_small(answer.family) or not answer.asking.known:
        return answer
    beyond, apart = jax.tree.map(
        np.asarray, against(question, answer.family, jnp.asarray(answer.unknowns))
    )
    known = {name: float(value) for name, value in answer.asking.known.items()}
    outside = (*answer.outside, *beyond.doubts(known))
    return dataclasses.replace(answer, outside=outside, apart=apart)


def outside_of(found: Conditioned, count: int, errors: Errors) -> tuple[str, ...]:
    """What speaks against the law."""
    said = []
    ratio = found.linear.surprise / count
    if bool((errors.known > 0).all()) and ratio > 1 + 5 * math.sqrt(2 / count):
        said.append(
            f"the readings are {math.sqrt(ratio):.1f} times as far from the family's mean as its own are"
        )
    if bool((errors.known == 0).any()) and found.level > SUSPECT:
        said.append(
            f"no system of the family comes nearer to its readings than {100 * found.level:.0f} % of them"
        )
    if found.missed > 1:
        said.append(f"after {found.steps} steps it is still on its way")
    return tuple(said)


@eqx.filter_jit
def _read(asking: Asking, unknowns):
    return asking(unknowns)


@eqx.filter_jit
def _rows(asking: Asking, unknowns):
    return with_rows(asking, unknowns, len(asking.columns))[1]


@eqx.filter_jit
def _fields(asking: Asking, unknowns):
    return asking.stencil(asking.values(unknowns))


@eqx.filter_jit
def _spread(asking: Asking, mean, draws):
    """Of draws around a field, at every point."""
    misses = jax.lax.map(
        lambda one: (asking.stencil(asking.values(one)) - mean) ** 2, draws, batch_size=8
    )
    return jnp.sqrt(jnp.mean(misses, axis=0))
