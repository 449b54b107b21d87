"""What makes it an instrument: hidden pressure, unknown coefficients and error bars, measured.

    python benchmarks/instrument.py list
    python benchmarks/instrument.py pressure pressure-noise viscosity viscosity-noise     # a GPU
    python benchmarks/instrument.py bands-heat

Every case leaves one JSON file, as those of core.py do. The wake is that of core.py, with u and v
sampled at random and p never shown.
"""

import time

import numpy as np
from core import WAKE, WAKE_GPU_MODEL, in_processes, run_cases, summary

import pgt
from pgt import Unknown
from pgt.physics import Heat, NavierStokes2D

VISCOSITY = 0.01
SAMPLES = 1500
HEAT = pgt.Domain(x=(0, 1), t=(0, 1))
HEAT_READINGS, HEAT_NOISE = 100, 0.05
WAKE_NOISE, MEMBERS = 0.05, 8
LEVEL = 0.9
UNSEEN = 2000  # points at which bands are held against the truth


# ------------------------------------------------------------------------------------- flow


def wake_truth():
    """p less its mean per snapshot: what u and v can tell of it."""
    truth = pgt.datasets.cylinder_wake()
    return truth.assign(p=pgt.metrics.remove_mean(truth.p))


def flow_case(
    pde=None, conditions=(), *, noise=0.0, samples=SAMPLES, seed=0, error_bars=None, model=None,
    **training,
):  # fmt: skip
    """u and v at random places and times; errors of all fields, p less its mean per snapshot."""
    truth = wake_truth()
    pde = pde or NavierStokes2D(VISCOSITY)
    readings = pgt.sample(truth, samples, fields=("u", "v"), noise=noise, seed=seed)
    scaling = pgt.Scaling.fit(readings.aligned(pde.fields), WAKE)

    def network(seed):
        return pgt.PGT(scaling, pde.kernel(), seed=seed, **(model or WAKE_GPU_MODEL))

    settings = pgt.Training(
        hold_out=0.1 if noise or error_bars else 0.0,
        **(training or {"seconds": 100.0, "collocation": 2000}),
    )
    began = time.monotonic()
    result = pgt.reconstruct(
        readings, pde, WAKE, conditions, model=network, training=settings, seed=seed,
        error_bars=error_bars,
    )  # fmt: skip
    spent = time.monotonic() - began
    about = {"seed": seed, "noise": noise, "samples": samples, "seconds": spent}
    found = about | flow_errors(result, truth) | {"coefficients": result.parameters}
    return result, found | summary(result)


def flow_errors(result, truth) -> dict:
    """Relative L2 errors at the middle snapshot and over all of them."""
    place = {"x": truth.x.values, "y": truth.y.values}
    names = ["u", "v", "p"]
    errors = {}
    for name, part in (("snapshot", truth.isel(t=[100])), ("volume", truth)):
        field = result.grid(**place, t=part.t.values)[names]
        errors[name] = pgt.metrics.relative_l2(
            part[names], field.assign(p=pgt.metrics.remove_mean(field.p))
        )
    return errors


def coefficients_case(starts: dict[str, float], truths: dict[str, float], **options):
    """Unknown coefficients of the flow; errors are relative to the true values."""
    unknown = {name: Unknown(start, positive=True) for name, start in starts.items()}
    result, found = flow_case(NavierStokes2D(**({"viscosity": VISCOSITY} | unknown)), **options)
    wrong = {name: result.parameters[name] / true - 1 for name, true in truths.items()}
    return found | {"starts": starts, "relative_errors": wrong}


# ------------------------------------------------------------------------------------- bands


def bands(result, truth, readings_noise: dict[str, float], seed: int) -> dict:
    """Share of unseen points inside the bands: of the field itself, and of new noisy readings."""
    unseen = pgt.sample(truth, UNSEEN, seed=seed + 1000)
    values, points = np.asarray(unseen.values), np.asarray(unseen.points)
    noise = np.array([readings_noise.get(name, 0.0) for name in unseen.fields])
    drawn = values + noise * np.random.default_rng(seed).standard_normal(values.shape)
    found = {}
    for of, against in (("field", values), ("reading", drawn)):
        band = result.band(points, level=LEVEL, of=of)
        found[of] = {
            name: float(
                np.mean(
                    (against[:, k] >= band[f"{name}_lower"].to_numpy())
                    & (against[:, k] <= band[f"{name}_upper"].to_numpy())
                )
            )
            for k, name in enumerate(unseen.fields)
            if f"{name}_lower" in band  # a field that nobody reads has no band of readings
        }
    return found


def bands_heat_case(seeds=range(100, 110)):
    """Three modes, readings only; the posterior of the polish gives the bands.

    Draws count from 100 on: the posterior was tried on lower ones.
    """
    runs = list(in_processes(bands_heat_draw, seeds))
    return {"level": LEVEL, "noise": HEAT_NOISE, "readings": HEAT_READINGS, "runs": runs,
            "inside": mean_inside(runs)}  # fmt: skip


def mean_inside(runs: list[dict]) -> dict:
    """Share of points inside the bands, by kind of band and field, over all draws."""
    return {
        of: {name: float(np.mean([r["inside"][of][name] for r in runs])) for name in fields}
        for of, fields in runs[0]["inside"].items()
    }


def bands_heat_draw(seed: int) -> dict:
    truth = pgt.datasets.heat({1: 0.5, 3: 0.7, 5: -0.6})
    readings = pgt.sample(truth, HEAT_READINGS, noise=HEAT_NOISE, seed=seed)
    sigma = HEAT_NOISE * float(pgt.sample(truth, HEAT_READINGS, seed=seed).values.std())
    began = time.monotonic()
    result = pgt.reconstruct(
        readings,
        Heat(0.01),
        HEAT,
        model=pgt.PGT.for_problem(readings, Heat(0.01), HEAT, seed=seed),
        training=pgt.Training(steps=200, collocation=500, polish=pgt.Polish(evidence=True)),
        error_bars=pgt.Posterior(samples=64),
        seed=seed,
    )
    return {
        "seed": seed,
        "seconds": time.monotonic() - began,
        "rel_l2": pgt.metrics.relative_l2(truth, result.grid(x=101, t=101)[["u"]])["u"],
        "inside": bands(result, truth, {"u": sigma}, seed),
    }


def bands_wake_case(seeds=range(3), **options):
    """Eight members trained at once give the bands. Each has its own draw of the readings: members
    that were given the same noise would agree about it."""
    runs = [bands_wake_draw(seed, **options) for seed in seeds]
    return {"level": LEVEL, "noise": WAKE_NOISE, "members": MEMBERS, "runs": runs,
            "inside": mean_inside(runs)}  # fmt: skip


def bands_wake_draw(seed: int, **options) -> dict:
    truth = wake_truth()
    # A hidden field known up to a function of time has no band: p is given at one corner.
    gauge = pgt.Gauge(
        "p", at={"x": 8.0, "y": 2.0}, value=truth.p.sel(x=8.0, y=2.0, method="nearest")
    )
    error_bars = pgt.Ensemble(members=MEMBERS, bootstrap=True)
    result, found = flow_case(
        None, [gauge], noise=WAKE_NOISE, seed=seed, error_bars=error_bars, **options
    )
    spread = pgt.sample(truth, SAMPLES, fields=("u", "v"), seed=seed).values.std(axis=0)
    sigma = dict(zip(("u", "v"), (WAKE_NOISE * spread).tolist(), strict=True))
    return found | {"inside": bands(result, truth, sigma, seed)}


def ensemble_cost_case(members=MEMBERS, steps=300):
    """Seconds of training, the first step not counted: eight members beside one."""

    def seconds(error_bars):
        truth, pde = pgt.datasets.cylinder_wake(), NavierStokes2D(VISCOSITY)
        readings = pgt.sample(truth, SAMPLES, seed=0)
        scaling = pgt.Scaling.fit(readings.aligned(pde.fields), WAKE)
        result = pgt.reconstruct(
            readings,
            pde,
            WAKE,
            model=lambda seed: pgt.PGT(scaling, pde.kernel(), seed=seed, **WAKE_GPU_MODEL),
            training=pgt.Training(steps=steps, collocation=2000, polish=False),
            error_bars=error_bars,
        )
        return result.summary["seconds"] - result.summary["first_step_seconds"]

    one, all_of_them = seconds(None), seconds(pgt.Ensemble(members=members))
    return {"members": members, "steps": steps, "one": one, "all": all_of_them,
            "ratio": all_of_them / one}  # fmt: skip


CASES = {
    "pressure": lambda: flow_case()[1],
    "pressure-noise": lambda: flow_case(noise=0.05)[1],
    "viscosity": lambda: coefficients_case({"viscosity": 0.05}, {"viscosity": VISCOSITY}),
    "viscosity-noise": lambda: coefficients_case(
        {"viscosity": 0.05}, {"viscosity": VISCOSITY}, noise=0.01
    ),
    "two-coefficients": lambda: coefficients_case(
        {"convection": 0.5, "viscosity": 0.05},
        {"convection": 1.0, "viscosity": VISCOSITY},
        samples=5000,
    ),
    "bands-heat": bands_heat_case,
    "bands-wake": lambda: bands_wake_case(steps=4000, collocation=2000),
    "ensemble-cost": ensemble_cost_case,
}

if __name__ == "__main__":
    run_cases(CASES, __doc__)
