"""A cause from its effect and the reverse, on the public yardstick, by whoever knows the law.

    python benchmarks/yardstick.py --systems 100 [--only poisson] [--out FOLDER] [--seconds 600]

128 x 128 nodes, 500 of them read without noise; laws of DiffusionPDE (arXiv:2406.17763), draws of our
own. Forward: the source or the state at the start is read and the field scored; inverse: the reverse.
Burgers: five sensors at 128 times, the whole field scored. Relative errors in per cent, median and worst
tenth.

* floor: the law and the solver are known; the most probable system (pgt/families/assimilation.py).
* zero-shot: as much is known, but nothing is iterated: a Gaussian conditional in closed form and one run
  of the solver. Where readings are linear in what is random this is the floor itself. For Burgers it is
  what the network that comes with the library answers, by the law of its family; "network" is the
  network itself, which knows 256 of the 640 readings.
* interpolated: thin plates through the source or the state, then the solver; for Burgers a Gaussian
  process of those 256.

Leaves `yardstick.json`; laws that are not run keep their rows. `--method` asks Burgers' equation only
some of these, as where one answer is to be timed.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.interpolate import RBFInterpolator

import pgt
from pgt.core.provenance import provenance
from pgt.families.laws.periodic_laws import STEPS_PER_TIME, torque, vorticity
from pgt.families.laws.pseudo_spectral import Torus
from pgt.families.laws.square_laws import WAVES, cosine_modes, cosines, source_and_field
from pgt.families.observation_operator import double_precision
from pgt.inference import linear_algebra
from pgt_bench.interpolation import gaussian_process

RESULTS = Path(__file__).parent / "results"
NODES, COUNT, SENSORS = 128, 500, 5
ROWS_AT_ONCE = 32  # rows of a Jacobian that are computed together
VISCOSITY = 1e-2  # of Burgers
THIN = 1e-3  # viscosity of flows, over one unit of time
PRECISE = 1e-6  # of the readings' size: the σ of readings without noise
FIRST = 10**6  # of the seeds
INTERPOLATED = 10  # systems of Burgers: a Gaussian process takes longer than all else together
LAWS = ("poisson", "helmholtz", "navier_stokes", "burgers")
PUBLISHED = {
    "DiffusionPDE": {
        "where": "Huang et al. 2024, arXiv:2406.17763",
        "poisson": (4.5, 20.0), "helmholtz": (8.8, 22.6), "navier_stokes": (6.9, 10.4), "burgers": 2.7,
    },
    "FunDPS": {
        "where": "Yao et al. 2025, arXiv:2505.17004",
        "poisson": (2.0, 20.5), "helmholtz": (2.1, 17.2), "navier_stokes": (3.3, 8.5),
    },
}  # fmt: skip


# ------------------------------------------------------------------------------- laws


class Law(eqx.Module):
    """Standard normals -> cause and effect at the nodes, and the effect of a cause."""

    name: str = eqx.field(static=True)

    def cause(self, z):
        if self.name == "navier_stokes":
            return vorticity(z.reshape(128, 128), Torus(NODES))
        modes = cosine_modes(z.reshape(WAVES, WAVES))
        along = cosines(np.linspace(0, 1, NODES), WAVES)
        return along @ modes @ along.T

    def effect(self, cause):
        if self.name == "navier_stokes":
            torus = Torus(NODES)
            return torus.values(
                torus.evolve(cause, THIN, torque(torus), 2, 1.0, STEPS_PER_TIME)[-1]
            )
        places = np.linspace(0, 1, NODES)
        back = jnp.asarray(np.linalg.inv(np.cos(np.pi * np.outer(places, np.arange(WAVES)))))
        square = 1.0 if self.name == "helmholtz" else 0.0
        return source_and_field(back @ cause @ back.T, places, square)[..., 1]

    def seen(self, z, nodes, is_effect: bool):
        cause = self.cause(z)
        return (self.effect(cause) if is_effect else cause).ravel()[nodes]


@eqx.filter_jit
def cause_of(law: Law, z):
    return law.cause(z)


@eqx.filter_jit
def effect_of(law: Law, cause):
    return law.effect(cause)


@eqx.filter_jit
def read(law: Law, z, nodes, is_effect: bool):
    return law.seen(z, nodes, is_effect)


def readings_and_rows(
    read, z: Float[Array, " n"], count: int
) -> tuple[Float[Array, " m"], Float[Array, "m n"]]:
    """`count` readings and their derivatives, by columns or by rows, whichever are fewer."""
    is_forward = z.size <= 2 * count
    # The barrier keeps the compiler from folding the solver into constants, which takes minutes.
    units = jax.lax.optimization_barrier(jnp.eye(z.size if is_forward else count, dtype=z.dtype))
    if is_forward:
        here, push = jax.linearize(read, z)
        return here, jax.lax.map(push, units, batch_size=ROWS_AT_ONCE).T
    here, pull = jax.vjp(read, z)
    return here, jax.lax.map(lambda unit: pull(unit)[0], units, batch_size=ROWS_AT_ONCE)


@eqx.filter_jit
def linearised(law: Law, z, nodes, is_effect: bool):
    return readings_and_rows(lambda z: law.seen(z, nodes, is_effect), z, COUNT)


# ------------------------------------------------------------------------------- one problem


def on_law(name: str, systems: int, sets: int, seconds: float) -> dict:
    """Both directions, of flows the forward one; systems share `sets` choices of nodes."""
    law, found = Law(name), {"forward": [], "inverse": []}
    began = time.perf_counter()
    directions = [(False, "forward"), (True, "inverse")][: 1 if name == "navier_stokes" else 2]
    for chosen in range(sets):
        nodes = np.random.default_rng(FIRST + chosen).choice(NODES**2, COUNT, replace=False)
        for is_effect, label in directions:
            solve = linear_solver(law, nodes, is_effect, chosen == 0)
            for k in range(chosen, systems, sets):
                if time.perf_counter() - began > seconds:
                    break
                found[label].append(on_system(law, nodes, is_effect, k, solve))
                print(name, label, k, found[label][-1], flush=True)
    return {label: summary(rows) for label, rows in found.items() if rows}


def linear_solver(law: Law, nodes: np.ndarray, is_effect: bool, is_first: bool) -> Callable:
    """Readings -> the mean of the normals, where readings are linear in them."""
    zero = jnp.zeros(NODES**2)
    if is_first:  # compiles
        linearised(law, zero, nodes, is_effect)[1].block_until_ready()
    began = time.perf_counter()
    rows = linear_algebra.local(linearised(law, zero, nodes, is_effect)[1])
    gram = linear_algebra.gram(rows, dual=True)
    variance = PRECISE**2 * np.diag(np.asarray(gram)).mean()
    factor = linear_algebra.factorised(gram, np.full(COUNT, variance))
    assert factor is not None
    prepared = time.perf_counter() - began

    def solve(values):
        return rows.T @ linear_algebra.solved(factor, linear_algebra.local(values)), prepared

    return solve


def on_system(law: Law, nodes, is_effect: bool, k: int, solve: Callable):
    """Error and seconds of every method."""
    z = jnp.asarray(np.random.default_rng(2 * FIRST + k).standard_normal(NODES**2))
    cause = cause_of(law, z)
    effect = effect_of(law, cause)
    given, wanted = (effect, cause) if is_effect else (cause, effect)
    values = np.asarray(given).ravel()[nodes]
    began = time.perf_counter()
    mean, prepared = solve(values)
    found = cause_of(law, jnp.asarray(mean))
    found = np.asarray(found if is_effect else effect_of(law, found))
    took = time.perf_counter() - began
    error = relative(found, wanted)
    rows = {
        "floor": (error, took + prepared),
        "zero-shot": (error, took + prepared),
        "zero-shot, places known": (error, took),
    }
    if not is_effect:
        began = time.perf_counter()
        plates = thin_plates(nodes, values, law.name == "navier_stokes")
        found = effect_of(law, jnp.asarray(plates))
        rows["interpolated"] = (relative(found, wanted), time.perf_counter() - began)
    return rows


def thin_plates(nodes: np.ndarray, values: np.ndarray, is_periodic: bool) -> np.ndarray:
    step = 1 / NODES if is_periodic else 1 / (NODES - 1)
    points = np.stack(np.unravel_index(nodes, (NODES, NODES)), axis=-1) * step
    if is_periodic:
        shifts = np.stack(np.meshgrid([-1, 0, 1], [-1, 0, 1]), axis=-1).reshape(-1, 1, 2)
        points, values = (points + shifts).reshape(-1, 2), np.tile(values, 9)
        near = np.all(np.abs(points - 0.5) < 0.65, axis=1)
        points, values = points[near], values[near]
    mesh = np.stack(np.meshgrid(*[np.arange(NODES) * step] * 2, indexing="ij"), axis=-1)
    plates = RBFInterpolator(points, values, kernel="thin_plate_spline")
    return plates(mesh.reshape(-1, 2)).reshape(NODES, NODES)


# ------------------------------------------------------------------------------- Burgers


def on_burgers(systems: int, seconds: float, methods: list[str]) -> dict:
    family = pgt.families.get("burgers", viscosity=(0.01, 0.01), nodes=NODES, times=NODES)
    network, known = pgt.families.shipped("burgers"), {"viscosity": VISCOSITY}
    rows, began = [], time.perf_counter()
    for k in range(systems):
        if time.perf_counter() - began > seconds:
            break
        with double_precision():
            z = np.random.default_rng(2 * FIRST + k).standard_normal((2, 64))
            drawn = {"viscosity": jnp.asarray(known["viscosity"])}
            values = np.asarray(evolved(family, jnp.asarray(z), drawn))
        truth = family.dataset(pgt.families.SampledSystem(drawn, values))
        where = np.random.default_rng(FIRST + k).choice(NODES, SENSORS, replace=False)
        readings = pgt.Observations.from_xarray(truth.isel(x=np.sort(where)))
        rows.append(burgers_rows(family, network, known, readings, truth, k, methods))
        print("burgers", k, rows[-1], flush=True)
    return {"sensors": summary(rows)}


@eqx.filter_jit
def evolved(family, z, coefficients):
    return family.solve(z, coefficients)


def burgers_rows(family, network, known, readings, truth, k: int, methods: list[str]) -> dict:
    few = readings.take(np.random.default_rng(0).choice(len(readings), 256, replace=False))
    mesh = np.meshgrid(*family.axes.values(), indexing="ij")
    places = np.stack([m.ravel() for m in mesh], axis=-1)
    asked = {
        "floor": lambda: pgt.families.assimilate(family, readings, known).grid().u,
        "zero-shot": lambda: network(readings, known).grid(**family.axes).u,
        "network": lambda: network(few, known, law=False).grid(**family.axes).u,
        "interpolated": lambda: gaussian_process(few, family.domain, places).predictions[:, 0],
    }
    found = {}
    if k >= INTERPOLATED:
        del asked["interpolated"]
    for label, ask in asked.items():
        if methods and label not in methods:
            continue
        if k == 0 and label != "interpolated":
            ask()  # compiles
        began = time.perf_counter()
        field = np.asarray(ask()).reshape(truth.u.shape)
        found[label] = (relative(field, truth.u.transpose("x", "t")), time.perf_counter() - began)
    return found


# ------------------------------------------------------------------------------- results


def relative(found, wanted) -> float:
    """In per cent."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    return 100 * float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def summary(rows: list[dict]) -> dict:
    labels = list(dict.fromkeys(label for row in rows for label in row))
    found = {}
    for label in labels:
        errors, seconds = np.array([row[label] for row in rows if label in row]).T
        found[label] = {
            "median": float(np.median(errors)), "tenth": float(np.quantile(errors, 0.9)),
            "seconds": float(np.median(seconds)), "systems": len(errors),
        }  # fmt: skip
    return found


def main() -> None:
    asked = _arguments()
    folder = Path(asked.out)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "yardstick.json"
    record = json.loads(file.read_text()) if file.exists() else {"laws": {}}
    for name in asked.only or LAWS:
        with double_precision():
            if name == "burgers":
                found = on_burgers(asked.systems, asked.seconds, asked.method)
            else:
                found = on_law(name, asked.systems, asked.sets, asked.seconds)
        record["laws"][name] = {"rows": found} | provenance()
        record |= {"readings": COUNT, "nodes": NODES, "published": PUBLISHED}
        file.write_text(json.dumps(record, indent=1) + "\n")
        for label, rows in found.items():
            for method, row in rows.items():
                print(f"{name:14} {label:8} {method:24} {row['median']:7.2f} {row['tenth']:7.2f} "
                      f"{row['seconds']:8.3f} s {row['systems']:4}", flush=True)  # fmt: skip


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--sets", type=int, default=10, help="choices of nodes to read")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each law, at the most")
    parser.add_argument("--method", action="append", default=[], help="of Burgers' rows, by name")
    parser.add_argument("--only", action="append", default=[], choices=LAWS)
    parser.add_argument("--out", default=str(RESULTS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
