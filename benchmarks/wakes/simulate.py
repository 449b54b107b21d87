"""Wakes at eleven Reynolds numbers, as files of which `pgt.families.Cycles` makes a family.

    python benchmarks/wakes/simulate.py wakes --budget 60

Settles on a coarse grid, then on finer ones as far as the budget goes, and keeps u, v and p in the window
of the packaged simulation. Leaves wakes/train/*.nc, wakes/test/100.nc, and wakes/simulated.json: the
Strouhal number of every flow beside that of Fey, König and Eckelmann (Phys. Fluids 10, 1998), and at
Re = 100 the distance from the packaged simulation.
"""

import argparse
import json
import time
from pathlib import Path

import flow
import jax
import numpy as np
import reference
import xarray as xr

from pgt.families.harmonics import cycle_of
from pgt.ground.provenance import provenance

REYNOLDS = (40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140)
HELD_OUT = 100
WINDOW = {"x": (1.0, 8.0), "y": (-2.0, 2.0)}
SPACING = 8  # nodes kept of a unit of length, where the grid has them
COARSE = 0.35  # of the budget, at most, on the coarsest grid
LEAST, SHORTEST = 8, 10  # units of time on the finest grid, and of a run
EVERY = 2  # tenths of a unit of time between instants kept


def main() -> None:
    asked = _arguments()
    began = time.monotonic()
    grid, state = settled(asked, began + asked.budget)
    x, y, t, values = kept(grid, state, asked.keep, began + asked.budget)
    record = {"seconds": time.monotonic() - began, "cells": grid.cells, "flows": {}}
    for k, number in enumerate(asked.reynolds):
        record["flows"][str(number)] = stored(asked.folder, number, x, y, t, values[k])
        print(number, json.dumps(record["flows"][str(number)]), flush=True)
    path = asked.folder / "simulated.json"
    path.write_text(json.dumps(record | provenance(), indent=1) + "\n")
    print(f"{record['seconds']:.0f} s at {grid.cells} cells", flush=True)


def settled(asked: argparse.Namespace, end: float):
    """Grid after grid, each for so many units of time or its share of the budget; a finer one only where
    the rest of the budget is enough for it."""
    began, numbers = time.monotonic(), np.array(asked.reynolds, float)
    grid = flow.box(asked.cells[0], numbers)
    state = _waited(grid, flow.begun(grid), asked.units[0], began + COARSE * (end - began))
    for cells, units in zip(asked.cells[1:], asked.units[1:], strict=True):
        if cells <= grid.cells:
            continue
        finer = flow.box(cells, numbers)
        later = _waited(finer, flow.finer(state, finer), 1, end)
        now = time.monotonic()
        later = _waited(finer, later, 1, end)
        seconds = time.monotonic() - now
        print(f"{cells} cells: {seconds:.2f} s a unit of time", flush=True)
        if now + seconds * (LEAST + asked.keep) < end:
            grid, state = finer, _waited(finer, later, units, end - seconds * asked.keep)
    return grid, state


def _waited(grid: flow.Box, state, units: int, until: float):
    for unit in range(units):
        state = jax.block_until_ready(flow.advanced(grid, state, 10))
        if time.monotonic() > until:
            print(f"{grid.cells} cells: {unit + 1} of {units} units of time", flush=True)
            break
    return state


def kept(grid: flow.Box, state, units: int, end: float):
    """x, y, t, and the fields (flow, t, x, y, field) in the window."""
    x, y = flow.lines(grid.cells)
    rows, columns = (
        _within(line, *WINDOW[name], grid.cells) for name, line in (("x", x), ("y", y))
    )
    found = []
    for instant in range(units * 10 // EVERY):
        if time.monotonic() > end and instant * EVERY > 10 * SHORTEST:
            break
        found.append(np.asarray(flow.fields(grid, state)[:, rows][:, :, columns]))
        state = flow.advanced(grid, state, EVERY)
    values = np.stack(found, axis=1)
    return x[rows], y[columns], np.arange(len(found)) * EVERY / 10, values


def _within(line: np.ndarray, low: float, high: float, cells: int) -> np.ndarray:
    """The nodes from one bound to the other, both among them."""
    first, last = np.searchsorted(line, np.array([low, high]) - 1e-6)
    return np.arange(first, last + 1, max(cells // SPACING, 1))


def stored(folder: Path, number: int, x, y, t, values: np.ndarray) -> dict:
    """One flow as a file, and what is known about it; the mean of p is 0, as no reading tells it."""
    values[..., 2] -= values[..., 2].mean()
    path = folder / ("test" if number == HELD_OUT else "train") / f"{number:03d}.nc"
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = {
        name: (("t", "x", "y"), values[..., c].astype(np.float32)) for c, name in enumerate("uvp")
    }
    dataset = xr.Dataset(fields, {"t": t, "x": x, "y": y}, {"viscosity": 1 / number})
    dataset.to_netcdf(path, engine="scipy")
    cycle = cycle_of(values, t, reference.HARMONICS)
    about = {"strouhal": 1 / cycle.period, "published": published(number), "rest": cycle.rest}
    if number == HELD_OUT:
        about["beside the packaged"] = reference.beside_packaged(values, x, y, t)
    return about


def published(number: float) -> float | None:
    """St = 0.2684 − 1.0356 / √Re for 47 < Re < 180, of a cylinder with nothing beside it."""
    return 0.2684 - 1.0356 / number**0.5 if number > 47 else None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds")
    parser.add_argument("--cells", type=int, nargs="+", default=[16, 32], help="of a diameter")
    parser.add_argument("--units", type=int, nargs="+", default=[130, 25], help="of time to settle")
    parser.add_argument("--keep", type=int, default=17, help="units of time")
    parser.add_argument("--reynolds", type=int, nargs="+", default=REYNOLDS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
