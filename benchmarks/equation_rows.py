"""Would a readout that satisfies the equation, too, do better? The shipped networks, nothing trained.

    python benchmarks/equation_rows.py --systems 8 [--family burgers] [--out FOLDER]

A network's answer is a sum of its functions, so much of each as the readings say. Here rows of the
equation's residual stand beside those of the readings, in one least-squares problem in double precision;
three times linearised for Burgers' equation. Once with the network's functions alone, once with harmonics
(on a rod Chebyshev polynomials) times Chebyshev polynomials in time beside them. How stiff the equation
is, is chosen with hindsight, by the median over all systems, which favours the method. Printed and stored
in `equation-rows.json`: the median error of the answer, the least that any sum of its functions has, and
that of both readouts.
"""

import argparse
import json
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import pgt
from pgt.core.provenance import provenance
from pgt.families import shipped, shipped_names
from pgt.nn.trees import cast
from pgt.physics.derivatives import residual

RESULTS = Path(__file__).parent / "results"
COUNT, FIRST_KEY = 64, 10**6
STIFF = (1e-1, 1e-2, 1e-3, 1e-4)  # residual, relative to u_t, that is taken for noise
SIGMA = 1e-3  # of the readings
ALONG, IN_TIME = {True: 16, False: 14}, 12  # degrees of further functions, on a ring or a rod
PLACES = {True: 40, False: 24}


def chebyshev(x, degree: int):
    rows = [jnp.ones_like(x), x]
    for _ in range(degree - 1):
        rows.append(2 * x * rows[-1] - rows[-2])
    return jnp.stack(rows)


def further(z, drift, is_ring: bool):
    x, count = z[0] - drift[0] * z[1], ALONG[is_ring]
    orders = jnp.pi * jnp.arange(1, count + 1)
    waves = jnp.concatenate([jnp.ones(1), jnp.cos(orders * x), jnp.sin(orders * x)])
    along = waves if is_ring else chebyshev(x, count)
    return jnp.outer(along, chebyshev(z[1], IN_TIME)).ravel()


def sizes_of_further(is_ring: bool) -> np.ndarray:
    orders = np.arange(1, ALONG[is_ring] + 1)
    along = np.concatenate([[0], orders, orders] if is_ring else [[0], orders])
    time = np.arange(IN_TIME + 1)
    return 0.1 / np.outer(1 + (along / 3) ** 2, 1 + (time / 4) ** 2).ravel()


@eqx.filter_jit
def functions(network, points, is_ring: bool, is_more: bool):
    def at(z):
        own = network.features(z)
        more = further(z, network.embedding.drift, is_ring) if is_more else jnp.zeros(0)
        return jnp.concatenate([own, more])

    return jax.vmap(at)(points)


@eqx.filter_jit
def equation(network, pde, scaling, amounts, points, is_ring: bool, is_more: bool):
    """Residuals and their derivatives along the amounts."""

    def left(amounts, z):
        def field(z):
            unit = jnp.asarray(scaling.to_unit(z))
            found = functions(network, unit[None], is_ring, is_more)[0] @ amounts
            return jnp.asarray(scaling.to_physical(found[None]))

        (value,) = residual(pde, field, z).values()
        return value

    return jax.vmap(jax.value_and_grad(left), (None, 0))(amounts, scaling.from_unit(points))


def solved(network, pde, scaling, readings, start, stiff: float, is_more: bool, rounds: int):
    """The most probable amounts, from those of the answer."""
    is_ring, (points, values) = bool(scaling.periodic[0]), readings
    rows = np.asarray(functions(network, points, is_ring, is_more))
    sizes = np.full(rows.shape[1], 10.0)
    if is_more:
        sizes[-len(sizes_of_further(is_ring)) :] = sizes_of_further(is_ring)
    places = np.cos(np.pi * (np.arange(PLACES[is_ring]) + 0.5) / PLACES[is_ring])
    x = np.linspace(-1, 1, PLACES[is_ring], endpoint=False) if is_ring else places
    inside = jnp.asarray(np.stack(np.meshgrid(x, places[::2]), axis=-1).reshape(-1, 2))
    found = np.concatenate([start, np.zeros(rows.shape[1] - len(start))])
    first, unit = found, float(scaling.spread[0] / scaling.half_extent[1])
    for _ in range(rounds):
        off, slopes = map(np.asarray, equation(
            network, pde, scaling, jnp.asarray(found), inside, is_ring, is_more
        ))  # fmt: skip
        weight = np.sqrt(COUNT / len(inside)) / (stiff * unit)
        target = slopes @ (found - first) - off
        matrix = np.concatenate([rows / SIGMA, weight * slopes]) * sizes
        aim = np.concatenate([(values - rows @ first) / SIGMA, weight * target])
        normal = matrix.T @ matrix + np.eye(len(sizes))
        found = first + sizes * np.linalg.solve(normal, matrix.T @ aim)
    return found


def on_system(name: str, k: int) -> dict:
    network = shipped(name)
    family = network.family
    system = family.draw(jax.random.key(FIRST_KEY + k))
    truth = family.dataset(system)
    readings = pgt.sample(truth, n=COUNT, seed=k)
    known = {c: float(value) for c, value in system.coefficients.items()}
    answer = network(readings, known, law=False).by
    mesh = np.meshgrid(*family.axes.values(), indexing="ij")
    grid = np.stack([m.ravel() for m in mesh], axis=-1)
    with jax.enable_x64(True):
        written, scaling = cast((answer.field.network, answer.scaling), jnp.float64)
        pde, is_ring = family.equation(**known), bool(scaling.periodic[0])
        values = np.asarray(scaling.standardise(np.asarray(readings.values, float)))[:, 0]
        true = np.asarray(scaling.standardise(truth.u.to_numpy().reshape(-1, 1)))[:, 0]
        asked = jnp.asarray(scaling.to_unit(grid))
        seen = jnp.asarray(scaling.to_unit(np.asarray(readings.points, float))), values
        layers = written.layers
        start = np.concatenate([layers.readout[0], written.amplitudes[0], layers.offset])
        own, both = (np.asarray(functions(written, asked, is_ring, more)) for more in (False, True))
        best = own @ np.linalg.lstsq(own, true, rcond=1e-12)[0]
        found = {"answer": [error(own @ start, true)], "best": [error(best, true)]}
        rounds = 3 if name == "burgers" else 1
        for label, table, is_more in (("own", own, False), ("more", both, True)):
            found[label] = [
                error(table @ solved(written, pde, scaling, seen, start, s, is_more, rounds), true)
                for s in STIFF
            ]
    return found


def error(found, true) -> float:
    return float(np.sqrt(np.mean((found - true) ** 2)) / np.std(true))


def main() -> None:
    asked = _arguments()
    file = asked.out / "equation-rows.json"
    record = json.loads(file.read_text()) if file.exists() else {"families": {}}
    for name in asked.family or shipped_names():
        rows = [on_system(name, k) for k in range(asked.systems)]
        found = {
            label: float(np.median([row[label] for row in rows], axis=0).min()) for label in rows[0]
        }
        record["families"][name] = found | {"systems": asked.systems} | provenance()
        file.write_text(json.dumps(record, indent=1) + "\n")
        print(name, found, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--out", type=Path, default=RESULTS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
