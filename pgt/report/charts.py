"""Charts as SVG text without scripts: they print, scale, and use the colors of the page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from pgt.core.numbers import digits_between, number, superscript, ticks

WIDTH, HEIGHT = 420, 280
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 10, 44
# The largest number of points of a line; a phone shows no more.
MAX_LINE_POINTS = 400
MAX_DOTS = 1500
# The classes s0 to s7 of the style sheet.
COLOR_CLASSES = 8


@dataclass(frozen=True)
class ChartFrame:
    """The rectangle of a chart, which maps values to positions on the page."""

    x: tuple[float, float]
    y: tuple[float, float]  # of log10 where log
    log: bool = False
    height: int = HEIGHT

    def at(self, x, y) -> tuple:
        """Positions of one point, or of many."""
        y = np.log10(y) if self.log else np.asarray(y, float)
        across = (np.asarray(x, float) - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (
            LEFT + across * (WIDTH - LEFT - RIGHT),
            self.height - BOTTOM - up * (self.height - TOP - BOTTOM),
        )

    def drawn(self, body: str, x_label: str, y_label: str, title: str) -> str:
        """The whole chart: grid, labels, and the body on top."""
        bottom, right = self.height - BOTTOM, WIDTH - RIGHT
        middle = (TOP + bottom) / 2
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {self.height}" role="img">'
            f"<title>{escape(title)}</title>{self._grid(bottom, right)}{body}"
            f'<text class="label" x="{(LEFT + right) / 2:.0f}" y="{self.height - 8}" '
            f'text-anchor="middle">{escape(x_label)}</text>'
            f'<text class="label" transform="translate(14 {middle:.0f}) rotate(-90)" '
            f'text-anchor="middle">{escape(y_label)}</text></svg>'
        )

    def _grid(self, bottom: int, right: int) -> str:
        parts = []
        for value in ticks(*self.x):
            x = float(self.at(value, 1.0)[0])
            parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>')
            parts.append(_text(x, bottom + 16, "middle", _tick(value, *self.x)))
        for value in self._y_ticks():
            y = float(self.at(0.0, value)[1])
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>')
            shown = _short(value) if self.log else _tick(value, *self.y)
            parts.append(_text(LEFT - 6, y + 4, "end", shown))
        return "".join(parts)

    def _y_ticks(self) -> list[float]:
        if not self.log:
            return ticks(*self.y)
        low, high = math.ceil(self.y[0] - 1e-9), math.floor(self.y[1] + 1e-9)
        every = max(1, math.ceil((high - low) / 6))
        return [10.0**k for k in range(low, high + 1, every)]


def line_chart(lines: Mapping[str, tuple], x_label: str, y_label: str, log: bool = True) -> str:
    """A chart of named lines (x, y) with a legend; a log axis leaves out values that are not positive."""
    kept = {
        name: clean for name, line in lines.items() if len((clean := _drawable(line, log))[0]) > 1
    }
    if not kept:
        return ""
    x = np.concatenate([line[0] for line in kept.values()])
    y = np.concatenate([line[1] for line in kept.values()])
    frame = ChartFrame(_span(x, 0), _decades(y) if log else _span(y, 0.05), log)
    body = "".join(
        _path(frame, *line, f"line s{k % COLOR_CLASSES}") for k, line in enumerate(kept.values())
    )
    title = f"{y_label} over {x_label}: {', '.join(kept)}"
    below = legend(list(kept)) if len(kept) > 1 else ""
    return frame.drawn(body, x_label, y_label, title) + below


def agreement_chart(measured: np.ndarray, predicted: np.ndarray, name: str, unit: str) -> str:
    """A chart of predicted against measured values, with the line on which they agree."""
    kept = _evenly(len(measured), MAX_DOTS)
    measured, predicted = measured[kept], predicted[kept]
    both = _span(np.concatenate([measured, predicted]), 0.05)
    frame = ChartFrame(both, both, height=WIDTH - LEFT - RIGHT + TOP + BOTTOM)
    ends = np.array(both)
    dots = "".join(
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4">'
        f"<title>measured {number(m, 4)}, predicted {number(p, 4)}</title></circle>"
        for x, y, m, p in zip(*frame.at(measured, predicted), measured, predicted, strict=True)
    )
    body = _path(frame, ends, ends, "ideal") + dots
    in_unit = f" [{unit}]" if unit else ""
    title = f"{name}: predicted against measured at {len(measured)} held-out readings"
    return frame.drawn(body, f"{name} measured{in_unit}", f"{name} predicted{in_unit}", title)


def legend(names: Sequence[str]) -> str:
    """Names beside their colours."""
    items = (
        f'<li><span class="swatch s{k % COLOR_CLASSES}"></span>{escape(n)}</li>'
        for k, n in enumerate(names)
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _drawable(line: tuple, log: bool) -> tuple[np.ndarray, np.ndarray]:
    x, y = (np.asarray(side, float) for side in line)
    usable = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & ((y > 0) | (not log)))
    usable = usable[_evenly(len(usable), MAX_LINE_POINTS)]
    return x[usable], y[usable]


def _evenly(count: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).round().astype(int))


def _span(values: np.ndarray, margin: float) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    # A flat line gets room, and a range below rounding error too.
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        room = abs(high) or 1.0
        return low - 0.5 * room, high + 0.5 * room
    return low - margin * (high - low), high + margin * (high - low)


def _decades(values: np.ndarray) -> tuple[float, float]:
    low, high = math.floor(np.log10(values.min())), math.ceil(np.log10(values.max()))
    return float(low), float(high if high > low else low + 1)


def _path(frame: ChartFrame, x, y, kind: str) -> str:
    return f'<path class="{kind}" d="M{_points(*frame.at(x, y))}"/>'


def _points(x: np.ndarray, y: np.ndarray) -> str:
    return "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))


def _short(power_of_ten: float) -> str:
    exponent = round(math.log10(power_of_ten))
    return number(power_of_ten) if abs(exponent) <= 2 else f"10{superscript(exponent)}"


def _tick(value: float, low: float, high: float) -> str:
    return number(value, digits_between(low, high, 4))


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
