"""Reports to test with: known fields in place of reconstructions, noise in place of a fit."""

import dataclasses

import numpy as np
import xarray as xr
from verdict_cases import evidence, heat_field, readings_of

from pgt import datasets
from pgt.core.doubt import Doubt, Verdict
from pgt.report import Readings, ReportData, Tables
from pgt.uncertainty.verdict import Evidence, judge

SUMMARY = {
    "stopped": "held-out error stopped falling", "seconds": 31.4, "version": "0.1.0", "seed": 7,
    "device": "cpu", "training": {"steps": 2000, "optimiser": "soap"}, "stages": [],
}  # fmt: skip


def history(
    *terms: str, unknowns: tuple[str, ...] = (), steps: int = 40, rate: float = 5.0
) -> xr.Dataset:
    """Losses that fall; `rate` e-foldings in all."""
    step = 50 * np.arange(1, steps + 1)
    fall = np.exp(-rate * step / step[-1])
    shrink, learnt = 0.1 ** np.arange(len(terms)), np.full(len(unknowns), 0.01)
    return xr.Dataset(
        {
            "held_out": ("step", fall),
            "loss": (("step", "term"), np.outer(fall, shrink)),
            "weight": (("step", "term"), np.tile(1 / shrink, (steps, 1))),
            "coefficient": (("step", "unknown"), learnt + fall[:, None]),
        },
        {"step": step, "term": list(terms), "unknown": list(unknowns)},
    )


def report(
    field: xr.Dataset, read: tuple[str, ...], n: int, noise: float = 0.05, **more
) -> ReportData:
    """The field as if it had been fitted to readings of it, and the verdict on that."""
    found = evidence(field, *readings_of(field, read, n, noise))
    given = {"history": history("data", "equation"), "summary": SUMMARY} | more
    return judged(field, found, **given)


def judged(field: xr.Dataset, found: Evidence, **more) -> ReportData:
    """A report of a field on which this was found."""
    judged = found.judged
    readings = Readings(found.fitted, found.held_out, judged.readings, judged.predictions)
    given = {"history": history("data"), "summary": SUMMARY} | more
    return ReportData(field, readings, judge(found), **given)


def heat(**more) -> ReportData:
    """One axis and time, with units and error bars."""
    field = heat_field()
    bars = 0.02 + 0.05 * np.abs(field)
    residual = xr.Dataset({"heat": 0.01 * field["u"].drop_attrs() ** 3})
    return report(field, ("u",), 120, error_bars=bars, residual=residual, **more)


def wake(**more) -> ReportData:
    """Two axes and time, pressure hidden, viscosity learnt."""
    field = datasets.cylinder_wake().isel(t=slice(0, 200, 10), x=slice(None, None, 2))
    given = {
        "tables": Tables(coefficients={"viscosity": (0.0101, (0.0097, 0.0105))}),
        "history": history("data", "momentum", unknowns=("viscosity",)),
        "run_file": '[pde]\nname = "navier-stokes-2d"\n',
    }
    return report(field, ("u", "v"), 600, **(given | more))


def block(**more) -> ReportData:
    """Three axes, no time; T grows along every one of them, x < y < z."""
    axes = {"x": np.linspace(0, 1, 12), "y": np.linspace(0, 1, 10), "z": np.linspace(0, 1, 8)}
    grid = xr.Dataset(coords=axes)
    return report(xr.Dataset({"T": grid.x + 2 * grid.y + 4 * grid.z}), ("T",), 200, **more)


def renamed(data: ReportData, name: str) -> ReportData:
    """The same with this text wherever one comes from outside: field, unit, title, doubts."""
    (old,) = data.fields
    field = data.field.rename({old: name}).assign_attrs(title=name)
    field[name].attrs["units"] = name
    parts = {
        which: dataclasses.replace(getattr(data.readings, which), fields=(name,))
        for which in ("fitted", "held_out", "judges")
    }
    verdict = Verdict(
        False, name, {name: data.verdict.held_out[old]}, (Doubt("large_error", name),)
    )
    readings = dataclasses.replace(data.readings, **parts)
    return dataclasses.replace(data, field=field, readings=readings, verdict=verdict)
