"""Vortices that decay in space: u, v, w and a hidden p from scattered readings of u, v and w.

    python benchmarks/dns_3d.py --seconds 150 --out folder                    # a GPU
    python benchmarks/dns_3d.py --models siren pgt --seconds 45 --out folder  # large networks by SOAP
    python benchmarks/dns_3d.py --tiny --out folder                           # in small, a CPU

The truth is computed here: Fourier modes on 48³ nodes of a periodic box of length 2π, without aliasing,
viscosity exact and the rest by Runge and Kutta. It is checked before it is used: an ABC flow, which is an
exact solution, has to decay as it should, and the energy of the flow to fall by what viscosity takes.
Taylor and Green's vortex at Re = 100 for two turnovers (of unit speed over unit length, 1/k) is no exact
solution: w is zero at first, and at last 4 % of the velocity is in waves shorter than a fifth of the box.
Readings lie anywhere in space, at one of 101 instants, with noise of 1 % of each field's spread. Errors
are relative L2 on a grid; p is compared less its mean at every instant, which the equations leave open,
and so are its bands. A large network is compiled before its seconds begin, which may take longer than
they do; the default's include it. Leaves `dns-3d.json`.
"""

import argparse
import dataclasses
import json
import time
from pathlib import Path

import numpy as np
from periodic_flow import FIELDS, LENGTH, SPACE, STARTS, Truth, checks, relative

import pgt
from pgt.core.provenance import provenance
from pgt.core.stage import stages_of

RESULTS = Path(__file__).parent / "results"
QUANTILES = 0.05, 0.95
EVERY = 10  # instants, where the fields are compared
ASKED = 500  # places where bands are judged, at every tenth instant
ANCHORS = 64  # that gather the readings of a PGT
MORE = 1.15  # times the seconds of a fit: with its error bars, and what they are judged by


def scattered(truth: Truth, count: int, seed: int):
    """Points (x, y, z, t) anywhere, and the fields there."""
    rng = np.random.default_rng(seed)
    places, instants = (
        rng.uniform(0, LENGTH, (count, 3)),
        rng.integers(len(truth.times), size=count),
    )
    return np.column_stack([places, truth.times[instants]]), truth.at(places, instants)


def readings_of(truth: Truth, count: int, noise: float, seed: int) -> pgt.Observations:
    points, values = scattered(truth, count, seed)
    velocity = values[:, :3]
    rng = np.random.default_rng(seed + 1)
    noisy = velocity + noise * velocity.std(0) * rng.standard_normal(velocity.shape)
    where = dict(zip((*SPACE, "t"), points.T, strict=True))
    return pgt.Observations.from_arrays(where, dict(zip("uvw", noisy.T, strict=True)))


def fit(readings, truth: Truth, name: str, options, **budget):
    """The result, by default or with a large network that SOAP trains."""
    side, last = (0, LENGTH), float(truth.times[-1])
    domain = pgt.Domain(x=side, y=side, z=side, t=(0, last), periodic=SPACE)
    pde = pgt.NavierStokes3D(truth.viscosity)
    model, training = None, pgt.Training(**(budget or {"seconds": options.seconds}))
    if name != "default":
        model = MODELS[name](readings.aligned(pde.fields), pde, domain, options)
        training = dataclasses.replace(training, collocation=options.collocation, polish=False)
    return pgt.reconstruct(
        readings, pde, domain, model=model, training=training, seed=options.seed, progress=False,
        error_bars=pgt.Posterior() if options.bands else None,
    )  # fmt: skip


def _siren(readings, pde, domain, options):
    scaling = pgt.Scaling.fit(readings, domain)
    return pgt.SIREN(
        scaling, width=options.width, layers=4, frequency=options.frequency, seed=options.seed
    )


def _pgt(readings, pde, domain, options):
    return pgt.PGT.for_problem(
        readings, pde, domain, seed=options.seed, decoder_width=options.width, decoder_layers=4,
        frequency=options.frequency, anchors=ANCHORS,
    )  # fmt: skip


MODELS = {"default": None, "siren": _siren, "pgt": _pgt}


def errors(result, truth: Truth, coarse: int) -> dict[str, float]:
    """Relative L2 of every field on the grid."""
    true = truth.gridded(EVERY, coarse)
    axes = {axis: true[axis].to_numpy() for axis in ("t", *SPACE)}
    found = result.grid(list(FIELDS), **axes).transpose("t", *SPACE)
    found, true = (part.assign(p=part.p - part.p.mean(SPACE)) for part in (found, true))
    return {name: relative(found[name].to_numpy(), true[name].to_numpy()) for name in FIELDS}


def inside(result, truth: Truth, seed: int) -> dict[str, float]:
    """The share of places where the truth lies in the band of 90 % of the members."""
    there = np.random.default_rng(seed + 2).uniform(0, LENGTH, (ASKED, 3))
    held = []
    for instant in range(EVERY // 2, len(truth.times), EVERY):
        moment = np.full(ASKED, instant)
        points = np.column_stack([there, truth.times[moment]])
        said = result.evaluation.members_at(points)
        members = np.stack([said[name] for name in FIELDS], axis=-1)
        true = truth.at(there, moment)
        for part in (members, true):
            part[..., 3] -= part[..., 3].mean(-1, keepdims=True)
        low, high = np.quantile(members, QUANTILES, axis=0)
        held.append(((low <= true) & (true <= high)).mean(0))
    return dict(zip(FIELDS, np.mean(held, axis=0).tolist(), strict=True))


def compiled(readings, truth: Truth, name: str, options) -> float:
    """Seconds until a large network can take steps."""
    began = time.monotonic()
    if name != "default":
        fit(readings, truth, name, options, steps=2)
    return time.monotonic() - began


def measured(readings, truth: Truth, name: str, options) -> dict:
    waited = compiled(readings, truth, name, options)
    print(f"{name}: {waited:.0f} s to compile, {options.seconds:.0f} s of steps begin", flush=True)
    began = time.monotonic()
    result = fit(readings, truth, name, options)
    seconds, record = time.monotonic() - began, result.record
    found = errors(result, truth, options.coarse) | {
        "seconds": seconds,
        "compile_seconds": waited,
        "model": record["model"],
        "expected": {name: part["value"] for name, part in (record["field_error"] or {}).items()},
        "held_out": record["held_out_error"],
        "steps": int(result.history.step.to_numpy().max(initial=0)),
        "iterations": [stage.iterations for stage in stages_of(record)],
        "parameter_count": record["parameter_count"],
    }
    return (
        found if result.members is None else found | {"inside": inside(result, truth, options.seed)}
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flow", choices=("taylor-green", "mixed"), default="taylor-green")
    parser.add_argument("--nodes", type=int, default=48)
    parser.add_argument("--viscosity", type=float, default=0.01)
    parser.add_argument("--duration", type=float, default=2.0)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--seconds", type=float, default=150.0, help="of each fit")
    parser.add_argument(
        "--budget", type=float, default=600.0, help="no fit begins that would end later"
    )
    parser.add_argument("--models", choices=MODELS, nargs="+", default=["default"])
    parser.add_argument("--width", type=int, default=256, help="of large networks")
    parser.add_argument("--frequency", type=float, default=8.0, help="of their first layer")
    parser.add_argument("--collocation", type=int, default=4000, help="points of their steps")
    parser.add_argument("--bands", action="store_true", help="with error bars, by the default")
    parser.add_argument("--coarse", type=int, default=2, help="compare at every so many nodes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tiny", action="store_true", help="16³ nodes, 200 readings, 30 seconds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.tiny:
        options.nodes, options.samples, options.seconds, options.viscosity = 16, 200, 30.0, 0.05
        options.width, options.collocation = 8, 50
    return options


def main() -> None:
    options = parsed()
    began = time.monotonic()
    times = np.linspace(0, options.duration, 101)
    truth = Truth.of(STARTS[options.flow], options.nodes, options.viscosity, times)
    about = {name: value for name, value in vars(options).items() if name != "out"}
    record = provenance() | {"settings": about, "truth": checks(truth), "fits": {}}
    print(f"truth {time.monotonic() - began:.0f} s", record["truth"], flush=True)
    readings = readings_of(truth, options.samples, options.noise, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.models:
        if time.monotonic() - began + MORE * options.seconds > options.budget:
            print(f"{name}: no time is left for it", flush=True)
            break
        found = record["fits"][name] = measured(readings, truth, name, options)
        shown = "  ".join(f"{key} {found[key]:.1e}" for key in (*FIELDS, "held_out"))
        effort = f"{found['seconds']:.0f} s, {found['steps']} steps {found['iterations']}"
        print(f"{name}: {shown}  {effort} {found.get('inside', '')}", flush=True)
        (options.out / "dns-3d.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
