"""How often the verdict, and with it the exit code of `pgt fit`, is right: 60 fits whose truth is known.

    python benchmarks/verdicts.py                       # writes benchmarks/results/verdicts.json
    python benchmarks/verdicts.py --seed 1 --only noise # other draws, one kind
    python benchmarks/verdicts.py --other               # other equations: verdicts-other.json
    python benchmarks/verdicts.py --other --seconds 900 # as many as there is time for

The verdict was made with the first set in view; the equations and draws of the other were looked at
only after it was as it is. All of the other set are solved in closed form, by sums of sines.

Four kinds. `noise`: noisy readings and enough of everything; right is exit code 0. `short`: too few
iterations, too few steps or too small a model; `wrong`: coefficients 100 times too large or too small;
`unread`: readings in a part of the domain only, and no condition; right is another exit code.

The truth decides which kind a fit is of: one of `noise` whose field misses the truth by more than the
noise, or one of `short` and `unread` that misses it by less than twice the noise (or than 2 %, where
there is little), is counted apart, as not what it was meant to be.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import xarray as xr

import pgt
from pgt.core.provenance import provenance

RESULTS = Path(__file__).parent / "results"
KINDS = {"noise": 20, "short": 20, "wrong": 10, "unread": 10}
LEVEL = {
    "heat": (0.0, 1.0),
    "wave": (0.0, 1.0),
    "burgers": (0.0, 1.0),
    "pressure": (101325.0, 10.0),
}


@dataclass(frozen=True)
class Case:
    """One fit: what was read, how it is fitted, and what is wrong about it."""

    kind: str
    field: str
    model: str
    noise: float = 0.1
    readings: int = 80
    iterations: int = 120
    steps: int | None = None
    width: int = 8
    factor: float = 1.0  # of the coefficient
    part: float = 1.0  # of every axis that is read
    seed: int = 0


def cases(seed: int) -> Iterator[Case]:
    """60 of them; another seed draws other readings and noise."""
    for k in range(20):
        field, noise = (
            ("heat", "burgers", "wave", "pressure")[k % 4],
            (0.05, 0.1, 0.2, 0.1, 0.05)[k % 5],
        )
        solved = k % 2 == 0 and field != "burgers"
        yield Case("noise", field, "sines" if solved else "network", noise, seed=seed + k)
    for k in range(20):
        field = ("heat", "burgers", "wave", "pressure")[k % 4]
        short = (
            {"iterations": 4}, {"iterations": 8}, {"width": 2}, {"steps": 60},
            {"model": "sines", "width": 4},
        )[k % 5]  # fmt: skip
        if field == "burgers" and short.get("model"):
            short = {"iterations": 6}
        yield replace(Case("short", field, "network", seed=seed + 20 + k), **short)
    for k in range(10):
        field, factor = ("heat", "pressure", "burgers")[k % 3], (100.0, 0.01)[k % 2]
        model = "sines" if k % 2 and field != "burgers" else "network"
        noise = (0.0, 0.05)[k // 5]
        yield Case("wrong", field, model, noise, factor=factor, seed=seed + 40 + k)
    for k in range(10):
        field = ("heat", "wave", "burgers")[k % 3]
        model = "network" if field == "burgers" or k % 4 == 3 else "sines"
        noise, part = (0.0, 0.02)[k % 2], (0.5, 0.4)[k // 5]
        yield Case("unread", field, model, noise, 40, part=part, seed=seed + 50 + k)


def other_cases(seed: int) -> Iterator[Case]:
    """60 more of other equations, their kinds in turn: any number of them is a fair sample."""
    fields, wrong = tuple(OTHERS), (100.0, 0.01, 10.0)
    for k in range(20):
        own = Case("noise", fields[k % 3], "sines", (0.05, 0.1, 0.2, 0.15)[k % 4], seed=seed + k)
        yield own
        yield replace(own, kind="short", noise=0.1, width=(4, 6)[k % 2], seed=seed + 100 + k)
        if k % 2:
            yield replace(own, kind="wrong", noise=0.05, factor=wrong[k // 2 % 3])
        else:
            part, noise = (0.5, 0.4)[k // 2 % 2], (0.0, 0.02)[k // 4 % 2]
            yield replace(own, kind="unread", noise=noise, readings=40, part=part)


def _drift(x, t):
    return np.exp(-0.02 * (2 * np.pi) ** 2 * t) * np.sin(2 * np.pi * (x - t))


def _decay(x, t):
    return np.exp(-(0.05 * np.pi**2 + 1) * t) * np.sin(np.pi * x) + 0.5 * np.exp(
        -(0.05 * (3 * np.pi) ** 2 + 1) * t
    ) * np.cos(3 * np.pi * x)


def _klein(x, t):
    return np.sin(2 * np.pi * x) * np.cos(np.sqrt((2 * np.pi) ** 2 + 9) * t)


# Exact fields over the unit square, and their equations by a factor of a coefficient.
OTHERS: dict[str, tuple[Callable, Callable]] = {
    "drift": (_drift, lambda c: pgt.AdvectionDiffusion(velocity=(c,), diffusivity=0.02)),
    "decay": (_decay, lambda c: pgt.Equation("u_t = d*u_xx - u", d=0.05 * c)),
    "klein": (_klein, lambda c: pgt.Equation("u_tt = c*u_xx - 9*u", c=1.0 * c)),
}


def _other(case: Case) -> tuple[xr.Dataset, Callable]:
    field, equation = OTHERS[case.field]
    axes = {"t": np.linspace(0, 1, 41), "x": np.linspace(0, 1, 61)}
    t, x = np.meshgrid(*axes.values(), indexing="ij")
    return xr.Dataset({"u": (("t", "x"), field(x, t))}, axes), equation


def truth_of(case: Case) -> tuple[xr.Dataset, Callable]:
    """The field on a grid, and its equation by coefficient."""
    if case.field in OTHERS:
        return _other(case)
    if case.field == "burgers":
        return pgt.datasets.burgers(0.05, 61, 41), lambda c: pgt.Burgers(0.05 * c)
    if case.field == "wave":
        return pgt.datasets.travelling_wave(1.0, 61, 41), lambda c: pgt.Wave(c)
    zero, unit = LEVEL[case.field]
    field = pgt.datasets.heat({1: 1.0, 2: 0.5}, diffusivity=0.1, x=61, t=41)
    return zero + unit * field, lambda c: pgt.Heat(0.1 * c)


def fitted(case: Case) -> tuple[pgt.Reconstruction, xr.Dataset]:
    """The fit of a case, and its truth."""
    truth, equation = truth_of(case)
    x, t = ((float(truth[a].min()), float(truth[a].max())) for a in ("x", "t"))
    domain = pgt.Domain(x=x, t=t)
    low = {a: domain.bounds(a)[0] + case.part * np.ptp(domain.bounds(a)) for a in ("x", "t")}
    read = truth.sel({a: slice(None, low[a]) for a in ("x", "t")})
    given = pgt.sample(read, case.readings, noise=case.noise * float(truth.u.std() / read.u.std()),
                       seed=case.seed)  # fmt: skip
    readings = pgt.Observations.from_arrays(
        np.asarray(given.points), np.asarray(given.values), coords=given.coords, fields=given.fields
    )
    scaling = pgt.Scaling.fit(readings, domain)
    if case.model == "sines":
        small = case.kind == "short"
        model = pgt.Features(
            scaling, **({"count": case.width, "band": 3.0} if small else {"count": 200})
        )
        training = pgt.Training()
    else:
        model = pgt.PINN(scaling, width=case.width, layers=2, seed=case.seed)
        polish = pgt.Polish(iterations=case.iterations, points=300)
        training = pgt.Training(polish=polish)
        if case.steps is not None:
            training = pgt.Training(steps=case.steps, collocation=100, check_every=10, polish=False)
    result = pgt.reconstruct(
        readings, equation(case.factor), domain, model=model, training=training, seed=case.seed
    )
    return result, truth


def judged(case: Case) -> dict:
    """What was said of a fit, beside what is true."""
    began = time.monotonic()
    result, truth = fitted(case)
    field = result.grid(x=truth.x.to_numpy(), t=truth.t.to_numpy()).u
    wrong = field - truth.u.transpose(*field.dims)
    error = float(np.sqrt((wrong**2).mean()) / truth.u.std())
    evidence = result.evidence()
    verdict = result.verdict()
    found = verdict.held_out.get("u")
    return asdict(case) | {
        "error": error,
        "as_meant": is_as_meant(case, error),
        "exit_code": verdict.exit_code,
        "converged": verdict.converged,
        "doubts": list(verdict.kinds),
        "held_out": found and found.of_spread,
        "interpolation": found and found.interpolated_of_spread,
        "residual": max(evidence.relative_residuals.values(), default=0.0),
        "expected": {n: e.value for n, e in verdict.field_error.items()}.get("u"),
        "seconds": time.monotonic() - began,
    }


def is_as_meant(case: Case, error: float) -> bool:
    """Whether a fit is of the kind that it was meant to be; a wrong equation is wrong however well
    readings are followed in spite of it."""
    if case.kind == "noise":
        return error <= case.noise
    return case.kind == "wrong" or error > max(2 * case.noise, 0.02)


def is_right(row: dict) -> bool:
    """Whether the exit code says what is true of the fit."""
    return (row["exit_code"] == 0) == (row["kind"] == "noise")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=list(KINDS))
    parser.add_argument("--other", action="store_true", help="other equations")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none later")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    name = "verdicts-other.json" if options.other else "verdicts.json"
    rows, began = [], time.monotonic()
    for case in (other_cases if options.other else cases)(1000 * options.seed):
        late = time.monotonic() - began > options.seconds
        if late or options.only not in (None, case.kind):
            continue
        rows.append(judged(case))
        print(
            {k: round(v, 4) if isinstance(v, float) else v for k, v in rows[-1].items()}, flush=True
        )
    meant = [row for row in rows if row["as_meant"]]
    counts = {
        kind: {
            "fits": sum(r["kind"] == kind for r in rows),
            "as_meant": sum(r["kind"] == kind for r in meant),
            "right": sum(r["kind"] == kind and is_right(r) for r in meant),
        }
        for kind in KINDS
    }
    share = sum(is_right(r) for r in meant) / max(len(meant), 1)
    summary = {"seed": options.seed, "right": share, "kinds": counts}
    print(summary)
    record = provenance() | summary | {"fits": rows}
    (options.output or RESULTS / name).write_text(
        json.dumps(record, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
