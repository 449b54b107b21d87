"""DeepXDE (https://deepxde.readthedocs.io), PyTorch: Adam, then L-BFGS, in float64.

A tanh network, residual points drawn anew every hundred steps of Adam at 1e-3, which has half of the
seconds, then L-BFGS on the last of them for the rest. Readings and conditions are `PointSetBC`.
"""

# pyright: reportMissingImports=false

import io
import os
import warnings
from contextlib import redirect_stderr, redirect_stdout

os.environ.setdefault("DDE_BACKEND", "pytorch")

import jax
import numpy as np
import torch

with (
    redirect_stdout(io.StringIO()),
    redirect_stderr(io.StringIO()),
):  # it tells which backend it took
    import deepxde

from pgt.core.errors import InputError
from pgt.physics.derivatives import parse_name
from pgt_bench.zoo.answers import Answer, Asked
from pgt_bench.zoo.peers.arithmetic import Arithmetic
from pgt_bench.zoo.peers.task import PeerTask

RATE, ADAMS_SHARE, RESAMPLED = 1e-3, 0.5, 100
STEPS = 10**7  # more than any budget allows; the clock stops
LOOK_EVERY = 20  # steps of L-BFGS between two looks at the clock
SIZES = {"cpu": (32, 3, 500), "gpu": (48, 4, 2000)}  # width, layers, residual points


def answer(asked: Asked) -> Answer:
    """The trained network on the truth's grid."""
    with redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with jax.enable_x64(True):
            task = PeerTask.of(asked)
        if task.walls:
            raise InputError("DeepXDE is given no conditions but those that give values.")
        deepxde.config.set_random_seed(asked.seed)
        deepxde.config.set_default_float("float64")
        width, layers, points = SIZES["gpu" if torch.cuda.is_available() else "cpu"]
        model = deepxde.Model(_problem(task, points), _network(task, width, layers))
        steps = _trained(model, asked.seconds)
        values = np.concatenate([model.predict(part) for part in np.array_split(task.grid, 8)])
    about = {
        "model": f"tanh {layers} x {width}",
        "parameters": sum(weights.numel() for weights in model.net.parameters()),
        "steps": steps,
    }
    return Answer(task.fields(values), about)


def _trained(model, seconds: float) -> list[int]:
    """Adam, then L-BFGS; the steps after each."""
    steps = []
    clock = deepxde.callbacks.Timer(ADAMS_SHARE * seconds / 60)
    fresh = deepxde.callbacks.PDEPointResampler(period=RESAMPLED)
    model.compile("adam", lr=RATE)
    model.train(iterations=STEPS, callbacks=[clock, fresh], display_every=STEPS)
    steps.append(model.train_state.iteration)
    deepxde.optimizers.set_LBFGS_options(maxiter=STEPS)
    options = deepxde.optimizers.config.LBFGS_options
    options["iter_per_step"], options["fun_per_step"] = LOOK_EVERY, 2 * LOOK_EVERY
    model.compile("L-BFGS")
    clock = deepxde.callbacks.Timer((1 - ADAMS_SHARE) * seconds / 60)
    model.train(callbacks=[clock], display_every=STEPS)
    return [*steps, model.train_state.iteration]


def _network(task: PeerTask, width: int, layers: int):
    outputs = len(task.asked.setup.pde.fields)
    sizes = [task.inputs, *[width] * layers, outputs]
    network = deepxde.nn.FNN(sizes, "tanh", "Glorot normal")
    if any(task.scaling.periodic):
        network.apply_feature_transform(_circles(task.scaling.periodic))
    return network


def _circles(periodic: tuple[bool, ...]):
    """A periodic axis from -1 to 1 as a point on a circle."""

    def transform(x):
        parts = [
            part
            for axis, circle in enumerate(periodic)
            for along in (x[:, axis : axis + 1],)
            for part in (
                (torch.cos(torch.pi * along), torch.sin(torch.pi * along)) if circle else (along,)
            )
        ]
        return torch.cat(parts, dim=1)

    return transform


def _problem(task: PeerTask, points: int):
    """What DeepXDE minimises: the equations in the cube from -1 to 1, and what is known."""
    known = [
        deepxde.icbc.PointSetBC(part.points, part.values, component=part.column)
        for part in task.given
    ]
    ends = [1.0] * task.dimension
    cube = (
        deepxde.geometry.Interval(-1, 1)
        if task.dimension == 1
        else deepxde.geometry.Hypercube([-end for end in ends], ends)
    )
    return deepxde.data.PDE(cube, _equations(task), known, num_domain=points)


def _equations(task: PeerTask):
    """Our own residual, worked out with its derivatives of its network, each over its typical size."""
    pde, scaling = task.asked.setup.pde, task.scaling
    arithmetic = Arithmetic.of(pde)
    half, middle = np.asarray(scaling.half_extent), np.asarray(scaling.middle)
    mean, spread = np.asarray(scaling.mean), np.asarray(scaling.spread)

    def derivative(x, y, field: int, along: tuple[int, ...]):
        value = y[:, field : field + 1]
        if len(along) > 1:
            value = deepxde.grad.hessian(y, x, component=field, i=along[0], j=along[1])
        elif along:
            value = deepxde.grad.jacobian(y, x, i=field, j=along[0])
        for axis in along[2:]:
            value = deepxde.grad.jacobian(value, x, i=0, j=axis)
        scaled = float(spread[field] / np.prod(half[list(along)])) * value
        return scaled if along else scaled + float(mean[field])

    def named(x, y, name: str):
        if name in pde.coords:
            axis = pde.coords.index(name)
            return x[:, axis : axis + 1] * float(half[axis]) + float(middle[axis])
        field = arithmetic.laplacian_of(name)
        if field is not None:
            space = [axis for axis in pde.coords if axis != "t"]
            return sum(named(x, y, f"{field}_{axis}{axis}") for axis in space)
        return derivative(x, y, *parse_name(name, pde.coords, pde.fields))

    def equations(x, y):
        values = {name: named(x, y, name) for name in arithmetic.asked}
        rows = arithmetic(values, torch)
        return [row / task.sizes[name] for name, row in rows.items()]

    return equations
