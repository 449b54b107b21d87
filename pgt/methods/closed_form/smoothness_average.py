r"""The posterior averaged over the smoothness and the length of unknown functions in conditions.

The band of a field says what its sines can represent, not how smooth a function on a wall is. In a narrow
band a few readings would determine the function everywhere, yet the evidence prefers such a band for
every function that happens to be analytic. Functions therefore have the prior of a Matérn kernel with ν
derivatives and the length ℓ,

    T(w) ∝ (1 + |ℓ w|²)^(-(ν + d/2)/2),

in a band so wide that it does not restrict them. Fits with several ν and ℓ are averaged by their
evidence.
"""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from pgt.methods.closed_form.band_posterior import BandAverage, BandFit, average_priors
from pgt.methods.closed_form.band_solution import matern_deviations, solve_for_priors
from pgt.models.features import FIRST_BAND, Features, Sines
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import functions_of
from pgt.problem.assembly import Task

# The values of ν, for functions with occasional kinks and without, and of ℓ in unit coordinates.
DERIVATIVES = (1.5, 2.5)
LENGTHS = tuple(2.0**k for k in range(-3, 4))
PRIOR_COUNT = len(DERIVATIVES) * len(LENGTHS)
# The smallest band along the axes of a function: ten waves over the domain.
MIN_FUNCTION_BAND = 32.0
# The number of random sines per independent function of a band.
SINES_PER_MODE = 3.0
# The lead in log-evidence that does not count, because an analytic function may favor a narrow band.
MAX_ANALYTIC_GAIN = 20.0


def average_over_smoothness(
    best: BandFit, model: Features, task: Task, max_count: int
) -> BandFit | BandAverage:
    """The fit averaged over the smoothness of its unknown functions, with at most `max_count` sines. The
    band of the `best` fit with a single prior is used only where the evidence clearly demands it."""
    narrow = wide_band((0.0,) * len(best.band), task.pde, max_count)
    average = _average_in_band(narrow, model, task, max_count)
    wider = wide_band(best.band, task.pde, max_count)
    if wider == narrow or average.evidence > best.evidence - MAX_ANALYTIC_GAIN:
        return average
    wider_average = _average_in_band(wider, model, task, max_count)
    return wider_average if wider_average.evidence > average.evidence else average


def _average_in_band(
    band: tuple[float, ...], model: Features, task: Task, max_count: int
) -> BandFit | BandAverage:
    wide = model.with_sines(min(_needed_sines(band), max_count), band)
    return average_priors(list(solve_for_priors(wide, task, _priors(wide.network.sines, task.pde))))


def wide_band(band: tuple[float, ...], pde: AbstractPDE, max_count: int) -> tuple[float, ...]:
    """A band no narrower than the given one, and wide along the axes of functions as far as `max_count`
    sines suffice for it.

    >>> import pgt
    >>> from pgt.physics.unknown_conditions import bordered
    >>> inflow = pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("t"))
    >>> pde, _ = bordered(pgt.Heat(0.1), [inflow])
    >>> wide_band((4.0, 2.0), pde, 800), wide_band((4.0, 50.0), pde, 800), wide_band((4.0, 2.0), pde, 100)
    ((8.0, 32.0), (8.0, 50.0), (4.0, 8.0))
    """
    axes = {axis for function in functions_of(pde).values() for axis in function.axes}
    wanted = [MIN_FUNCTION_BAND if axis in axes else FIRST_BAND for axis in pde.coords]
    wide = tuple(map(max, band, wanted))
    while _needed_sines(wide) > max_count and wide != band:
        wanted = [b / 2 for b in wanted]
        wide = tuple(map(max, band, wanted))
    return wide


def _needed_sines(band: tuple[float, ...]) -> int:
    return math.ceil(SINES_PER_MODE * math.prod(1 + 2 * b / math.pi for b in band))


def _priors(sines: Sines, pde: AbstractPDE) -> Iterator[Float[np.ndarray, " k"]]:
    """The prior deviations of all functions for each ν and ℓ, scaled to mean square 1."""
    axes = [[pde.coords.index(a) for a in f.axes] for f in functions_of(pde).values()]
    for derivatives in DERIVATIVES:
        for length in LENGTHS:
            parts = [matern_deviations(sines, columns, derivatives, length) for columns in axes]
            yield np.concatenate([part / np.sqrt(np.mean(part**2)) for part in parts])
