"""Whether attention should see walls: a small PGT in two rooms with a thin wall and a door between them.

    python benchmarks/sight.py --seeds 3                 # some minutes of one processor

Heat flows from the left end, held at 1, to the right end, held at 0, and has to go through the door: on
the two sides of the wall temperatures differ by most of that. 60 readings; that the wall lets nothing
through is known, the ends are not. Γ between two readings is that of Laplace's equation ("plain"), less 3
where the straight way between them leaves the rooms ("damped"), or -inf there ("cut"). Everything else is
the same to the bit: weights at the start, points, steps (Adam). Errors are in units of the field's
spread, over all places and over those within 0.2 of the wall; the truth by finite volumes. Leaves
`sight.json`.
"""

import argparse
import json
import time
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import scipy.sparse as sparse
from scipy.interpolate import RegularGridInterpolator
from scipy.sparse.linalg import spsolve

import pgt
from pgt.core.provenance import provenance
from pgt.nn import trees

RESULTS = Path(__file__).parent / "results"
THICK, DOOR, CELLS, TABLE = 0.06, 0.8, 120, 128
BETWEEN = 48  # places that are looked at on the way
WALL = pgt.shapes.Rectangle(x=(1 - THICK / 2, 1 + THICK / 2), y=(-0.5, DOOR), name="wall")
ROOMS = pgt.Domain(x=(0, 2), y=(0, 1), shape=-WALL)
LESS = {"plain": 0.0, "damped": -3.0, "cut": -np.inf}
OF_EQUATION, OF_WALL = 1e-4, 1e-3  # weights of mean squares beside that of the readings


def truth() -> RegularGridInterpolator:
    """The temperature in cells; the wall takes no part."""
    x, y = (np.arange(2 * CELLS) + 0.5) / CELLS, (np.arange(CELLS) + 0.5) / CELLS
    solid = (np.abs(x[:, None] - 1) < THICK / 2) & (y[None] < DOOR)
    number = np.where(solid, -1, np.cumsum(~solid).reshape(solid.shape) - 1)
    pairs = [(number[:-1], number[1:]), (number[:, :-1], number[:, 1:])]
    one, other = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in range(2))
    both = (one >= 0) & (other >= 0)
    one, other = one[both], other[both]
    ends = np.concatenate([number[0], number[-1]])
    row = np.concatenate([one, other, one, other, ends])
    column = np.concatenate([other, one, one, other, ends])
    value = np.concatenate(
        [np.ones(2 * len(one)), -np.ones(2 * len(one)), np.full(len(ends), -2.0)]
    )
    right = np.zeros(int((~solid).sum()))
    right[number[0]] = -2.0
    field = np.zeros(solid.shape)
    field[~solid] = spsolve(sparse.csr_matrix((value, (row, column))), right)
    return RegularGridInterpolator((x, y), field, "nearest", bounds_error=False, fill_value=None)


class Sighted(pgt.extend.AbstractKernel):
    """A kernel, and what is added to it where the straight way is blocked."""

    kernel: pgt.extend.AbstractKernel
    inside: np.ndarray  # of cells of the box
    less: jax.Array

    def log_influence(self, receiver, source, resolution):
        share = (jnp.arange(BETWEEN) + 0.5) / BETWEEN
        way = receiver + share[:, None] * (source - receiver)  # counted from the middle
        cells = ((way / ROOMS.extent + 0.5) * TABLE).astype(int)
        blocked = ~jnp.asarray(self.inside)[*jnp.clip(cells, 0, TABLE - 1).T].all()
        influence = self.kernel.log_influence(receiver, source, resolution)
        return jnp.where(blocked, influence + self.less, influence)


def table() -> np.ndarray:
    """Which cells are inside, by their middle."""
    unit = (np.arange(TABLE) + 0.5) / TABLE
    points = np.stack(np.meshgrid(unit, unit, indexing="ij"), -1).reshape(-1, 2)
    return ROOMS.contains(ROOMS.lower + points * ROOMS.extent).reshape(TABLE, TABLE)


@eqx.filter_jit
def fitted(model, readings, less, key, asked, steps: int):
    """The field at the points asked for, after so many steps."""
    trained, fixed = trees.partition(model)
    wall, spread = ROOMS.wall("wall"), model.scaling.spread[0]
    places, normals = (jnp.asarray(part[::8], jnp.float32) for part in (wall.places, wall.normals))
    optimiser = optax.adam(optax.cosine_decay_schedule(4e-3, steps))

    def field_of(trained):
        model = eqx.tree_at(lambda m: m.kernel.less, trees.combine(trained, fixed), less)
        context = model.encode(readings)
        return lambda z: model.decode(context, z)[0] / spread

    def loss(trained, key):
        field, points = field_of(trained), ROOMS.sample(key, 200)
        misfit = jax.vmap(field)(readings.points) - readings.values[:, 0] / spread
        bent = jax.vmap(lambda z: jnp.trace(jax.hessian(field)(z)))(points)
        through = jax.vmap(lambda z, n: jax.grad(field)(z) @ n)(places, normals)
        parts = jnp.mean(misfit**2), jnp.mean(bent**2), jnp.mean(through**2)
        return parts[0] + OF_EQUATION * parts[1] + OF_WALL * parts[2]

    def step(state, key):
        trained, memory = state
        value, slope = jax.value_and_grad(loss)(trained, key)
        change, memory = optimiser.update(slope, memory)
        return (optax.apply_updates(trained, change), memory), value

    start = (trained, optimiser.init(trained))
    (trained, _), losses = jax.lax.scan(step, start, jax.random.split(key, steps))
    return jax.vmap(field_of(trained))(asked) * spread, losses[-1]


def measured(true, seed: int, count: int, steps: int):
    """Every Γ on one draw of readings."""
    points = ROOMS.even(count, seed=100 + seed).astype(np.float32)
    readings = pgt.Observations.from_arrays(
        dict(zip("xy", points.T, strict=True)), {"u": true(points)}
    )
    scaling = pgt.Scaling.fit(readings, ROOMS)
    asked = ROOMS.even(2000, seed=9).astype(np.float32)
    values, near = true(asked), np.abs(asked[:, 0] - 1) < 0.2
    for name, less in LESS.items():
        kernel = Sighted(pgt.Laplace().kernel(), table(), jnp.zeros(()))
        model = pgt.PGT(
            scaling, kernel, width=16, heads=2, decoder_width=32, decoder_layers=3, frequency=6.0,
            seed=seed,
        )  # fmt: skip
        began = time.monotonic()
        found, loss = fitted(model, readings, jnp.float32(less), jax.random.key(seed), asked, steps)
        away = (np.asarray(found) - values) / values.std()
        yield {
            "seed": seed, "gamma": name, "error": float(np.sqrt(np.mean(away**2))),
            "near_wall": float(np.sqrt(np.mean(away[near] ** 2))), "loss": float(loss),
            "seconds": time.monotonic() - began,
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    settings = {"count": options.count, "steps": options.steps}
    record, true = provenance() | {"settings": settings, "fits": []}, truth()
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seeds):
        for found in measured(true, seed, options.count, options.steps):
            record["fits"].append(found)
            print(json.dumps(found), flush=True)
            (options.out / "sight.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
