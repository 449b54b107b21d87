"""A pretrained network as a rig: its family draws the truth, it answers the readings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from pgt.families import Simulations, shipped, shipped_names
from pgt.families.shipped import opened, shipped_patterns, shipped_patterns_names
from pgt.ground.errors import InputError
from pgt.live.source import Answer, Coefficient, Grid, Rig, grid_shape, nodes

BEYOND = 2.0  # a coefficient may be turned so far past its range, where the network says that it is


class PretrainedRig(Rig):
    """A network trained over a family of systems.

    `pretrained.answer(points, values, coefficients, at)` gives mean, low and high (m, c) at the m
    points `at`, and sentences about what lies outside of what it was trained on. `family` has `fields`,
    `axes`, `ranges`, `draw(key, coefficients)` and `settled(coefficients)`; `reads` of the
    network are the fields that sensors measure.
    """

    def __init__(self, pretrained: Any, family: Any):
        self.pretrained, self.family = pretrained, family
        self.fields = tuple(family.fields)
        self.axes = {name: np.asarray(line, float) for name, line in family.axes.items()}
        self.reads = tuple(pretrained.reads)
        # Between simulations and beyond them there is no truth to show.
        beyond = 1.0 if isinstance(family, Simulations) else BEYOND
        self.coefficients = tuple(
            Coefficient(name, *_beyond(low, high, beyond), _middle(low, high))
            for name, (low, high) in family.ranges.items()
        )

    def truth(self, coefficients: Mapping[str, float], seed: int) -> Grid:
        """The fields that the family draws with this seed."""
        import jax

        return np.asarray(self.family.draw(jax.random.key(seed), dict(coefficients)).values, float)

    def settled(self, coefficients: Mapping[str, float]) -> dict[str, float]:
        """Those of a system of the family."""
        return self.family.settled(coefficients)

    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: Mapping[str, float],
        instant: int | None = None,
    ) -> Answer:
        """The network's answer at the nodes of the family."""
        at = nodes(self.axes, instant)
        *found, outside = self.pretrained.answer(points, values, dict(coefficients), at)
        shape = (*grid_shape(self.axes, instant), len(self.fields))
        mean, low, high = (np.asarray(part, float).reshape(shape) for part in found)
        return Answer(mean, low, high, list(outside))


def open_model(path: Path) -> PretrainedRig:
    """The rig of a file that `pgt pretrain` wrote, or of a network that comes with the library."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; the live page wants the file of a pretrained model, for a fit "
            "of one system cannot answer new readings at once."
        )
    if path.is_file():
        network = opened(path)
    elif str(path) in shipped_names():
        network = shipped(str(path))
    elif str(path) in shipped_patterns_names():
        network = shipped_patterns(str(path))
    else:
        known = ", ".join((*shipped_names(), *shipped_patterns_names()))
        raise InputError(
            f"{path}: there is no such file; name that of a pretrained model, or one that comes with the "
            f"library: {known}."
        )
    return PretrainedRig(network, network.family)


def _beyond(low: float, high: float, ratio: float) -> tuple[float, float]:
    """Somewhat past the range, where ratios count."""
    return (low / ratio, high * ratio) if low > 0 else (float(low), float(high))


def _middle(low: float, high: float) -> float:
    """Halfway, in ratios where both are positive: that is how they are drawn."""
    return float(np.sqrt(low * high) if low > 0 else (low + high) / 2)
