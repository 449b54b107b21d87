"""The settings of a fit as frozen dataclasses, from which a run is reproducible."""

from dataclasses import dataclass, field, fields, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
import optax

from pgt.core.arguments import Count, Limits, PartOf, Positive, Share
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.data.sampling import AbstractSampler, Uniform
from pgt.data.splits import HeldOutBy
from pgt.inference.likelihood import Likelihood
from pgt.training.optimisers import check_direction, describe_optimiser
from pgt.training.weighting import AbstractWeighting, Uncertainty


@checked
@dataclass(frozen=True)
class Polish:
    """Levenberg-Marquardt in float64: second-order steps on all weights, or on the decoder only.

    Parameters
    ----------
    iterations, seconds
        The budget; None stands for no limit on the seconds.
    points
        Residual points of a step. None chooses enough points for more rows than weights, within
        limits of time.
    equation_weight
        The weight of the equation relative to the readings.
    patience
        Stop when the held-out error has not improved for this many iterations.
    evidence
        Whether to fit under a prior on the weights, with the strength of greatest evidence, as noisy
        readings require (methods/second_order/least_squares.py). None does so if the noise is given or
        held-out readings are not predicted.
    weights
        "all", or "decoder", which does not change the encoder of the readings; None stands for "all" in
        networks without an encoder.
    fresh
        The share of the budget in which every step uses fresh residual points; after it they are fixed.
        None stands for 1 if all weights are tuned, and for 0 with the decoder only.
    memory
        Gigabytes that the derivatives of the rows may take; None stands for 2, or for a fifth of the
        memory of a GPU.

    >>> Polish(iterations=50, seconds=10.0).patience
    40
    """

    iterations: Count = 100
    seconds: Positive | None = None
    points: Count | None = None
    equation_weight: Positive = 1.0
    patience: Count = 40
    evidence: bool | None = None
    weights: Literal["all", "decoder"] | None = None
    fresh: Annotated[float, Limits(at_least=0, at_most=1)] | None = None
    memory: Positive | None = None


@checked
@dataclass(frozen=True)
class Training:
    """The settings of a fit. All defaults work on the problems of the benchmark.

    Parameters
    ----------
    steps, seconds
        The budget. `steps` are those of the first-order optimizer; None stands for 2000, or for 0 before
        a polish that tunes all weights, which does better from the start (problem/budget.py). `seconds`
        are those of the whole fit; results then depend on the speed of the machine.
    optimiser
        "soap", "adam", "adamw", "lion", the name of a registered optimizer, or any Optax transformation
        that gives the direction of a step, such as `optax.scale_by_yogi()`. Learning rate and schedule
        are applied to it.
    batch, collocation, condition_points
        Readings, residual points and points per condition in one step. Without collocation points (0)
        only readings and conditions are fitted, not the equation.
    hold_out
        The share of readings that is never fitted. Their error estimates the noise, stops training that
        no longer helps, and is reported for the fit. None stands for a tenth, but at most a hundred
        single readings, and for 0 if each reading can be predicted from the others in closed form
        (`Features`).
    hold_out_by
        "reading" holds out single readings; "sensor" holds out all readings of a sensor; "block" holds
        out blocks of space and time, which are harder to predict, so that their error is that far from
        readings and tells less about the noise. None stands for "sensor" if there are ten or more fixed
        sensors, since a single reading among many of its own sensor is too easy to predict; otherwise for
        "reading".
    patience
        Stop when the held-out error has not improved for this share of the budget.
    likelihood
        "gauss"; for readings with outliers "student" or "huber", in which a reading far from the fit has
        little weight (inference/likelihood.py). Held-out errors then exclude outliers.
    precision
        "float32" or "float64".
    polish
        Second-order steps after training. None uses them if the decoder is small; False never.
    devices
        The number of devices that share readings and residual points; None stands for all.

    >>> Training(steps=500, polish=False).optimiser
    'soap'
    >>> Training(hold_out=1.0)
    Traceback (most recent call last):
    ...
    pgt.InputError: Training(hold_out=1.0): hold_out must be a number in [0, 1), or None.
    """

    steps: Annotated[int, Limits(at_least=0, at_most=10**9)] | None = None
    seconds: Positive | None = None
    optimiser: Annotated[str, PartOf("optimiser")] | optax.GradientTransformation = "soap"
    learning_rate: Annotated[float, Limits(above=0, at_most=1000)] = 3e-3
    batch: Count = 2048
    collocation: Annotated[int, Limits(at_least=0, at_most=10**9)] = 1000
    condition_points: Count = 128
    sampler: AbstractSampler = field(default_factory=Uniform)
    weighting: AbstractWeighting = field(default_factory=Uncertainty)
    hold_out: Share | None = None
    hold_out_by: HeldOutBy | None = None
    patience: Positive = 0.5
    likelihood: Likelihood = "gauss"
    precision: Literal["float32", "float64"] = "float32"
    polish: Polish | Literal[False] | None = None
    check_every: Count = 50
    devices: Count | None = None

    def __post_init__(self):
        if not isinstance(self.optimiser, str):
            check_direction(self.optimiser)

    def of_a_step(self) -> "Training":
        """A copy with defaults for all settings that do not affect a single step, so that another budget
        needs no compilation."""
        held_out, budget = (
            ("hold_out", "hold_out_by"),
            ("steps", "seconds", "patience", "check_every"),
        )
        irrelevant = (*held_out, *budget, "precision", "polish", "devices")
        defaults = {f.name: f.default for f in fields(self) if f.name in irrelevant}
        return replace(self, **defaults)

    def describe(self) -> dict:
        """The settings as plain data, for a run's records."""
        plain = {f.name: _plain_value(getattr(self, f.name)) for f in fields(self)}
        return plain | {"optimiser": describe_optimiser(self.optimiser)}


def _plain_value(value):
    return value if isinstance(value, int | float | str | bool | None) else repr(value)


# ------------------------------------------------------------------------------- error bars


@register("ensemble", kind="error bars")
@dataclass(frozen=True)
class Ensemble:
    """Error bars from fits that differ only in their random numbers, trained at once.

    Every member has its own initial weights and residual points; with `bootstrap` also its own draw of
    the readings, with replacement. The held-out readings are the same for all members.

    >>> Ensemble(members=4, bootstrap=True)
    Ensemble(members=4, bootstrap=True)
    >>> Ensemble(members=1)
    Traceback (most recent call last):
    ...
    pgt.InputError: Ensemble(members=1): members must be a whole number from 2 up.
    """

    part: ClassVar[str] = "error bars"
    members: Annotated[int, Limits(at_least=2, at_most=1000)] = 8
    bootstrap: bool = False


@register("posterior", kind="error bars")
@dataclass(frozen=True)
class Posterior:
    """Error bars from the Gaussian posterior around one fit (Laplace approximation).

    Decoder weights and unknown coefficients are drawn `samples` times, in pairs on opposite sides of the
    fit, so that their mean is the fit itself. This needs the least-squares polish and takes little time
    compared with it.

    >>> Posterior(samples=32)
    Posterior(samples=32)
    >>> Posterior(samples=5)
    Traceback (most recent call last):
    ...
    pgt.InputError: Posterior(samples=5): samples come in pairs; write an even number.
    """

    part: ClassVar[str] = "error bars"
    samples: Annotated[int, Limits(at_least=2, at_most=10**5)] = 64

    def __post_init__(self):
        if self.samples % 2:
            raise InputError(
                f"Posterior(samples={self.samples}): samples come in pairs; write an even number."
            )


ErrorBars = Ensemble | Posterior


def member_seeds(seed: int, count: int) -> list[int]:
    """A seed for each member. The first is `seed` itself; ensembles of different seeds have no seed in
    common.

    >>> seeds = member_seeds(0, 3)
    >>> seeds[0], len(set(seeds) | set(member_seeds(1, 3)))
    (0, 6)
    """
    others = np.random.SeedSequence(seed).generate_state(count - 1)
    return [seed, *(int(other) >> 1 for other in others)]  # 31 bits, as JAX needs without x64


# The number of posterior samples for the stated error of the field.
POSTERIOR_DRAWS = 32
