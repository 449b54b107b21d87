"""What is reconstructed: frozen descriptions that load into readings, equation, domain and truth."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from pgt import datasets, metrics
from pgt.data import Domain, Observations, sample
from pgt.physics import (
    AdvectionDiffusion,
    Burgers,
    Dirichlet,
    Heat,
    Initial,
    NavierStokes2D,
    Wave,
)
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE

SQUARE = Domain(x=(0, 1), t=(0, 1))
WAKE = Domain(x=(1, 8), y=(-2, 2), t=(0, 19.9))
ONE_MODE, THREE_MODES = ((4, 1.0),), ((1, 0.5), (3, 0.7), (5, -0.6))
DIFFUSIVITY = VISCOSITY = 0.01
MIDDLE = 10.0  # the time of the snapshot the paper judges
RESIDUAL_POINTS = 5000


@dataclass(frozen=True)
class Setup:
    """A problem with its readings drawn, and the truth it is judged by. `noise`: σ added, by field."""

    observations: Observations
    pde: AbstractPDE
    domain: Domain
    conditions: tuple[AbstractCondition, ...]
    truth: xr.Dataset
    noise: dict[str, float]


@dataclass(frozen=True)
class HeatProblem:
    """u_t = 0.01 u_xx on the unit square; `known`: boundary and initial values are given."""

    readings: int = 100
    modes: tuple[tuple[int, float], ...] = ONE_MODE
    known: bool = True
    noise: float = 0.0

    kind = "heat"

    def load(self, seed: int, every: int = 1) -> Setup:
        """Readings drawn with a seed; judged at every so many points of the truth along each axis."""
        truth = datasets.heat(dict(self.modes), DIFFUSIVITY)
        readings = sample(truth, self.readings, noise=self.noise, seed=seed)
        text = " + ".join(f"({a})*sin({n}*pi*x)" for n, a in self.modes)
        known = (Dirichlet("x", u=0.0), Initial(u=text)) if self.known else ()
        spread = float(sample(truth, self.readings, seed=seed).values.std())
        noise = {"u": self.noise * spread}
        return Setup(readings, Heat(DIFFUSIVITY), SQUARE, known, thin(truth, every), noise)

    def judge(self, setup: Setup, grid) -> dict:
        """Errors of `grid(**axes)`, a function that evaluates the field, on the truth's own grid."""
        truth = setup.truth
        return {"volume": metrics.compare(truth, grid(x=truth.x.values, t=truth.t.values))}


@dataclass(frozen=True)
class WakeProblem:
    """The cylinder wake at Re = 100 from random samples; `hidden` fields are never read.

    Noise as in the paper: σ = η std(u) of the readings, on u and v alike.
    """

    readings: int = 1500
    hidden: tuple[str, ...] = ()
    noise: float = 0.0

    kind = "wake"

    def load(self, seed: int, every: int = 1) -> Setup:
        """As for heat; the middle snapshot is always among those it is judged by."""
        truth, pde = _wake(), NavierStokes2D(VISCOSITY)
        measured = tuple(name for name in pde.fields if name not in self.hidden)
        readings = sample(truth, self.readings, fields=measured, seed=seed)
        sigma = self.noise * float(readings.values[:, 0].std())
        noise = {name: sigma if name in ("u", "v") else 0.0 for name in measured}
        draw = np.random.default_rng(seed + 1).standard_normal(readings.values.shape)
        added = draw * np.array([noise[name] for name in measured])
        noisy = replace(readings, values=readings.values + added)
        return Setup(noisy.aligned(pde.fields), pde, WAKE, (), thin(truth, every), noise)

    def judge(self, setup: Setup, grid) -> dict:
        """Errors at the middle snapshot and over the volume; p also with its mean taken out."""
        truth = setup.truth
        middle = middle_of(truth)
        place = {"x": truth.x.values, "y": truth.y.values}
        pairs = {
            "snapshot": (middle, grid(**place, t=middle.t.values)),
            "volume": (truth, grid(**place, t=truth.t.values)),
        }
        return {name: _errors(*pair) for name, pair in pairs.items()}


Problem = HeatProblem | WakeProblem


def thin(truth: xr.Dataset, every: int) -> xr.Dataset:
    return truth.isel({axis: slice(None, None, every) for axis in truth.dims})


def middle_of(truth: xr.Dataset) -> xr.Dataset:
    """The snapshot the paper judges, as a set of one."""
    return truth.sel(t=[MIDDLE], method="nearest")


def _errors(truth: xr.Dataset, estimate: xr.Dataset) -> dict:
    if np.isnan(estimate["p"]).all():  # a method without physics says nothing about a hidden field
        return metrics.compare(truth[["u", "v"]], estimate[["u", "v"]])
    shifted = metrics.relative_l2(
        metrics.remove_mean(truth[["p"]]), metrics.remove_mean(estimate[["p"]])
    )
    return metrics.compare(truth, estimate) | {"p_without_mean": shifted["p"]}


@functools.cache
def _wake() -> xr.Dataset:
    return datasets.cylinder_wake()


def audited() -> Iterator[tuple[str, dict[str, float]]]:
    """The residual of every reference data set in its own equation."""
    velocity, diffusivity, viscosity = 0.5, 0.005, 0.05
    pairs = {
        "heat": (datasets.heat(diffusivity=DIFFUSIVITY), Heat(DIFFUSIVITY)),
        # At the usual 0.01/π the front is narrower than the spacing, and differences mean nothing.
        "burgers, viscosity 0.05": (datasets.burgers(viscosity), Burgers(viscosity)),
        "travelling wave": (datasets.travelling_wave(), Wave(1.0)),
        "advected Gaussian": (
            datasets.advected_gaussian(velocity, diffusivity),
            AdvectionDiffusion(velocity, diffusivity),
        ),
        "Taylor–Green": (datasets.taylor_green(VISCOSITY), NavierStokes2D(VISCOSITY)),
        "cylinder wake": (_wake(), NavierStokes2D(VISCOSITY)),
    }
    for name, (data, pde) in pairs.items():
        yield name, datasets.audit(data, pde)
