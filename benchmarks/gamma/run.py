"""Where does Γ pay when a network is trained once over many systems?

    python benchmarks/gamma/run.py benchmarks/results/gamma --seconds 330     # on a graphics card
    python benchmarks/gamma/run.py OUT --steps 3 --seeds 2 --batch 2 --test 4 --pool 64 --network writer

Every cell is one network, one Γ and one family: five seeds are trained at once, and asked on systems that
none of them has seen, with 16, 64 and 256 readings, clean and with 5 % noise, with coefficients inside
and outside the range of training. Cells are begun in the order of their importance until the seconds,
which include compiling, are spent; each leaves one record. All networks are compiled at once, and a cell
whose network is not ready lets others go first.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from networks import NETWORKS, network
from systems import FAMILIES, KERNELS, MOST, Guide, look, systems_of_test, training_systems, world

from pgt.core.provenance import provenance

FEW = 32  # systems, others for each seed
COUNTS, NOISES = (16, 64, 256), (0.0, 0.05)
QUERIES, ASKED = 128, 256  # points of each system, in training and in the test
RATE, WARM_UP, LAST_RATE = 1e-3, 0.02, 1e-2
LARGEST_STEP = 1.0
AT_ONCE = 32  # systems in the test
TEST_SENSORS = 7  # key
# Kinds of products are not timed: compiled so, beside cells in training, a network was never ready,
# probably since a graphics card times only while it runs no other program.
OPTIONS = {"xla_gpu_enable_triton_gemm": False, "xla_gpu_autotune_level": 0}

# Γ by name: the kernel of each family, and whether its strength is learnt.
SPREADING = dict.fromkeys(FAMILIES, "spreading")
EQUATION = {"heat": "flow", "advection_diffusion": "flow", "wave": "cone"}
SYMMETRIC = {family: f"{kernel} symmetric" for family, kernel in EQUATION.items()}
GUIDES: dict[str, tuple[dict[str, str], bool]] = {
    "none": (dict.fromkeys(FAMILIES, "none"), False),
    "spreading": (SPREADING, False),
    "equation": (EQUATION, False),
    "symmetric": (SYMMETRIC, False),
    "equation, learnt": (EQUATION, True),
    "symmetric, learnt": (SYMMETRIC, True),
}


class Cell(NamedTuple):
    """One row of the study."""

    systems: str  # many or few
    network: str
    guide: str
    place: str  # where Γ acts: encoder, query or both
    family: str

    @property
    def file(self) -> str:
        return "-".join(self).replace(", ", "_").replace(" ", "_") + ".json"


def cells() -> Iterator[Cell]:
    """The most important first."""
    for systems, name, guides, place in (
        ("many", "writer", ("none", "equation", "symmetric"), "encoder"),
        ("many", "answerer", ("none", "equation", "symmetric"), "both"),
        ("many", "writer", ("equation, learnt",), "encoder"),
        ("many", "answerer", ("symmetric, learnt",), "both"),
        ("few", "writer", ("none", "equation", "symmetric"), "encoder"),
        ("many", "perceiver", ("none",), "both"),
        ("many", "answerer", ("equation",), "encoder"),
        ("many", "fno", ("none",), "both"),
        ("many", "deeponet", ("none",), "both"),
        ("few", "answerer", ("none", "symmetric", "equation"), "both"),
        ("many", "answerer", ("symmetric",), "encoder"),
        ("many", "answerer", ("symmetric",), "query"),
        ("many", "answerer", ("spreading",), "both"),
        ("many", "writer", ("symmetric, learnt", "spreading"), "encoder"),
        ("many", "answerer", ("equation, learnt",), "both"),
        ("many", "answerer", ("equation",), "query"),
        ("few", "fno", ("none",), "both"),
        ("few", "perceiver", ("none",), "both"),
        ("few", "answerer", ("symmetric, learnt",), "both"),
        ("few", "writer", ("equation, learnt", "symmetric, learnt"), "encoder"),
        ("few", "deeponet", ("none",), "both"),
    ):
        for guide, family in product(guides, FAMILIES):
            if not _repeats(family, guide):
                yield Cell(systems, name, guide, place, family)


def _repeats(family: str, guide: str) -> bool:
    """On heat the equation's own influence spreads; within the cone Γ is 0, at any strength."""
    return (family, guide) == ("heat", "spreading") or (family == "wave" and "learnt" in guide)


def guide_of(cell: Cell) -> Guide:
    kernels, learnt = GUIDES[cell.guide]
    return Guide(
        jnp.asarray(KERNELS.index(kernels[cell.family])), jnp.asarray(learnt),
        jnp.asarray(cell.place != "query"), jnp.asarray(cell.place != "encoder"),
    )  # fmt: skip


# ------------------------------------------------------------------------------- programs


class Programs(NamedTuple):
    """Training and test of one network, compiled."""

    train: Any
    test: Any


def split(net) -> tuple[Any, Any, Any]:
    """What is trained, what the family decides, and what never changes."""
    trained, rest = eqx.partition(net, eqx.is_inexact_array)
    return trained, *eqx.partition(rest, eqx.is_array)


def members(name: str, ring, asked) -> tuple[Any, Any, Any]:
    """The networks of all seeds, one stack."""
    parts = [split(network(name, ring, seed, asked.most)) for seed in range(asked.seeds)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(part[0] for part in parts))
    return stacked, parts[0][1], parts[0][2]


def relative_error(net, seen):
    """Of the field at the points that are asked, relative to its spread."""
    context = net.encode(seen.readings)
    misses = jax.vmap(partial(net.decode, context))(seen.points) - seen.truth
    return jnp.sqrt(jnp.mean((misses / seen.size) ** 2) + 1e-12)


def direction(steps: int) -> optax.GradientTransformation:
    def rate(step):
        share = step / steps
        falling = LAST_RATE + (1 - LAST_RATE) * (1 + jnp.cos(jnp.pi * share)) / 2
        return -RATE * jnp.minimum((share + 1e-3) / WARM_UP, falling)

    return optax.chain(
        # Once in a while single precision cannot factor the writer's matrix: that step says nothing.
        optax.zero_nans(), optax.clip_by_global_norm(LARGEST_STEP), optax.scale_by_adam(b2=0.99),
        optax.scale_by_schedule(rate),
    )  # fmt: skip


def trained(arrays, flags, systems, of, guide, first, count, keys, *, static, asked):
    """All seeds at once: `count` systems from `first` on are each seed's own."""
    optimiser = direction(asked.steps)

    def loss(arrays, key):
        choose, looks = jax.random.split(key[0])
        chosen = key[1] + jax.random.randint(choose, (asked.batch,), 0, count)
        some = jax.tree.map(lambda a: a[chosen], systems)
        net = eqx.combine(arrays, flags, static)

        def one(key, system):
            return relative_error(net, look(key, system, of, guide, QUERIES, asked.most))

        return jnp.mean(jax.vmap(one)(jax.random.split(looks, asked.batch), some))

    def member(arrays, first, key):
        def step(carry, key):
            arrays, moments = carry
            error, slope = jax.value_and_grad(loss)(arrays, (key, first))
            update, moments = optimiser.update(slope, moments)
            return (optax.apply_updates(arrays, update), moments), error

        start = arrays, optimiser.init(arrays)
        (arrays, _), errors = jax.lax.scan(step, start, jax.random.split(key, asked.steps))
        return arrays, errors

    return jax.vmap(member)(arrays, first, keys)


def tested(arrays, flags, systems, of, guide, number, noise, *, static, most):
    """The errors of all seeds on all systems, seen by the same sensors."""

    def on(pair):
        seen = look(*pair, of, guide, ASKED, most, (number, noise))
        return jax.vmap(lambda a: relative_error(eqx.combine(a, flags, static), seen))(arrays)

    keys = jax.random.split(jax.random.key(TEST_SENSORS), len(systems.values))
    return jax.lax.map(on, (keys, systems), batch_size=AT_ONCE)  # systems seeds


def compiled(name: str, asked, data: "Data") -> Programs:
    """Lowered and compiled; nothing in it depends on the family, the guide or the number of systems."""
    arrays, flags, static = members(name, data.of.ring, asked)
    guide, own = guide_of(Cell("many", name, "none", "both", FAMILIES[0])), seeds_of("few", asked)
    train = jax.jit(partial(trained, static=static, asked=asked))
    test = jax.jit(partial(tested, static=static, most=asked.most))
    number, noise = jnp.asarray(COUNTS[0]), jnp.asarray(NOISES[0])
    lowered = (
        train.lower(arrays, flags, data.train, data.of, guide, *own),
        test.lower(arrays, flags, data.inside, data.of, guide, number, noise),
    )
    began = time.monotonic()
    with ThreadPoolExecutor(len(lowered)) as pool:
        ready = Programs(*pool.map(lambda program: program.compile(OPTIONS), lowered))
    print(f"{name} compiled in {time.monotonic() - began:.1f} s", flush=True)
    return ready


def seeds_of(systems: str, asked):
    """The first system of each seed, how many it has, and its key."""
    few = systems == "few"
    own = min(FEW, asked.pool // asked.seeds)
    first = own * jnp.arange(asked.seeds) if few else jnp.zeros(asked.seeds, int)
    keys = jax.random.split(jax.random.key(3), asked.seeds)
    return first, jnp.asarray(own if few else asked.pool), keys


# ---------------------------------------------------------------------------------- cells


class Data(NamedTuple):
    """A family on the device."""

    of: Any
    train: Any
    inside: Any
    outside: Any


def data_of(family: str, asked) -> Data:
    tests = (systems_of_test(family, asked.test, outside) for outside in (False, True))
    return Data(world(family), training_systems(family, asked.pool), *tests)


def measured(cell: Cell, programs: Programs, data: Data, asked) -> dict:
    """Train the cell and ask it; errors are lists over seeds."""
    arrays, flags, _ = members(cell.network, data.of.ring, asked)
    guide, began = guide_of(cell), time.monotonic()
    own = seeds_of(cell.systems, asked)
    arrays, losses = programs.train(arrays, flags, data.train, data.of, guide, *own)
    losses = np.asarray(losses)
    seconds = time.monotonic() - began
    found = {}
    for which, number, noise in product(("inside", "outside"), COUNTS, NOISES):
        if number > asked.most:
            continue
        exactly = jnp.asarray(number), jnp.asarray(noise)
        found[f"{which}, {number}, {noise:g}"] = programs.test(
            arrays, flags, getattr(data, which), data.of, guide, *exactly
        )
    size = sum(leaf.size for leaf in jax.tree.leaves(arrays)) // asked.seeds
    return cell._asdict() | {
        "errors": {name: _summary(np.asarray(errors)) for name, errors in found.items()},
        "strength": np.exp(np.asarray(arrays.raw)).tolist() if GUIDES[cell.guide][1] else None,
        "loss": [float(np.nanmean(part)) for part in np.array_split(losses, min(20, asked.steps), 1)],
        "parameters": size, "seconds": seconds, "seeds": list(range(asked.seeds)),
        "steps": asked.steps, "batch": asked.batch, "pool": asked.pool, "test": asked.test,
        "most": asked.most,
    }  # fmt: skip


def _summary(errors: np.ndarray) -> dict:
    """Median and worst tenth over systems, for each seed; a matrix that could not be factored is a
    failure, and no number."""
    errors = np.where(np.isnan(errors), np.inf, errors)
    return {
        "median": np.median(errors, axis=0).tolist(),
        "tenth": np.quantile(errors, 0.9, axis=0, method="higher").tolist(),
    }


def main() -> None:
    asked, began = _arguments(), time.monotonic()
    asked.out.mkdir(parents=True, exist_ok=True)
    wanted = [cell for cell in cells() if _wanted(cell, asked)]
    made, data = provenance(), {name: data_of(name, asked) for name in asked.family}
    print(f"{len(wanted)} cells, systems drawn after {time.monotonic() - began:.1f} s", flush=True)
    pool, first = ThreadPoolExecutor(len(NETWORKS)), data[asked.family[0]]
    names = dict.fromkeys(cell.network for cell in wanted)
    programs = {n: pool.submit(compiled, n, asked, first) for n in names}
    while wanted and time.monotonic() - began < asked.seconds:
        cell = _next(wanted, programs, began + asked.seconds - time.monotonic())
        if cell is None:
            break
        wanted.remove(cell)
        ready = programs[cell.network].result()
        record = measured(cell, ready, data[cell.family], asked) | made
        (asked.out / cell.file).write_text(json.dumps(record, indent=1) + "\n")
        print(_line(cell, record, time.monotonic() - began), flush=True)
    sys.stdout.flush()
    os._exit(0)  # records are written: wait for no program that nobody will run


def _next(wanted: list[Cell], programs: dict[str, Future], seconds: float) -> Cell | None:
    """The most important cell whose network is compiled; None where none is within the seconds."""
    wait({programs[cell.network] for cell in wanted}, seconds, FIRST_COMPLETED)
    return next((cell for cell in wanted if programs[cell.network].done()), None)


def _wanted(cell: Cell, asked) -> bool:
    named = cell.family in asked.family and cell.network in asked.network
    chosen = cell.guide in asked.guide and cell.systems in asked.systems
    return named and chosen and not (asked.out / cell.file).exists()


def _line(cell: Cell, record: dict, clock: float) -> str:
    shown = [f"inside, {number}, 0" for number in COUNTS] + ["inside, 64, 0.05", "outside, 64, 0"]
    found = [record["errors"][name]["median"] for name in shown if name in record["errors"]]
    errors = "  ".join(f"{100 * np.mean(error):5.1f}" for error in found)
    named = f"{cell.systems:5}{cell.family:20}{cell.network:10}{cell.guide:18}{cell.place:8}"
    return f"{clock:5.0f} s {named} {errors} %  ({record['seconds']:.1f} s)"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=330, help="begin no cell after so many")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--pool", type=int, default=4096, help="systems in training, where many")
    parser.add_argument("--most", type=int, default=MOST, help="readings of a system")
    parser.add_argument("--test", type=int, default=128)
    parser.add_argument("--family", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    parser.add_argument("--network", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--guide", nargs="+", default=list(GUIDES), choices=list(GUIDES))
    parser.add_argument("--systems", nargs="+", default=["many", "few"], choices=["many", "few"])
    return parser.parse_args()


if __name__ == "__main__":
    main()
