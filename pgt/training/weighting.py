"""Weightings: the combination of the named losses into one number that training minimizes."""

import abc
from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from pgt.core.arguments import Keyed, NotNegative, Positive, Share
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Scalar

Named = Mapping[str, Scalar | float]
Weight = Annotated[NotNegative, Keyed("loss term", "{data = 1, bc = 10}")]


class AbstractWeighting(eqx.Module):
    """A combination of mean-square losses by name: total = Σ_k w_k L_k + penalty.

    A weighting itself never changes. Its state consists of two PyTrees made by `init`:
    `learnable` is trained together with the model (gradient descent on `total`), `memory` is
    replaced by `update`. The gradient norm of every term is computed only for a weighting that
    `needs_gradient_norms`.

    `floors` holds, by name, the smallest plausible standard deviation of a term (the noise of the
    readings); other terms have none. `progress` runs from 0 to 1 over the training. All terms except the
    data (named `data` or `data_...`) are multiplied by `pde_ramp ** progress`, which lets the equation
    approach a hard constraint.

    >>> weighting = Fixed(heat=2.0)  # or Uncertainty(), GradientNorm()
    >>> learnable, memory = weighting.init(("data", "heat"))
    >>> {name: float(w) for name, w in weighting.weights(learnable, memory, {}).items()}
    {'data': 1.0, 'heat': 2.0}
    """

    part: ClassVar[str] = "weighting"
    needs_gradient_norms: ClassVar[bool]
    pde_ramp: eqx.AbstractVar[float]

    @abc.abstractmethod
    def init(self, names: Collection[str]) -> tuple[dict, dict]:
        """`(learnable, memory)` for the loss terms with these names."""

    @abc.abstractmethod
    def weights(
        self, learnable: dict, memory: dict, floors: Named, progress: float | Scalar = 0.0
    ) -> dict[str, Scalar]:
        """The factor of each loss."""

    @abc.abstractmethod
    def penalty(
        self, learnable: dict, losses: Named, floors: Named, progress: float | Scalar
    ) -> Scalar | float:
        """The number that is added to the weighted sum; it gives `learnable` its gradient."""

    @abc.abstractmethod
    def update(self, memory: dict, gradient_norms: Named | None, losses: Named) -> dict:
        """The memory after a step."""

    def total(
        self,
        learnable: dict,
        memory: dict,
        losses: Named,
        floors: Named,
        progress: float | Scalar = 0.0,
    ) -> Scalar:
        """The number to minimise."""
        weights = jax.lax.stop_gradient(self.weights(learnable, memory, floors, progress))
        _check_same("losses", losses, weights)
        _check_known("floors", floors, weights)
        terms = [weights[name] * losses[name] for name in weights]
        return jnp.sum(jnp.stack(terms)) + self.penalty(learnable, losses, floors, progress)

    def ramp(self, name: str, progress: float | Scalar) -> Scalar | float:
        """The factor r_k of a term: 1 for the data, else growing geometrically from 1 to `pde_ramp`."""
        is_data = name == "data" or name.startswith("data_")
        return 1.0 if is_data else self.pde_ramp**progress


@register("uncertainty")
class Uncertainty(AbstractWeighting):
    """Learned standard deviations (Kendall, Gal & Cipolla 2018), with the log term::

        total = Σ_k r_k [ L_k / (2 σ_k²) + log σ_k ],      σ_k = exp(s_k),  s_k = 0 at the start

    The minimum over s_k is σ_k = √L_k. The ramp r_k is outside the bracket, because inside it σ_k would
    grow with the ramp and cancel it.

    A network can memorize readings, so σ must not follow the loss below the noise. With a floor f_k the
    weight uses max(σ_k, f_k). s_k descends as if the loss were max(L_k, f_k²), and is pulled up where it
    is below the floor, so that σ_k converges to max(√L_k, f_k) from either side, also when a floor moves.
    `smallest` is the floor of all terms, for losses that reach zero.

    A constant field solves most equations exactly. A weight without an upper bound could trap the fit
    there, with σ of the equation at zero and readings without weight. A large weight of the equation also
    makes training slow. Therefore no equation outweighs the readings, unless these have noise (a floor).
    It then outweighs them by at most `stiffest`, approached geometrically during training, and by at most
    1/σ_data².

    >>> weighting = Uncertainty()
    >>> learnable, memory = weighting.init(("data", "pde"))
    >>> float(weighting.total(learnable, memory, {"data": 1.0, "pde": 3.0}, {}))
    2.0
    """

    needs_gradient_norms: ClassVar[bool] = False
    pde_ramp: Positive = eqx.field(static=True, default=1.0)
    smallest: Positive = eqx.field(static=True, default=1e-8)
    stiffest: Positive = eqx.field(static=True, default=10.0)

    def init(self, names):
        return {name: jnp.zeros(()) for name in _check_names(names)}, {}

    def weights(self, learnable, memory, floors, progress=0.0):
        lowest = self._floors(learnable, floors, progress)
        return {
            name: self.ramp(name, progress)
            * jnp.exp(-2 * jnp.maximum(s, jnp.log(lowest[name])))
            / 2
            for name, s in learnable.items()
        }

    def penalty(self, learnable, losses, floors, progress):
        lowest = self._floors(learnable, floors, progress)
        terms = []
        for name, s in learnable.items():
            floor = lowest[name]
            floored = jax.lax.stop_gradient(jnp.maximum(s, jnp.log(floor)))
            target = jax.lax.stop_gradient(jnp.maximum(losses[name], floor**2))
            deficit = jnp.maximum(jnp.log(floor) - s, 0)
            # The value is the log σ in use. The gradient is that of Kendall's term, with s and the loss
            # at least at the floor, minus a pull that raises s to the floor from below.
            slope = jax.lax.stop_gradient(1 - jnp.exp(-2 * floored) * target - deficit)
            value = floored + slope * (s - jax.lax.stop_gradient(s))
            terms.append(self.ramp(name, progress) * value)
        return jnp.sum(jnp.stack(terms))

    def update(self, memory, gradient_norms, losses):
        return memory

    def _floors(self, learnable, floors, progress):
        """The smallest σ of each term."""
        lowest = {n: jnp.maximum(floors.get(n, 0.0), self.smallest) for n in learnable}
        data = jnp.ones(())  # a fit without readings
        if "data" in learnable:
            data = jnp.maximum(jnp.exp(learnable["data"]), lowest["data"])
        is_noisy = jnp.asarray(floors.get("data", 0.0)) > 0
        stiffest = jnp.where(is_noisy, self.stiffest**progress, 1.0)
        bound = jax.lax.stop_gradient(data * jnp.clip(data, stiffest**-0.5, 1.0))
        others = {n: jnp.maximum(f, bound) for n, f in lowest.items() if n != "data"}
        return lowest | others


@register("fixed")
class Fixed(AbstractWeighting):
    """Constant weights: total = Σ_k r_k w_k L_k, where w_k = 1 for terms that are not named.

    >>> weighting = Fixed(pde=10.0)
    >>> learnable, memory = weighting.init(("data", "pde"))
    >>> float(weighting.total(learnable, memory, {"data": 1.0, "pde": 3.0}, {}))
    31.0
    """

    needs_gradient_norms: ClassVar[bool] = False
    pde_ramp: float = eqx.field(static=True)
    given: tuple[tuple[str, float], ...] = eqx.field(static=True)

    def __init__(self, pde_ramp: Positive = 1.0, **weights: Weight):
        self.pde_ramp = pde_ramp
        self.given = tuple((name, float(weight)) for name, weight in weights.items())

    def init(self, names):
        given = dict(self.given)
        _check_known("Fixed", given, _check_names(names))
        if not any(given.get(name, 1.0) for name in names):
            raise InputError(
                f"Fixed: every term, {', '.join(names)}, has the weight 0; give "
                "at least one of them a weight above 0."
            )
        return {}, {name: jnp.asarray(given.get(name, 1.0), float) for name in names}

    def weights(self, learnable, memory, floors, progress=0.0):
        return {name: self.ramp(name, progress) * weight for name, weight in memory.items()}

    def penalty(self, learnable, losses, floors, progress):
        return 0.0

    def update(self, memory, gradient_norms, losses):
        return memory


@register("gradient_norm")
class GradientNorm(AbstractWeighting):
    """Weights that give every term a gradient of equal length (Wang, Teng & Perdikaris 2021)::

        w_k ← decay · w_k + (1 − decay) · mean_j ‖∇L_j‖ / ‖∇L_k‖

    `gradient_norms` are those of the unweighted losses. A term whose gradient is zero or not finite keeps
    its weight.

    >>> weighting = GradientNorm(decay=0.0)
    >>> learnable, memory = weighting.init(("data", "pde"))
    >>> memory = weighting.update(memory, {"data": 1.0, "pde": 3.0}, {})
    >>> {name: round(float(w), 3) for name, w in weighting.weights(learnable, memory, {}).items()}
    {'data': 2.0, 'pde': 0.667}
    """

    needs_gradient_norms: ClassVar[bool] = True
    decay: Share = eqx.field(static=True, default=0.9)
    pde_ramp: Positive = eqx.field(static=True, default=1.0)

    def init(self, names):
        return {}, {name: jnp.ones(()) for name in _check_names(names)}

    def weights(self, learnable, memory, floors, progress=0.0):
        return {name: self.ramp(name, progress) * weight for name, weight in memory.items()}

    def penalty(self, learnable, losses, floors, progress):
        return 0.0

    def update(self, memory, gradient_norms, losses):
        if gradient_norms is None:
            raise InputError(
                "GradientNorm.update(gradient_norms=None): give the gradient norm of every term: "
                f"{', '.join(memory)}."
            )
        _check_same("gradient_norms", gradient_norms, memory)
        norms = jnp.stack([jnp.asarray(gradient_norms[name], float) for name in memory])
        is_usable = jnp.isfinite(norms) & (norms > 0)
        mean = jnp.sum(jnp.where(is_usable, norms, 0)) / jnp.maximum(jnp.sum(is_usable), 1)
        targets = mean / jnp.where(is_usable, norms, 1)
        return {
            name: jnp.where(
                is_usable[k], self.decay * old + (1 - self.decay) * targets[k], old
            ).astype(old.dtype)
            for k, (name, old) in enumerate(memory.items())
        }


def _check_names(names):
    if not names or isinstance(names, str):
        raise InputError(
            f"init(names={names!r}): give the names of the loss terms, such as ('data', 'pde')."
        )
    return names


def _check_known(argument, given, names):
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise InputError(
            f"{argument}: no loss term is called {', '.join(unknown)}; "
            f"the terms are {', '.join(names)}."
        )


def _check_same(argument, given, names):
    _check_known(argument, given, names)
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(
            f"{argument}: nothing is given for {', '.join(missing)}; "
            f"the terms are {', '.join(names)}, as listed when the weighting was initialised."
        )
