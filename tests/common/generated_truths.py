"""How well the truth of a generated problem solves the equation that is stated with it."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.physics.derivatives import residual_and_size
from pgt_bench.generator.evolved import EvolvedTruth
from pgt_bench.generator.problem import Problem
from pgt_bench.zoo.truth import Formula

POINTS = 60
SNAPSHOTS, APART = 9, 1e-4  # moments about the one that is looked at, and durations between them


def relative_residual(problem: Problem) -> float:
    """The root mean square of each equation's residual over that of the size of its terms, at random
    points; the largest of all equations.

    Formulas are differentiated as they are. What a solver found at a few close moments is a polynomial
    in time and a sum of waves in space: none of its own derivatives are used.
    """
    with jax.enable_x64(True):
        found = [
            jax.tree.map(np.asarray, _rows(problem, field, points))
            for field, points in _local(problem)
        ]

    def size(name: str, which: int) -> float:
        return float(np.sqrt(sum(np.sum(part[name][which] ** 2) for part in found)))

    return max(size(name, 0) / size(name, 1) for name in found[0])


def _rows(problem: Problem, field, points):
    return jax.vmap(lambda z: residual_and_size(problem.pde, field, z))(points)


def _local(problem: Problem):
    """Pairs of a function of the physical point and points where it is the truth."""
    rng = np.random.default_rng(0)
    unit = rng.uniform(size=(POINTS, problem.domain.dimension))
    points = np.asarray(problem.domain.from_unit(unit))
    if isinstance(problem.truth, Formula):
        yield lambda z: problem.truth.at(problem.domain, z), jnp.asarray(points)
        return
    for moment in (0.15, 0.5, 0.9):
        at_once = points.copy()
        at_once[:, -1] = moment * problem.truth.draw.duration
        yield _interpolated(problem.truth, moment), jnp.asarray(at_once)


def _interpolated(truth, moment: float):
    times = moment + APART * (np.arange(SNAPSHOTS) - SNAPSHOTS // 2)
    draw, sizes = truth.draw, jnp.asarray(truth.sizes)
    if not isinstance(truth, EvolvedTruth):
        values = truth.solution(times).T
        return lambda z: sizes * (_weights(times, z[-1] / draw.duration) @ jnp.asarray(values))
    modes = truth.evolution.at(times)
    count = modes.shape[-1]
    wave = 2 * np.pi / truth.evolution.period * np.fft.fftfreq(count, 1 / count)

    def field(z):
        now = jnp.tensordot(_weights(times, z[-1] / draw.duration), jnp.asarray(modes), 1)
        turned = now * jnp.exp(1j * wave * draw.unit(z[0]))
        return sizes * jnp.sum(turned, axis=-1).real / count

    return field


def _weights(times, now):
    """Of the snapshots in the polynomial through them (Lagrange), counted in their distance."""
    place, moment = np.arange(len(times)), (now - times[0]) / APART
    return jnp.stack([
        jnp.prod(jnp.stack([(moment - j) / (i - j) for j in place if j != i])) for i in place
    ])  # fmt: skip
