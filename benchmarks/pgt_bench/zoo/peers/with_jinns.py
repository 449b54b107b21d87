"""jinns (https://mia_jinns.gitlab.io/jinns): Adam, then natural gradient, in float64.

A tanh network on all coordinates at once, fresh residual points in every step, Adam at 1e-3 for a fifth
of the seconds and natural gradient with line search for the rest. On a CPU the network is smaller: one
natural-gradient step of the larger takes seconds there.
"""

# pyright: reportMissingImports=false

import io
import itertools
import time
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass, field

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import numpy as np
import optax
from jax.experimental import io_callback
from jinns.loss import LossPDEStatio, LossWeightsPDEStatio, PDEStatio
from jinns.parameters import Params
from jinns.validation._validation import AbstractValidationModule

from pgt.nn import trees
from pgt.physics.derivatives import residual
from pgt.problem.losses import condition_rows
from pgt_bench.zoo.answers import Answer, Asked
from pgt_bench.zoo.peers.task import PeerTask, Wall

RATE, ADAMS_SHARE = 1e-3, 0.2
SEEN_AT_ONCE = 1500  # readings in a step
POOL = 100_000  # residual points that are dealt out in fresh batches
STEPS = 10**6  # more than any budget allows; the clock stops


@dataclass(frozen=True)
class Size:
    width: int
    layers: int
    points: int  # where the equation is enforced in a step


SIZES = {"cpu": Size(24, 3, 500), "gpu": Size(48, 4, 2000)}


def answer(asked: Asked) -> Answer:
    """The trained network on the truth's grid."""
    began = time.monotonic()
    with jax.enable_x64(True), warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # such as that no boundary condition is given
        task = PeerTask.of(asked)
        size = SIZES["cpu" if jax.default_backend() == "cpu" else "gpu"]
        u, params = _network(task, size)
        loss, data, readings = _problem(task, size, u, params)
        adam_seconds = ADAMS_SHARE * asked.seconds
        first, second = Clock(adam_seconds), Clock(adam_seconds, began + asked.seconds)
        search = optax.scale_by_backtracking_linesearch(max_backtracking_steps=15)
        natural = jinns.optimizers.vanilla_ngd(linesearch=search)
        for optimiser, clock, every in ((optax.adam(RATE), first, 50), (natural, second, 2)):
            params = jinns.solve(
                n_iter=STEPS, init_params=params, data=data, loss=loss, optimizer=optimiser,
                obs_data=readings, validation=Until(clock=clock, call_every=every), verbose=False,
                print_loss_every=STEPS, key=jax.random.key(asked.seed),
            )[0]  # fmt: skip
        values = _evaluated(u, params, task.grid)
    about = {
        "model": f"tanh {size.layers} x {size.width}",
        "parameters": trees.count_parameters(params.nn_params),
        "steps": [clock.looks * every for clock, every in ((first, 50), (second, 2))],
    }
    return Answer(task.fields(values), about)


@dataclass(eq=False)
class Clock:
    """Over after some seconds from the first look, or at a moment, whichever is later."""

    seconds: float
    moment: float = 0.0
    looks: int = 0
    began: float | None = field(default=None)

    def is_over(self, _) -> np.bool_:
        now = time.monotonic()
        self.began = now if self.began is None else self.began
        self.looks += 1
        return np.bool_(now > max(self.began + self.seconds, self.moment))


class Until(AbstractValidationModule):
    """Ends the training of jinns when a clock says so: what they call early stopping."""

    clock: Clock = eqx.field(static=True, kw_only=True)
    call_every: int = eqx.field(static=True, kw_only=True)

    def __call__(self, params):
        # Asked about a weight, so that every step asks anew.
        weight = jax.tree.leaves(params.nn_params)[0].ravel()[0]
        answer = jax.ShapeDtypeStruct((), jnp.bool_)
        over = io_callback(self.clock.is_over, answer, weight)
        return self, over, jnp.zeros(()), False


class Equations(PDEStatio):
    """Our own residual of their network, every equation divided by its typical size; beside it that of
    conditions that give no values, where they hold nearest to the point."""

    task: PeerTask = eqx.field(static=True, kw_only=True)

    def equation(self, x, u, params):
        scaling, pde = self.task.scaling, self.task.asked.setup.pde

        def physical(z):
            return jnp.asarray(scaling.to_physical(u(scaling.to_unit(z), params)))

        z = scaling.from_unit(x)
        rows = residual(pde, physical, z)
        equations = jnp.stack([row / self.task.sizes[name] for name, row in rows.items()])
        walls = [self._wall_rows(wall, physical, x) for wall in self.task.walls]
        return jnp.concatenate([equations, *walls])

    def _wall_rows(self, wall: Wall, physical, x):
        pde, points = self.task.asked.setup.pde, jnp.asarray(wall.points)
        unit = self.task.scaling.to_unit(points)
        nearest = points[jnp.argmin(jnp.sum((unit - x) ** 2, axis=1))]
        rows = condition_rows(physical, wall.condition, wall.sizes, pde, nearest)
        return jnp.atleast_1d(rows)


def _network(task: PeerTask, size: Size):
    widths = [task.inputs, *[size.width] * size.layers]
    layers = [
        part
        for a, b in itertools.pairwise(widths)
        for part in ((eqx.nn.Linear, a, b), (jax.nn.tanh,))
    ]
    last = (eqx.nn.Linear, size.width, len(task.asked.setup.pde.fields))
    u, start = jinns.nn.PINN_MLP.create(
        key=jax.random.key(task.asked.seed), eqx_list=(*layers, last), eq_type="PDEStatio",
        input_transform=_circles(task.scaling.periodic),
    )  # fmt: skip
    return u, Params(nn_params=start, eq_params={})


def _circles(periodic: tuple[bool, ...]):
    """A periodic axis from -1 to 1 as a point on a circle."""

    def transform(x, params):
        parts = [
            part
            for along, circle in zip(x, periodic, strict=True)
            for part in ((jnp.cos(jnp.pi * along), jnp.sin(jnp.pi * along)) if circle else (along,))
        ]
        return jnp.stack(parts)

    return transform


def _problem(task: PeerTask, size: Size, u, params):
    """What jinns minimises, and where its points come from."""
    key, other = jax.random.split(jax.random.key(task.asked.seed + 1))
    ends = (1.0,) * task.dimension
    data = jinns.data.CubicMeshPDEStatio(
        key=key, n=POOL, omega_batch_size=size.points, dim=task.dimension,
        min_pts=tuple(-end for end in ends), max_pts=ends,
    )  # fmt: skip
    sizes = tuple(min(len(part.points), SEEN_AT_ONCE) for part in task.given)
    readings = jinns.data.DataGeneratorObservations(
        key=other, obs_batch_size=sizes,
        observed_pinn_in=tuple(jnp.asarray(part.points) for part in task.given),
        observed_values=tuple(jnp.asarray(part.values) for part in task.given),
    )  # fmt: skip
    loss = LossPDEStatio(
        u=u, dynamic_loss=Equations(task=task), params=params,
        loss_weights=LossWeightsPDEStatio(dyn_loss=1.0, observations=(1.0,) * len(task.given)),
        obs_slice=tuple(slice(part.column, part.column + 1) for part in task.given),
    )  # fmt: skip
    return loss, data, readings


def _evaluated(u, params, points: np.ndarray, chunk: int = 20_000) -> np.ndarray:
    run = jax.jit(jax.vmap(lambda z: u(z, params)))
    parts = [points[start : start + chunk] for start in range(0, len(points), chunk)]
    return np.concatenate([np.asarray(run(jnp.asarray(part))) for part in parts])
