"""Rigs that answer in closed form: heat in a rod and in a plate, a few sine modes each."""

import numpy as np

from pgt.live.rig import AbstractRig, CoefficientRange, RigAnswer, grid_shape, nodes

HALF = 1.645  # of a band that holds nine tenths, in standard deviations
FLOOR = 0.02  # the noise that is always reckoned with


class SineRig(AbstractRig):
    """Amplitudes of modes that decay by the heat equation: linear, so its answer is exact."""

    fields = ("u",)
    coefficients = (CoefficientRange("diffusivity", 0.01, 0.1, 0.03),)

    def __init__(self, axes, modes):
        self.axes = {name: np.linspace(0, 1, size) for name, size in axes.items()}
        self.modes, self.asked = modes, []

    def columns(self, points, diffusivity):
        space = [k for k, name in enumerate(self.axes) if name != "t"]
        waves = np.stack(np.meshgrid(*[np.arange(1, self.modes + 1)] * len(space)), -1)
        waves = waves.reshape(-1, len(space))
        shapes = np.sin(np.pi * points[:, None, space] * waves).prod(-1)
        decay = -diffusivity * np.pi**2 * (waves**2).sum(-1)
        return shapes * np.exp(decay * points[:, [list(self.axes).index("t")]])

    def truth(self, coefficients, seed):
        columns = self.columns(nodes(self.axes), coefficients["diffusivity"])
        amplitudes = np.random.default_rng(seed).normal(size=columns.shape[1])
        return (columns @ amplitudes).reshape(*grid_shape(self.axes), 1)

    def answer(self, points, values, coefficients, instant=None):
        self.asked.append(len(points))
        known = self.columns(points, coefficients["diffusivity"])
        at = self.columns(nodes(self.axes, instant), coefficients["diffusivity"])
        covariance = np.linalg.inv(known.T @ known / FLOOR**2 + np.eye(known.shape[1]))
        mean = at @ (covariance @ (known.T @ values[:, 0])) / FLOOR**2
        half = HALF * np.sqrt(np.einsum("mk,kl,ml->m", at, covariance, at))
        shape = (*grid_shape(self.axes, instant), 1)
        few = [] if len(points) > 3 else ["Fewer than four readings: no system was like that."]
        return RigAnswer(*(p.reshape(shape) for p in (mean, mean - half, mean + half)), few)


def rod():
    return SineRig({"x": 41, "t": 31}, modes=6)


def plate():
    return SineRig({"x": 25, "y": 21, "t": 11}, modes=3)
