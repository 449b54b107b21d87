"""How error bars are made: one frozen record per way."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pgt.ground.arguments import Limits
from pgt.ground.errors import InputError
from pgt.ground.registry import register


@register("ensemble", kind="error bars")
@dataclass(frozen=True)
class Ensemble:
    """Error bars from fits that differ in nothing but chance, trained at once.

    Every member has its own initial weights and residual points; with `bootstrap` also its own draw,
    with replacement, of the readings. The readings held out are the same, and unseen by all.

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
    """Error bars from the Gaussian posterior around one fit (Laplace's approximation).

    The polished numbers, decoder weights and unknown coefficients, are drawn `samples` times, in pairs
    on opposite sides of the fit, so that their mean is the fit itself. It needs the least-squares
    polish, and costs little beside it.

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
