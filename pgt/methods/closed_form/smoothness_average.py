r"""Unknown functions of conditions, averaged over all that they may be: how smooth, and how fast.

A band that suits a field says what its sines can follow, not how smooth a function on its wall is: a
sum of sines of one narrow band is so smooth that a few readings would tell it everywhere. Yet it is what
the evidence prefers for any function that happens to be analytic, and nobody knows that beforehand. So
functions have the prior of a Matérn kernel,

    T(w) ∝ (1 + |ℓ w|²)^(-(ν + d/2)/2),

of functions with ν derivatives that change along ℓ, in a band so wide that it takes nothing away from
them; ν and ℓ are averaged over, each as probable as the readings make it.
"""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from pgt.methods.closed_form.band_posterior import Averaged, Found, as_probable
from pgt.methods.closed_form.band_solution import solved_beside
from pgt.models.features import FIRST_BAND, Features, Sines
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import functions_of
from pgt.problem.assembly import Task

DERIVATIVES = (1.5, 2.5)  # ν: with a kink now and then, or without
LENGTHS = tuple(2.0**k for k in range(-3, 4))  # ℓ in unit coordinates, where the domain is [-1, 1]
WIDE = 32.0  # the band along what a function depends on, at least: ten waves over the domain
DENSE = 3.0  # sines for each function that a band can tell apart
# Of the log-evidence: what a band that suits an analytic function may be ahead by.
NEEDED = 20.0
PRIORS = len(DERIVATIVES) * len(LENGTHS)


def over_smoothness(best: Found, model: Features, task: Task, most: int) -> Found | Averaged:
    """The field with its functions as smooth as they may be, from the `best` found with one prior; with
    no more than so many sines. The band that was found is only widened where it is plainly needed."""
    usual = wide_band((0.0,) * len(best.band), task.pde, most)
    found = _in_band(usual, model, task, most)
    wider = wide_band(best.band, task.pde, most)
    if wider == usual or found.evidence > best.evidence - NEEDED:
        return found
    other = _in_band(wider, model, task, most)
    return other if other.evidence > found.evidence else found


def _in_band(band: tuple[float, ...], model: Features, task: Task, most: int) -> Found | Averaged:
    wide = model.with_sines(min(_needed(band), most), band)
    solutions = solved_beside(wide, task, _priors(wide.network.sines, task.pde))
    return as_probable([Found(band, *solution, {}) for solution in solutions])


def wide_band(band: tuple[float, ...], pde: AbstractPDE, most: int) -> tuple[float, ...]:
    """One that is wide along what functions depend on, as far as so many sines fill it, and no narrower
    than a given one.

    >>> import pgt
    >>> from pgt.physics.unknown_conditions import bordered
    >>> inflow = pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("t"))
    >>> pde, _ = bordered(pgt.Heat(0.1), [inflow])
    >>> wide_band((4.0, 2.0), pde, 800), wide_band((4.0, 50.0), pde, 800), wide_band((4.0, 2.0), pde, 100)
    ((8.0, 32.0), (8.0, 50.0), (4.0, 8.0))
    """
    axes = {axis for function in functions_of(pde).values() for axis in function.axes}
    wanted = [WIDE if axis in axes else FIRST_BAND for axis in pde.coords]
    wide = tuple(map(max, band, wanted))
    while _needed(wide) > most and wide != band:
        wanted = [b / 2 for b in wanted]
        wide = tuple(map(max, band, wanted))
    return wide


def _needed(band: tuple[float, ...]) -> int:
    return math.ceil(DENSE * math.prod(1 + 2 * b / math.pi for b in band))


def _priors(sines: Sines, pde: AbstractPDE) -> Iterator[Float[np.ndarray, " k"]]:
    """One for each ν and ℓ, of all functions; as large as that of a field."""
    axes = [[pde.coords.index(a) for a in f.axes] for f in functions_of(pde).values()]
    for derivatives in DERIVATIVES:
        for length in LENGTHS:
            parts = [_matern(sines, own, derivatives, length) for own in axes]
            yield np.concatenate(parts)


def _matern(
    sines: Sines, axes: list[int], derivatives: float, length: float
) -> Float[np.ndarray, " m"]:
    """T of every sine, of mean square 1; functions of a shape count as the shortest waves."""
    waves = length * np.asarray(sines.frequencies, float)[:, axes]
    sizes = (1 + np.sum(waves**2, axis=1)) ** (-(derivatives + len(axes) / 2) / 2)
    sizes = np.append(sizes, np.full(sines.count - len(sizes), sizes.min()))
    return sizes / np.sqrt(np.mean(sizes**2))
