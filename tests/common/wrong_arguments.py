"""Every public name under wrong types, shapes and values.

A call takes arguments that work and replaces one or two of them. Whatever comes is counted: an answer,
an `InputError`, and what must not be: any other exception ("raw"), or no end at all ("hang"). Run without
the shape checker of the tests, as a user would:

    python tests/common/wrong_arguments.py --calls 10000 --seed 0
"""

import argparse
import collections
import contextlib
import inspect
import os
import random
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from public_names import public_names

import pgt

PATIENCE = 20  # seconds for one call
NAN, INF = float("nan"), float("inf")
DEEP = [[[[1.0]]]]
SQUARE = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))


class Call(NamedTuple):
    """A public name, how it is called, and arguments that work."""

    name: str
    function: Callable
    good: dict[str, Any]
    spread: tuple = ()  # for *arguments


class Hang(BaseException):
    """A call took too long; no `except Exception` stops it."""


class Strange:
    """Nothing that the library knows."""


def wrong_values() -> list:
    """What people give by mistake, and what nobody would."""
    return [
        None, True, False, 0, 1, -1, 2, 3, 7, 10**9, 10**400, -(10**20), 0.0, 0.5, -0.5, 1.5, 2.5,
        1e-300, 1e30, 1e308, NAN, INF, -INF, 1 + 2j, "", "a", "u", "x", "t", "sobol", "u_t = u_xx",
        "1/0", "log(x)", "9**9**9**9", "\0", "ü\n", "/proc/1/none", b"u", b"", [], {}, (), set(), [1],
        [0.5, 0.5], [NAN, 1.0], ["a"], ["u", "u"], [None], DEEP, (0, 1), (1, 0), (0, 1, 2), (NAN, 1.0),
        ("x", 1), {"x": 1}, {"x": [0.5], "t": [0.5]}, {"x": [0.5]}, {"u": [1.0]}, {"a": {}}, {1: 2},
        {"u": "a"}, {None: None}, {"x": (0, 1), "t": (0, 1)}, {"steps": 3}, {"steps": "a"}, np.zeros(0),
        np.zeros((0, 2)), np.zeros((3, 2)), np.zeros((3, 5)), np.full((2, 2), NAN), np.array("a"),
        np.array([1j]), np.array(["a", "b"]), np.array([None, 1], object), np.float64(0.3), np.int32(3),
        np.bool_(True), np.array(0.5), np.array([2**62]), np.datetime64("2020-01-01"), object, object(),
        Strange, Strange(), int, dict, len, print, lambda: None, lambda *a: None, lambda **k: {}, lambda
        x: "a", range(3), iter([1, 2]), Path("nowhere"), pd.DataFrame(), pd.DataFrame({"x": [0.1], "u":
        [1.0]}), pd.Series([1.0, 2.0]), xr.Dataset(), xr.DataArray([1.0, 2.0]), xr.Dataset({"u": ("x",
        [1.0])}), xr.Dataset({"u": ("x", ["a", "b"])}, {"x": [0.0, 1.0]}), pgt, pgt.Heat,
        pgt.Heat(0.01), pgt.Domain, pgt.Domain(x=(0, 1)), pgt.Domain(x=(0, 1), t=(0, 1)),
        pgt.Unknown(0.1), pgt.Unknown, pgt.Initial(u=0), pgt.Dirichlet("x", u=0), pgt.training.Sobol(),
        pgt.training.Uniform, pgt.Training, pgt.Training(steps=1, polish=False), pgt.Polish(),
        pgt.training.Fixed(data=1.0), pgt.Posterior(),
        pgt.kernels.NoKernel(), slice(3), NotImplemented, ...,
    ]  # fmt: skip


def problem() -> dict[str, Any]:
    """Good values by the name of the argument."""
    truth = pgt.datasets.heat({1: 1.0}, x=11, t=11)
    readings = pgt.sample(truth, n=20)
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    scaling = pgt.Scaling.fit(readings, domain)
    network = pgt.PINN(scaling, width=4, layers=2)
    brief = pgt.Training(steps=2, collocation=8, polish=False)
    result = pgt.reconstruct(
        readings, pgt.Heat(0.01), domain, model=pgt.Features(scaling, count=40, band=6.0),
        error_bars=pgt.Posterior(4),
    )  # fmt: skip
    return {
        "truth": truth, "estimate": truth, "dataset": truth, "data": truth, "n": 5, "fields": ("u",),
        "field": "u", "observations": readings, "readings": readings, "pde": pgt.Heat(0.01), "domain":
        domain, "conditions": (pgt.Initial(u="sin(pi*x)"),), "scaling": scaling, "model": network,
        "training": brief, "network": network.network, "kernel": pgt.kernels.HeatKernel(0.01),
        "kernels": pgt.kernels.HeatKernel(0.01), "velocity": 0.5, "diffusivity": 0.01, "viscosity": 0.01,
        "speed": 1.0,
        "source": "x*t", "axis": "x", "wavenumber": 1.0, "radius": 1.0, "length": 1.0, "heads": 2,
        "initial": 0.1, "texts": "u_t = a*u_xx", "a": 0.1, "u": 0.0, "equation": "u_t = u_xx", "width":
        4, "layers": 2, "points": {"x": [0.5], "t": [0.5]}, "candidates": {"x": [0.1, 0.5], "t": [0.5,
        0.2]}, "values": {"u": [1.0]}, "coords": ("x", "t"), "table": pd.DataFrame({"x": [0.5], "t":
        [0.1], "u": [1.0]}), "folds": 2, "level": 0.9, "indices": [0, 1], "history": result.history,
        "names": "made_up", "kind": "optimiser", "path": "file.csv", "figure": pgt.plots.field(truth),
        "folder": "kept", "result": result, "key": None, "side": "lower", "unit": [[0.5, 0.5]],
        "position": {"x": 0.5}, "away": "x*(1 - x)", "x": 3, "t": [0.5], "classes": (), "levels": (0.5,),
        "band": (6.0, 6.0), "count": 8, "quantity": "u", "corners": SQUARE, "holes": (), "seed": 0,
    }  # fmt: skip


QUIET = {"checkpoint": None, "progress": False, "say": None}  # files and bars
SKIPPED = {"InputError", "DoubtWarning", "datasets.cylinder_wake", "io.Columns"}
CONSTRUCTED = {"result": "Reconstruction", "domain": "Domain", "observations": "Observations"}
# What takes long or needs what no user has; the loader of results is asked with a folder that is one.
NOT_ASKED = {"Domain.sample", "Observations.read", "Reconstruction.load"}


def calls(known: dict[str, Any], *, fits: bool) -> list[Call]:
    """Every public name that can be called, methods of results, domains and readings included."""
    found = [
        _call(name, value, known)
        for name, value in public_names().items()
        if callable(value) and not inspect.isabstract(value) and name not in SKIPPED
    ]
    for argument, owner in CONSTRUCTED.items():
        found += _methods(owner, known[argument], known)
    found.append(_call("Scaling.fit", pgt.Scaling.fit, known))
    result = known["result"]
    found += _methods("Integrals", result.integrals, known)
    found += [
        _call(f"Features.{m.__name__}", m, known)
        for m in (result.model.with_sines, result.model.with_seed)
    ]
    answer = pgt.families.shipped("heat")(known["readings"], pgt.Heat(0.02))
    found += [
        _call(f"Answer.{method.__name__}", method, known) for method in (answer.at, answer.grid)
    ]
    for shape in (pgt.shapes.Disk(), pgt.shapes.Polygon(SQUARE)):
        found.append(Call(f"{type(shape).__name__}.inside", shape.inside, {"points": [[0.5, 0.5]]}))
        methods = (shape.walls, shape.wall_parts, shape.moved, shape.scaled)
        found += [
            _call(f"{type(shape).__name__}.{method.__name__}", method, known) for method in methods
        ]
    slow = {"reconstruct", "cross_validate"}
    return [call for call in found if fits or call.name not in slow]


def _methods(owner: str, instance: Any, known: dict) -> list[Call]:
    methods = inspect.getmembers(instance, callable)
    public = [
        (n, m) for n, m in methods if not n.startswith("_") and f"{owner}.{n}" not in NOT_ASKED
    ]
    return [_call(f"{owner}.{name}", method, known) for name, method in public]


def _call(name: str, function: Callable, known: dict) -> Call:
    good, spread = {}, ()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            spread = (known[parameter.name],) if parameter.name in known else ()
        elif parameter.kind is parameter.VAR_KEYWORD:
            extra = {"axes": ("x", "t"), "bounds": (), "values": ("u",), "coefficients": ("a",)}
            good |= {key: known[key] for key in extra.get(parameter.name, ())}
            good |= {"x": (0, 1), "t": (0, 1)} if parameter.name == "bounds" else {}
        elif parameter.name in known | QUIET:
            good[parameter.name] = (known | QUIET)[parameter.name]
        elif parameter.default is not parameter.empty:
            good[parameter.name] = parameter.default
        else:
            good[parameter.name] = 1
    last = name.rpartition(".")[2]
    if last in ("Box", "Rectangle", "Cylinder", "Formula"):
        good |= {axis: (0.0, 1.0) for axis in "xyz" if axis in good}
        good |= {"text": "x**2 + y**2 + z**2 - 0.5"} if "text" in good else {}
    if last in ("AdvectionDiffusionKernel", "NavierStokes2D"):
        good |= {"velocity": (0.5,)} if "velocity" in good else {"source": None}
    return Call(name, function, good, spread)


class Tally(NamedTuple):
    """How the calls ended: counts, and where raw exceptions came from, with one call for each place."""

    ends: collections.Counter
    places: dict[str, str]


def fuzz(count: int, seed: int, *, fits: bool = False, only: str = "") -> Tally:
    """Make `count` calls; the same seed makes the same ones."""
    draw, tally = random.Random(seed), Tally(collections.Counter(), {})
    known = problem()
    targets = [call for call in calls(known, fits=fits) if only in call.name]
    for index in range(count):
        call = targets[index % len(targets)]
        good, spread, changed = _changed(call, draw)
        end, place, why = _outcome(call.function, spread, good)
        tally.ends[end] += 1
        if place:
            tally.places.setdefault(f"{end} {place}", f"{call.name}({changed}): {why}")
    return tally


def _changed(call: Call, draw: random.Random) -> tuple[dict, tuple, str]:
    """One argument replaced, or two; what was put in their place, in words."""
    good, spread, pool = dict(call.good), call.spread, wrong_values()
    names = [*good, *(["*"] if spread else [])]
    chosen = draw.sample(names, min(len(names), draw.choice((1, 1, 2))))
    said = []
    for name in chosen:
        value = draw.choice(pool)
        said.append(f"{name}={repr(value)[:60]}")
        if name == "*":
            spread = (value,)
        else:
            good[name] = value
    return good, spread, ", ".join(said)


def _outcome(function: Callable, spread: tuple, named: dict) -> tuple[str, str, str]:
    """How a call ended, and for a bad end where and why."""
    try:
        with _limited(PATIENCE), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*spread, **named)
    except pgt.InputError:
        return "refused", "", ""
    except (Exception, Hang) as error:
        if isinstance(error, TypeError) and _is_binding(error):
            return "refused", "", ""
        kind = "hang" if isinstance(error, Hang) else "raw"
        return kind, _place(error), str(error)[:90]
    return "answered", "", ""


def _is_binding(error: TypeError) -> bool:
    """Whether Python itself refused the number or the names of the arguments."""
    words = ("positional argument", "keyword argument", "required argument", "required positional")
    return (
        any(word in str(error) for word in words)
        and len(traceback.extract_tb(error.__traceback__)) < 5
    )


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}pgt{os.sep}" in frame.filename]
    where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "outside"
    return f"{where} {type(error).__name__}"


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(*_):
        raise Hang(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing that a call prints is shown: `print` is among the values."""
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--fits", action="store_true", help="also whole fits, which take seconds each"
    )
    parser.add_argument("--only", default="", help="names that hold this text")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _silence():
        tally = fuzz(asked.calls, asked.seed, fits=asked.fits, only=asked.only)
    for place, example in sorted(tally.places.items()):
        print(f"{place}\n    {example}")
    print(dict(tally.ends), len(tally.places), "places")
    raise SystemExit(bool(tally.places))


if __name__ == "__main__":
    main()
