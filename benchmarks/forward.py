"""Equations solved without readings: their true errors beside those stated, and the processor's seconds.

    python benchmarks/forward.py               # writes benchmarks/results/forward.json
    python benchmarks/forward.py kdv --out somewhere/

The truth is a closed form, or a solution by other means: Fourier and Chebyshev series in space, steps in
time by scipy's solve_ivp at tolerances of 1e-9 and less. Errors are root mean squares over points that
fill the domain, relative to the root mean square of the truth; the stated one, relative to its spread,
stands beside the true one in that unit.
"""

import argparse
import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.polynomial.hermite import hermgauss
from scipy.integrate import solve_ivp

import pgt
from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
TIMES = np.linspace(0.05, 1.0, 20)
RING = pgt.Domain(x=(-1, 1), t=(0, 1), periodic=("x",))
Field = Callable[[np.ndarray], np.ndarray]  # (n, d) points ↦ (n,) values


class Problem(NamedTuple):
    """An equation with its conditions, the truth, and the error that is to be reached."""

    equation: str
    domain: pgt.Domain
    conditions: tuple[pgt.extend.AbstractCondition, ...]
    truth: Callable[[], Field]
    bar: float


def cole_hopf() -> Field:
    """Burgers' equation by the transformation of Cole and Hopf, with Gauss and Hermite's quadrature."""
    viscosity = 0.01 / np.pi
    nodes, weights = hermgauss(200)

    def truth(points):
        x, t = points.T
        y = x[:, None] - np.sqrt(4 * viscosity * t[:, None]) * nodes
        share = np.exp(-(np.cos(np.pi * y) + 1) / (2 * np.pi * viscosity)) * weights
        return -(np.sin(np.pi * y) * share).sum(axis=1) / share.sum(axis=1)

    return truth


def allen_cahn() -> Field:
    """The solution is even: Chebyshev's points on half of the ring, without slope at both ends. They are
    dense where the initial state has a kink; so many follow the fronts near 0.5 at the end."""
    count = 640
    at = np.cos(np.pi * np.arange(count + 1) / count)
    sizes = np.r_[2.0, np.ones(count - 1), 2.0] * (-1.0) ** np.arange(count + 1)
    gaps = at[:, None] - at + np.eye(count + 1)
    slope = np.outer(sizes, 1 / sizes) / gaps
    slope = 2 * (slope - np.diag(slope.sum(axis=1)))  # in x = (1 + at)/2
    x, second = (1 + at) / 2, slope @ slope
    ends = np.linalg.inv(slope[np.ix_([0, -1], [0, -1])]) @ slope[[0, -1], 1:-1]

    def whole(inner):
        low_high = -ends @ inner
        return np.r_[low_high[0], inner, low_high[1]]

    def change(t, inner):
        return 1e-4 * (second @ whole(inner))[1:-1] + 5 * (inner - inner**3)

    linear = 1e-4 * (second[1:-1, 1:-1] - second[1:-1, [0, -1]] @ ends)

    def jacobian(t, inner):
        return linear + np.diag(5 - 15 * inner**2)

    state, states = (x**2 * np.cos(np.pi * x))[1:-1], []
    for start, end in itertools.pairwise([0.0, *TIMES]):  # between steps Radau's method is cubic
        found = solve_ivp(
            change, (start, end), state, "Radau", rtol=1e-9, atol=1e-11, jac=jacobian
        )  # fmt: skip
        states.append(state := found.y[:, -1])
    return _in_time(lambda k, places: _chebyshev(whole(states[k]), 2 * np.abs(places) - 1))


def _chebyshev(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The polynomial through values at Chebyshev's points, those at 1 first."""
    count = len(values) - 1
    points = np.cos(np.pi * np.arange(count + 1) / count)
    return chebyshev.chebval(at, np.linalg.solve(chebyshev.chebvander(points, count), values))


def korteweg_de_vries() -> Field:
    """A Fourier series of 512 waves, whose linear part is integrated exactly."""
    count = 512
    x = -1 + 2 * np.arange(count) / count
    waves = np.pi * np.fft.rfftfreq(count, 1 / count)
    turn = 1j * 0.022**2 * waves**3
    kept = np.arange(len(waves)) < len(waves) * 2 // 3  # without aliases

    def change(t, moved):
        here = np.fft.irfft(np.exp(turn * t) * moved, count)
        return -0.5j * waves * np.exp(-turn * t) * np.fft.rfft(here**2) * kept

    start = np.fft.rfft(np.cos(np.pi * x))
    found = solve_ivp(change, (0, 1), start, "DOP853", TIMES, rtol=1e-11, atol=1e-11)

    def at(k, places):
        series = np.exp(turn * TIMES[k]) * found.y[:, k] / count
        series[1:] *= 2
        return (np.exp(1j * np.outer(places + 1, waves)) @ series).real

    return _in_time(at)


def _in_time(at: Callable[[int, np.ndarray], np.ndarray]) -> Field:
    """A truth that is known at `TIMES`."""

    def truth(points):
        found = np.empty(len(points))
        for k, t in enumerate(TIMES):
            own = np.isclose(points[:, 1], t)
            found[own] = at(k, points[own, 0])
        return found

    return truth


def poisson() -> Field:
    return lambda points: np.sin(np.pi * points[:, 0]) * np.sin(np.pi * points[:, 1])


PROBLEMS = {
    "burgers": Problem(
        "u_t + u*u_x = 0.01/pi*u_xx", pgt.Domain(x=(-1, 1), t=(0, 1)),
        (pgt.Initial(u="-sin(pi*x)"), pgt.Dirichlet("x", u=0.0)), cole_hopf, 1e-5,
    ),
    "allen-cahn": Problem(
        "u_t = 1e-4*u_xx + 5*(u - u^3)", RING, (pgt.Initial(u="x^2*cos(pi*x)"),), allen_cahn, 1e-5,
    ),
    "kdv": Problem(
        "u_t + u*u_x + 0.022^2*u_xxx = 0", RING, (pgt.Initial(u="cos(pi*x)"),),
        korteweg_de_vries, 1e-4,
    ),
    "poisson": Problem(
        "u_xx + u_yy = -2*pi^2*sin(pi*x)*sin(pi*y)", pgt.Domain(x=(0, 1), y=(0, 1)),
        (pgt.Dirichlet(u=0.0),), poisson, 1e-8,
    ),
}  # fmt: skip


def measured(name: str, tolerance: float) -> dict:
    """The errors of one problem, and what they cost."""
    problem = PROBLEMS[name]
    began = time.process_time()
    result = pgt.solve(
        problem.equation, problem.domain, problem.conditions, tolerance=tolerance, progress=False
    )
    seconds = time.process_time() - began
    points = _points(problem.domain)
    truth, said = problem.truth()(points), result.at(points).u.to_numpy()
    size = float(np.sqrt(np.mean(truth**2)))
    return {
        "equation": problem.equation,
        "tolerance": tolerance,
        "error": float(np.sqrt(np.mean((said - truth) ** 2))) / size,
        "stated": result.field_error["u"].value * float(truth.std()) / size,
        "bar": problem.bar,
        "processor_seconds": seconds,
        "stopped": result.summary["stopped"],
    }


def _points(domain: pgt.Domain) -> np.ndarray:
    """Points that fill the domain, those of one instant together."""
    if not domain.has_time:
        return np.asarray(domain.even(4000), float)
    x = np.linspace(*domain.bounds("x"), 2001)[:-1]
    return np.stack([part.ravel() for part in np.meshgrid(x, TIMES)], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("problems", nargs="*", metavar="problem", help=", ".join(PROBLEMS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    rows = {}
    for name in arguments.problems or PROBLEMS:
        rows[name] = measured(name, min(1e-6, 0.1 * PROBLEMS[name].bar))
        print(name, json.dumps(rows[name]), flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    found = {"case": "forward", "problems": rows} | provenance()
    (arguments.out / "forward.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
