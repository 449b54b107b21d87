"""What the page is told: its set-up once, and a picture for every wish."""

import base64
import threading
from collections import OrderedDict
from dataclasses import replace
from statistics import NormalDist
from time import perf_counter

import numpy as np

from pgt.ground.errors import InputError
from pgt.live.source import TIME, Grid, Rig, has_instants, places
from pgt.live.stream import Stream
from pgt.live.wish import MOST_NOISE, MOST_SENSORS, Wish
from pgt.report.colours import colour_maps

MOST_ACROSS = 256  # nodes along an axis of the picture
MOST_DRAWN = 2000  # sensors of a stream
KEPT = 8  # truths that are not drawn again


class Session:
    """A rig, and a stream where readings arrive from outside. One wish is answered at a time."""

    def __init__(self, rig: Rig, stream: Stream | None = None):
        self.rig, self.stream = rig, stream
        self.across, self.up = places(rig.axes)
        self.truths: OrderedDict[tuple, Grid] = OrderedDict()
        self.turn = threading.Lock()

    def setup(self) -> dict:
        """What the page must know before the first wish."""
        rig = self.rig
        return {
            "fields": list(rig.fields),
            "axes": [_axis(name, rig.axes[name]) for name in (self.across, self.up)],
            "instants": rig.axes[TIME].tolist() if has_instants(rig.axes) else None,
            "coefficients": [part._asdict() for part in rig.coefficients],
            "level": rig.level,
            "streams": self.stream is not None,
            "most": {"sensors": MOST_SENSORS, "noise": MOST_NOISE},
            "maps": {name: _packed(table) for name, table in colour_maps().items()},
        }

    def answer(self, wish: Wish) -> dict:
        """Pictures of the field, its band and, where it is known, the truth; numbers beside them."""
        with self.turn:
            return self._drawn(wish) if self.stream is None else self._streamed(wish, self.stream)

    def _drawn(self, wish: Wish) -> dict:
        wish = replace(wish, coefficients=self.rig.settled(wish.coefficients))
        whole = self._truth(wish)
        told, shown = self._reconstructed(wish, *self._readings(wish, whole))
        truth = self._picture(whole, wish, is_whole=True)
        seen = whole[..., self.rig.fields.index(wish.field)]
        return {
            **told,
            "truth": _packed(truth.astype("<f4")),
            "range": _range(seen),
            "error": _ratio(shown[0] - truth, truth),
            "held": _share((shown[1] <= truth) & (truth <= shown[2]), truth),
            "coefficients": wish.coefficients,
        }

    def _streamed(self, wish: Wish, stream: Stream) -> dict:
        points, values = stream.readings()
        told, shown = self._reconstructed(wish, points, values)
        columns = [list(self.rig.axes).index(name) for name in (self.across, self.up)]
        return {
            **told,
            "range": _range(shown[0]),
            "sensors": points[-MOST_DRAWN:, columns].tolist(),
            "newest": self._newest(points),
        }

    def _reconstructed(self, wish: Wish, points: np.ndarray, values: np.ndarray):
        """What is told in any case, and pictures of the values and of both ends of the band."""
        measured = np.isfinite(values).any(axis=1)
        if not measured.any():
            raise InputError("there is no reading: put at least one sensor on the picture.")
        begun = perf_counter()
        found = self.rig.answer(points[measured], values[measured], wish.coefficients, wish.instant)
        milliseconds = 1000 * (perf_counter() - begun)
        shown = [self._picture(part, wish) for part in (found.values, found.low, found.high)]
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

    def _truth(self, wish: Wish) -> Grid:
        """Drawn once: a sensor that is moved stands on the same system."""
        key = (wish.seed, *sorted(wish.coefficients.items()))
        if key not in self.truths:
            self.truths[key] = self.rig.truth(wish.coefficients, wish.seed)
            while len(self.truths) > KEPT:
                self.truths.popitem(last=False)
        self.truths.move_to_end(key)
        return self.truths[key]

    def _readings(self, wish: Wish, truth: Grid) -> tuple[np.ndarray, np.ndarray]:
        """What the sensors read at the nodes next to them: exact there, and no interpolation between."""
        axes = self.rig.axes
        on = [row for row in range(len(wish.sensors)) if row not in wish.off]
        near = {
            name: _nearest(axes[name], wish.sensors[on, k])[:, None]
            for k, name in enumerate((self.across, self.up))
        }
        instants = self._remembered(wish)
        if instants is not None:
            near[TIME] = instants[None, :]
        rows = np.broadcast_arrays(*(near[name] for name in axes))
        points = np.stack([line[row] for line, row in zip(axes.values(), rows, strict=True)], -1)
        noise = self._noise(wish, truth)[on]
        values = truth[rows] + (noise if instants is None else noise[:, instants])
        silent = [bool(self.rig.reads) and name not in self.rig.reads for name in self.rig.fields]
        values[..., silent] = np.nan
        return points.reshape(-1, len(axes)), values.reshape(-1, truth.shape[-1])

    def _remembered(self, wish: Wish) -> np.ndarray | None:
        """The instants whose readings are known: the one shown and those before."""
        if wish.instant is None:
            return None
        first = 0 if self.rig.recent is None else max(0, wish.instant + 1 - self.rig.recent)
        return np.arange(first, wish.instant + 1)

    def _noise(self, wish: Wish, truth: Grid) -> np.ndarray:
        """Of every sensor and instant: it stays with the sensor when that moves, or another goes."""
        instants = 1 if wish.instant is None else len(self.rig.axes[TIME])
        size = (len(wish.sensors), instants, truth.shape[-1])
        spread = np.nanstd(truth, axis=tuple(range(truth.ndim - 1)))
        return wish.noise * spread * np.random.default_rng([wish.seed, 1]).normal(size=size)

    def _picture(self, grid: np.ndarray, wish: Wish, is_whole: bool = False) -> np.ndarray:
        """One field (up, across) at even positions: the nodes themselves, where they are even."""
        names = [name for name in self.rig.axes if name != TIME or wish.instant is None]
        if is_whole and wish.instant is not None:
            grid = np.take(grid, wish.instant, axis=list(self.rig.axes).index(TIME))
        flat = grid[..., self.rig.fields.index(wish.field)]
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
    return _nearest(line, np.linspace(line[0], line[-1], min(len(line), MOST_ACROSS)))


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


def _ratio(part: np.ndarray, whole: np.ndarray) -> float | None:
    """Of two norms, over the places where the whole has a value; None where that says nothing."""
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
