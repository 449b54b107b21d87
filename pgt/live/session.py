"""A session of the page: its setup, its requests, and a picture for each of them."""

import base64
import json
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from statistics import NormalDist
from time import perf_counter
from typing import Any

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.numbers import listed, number
from pgt.live.rig import TIME, AbstractRig, Grid, has_instants, places
from pgt.live.stream import Stream
from pgt.report.payload import colour_maps

MAX_NODES = 256  # along an axis of the picture
MAX_STREAM_SENSORS = 2000  # drawn on the picture
KEPT_TRUTHS = 8  # that are not solved again
MAX_SENSORS = 1000
MAX_NOISE = 1.0  # of the spread of a field
MAX_SEED = 2**31 - 1
KEYS = ("sensors", "off", "noise", "coefficients", "seed", "instant", "field")


@dataclass(frozen=True)
class PageRequest:
    """Sensors at places of the picture, the silent ones among them, and the system that they read."""

    sensors: Float[np.ndarray, "n 2"]
    off: frozenset[int]
    noise: float
    coefficients: dict[str, float]
    seed: int
    instant: int | None
    field: str


def read_request(text: bytes, rig: AbstractRig) -> PageRequest:
    """A request from JSON; missing keys have defaults."""
    given = _object(text)
    if strange := [key for key in given if key not in KEYS]:
        raise InputError(f"there is no key {strange[0][:40]!r}; known are {listed(KEYS)}.")
    sensors = _sensors(given.get("sensors", []), rig)
    return PageRequest(
        sensors=sensors,
        off=_off(given.get("off", []), len(sensors)),
        noise=_within(given.get("noise", 0.0), "noise", 0.0, MAX_NOISE),
        coefficients=_coefficients(given.get("coefficients", {}), rig),
        seed=_whole(given.get("seed", 0), "seed", MAX_SEED),
        instant=_instant(given.get("instant"), rig),
        field=_field(given.get("field", rig.fields[0]), rig),
    )


def _object(text: bytes) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("this is not JSON; send an object with a list of sensors.") from None
    if not isinstance(given, dict):
        raise InputError('send an object, such as {"sensors": [[0.5, 0.5]]}.')
    return given


def _sensors(given: Any, rig: AbstractRig) -> Float[np.ndarray, "n 2"]:
    """Places on the picture; those outside move to its edge."""
    axes = places(rig.axes)
    if not isinstance(given, list):
        raise InputError(f"sensors: a list of places ({listed(axes)}) is wanted.")
    if len(given) > MAX_SENSORS:
        raise InputError(f"sensors: {len(given)} are too many; {MAX_SENSORS} at most.")
    for row, place in enumerate(given):
        if not (isinstance(place, list) and len(place) == 2 and all(map(_is_number, place))):
            raise InputError(f"sensors: number {row} is not a pair of finite numbers.")
    bounds = np.array([(rig.axes[axis][0], rig.axes[axis][-1]) for axis in axes], float)
    return np.clip(np.array(given, float).reshape(-1, 2), bounds[:, 0], bounds[:, 1])


def _off(given: Any, count: int) -> frozenset[int]:
    if not isinstance(given, list) or len(given) > count:
        raise InputError("off: a list of the numbers of silent sensors is wanted.")
    return frozenset(_whole(row, "off", max(count - 1, 0)) for row in given)


def _coefficients(given: Any, rig: AbstractRig) -> dict[str, float]:
    known = {part.name: part for part in rig.coefficients}
    if not isinstance(given, dict):
        raise InputError("coefficients: an object of names and numbers is wanted.")
    if strange := [name for name in given if name not in known]:
        names = listed(known) if known else "none"
        raise InputError(f"coefficients: there is no {strange[0][:40]!r}; known: {names}.")
    return {
        name: _within(given.get(name, part.value), name, part.low, part.high)
        for name, part in known.items()
    }


def _instant(given: Any, rig: AbstractRig) -> int | None:
    if not has_instants(rig.axes):
        if given is None:
            return None
        raise InputError("instant: the picture shows all times at once; leave it out.")
    last = len(rig.axes[TIME]) - 1
    return last if given is None else _whole(given, "instant", last)


def _field(given: Any, rig: AbstractRig) -> str:
    if not isinstance(given, str) or given not in rig.fields:
        raise InputError(f"field: one of {listed(rig.fields)} is wanted.")
    return given


def _within(given: Any, name: str, low: float, high: float) -> float:
    if not _is_number(given) or not low <= given <= high:
        raise InputError(f"{name}: a number from {number(low)} to {number(high)} is wanted.")
    return float(given)


def _whole(given: Any, name: str, most: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
        raise InputError(f"{name}: a whole number from 0 to {most} is wanted.")
    return given


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False


# ------------------------------------------------------------------------------- answers


class Session:
    """A rig, and a stream if readings arrive from outside. It answers one request at a time."""

    def __init__(self, rig: AbstractRig, stream: Stream | None = None):
        self.rig, self.stream = rig, stream
        self.across, self.up = places(rig.axes)
        self.truths: OrderedDict[tuple, Grid] = OrderedDict()
        self.turn = threading.Lock()

    def setup(self) -> dict:
        """The data that the page needs before its first request."""
        rig = self.rig
        return {
            "fields": list(rig.fields),
            "axes": [_axis(name, rig.axes[name]) for name in (self.across, self.up)],
            "instants": rig.axes[TIME].tolist() if has_instants(rig.axes) else None,
            "coefficients": [part._asdict() for part in rig.coefficients],
            "level": rig.level,
            "streams": self.stream is not None,
            "most": {"sensors": MAX_SENSORS, "noise": MAX_NOISE},
            "maps": {name: _packed(table) for name, table in colour_maps().items()},
        }

    def answer(self, request: PageRequest) -> dict:
        """Pictures of the field, its band and, if known, the truth, with numbers beside them."""
        with self.turn:
            return (
                self._drawn(request)
                if self.stream is None
                else self._streamed(request, self.stream)
            )

    def _drawn(self, request: PageRequest) -> dict:
        request = replace(request, coefficients=self.rig.nearest_coefficients(request.coefficients))
        whole = self._truth(request)
        told, shown = self._reconstructed(request, *self._readings(request, whole))
        truth = self._picture(whole, request, is_whole=True)
        seen = whole[..., self.rig.fields.index(request.field)]
        return {
            **told,
            "truth": _packed(truth.astype("<f4")),
            "range": _range(seen),
            "error": _ratio(shown[0] - truth, truth),
            "held": _share((shown[1] <= truth) & (truth <= shown[2]), truth),
            "coefficients": request.coefficients,
        }

    def _streamed(self, request: PageRequest, stream: Stream) -> dict:
        points, values = stream.readings()
        told, shown = self._reconstructed(request, points, values)
        columns = [list(self.rig.axes).index(name) for name in (self.across, self.up)]
        return {
            **told,
            "range": _range(shown[0]),
            "sensors": points[-MAX_STREAM_SENSORS:, columns].tolist(),
            "newest": self._newest(points),
        }

    def _reconstructed(self, request: PageRequest, points: np.ndarray, values: np.ndarray):
        """The common part of an answer, and pictures of the values and of both ends of the band."""
        measured = np.isfinite(values).any(axis=1)
        if not measured.any():
            raise InputError("there is no reading: put at least one sensor on the picture.")
        begun = perf_counter()
        found = self.rig.answer(
            points[measured], values[measured], request.coefficients, request.instant
        )
        milliseconds = 1000 * (perf_counter() - begun)
        shown = [self._picture(part, request) for part in (found.values, found.low, found.high)]
        one_sigma = (shown[2] - shown[1]) / 2 / NormalDist().inv_cdf((1 + self.rig.level) / 2)
        names = ("values", "low", "high")
        told = {name: _packed(part.astype("<f4")) for name, part in zip(names, shown, strict=True)}
        told |= {
            "shape": list(shown[0].shape),
            "stated": _ratio(one_sigma, shown[0]),
            "outside": found.outside,
            "milliseconds": milliseconds,
            "readings": int(measured.sum()),
        }
        return told, shown

    def _truth(self, request: PageRequest) -> Grid:
        """The true fields; a cache keeps them while sensors move."""
        key = (request.seed, *sorted(request.coefficients.items()))
        if key not in self.truths:
            self.truths[key] = self.rig.truth(request.coefficients, request.seed)
            while len(self.truths) > KEPT_TRUTHS:
                self.truths.popitem(last=False)
        self.truths.move_to_end(key)
        return self.truths[key]

    def _readings(self, request: PageRequest, truth: Grid) -> tuple[np.ndarray, np.ndarray]:
        """The readings at the nodes nearest to the sensors, without interpolation."""
        axes = self.rig.axes
        on = [row for row in range(len(request.sensors)) if row not in request.off]
        near = {
            name: _nearest(axes[name], request.sensors[on, k])[:, None]
            for k, name in enumerate((self.across, self.up))
        }
        instants = self._remembered(request)
        if instants is not None:
            near[TIME] = instants[None, :]
        rows = np.broadcast_arrays(*(near[name] for name in axes))
        points = np.stack([line[row] for line, row in zip(axes.values(), rows, strict=True)], -1)
        noise = self._noise(request, truth)[on]
        values = truth[rows] + (noise if instants is None else noise[:, instants])
        silent = [bool(self.rig.reads) and name not in self.rig.reads for name in self.rig.fields]
        values[..., silent] = np.nan
        return points.reshape(-1, len(axes)), values.reshape(-1, truth.shape[-1])

    def _remembered(self, request: PageRequest) -> np.ndarray | None:
        """The instants with readings: the one shown and those before."""
        if request.instant is None:
            return None
        first = 0 if self.rig.recent is None else max(0, request.instant + 1 - self.rig.recent)
        return np.arange(first, request.instant + 1)

    def _noise(self, request: PageRequest, truth: Grid) -> np.ndarray:
        """The noise of every sensor and instant; sensors keep theirs when they move."""
        instants = 1 if request.instant is None else len(self.rig.axes[TIME])
        size = (len(request.sensors), instants, truth.shape[-1])
        spread = np.nanstd(truth, axis=tuple(range(truth.ndim - 1)))
        return request.noise * spread * np.random.default_rng([request.seed, 1]).normal(size=size)

    def _picture(
        self, grid: np.ndarray, request: PageRequest, is_whole: bool = False
    ) -> np.ndarray:
        """One field (up, across) at the nodes nearest to even positions."""
        names = [name for name in self.rig.axes if name != TIME or request.instant is None]
        if is_whole and request.instant is not None:
            grid = np.take(grid, request.instant, axis=list(self.rig.axes).index(TIME))
        flat = grid[..., self.rig.fields.index(request.field)]
        flat = flat.transpose(names.index(self.up), names.index(self.across))
        return flat[np.ix_(*(_even(self.rig.axes[name]) for name in (self.up, self.across)))]

    def _newest(self, points: np.ndarray) -> int | None:
        """The instant of the last reading."""
        if not has_instants(self.rig.axes) or not len(points):
            return None
        time = list(self.rig.axes).index(TIME)
        return int(_nearest(self.rig.axes[TIME], points[-1:, time])[0])


def _axis(name: str, line: np.ndarray) -> dict:
    return {"name": name, "low": float(line[0]), "high": float(line[-1])}


def _nearest(line: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.abs(line[None, :] - places[:, None]).argmin(axis=1)


def _even(line: np.ndarray) -> np.ndarray:
    return _nearest(line, np.linspace(line[0], line[-1], min(len(line), MAX_NODES)))


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _ratio(part: np.ndarray, whole: np.ndarray) -> float | None:
    """The ratio of two norms where the whole has a value; None where that is undefined."""
    known = np.isfinite(whole)
    size = float(np.linalg.norm(whole[known]))
    ratio = float(np.linalg.norm(part[known])) / size if size else np.nan
    return ratio if np.isfinite(ratio) else None


def _share(inside: np.ndarray, truth: np.ndarray) -> float | None:
    known = np.isfinite(truth)
    return float(inside[known].mean()) if known.any() else None


def _range(values: np.ndarray) -> list[float]:
    finite = values[np.isfinite(values)]
    return [float(finite.min()), float(finite.max())] if finite.size else [0.0, 0.0]
