"""How to train: one frozen record, so that a run is reproducible from what it says."""

from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Literal

import optax

from pgt.data.sampling import AbstractSampler, Uniform
from pgt.data.splits import HeldOutBy
from pgt.ground.arguments import Count, Limits, PartOf, Positive, Share
from pgt.ground.checked import checked
from pgt.training.likelihood import Likelihood
from pgt.training.optimisers import check_direction, described
from pgt.training.weighting import AbstractWeighting, Uncertainty


@checked
@dataclass(frozen=True)
class Polish:
    """Levenberg–Marquardt in float64: second-order steps on all weights, or on the decoder alone.

    Parameters
    ----------
    iterations, seconds
        The budget; None: no limit on the seconds.
    points
        Residual points of a step; None: so many that there are more rows than weights, where that can
        be afforded.
    equation_weight
        The weight of the residual beside the readings.
    patience
        Stop when the held-out error has not improved for so many iterations.
    evidence
        Fit under a prior on the weights whose strength the readings themselves tell
        (training/evidence.py), as noise requires; None: where the noise is given or held-out readings
        cannot be predicted.
    weights
        "all", or "decoder": what the readings are encoded with stays as it was trained; None: "all" in
        networks that encode nothing.
    fresh
        The share of the budget in which every step sees residual points of its own; after it they are
        fixed. None: 1 where all weights are tuned, 0 with the decoder alone.
    memory
        Gigabytes that the derivatives of the rows may take; None: 2, and a fifth of the memory of a GPU.

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
    """Settings of a fit. Everything has a default that works on the problems of the benchmark.

    Parameters
    ----------
    steps, seconds
        The budget. `steps` of the optimiser, none where it is 0; None: 2000, but none before a polish
        that tunes all weights, which does better from the start (training/budget.py). `seconds` are
        those of the whole fit; results then depend on the machine's speed.
    optimiser
        "soap", "adam", "adamw", "lion", the name of one that you registered, or any Optax transformation
        that gives the direction of a step, such as `optax.scale_by_yogi()`: learning rate and schedule
        are applied to it.
    batch, collocation, condition_points
        Readings, residual points and points per condition in one step. Without collocation points (0)
        the equation is not fitted: readings and conditions alone.
    hold_out
        The share of readings that is never fitted. It estimates the noise, stops training that no
        longer helps, and gives the error reported for the fit. None: a tenth, of readings that are chosen
        one by one at most a hundred, but nothing where each can be predicted from the others in closed
        form (`Features`).
    hold_out_by
        "reading": they are chosen one by one; "sensor": all that one place has read, together; "block":
        in whole blocks of space and time, which are harder to predict. Their error is that of places far
        from readings, and says less of the noise. None: by sensor where ten or more stand still, since
        one reading among many of its own sensor is too easy to predict; else by reading.
    patience
        Stop when the held-out error has not improved for this share of the budget.
    likelihood
        "gauss"; with outliers among the readings "student" or "huber", which let a reading that is far
        from all others go (training/likelihood.py). Errors of held-out readings then leave outliers out.
    precision
        "float32" or "float64".
    polish
        A least-squares finish; None: decided by the size of the decoder; False: none.

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

    def __post_init__(self):
        if not isinstance(self.optimiser, str):
            check_direction(self.optimiser)

    def of_a_step(self) -> "Training":
        """What one step depends on: all else at its default, so that another budget compiles nothing."""
        held_out, budget = (
            ("hold_out", "hold_out_by"),
            ("steps", "seconds", "patience", "check_every"),
        )
        others = (*held_out, *budget, "precision", "polish")
        defaults = {f.name: f.default for f in fields(self) if f.name in others}
        return replace(self, **defaults)

    def describe(self) -> dict:
        """The settings as plain data, for a run's records."""
        plain = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        return plain | {"optimiser": described(self.optimiser)}


def _plain(value):
    return value if isinstance(value, int | float | str | bool | None) else repr(value)
