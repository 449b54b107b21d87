"""Functions of equations and conditions that are not known: how well readings of the field tell them.

    python benchmarks/unknown_functions.py --seeds 8

* source: u_t = 0.1 u_xx + q(x) on a rod that starts at zero and whose ends are held there, 60 readings of
  u with 1 % noise; the truth is a sine series.
* step, waves and bump: (k u')' = -10 on a rod whose ends are held at zero, k(x) a step by tanh, an
  eighth of the rod wide, one and a half waves, or a bump; 60 readings of u with 1 % noise, the truth by
  quadrature.
* conductivity: div(k grad u) = -10 on a plate whose edges are held at zero, k(x, y) between 1/√5 and √5,
  200 readings of u with 1 % noise; the truth by finite volumes on 201 × 201 nodes.
* wall, kink, flux and inflow: a function of time at the left end of a line that starts at zero, from four
  sensors that are read 15 times with 1 % noise. The temperature u(t) of a rod (u_t = 0.1 u_xx, the other
  end held at zero), smooth or with a kink; the flux -u_x of the same rod, a ramp; the inflow of
  u_t + u_x = 0.02 u_xx. The truth by Crank and Nicolson on 401 × 4001 nodes.
* inlet: the profile u(y) at the inlet of a channel, 4 u_x = 0.1 (u_xx + u_yy) between walls at zero, from
  60 readings with 1 % noise; the truth is a sine series.

Everything by default, with the bands of `Posterior`. Leaves `unknown-functions.json`.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sparse
from scipy.integrate import cumulative_trapezoid
from scipy.interpolate import RectBivariateSpline
from scipy.linalg import solve_banded
from scipy.sparse.linalg import spsolve

import pgt
from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
NOISE, NODES, HEAT, DIFFUSIVITY = 0.01, 201, 10.0, 0.1
QUANTILES = (0.05, 0.95)


def source(x):
    """A hot spot in front of a wave."""
    return np.exp(-(((x - 0.35) / 0.12) ** 2)) + 0.4 * np.sin(2 * np.pi * x)


def rod(x, t):
    """The sine series of the rod."""
    k, fine = np.pi * np.arange(1, 60), np.linspace(0, 1, 2001)
    amplitude = 2 * np.trapezoid(source(fine) * np.sin(np.outer(k, fine)), fine, axis=1)
    rate = DIFFUSIVITY * k**2
    grown = amplitude / rate * (1 - np.exp(-np.outer(t, rate)))
    return np.sum(grown * np.sin(np.outer(x, k)), axis=1)


def conductivity(x, y):
    """Smooth, with a contrast of five."""
    return np.exp(np.log(5) / 2 * np.sin(1.4 * np.pi * x + 0.4) * np.cos(np.pi * y))


def plate():
    """u as a spline through finite volumes."""
    g = np.linspace(0, 1, NODES)
    middle, spacing = (g[:-1] + g[1:]) / 2, g[1]
    along_x = conductivity(middle[:, None], g[None]) / spacing**2
    along_y = conductivity(g[:, None], middle[None]) / spacing**2
    number = np.arange(NODES**2).reshape(NODES, NODES)
    inner = number[1:-1, 1:-1]
    walls = [
        (number[2:, 1:-1], along_x[1:, 1:-1]), (number[:-2, 1:-1], along_x[:-1, 1:-1]),
        (number[1:-1, 2:], along_y[1:-1, 1:]), (number[1:-1, :-2], along_y[1:-1, :-1]),
    ]  # fmt: skip
    entries = [(inner, other, value) for other, value in walls]
    entries.append((inner, inner, -sum(value for _, value in walls)))
    edge = np.setdiff1d(number, inner)
    entries.append((edge, edge, np.ones(len(edge))))
    row, column, value = (np.concatenate([np.ravel(e[k]) for e in entries]) for k in range(3))
    right = np.full(NODES**2, -HEAT)
    right[edge] = 0.0
    matrix = sparse.csr_matrix((value, (row, column)))
    return RectBivariateSpline(g, g, spsolve(matrix, right).reshape(NODES, NODES))


def step(x):
    """From a small conductivity to one that is six times as large."""
    return 1 + 0.7 * np.tanh((x - 0.55) / 0.06)


def waves(x):
    """With a contrast of e."""
    return np.exp(0.5 * np.sin(9 * x))


def bump(x):
    """Where the flow of heat is small, and readings say little of k."""
    return 1 + 1.5 * np.exp(-(((x - 0.4) / 0.12) ** 2))


def steady_rod(x, k):
    """k u' = c - HEAT x, with the c that makes both ends cold."""
    fine = np.linspace(0, 1, 4001)
    resistance, heated = (
        cumulative_trapezoid(part / k(fine), fine, initial=0) for part in (1.0, -HEAT * fine)
    )
    return np.interp(x, fine, heated - heated[-1] / resistance[-1] * resistance)


def smooth(t):
    """Two waves that begin at zero."""
    return np.sin(3 * t) + 0.5 * (np.cos(7 * t) - 1)


def kink(t):
    """Up, and from one moment on down."""
    return np.where(t < 0.4, 2 * t, 1.2 - t)


def ramp(t):
    """From nothing to a level."""
    return 1 + np.tanh((t - 0.5) / 0.06)


def line(left, is_flux, speed, diffusivity):
    """u_t + speed u_x = diffusivity u_xx from zero, with `left` its value or -u_x at the left end; at the
    right end held at zero, or free to flow out where there is a speed. As a function of t and x."""
    nodes, steps = 401, 4000
    h, dt, times = 1 / (nodes - 1), 1 / steps, np.linspace(0, 1, steps + 1)
    below, above = (np.full(nodes, diffusivity / h**2 + s * speed / (2 * h)) for s in (1, -1))
    middle, force = np.full(nodes, -2 * diffusivity / h**2), np.zeros(nodes)
    last = 2 * diffusivity / h**2 if speed else 0.0
    force[0] = 2 * h * below[0] if is_flux else 0.0
    above[0] = 2 * diffusivity / h**2 if is_flux else 0.0
    middle[0] *= is_flux
    middle[-1] *= bool(speed)
    below[0], below[-1], above[-1] = 0.0, last, 0.0
    matrix = np.zeros((3, nodes))
    matrix[0, 1:], matrix[2, :-1] = -dt / 2 * above[:-1], -dt / 2 * below[1:]
    matrix[1] = 1 - dt / 2 * middle
    values, given = [np.zeros(nodes)], left(times)
    for k in range(steps):
        u = values[-1]
        right = u + dt / 2 * (middle * u + below * np.roll(u, 1) + above * np.roll(u, -1))
        right += dt / 2 * force * (given[k] + given[k + 1])
        right[0] = right[0] if is_flux else given[k + 1]
        values.append(solve_banded((1, 1), matrix, right))
    return RectBivariateSpline(
        times[::4], np.linspace(0, 1, nodes), np.array(values)[::4], kx=1, ky=1
    )


def profile(y):
    """Lopsided."""
    return np.sin(np.pi * y) * (1 + 0.8 * np.sin(2 * np.pi * y))


def channel(x, y):
    """The sine series of the channel, whose waves decay downstream."""
    k, fine, speed, diffusivity = np.pi * np.arange(1, 80), np.linspace(0, 1, 4001), 4.0, 0.1
    amplitude = 2 * np.trapezoid(profile(fine) * np.sin(np.outer(k, fine)), fine, axis=1)
    rate = (speed - np.sqrt(speed**2 + 4 * diffusivity**2 * k**2)) / (2 * diffusivity)
    return np.sum(amplitude * np.exp(np.outer(x, rate)) * np.sin(np.outer(y, k)), axis=1)


def noisy(points, values, axes, seed):
    """Readings of u with noise relative to their spread."""
    values = values + NOISE * values.std() * np.random.default_rng(seed + 100).standard_normal(
        len(values)
    )
    return pgt.Observations.from_arrays(dict(zip(axes, points.T, strict=True)), {"u": values})


def of_source(seed: int) -> dict:
    points = np.random.default_rng(seed).uniform(size=(60, 2))
    readings = noisy(points, rod(*points.T), "xt", seed)
    pde = pgt.Equation("u_t = D*u_xx + q", D=DIFFUSIVITY, q=pgt.UnknownFunction("x"))
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    known = [pgt.Initial(u=0), pgt.Dirichlet(axis="x", u=0)]
    return measured(readings, pde, domain, known, seed, "q", lambda at: source(at.x.to_numpy()))


def of_rod(k, seed: int) -> dict:
    points = np.random.default_rng(seed).uniform(size=(60, 1))
    readings = noisy(points, steady_rod(points[:, 0], k), "x", seed)
    unknown = pgt.UnknownFunction("x", positive=True, initial=1.0)
    pde = pgt.Equation("div(k*grad(u)) + heat = 0", coords=("x",), k=unknown, heat=HEAT)
    known = [pgt.Dirichlet("x", u=0.0)]
    return measured(
        readings, pde, pgt.Domain(x=(0, 1)), known, seed, "k", lambda at: k(at.x.to_numpy())
    )


def of_conductivity(seed: int) -> dict:
    points = np.random.default_rng(seed).uniform(size=(200, 2))
    readings = noisy(points, plate()(*points.T, grid=False), "xy", seed)
    k = pgt.UnknownFunction("x", "y", positive=True, initial=1.0)
    pde = pgt.Equation("div(k*grad(u)) + heat = 0", coords=("x", "y"), k=k, heat=HEAT)
    domain = pgt.Domain(x=(0, 1), y=(0, 1))

    def true(at):
        return conductivity(at.x.to_numpy()[None], at.y.to_numpy()[:, None])

    return measured(readings, pde, domain, [pgt.Dirichlet(u=0)], seed, "k", true)


def of_line(left, is_flux, speed, seed: int) -> dict:
    diffusivity = 0.02 if speed else DIFFUSIVITY
    times, places = np.meshgrid(np.arange(1, 16) / 15, [0.1, 0.25, 0.5, 0.8])
    points = np.stack([places.ravel(), times.ravel()], axis=1)
    values = line(left, is_flux, speed, diffusivity)(points[:, 1], points[:, 0], grid=False)
    pde = pgt.Equation("u_t + c*u_x = D*u_xx", c=float(speed), D=diffusivity)
    end, start = (
        (pgt.Neumann if speed else pgt.Dirichlet),
        (pgt.Neumann, pgt.Dirichlet)[not is_flux],
    )
    known = [
        pgt.Initial(u=0.0), end("x", side="upper", u=0.0),
        start("x", side="lower", u=pgt.UnknownFunction("t")),
    ]  # fmt: skip
    domain, readings = pgt.Domain(x=(0, 1), t=(0, 1)), noisy(points, values, "xt", seed)
    return measured(
        readings, pde, domain, known, seed, "x_lower_u", lambda at: left(at.t.to_numpy())
    )


def of_inlet(seed: int) -> dict:
    points = np.random.default_rng(seed).uniform((0.05, 0), (1, 1), size=(60, 2))
    readings = noisy(points, channel(*points.T), "xy", seed)
    pde = pgt.Equation("c*u_x = D*(u_xx + u_yy)", c=4.0, D=0.1)
    known = [
        pgt.Dirichlet("y", u=0.0),
        pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("y")),
    ]
    domain = pgt.Domain(x=(0, 1), y=(0, 1))
    return measured(
        readings, pde, domain, known, seed, "x_lower_u", lambda at: profile(at.y.to_numpy())
    )


def measured(readings, pde, domain, known, seed, name, true) -> dict:
    """One fit: the relative error of the function, and the share of it inside the band of 90 %."""
    began = time.monotonic()
    result = pgt.reconstruct(
        readings, pde, domain, known, error_bars=pgt.Posterior(), seed=seed, progress=False
    )
    seconds = time.monotonic() - began
    found = result.functions(QUANTILES, **dict.fromkeys(domain.axes, 61))
    truth = true(found)
    low, high = (found[f"{name}_{end}"] for end in ("q05", "q95"))
    return {
        "seed": seed,
        "rel_l2": float(np.linalg.norm(found[name] - truth) / np.linalg.norm(truth)),
        "inside": float(((low <= truth) & (truth <= high)).mean()),
        "seconds": seconds,
        "model": result.summary["model"],
        "commit": provenance()["commit"],  # draws may be measured at different times
    }


CASES = {
    "source": of_source,
    "step": partial(of_rod, step),
    "waves": partial(of_rod, waves),
    "bump": partial(of_rod, bump),
    "conductivity": of_conductivity,
    "wall": partial(of_line, smooth, False, 0),
    "kink": partial(of_line, kink, False, 0),
    "flux": partial(of_line, ramp, True, 0),
    "inflow": partial(of_line, smooth, False, 1),
    "inlet": of_inlet,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    path = options.out / "unknown-functions.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    record = provenance() | {name: stored[name] for name in CASES if name in stored}
    for name in options.case or CASES:
        record[name] = []
        for seed in range(options.seeds):
            record[name].append(CASES[name](seed))
            print(name, json.dumps(record[name][-1]), flush=True)
        path.write_text(json.dumps(record, indent=1) + "\n")  # cases that were not asked for stay


if __name__ == "__main__":
    main()
