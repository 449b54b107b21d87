"""The settings of error bars: an ensemble of fits, or a posterior around one fit."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from pgt.core.arguments import Limits
from pgt.core.errors import InputError
from pgt.core.registry import register


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
