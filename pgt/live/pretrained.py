"""A pretrained network as a rig: its family draws the truth, it answers the readings."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from pgt.ground.errors import InputError
from pgt.live.source import Answer, Coefficient, Grid, Rig, grid_shape, nodes

FEWEST = 16  # readings that a network is compiled for; above, powers of two


class PretrainedRig(Rig):
    """A network trained over a family of systems.

    `pretrained.answer(points, values, coefficients, at)` gives mean, low and high (m, c) at the m
    points `at`, and sentences about what lies outside of what it was trained on. `family` has `fields`,
    `axes`, `ranges` and `draw(key, coefficients)`.
    """

    def __init__(self, pretrained: Any, family: Any):
        self.pretrained, self.family = pretrained, family
        self.fields = tuple(family.fields)
        self.axes = {name: np.asarray(line, float) for name, line in family.axes.items()}
        self.coefficients = tuple(
            Coefficient(name, float(low), float(high), _middle(low, high))
            for name, (low, high) in family.ranges.items()
        )

    def truth(self, coefficients: Mapping[str, float], seed: int) -> Grid:
        """The fields that the family draws with this seed."""
        import jax

        return np.asarray(self.family.draw(jax.random.key(seed), dict(coefficients)).values, float)

    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: Mapping[str, float],
        instant: int | None = None,
    ) -> Answer:
        """The network's answer at the nodes of the family."""
        at = nodes(self.axes, instant)
        *found, outside = self.pretrained.answer(*padded(points, values), dict(coefficients), at)
        shape = (*grid_shape(self.axes, instant), len(self.fields))
        mean, low, high = (np.asarray(part, float).reshape(shape) for part in found)
        return Answer(mean, low, high, list(outside))


def open_model(path: Path) -> PretrainedRig:
    """The rig of a file that `pgt pretrain` wrote."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; the live page wants the file of a pretrained model, for a fit "
            "of one system cannot answer new readings at once."
        )
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; name that of a pretrained model.")
    try:
        pretrained = import_module("pgt.families").Pretrained.load(path)
    except ModuleNotFoundError:
        raise InputError(f"{path}: this version of pgt reads no pretrained models.") from None
    return PretrainedRig(pretrained, pretrained.family)


def padded(
    points: Float[np.ndarray, "n d"], values: Float[np.ndarray, "n c"]
) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "m c"]]:
    """Rows that measured nothing are added, up to a power of two: the network is compiled for a number
    of readings, and a sensor that comes or goes must not be waited for.

    >>> [len(part) for part in padded(np.zeros((20, 2)), np.zeros((20, 1)))]
    [32, 32]
    """
    missing = max(FEWEST, 1 << max(len(points) - 1, 0).bit_length()) - len(points)
    nowhere = np.repeat(points[-1:], missing, axis=0)  # a place that it knows already
    nothing = np.full((missing, values.shape[1]), np.nan)
    return np.concatenate([points, nowhere]), np.concatenate([values, nothing])


def _middle(low: float, high: float) -> float:
    """Halfway, in ratios where both are positive: that is how they are drawn."""
    return float(np.sqrt(low * high) if low > 0 else (low + high) / 2)
