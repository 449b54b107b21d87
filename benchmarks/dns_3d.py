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
and so are its bands. Leaves `dns-3d.json`.
"""

import argparse
import dataclasses
import json
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

import pgt
from pgt.ground.provenance import provenance

RESULTS = Path(__file__).parent / "results"
SPACE, FIELDS = ("x", "y", "z"), ("u", "v", "w", "p")
LENGTH, QUANTILES = 2 * np.pi, (0.05, 0.95)
EVERY = 10  # instants, where the fields are compared
ASKED = 500  # places where bands are judged, at every tenth instant
STEP = 0.01  # of time, at most
ANCHORS = 64  # that gather the readings of a PGT
MORE = 1.15  # times the seconds of a fit: with its error bars, and what they are judged by


# ------------------------------------------------------------------------------------ the truth


class Waves(NamedTuple):
    """The wavenumbers of a box with so many nodes along each axis, and the modes that are kept: products
    of the others come back as waves that they are not."""

    nodes: int

    @property
    def numbers(self):
        n = self.nodes
        whole = np.fft.fftfreq(n, 1 / n)
        return np.stack(np.meshgrid(whole, whole, np.arange(n // 2 + 1.0), indexing="ij"))

    @property
    def square(self):
        """Of the wavenumbers; 1 for the mean, which no derivative sees."""
        square = (self.numbers**2).sum(0)
        return np.where(square > 0, square, 1.0)

    @property
    def kept(self):
        return (3 * np.abs(self.numbers) < self.nodes).all(0)

    def spectrum(self, values):
        return jnp.fft.rfftn(values, axes=(-3, -2, -1)) * self.kept

    def values(self, modes):
        return jnp.fft.irfftn(modes, (self.nodes,) * 3, axes=(-3, -2, -1))

    def grid(self):
        """x, y and z of every node."""
        along = LENGTH * np.arange(self.nodes) / self.nodes
        return np.meshgrid(along, along, along, indexing="ij")


def taylor_green(x, y, z):
    return np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0 * x


def abc(x, y, z):
    """Its curl is the flow itself, so that it decays and does nothing else."""
    a, b, c = 1.0, 0.8, 0.6
    return (
        a * np.sin(z) + c * np.cos(y), b * np.sin(x) + a * np.cos(z), c * np.sin(y) + b * np.cos(x),
    )  # fmt: skip


def mixed(x, y, z):
    """Both together, which has no symmetry left."""
    parts = zip(taylor_green(x, y, z), abc(x, y, z), strict=True)
    return tuple(one + 0.4 * other for one, other in parts)


STARTS = {"taylor-green": taylor_green, "mixed": mixed, "abc": abc}


def pushed(waves: Waves, modes):
    """What carries the flow: u × ω, without the part that pressure takes away."""
    k = jnp.asarray(waves.numbers)
    curl = 1j * jnp.cross(k, modes, axis=0)
    rate = waves.spectrum(jnp.cross(waves.values(modes), waves.values(curl), axis=0))
    return rate - k * (k * rate).sum(0) / waves.square


def step(waves: Waves, viscosity: float, dt: float, modes):
    """One of Runge and Kutta's, in modes from which the decay is taken out."""
    half = jnp.exp(-viscosity * waves.square * dt / 2)
    rate = partial(pushed, waves)
    first = rate(modes)
    second = rate(half * (modes + dt / 2 * first))
    third = rate(half * modes + dt / 2 * second)
    fourth = rate(half**2 * modes + dt * half * third)
    middle = 2 * half * (second + third)
    return half**2 * modes + dt / 6 * (half**2 * first + middle + fourth)


def evolved(waves: Waves, start, viscosity: float, times):
    """The modes of u, v and w at evenly spaced times."""
    between = float(times[1] - times[0])
    count = int(np.ceil(between / STEP))

    @jax.jit
    def onwards(modes, _):
        after = jax.lax.fori_loop(
            0, count, lambda _, m: step(waves, viscosity, between / count, m), modes
        )
        return after, after

    with jax.enable_x64(True):
        first = waves.spectrum(jnp.stack([jnp.asarray(part) for part in start]))
        _, later = jax.lax.scan(onwards, first, None, length=len(times) - 1)
        return np.concatenate([np.asarray(first)[None], np.asarray(later)])


def pressure(waves: Waves, modes):
    """Of one instant, with mean zero: ∇²p = -∂ᵢ∂ⱼ uᵢuⱼ."""
    with jax.enable_x64(True):
        k, velocity = waves.numbers, waves.values(jnp.asarray(modes))
        products = waves.spectrum(velocity[:, None] * velocity[None])
        return np.asarray(-jnp.einsum("iabc,jabc,ijabc->abc", k, k, products) / waves.square)


class Truth(NamedTuple):
    """Modes of u, v, w and p at some instants."""

    waves: Waves
    viscosity: float
    times: np.ndarray
    modes: np.ndarray  # (instants, 4, ...)

    @staticmethod
    def of(start, nodes: int, viscosity: float, times) -> "Truth":
        waves = Waves(nodes)
        modes = evolved(waves, start(*waves.grid()), viscosity, times)
        last = [pressure(waves, instant)[None] for instant in modes]
        return Truth(waves, viscosity, times, np.concatenate([modes, np.stack(last)], axis=1))

    def at(self, places, instants):
        """u, v, w and p at places in space, each at the instant of that number: the sum of all waves."""
        values, n = np.empty((len(places), len(FIELDS))), self.waves.nodes
        kx, ky, kz = (self.waves.numbers[axis] for axis in range(3))
        along = kx[:, 0, 0], ky[0, :, 0], kz[0, 0]
        twice = np.where(
            (along[2] == 0) | (2 * along[2] == n), 1.0, 2.0
        )  # conjugates are not stored
        for instant in np.unique(instants):
            rows = instants == instant
            x, y, z = (np.exp(1j * places[rows, axis, None] * k) for axis, k in enumerate(along))
            found = np.einsum("fabc,mc->fmab", self.modes[instant], z * twice, optimize=True)
            found = np.einsum("fmab,mb->fma", found, y, optimize=True)
            values[rows] = np.einsum("fma,ma->mf", found, x, optimize=True).real / n**3
        return values

    def gridded(self, every: int, coarse: int) -> xr.Dataset:
        """On every so many nodes of each axis, and every so many instants."""
        axis = LENGTH * np.arange(0, self.waves.nodes, coarse) / self.waves.nodes
        modes = self.modes[::every]
        with jax.enable_x64(True):
            values = np.stack([np.asarray(self.waves.values(jnp.asarray(m))) for m in modes])
        values = values[:, :, ::coarse, ::coarse, ::coarse]
        axes = {"t": self.times[::every], **dict.fromkeys(SPACE, axis)}
        parts = {name: (("t", *SPACE), values[:, k]) for k, name in enumerate(FIELDS)}
        return xr.Dataset(parts, axes)

    def energy(self):
        """Mean of |u|²/2, and the rate at which viscosity takes it, at every instant."""
        once = self.waves.numbers[2] * 2 % self.waves.nodes == 0
        weight = np.where(once, 1.0, 2.0) / self.waves.nodes**6
        square = (np.abs(self.modes[:, :3]) ** 2).sum(1) * weight / 2
        taken = 2 * self.viscosity * (square * (self.waves.numbers**2).sum(0))
        return square.sum((1, 2, 3)), taken.sum((1, 2, 3))


def checks(truth: Truth) -> dict[str, float]:
    """How far an ABC flow is from its own decay, p included, and the energy from what viscosity left."""
    start, times = abc(*truth.waves.grid()), truth.times[:11]
    found = Truth.of(abc, truth.waves.nodes, truth.viscosity, times).gridded(10, 1).isel(t=-1)
    decayed = np.exp(-truth.viscosity * times[-1])
    square = np.sum(np.square(start), axis=0) / 2
    exact = dict(zip("uvw", (decayed * part for part in start), strict=True))
    exact["p"] = decayed**2 * (square.mean() - square)
    wrong = {name: relative(found[name].to_numpy(), part) for name, part in exact.items()}
    energy, taken = truth.energy()
    lost = np.trapezoid(taken, truth.times)
    balance = abs(energy[0] - energy[-1] - lost) / energy[0]
    return {"abc": max(wrong.values()), "energy_balance": float(balance)}


# -------------------------------------------------------------------------------------- the fit


def relative(found, true) -> float:
    """‖found − true‖ / ‖true‖."""
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))


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


def fit(readings, truth: Truth, name: str, options):
    """The result, by default or with a large network that SOAP trains."""
    side, last = (0, LENGTH), float(truth.times[-1])
    domain = pgt.Domain(x=side, y=side, z=side, t=(0, last), periodic=SPACE)
    pde = pgt.NavierStokes3D(truth.viscosity)
    model, training = None, pgt.Training(seconds=options.seconds)
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
    return pgt.default_model(
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


def measured(readings, truth: Truth, name: str, options) -> dict:
    began = time.monotonic()
    result = fit(readings, truth, name, options)
    seconds, record = time.monotonic() - began, result.record
    found = errors(result, truth, options.coarse) | {
        "seconds": seconds,
        "model": record["model"],
        "expected": {name: part["value"] for name, part in (record["field_error"] or {}).items()},
        "held_out": record["held_out_error"],
        "steps": int(result.history.step.to_numpy().max(initial=0)),
        "iterations": [len(stage) - 1 for stage in record["polish_costs"]],
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
        "--budget", type=float, default=np.inf, help="no fit begins that would end later"
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
            break
        found = record["fits"][name] = measured(readings, truth, name, options)
        shown = "  ".join(f"{key} {found[key]:.1e}" for key in (*FIELDS, "held_out"))
        effort = f"{found['seconds']:.0f} s, {found['steps']} steps {found['iterations']}"
        print(f"{name}: {shown}  {effort} {found.get('inside', '')}", flush=True)
        (options.out / "dns-3d.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
