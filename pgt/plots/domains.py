"""Figures of a domain: its shape, its walls with their names, and the positions of readings."""

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.plots.pieces import INK, PALETTE, SIZE, styled

OUTSIDE_COLOR = "#D00000"
# The number of points along each axis of the grid on which the inside is painted.
GRID_SIDE = 400
# The largest number of points of a wall that are drawn in space.
MAX_WALL_POINTS_IN_SPACE = 600


@checked
def domain(domain: Domain, points: Float[np.ndarray, "n d"] | None = None) -> Figure:
    """The shape of a domain, its walls by name, and readings at `points`: those outside are red.

    >>> import pgt
    >>> channel = pgt.Domain(x=(-2, 8), y=(-2, 2), shape=-pgt.shapes.Disk(name="cylinder"))
    >>> [text.get_text() for text in domain(channel).axes[0].texts]
    ['cylinder']
    """
    space = domain.spatial_axes
    if domain.shape is None or len(space) not in (2, 3):
        raise InputError(
            "plots.domain: the domain has no shape to draw; give it one, shape=Disk()."
        )
    points = None if points is None else np.asarray(points, float)
    inside = None if points is None else domain.contains(points)
    figure = Figure(figsize=(5.5, 4.0), layout="constrained")
    axes = figure.add_subplot(projection="3d" if len(space) == 3 else None)
    walls = {n: at for n in domain.wall_names if len(at := places_of(domain, n))}
    (_draw_solid if len(space) == 3 else _draw_plane)(axes, domain, walls)
    if points is not None and inside is not None:
        _draw_readings(axes, points[:, : len(space)], inside)
    _name_axes(axes, domain)
    return figure


def _name_axes(axes, domain: Domain) -> None:
    space, units = domain.spatial_axes, domain.units
    names = [f"${axis}$ ({units[axis]})" if axis in units else f"${axis}$" for axis in space]
    axes.set(**{f"{letter}label": name for letter, name in zip("xyz", names, strict=False)})


def draw_walls(axes: Axes, domain: Domain, colour: str = INK) -> None:
    """The walls of a shape of the plane, as lines."""
    for found in outlines(domain).values():
        _draw_lines(axes, found, colour)


def _draw_plane(axes: Axes, domain: Domain, walls) -> None:
    styled(axes)
    x, y = (np.linspace(*domain.bounds(axis), GRID_SIDE) for axis in domain.spatial_axes)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    axes.pcolormesh(
        x, y, np.where(_inside(domain, grid), 1.0, np.nan).reshape(GRID_SIDE, GRID_SIDE),
        cmap="Blues", vmin=0, vmax=8, shading="nearest", rasterized=True,
    )  # fmt: skip
    (left, right), (low, high) = (domain.bounds(axis) for axis in domain.spatial_axes)
    axes.plot([left, right, right, left, left], [low, low, high, high, low], ":", color=INK, lw=0.8)
    lines = outlines(domain)
    for index, (name, places) in enumerate(walls.items()):
        colour = PALETTE[index % len(PALETTE)]
        _draw_lines(axes, lines[name], colour)
        top = places[np.argmax(places @ [0.3, 1.0])]
        axes.annotate(
            name, top, textcoords="offset points", xytext=(3, 3), color=colour, fontsize=SIZE,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )  # fmt: skip
    axes.set_aspect("equal")


def _draw_lines(axes: Axes, found: list[Float[np.ndarray, "m 2"]], colour: str) -> None:
    for line in found:
        axes.plot(*line.T, color=colour, linewidth=1.2)


def _draw_solid(axes, domain: Domain, walls) -> None:
    for index, (name, places) in enumerate(walls.items()):
        axes.scatter(
            *places[:MAX_WALL_POINTS_IN_SPACE].T,
            s=2,
            color=PALETTE[index % len(PALETTE)],
            label=name,
            alpha=0.6,
        )
    axes.legend(fontsize=SIZE, frameon=False)
    axes.set_box_aspect(tuple(np.ptp([domain.bounds(a) for a in domain.spatial_axes], axis=1)))


def _draw_readings(axes, places: Float[np.ndarray, "n k"], inside: Bool[np.ndarray, " n"]) -> None:
    axes.scatter(
        *places[inside].T, s=9, facecolor="white", edgecolor="black", linewidth=0.6, zorder=3
    )
    axes.scatter(*places[~inside].T, s=16, color=OUTSIDE_COLOR, marker="x", linewidth=1.0, zorder=4)
    if not inside.all():
        axes.set_title(f"{int((~inside).sum())} outside", fontsize=SIZE, color=OUTSIDE_COLOR)


def _inside(domain: Domain, places: Float[np.ndarray, "n k"]):
    if not domain.has_time:
        return domain.contains(places)
    return domain.contains(np.column_stack([places, np.full(len(places), domain.bounds("t")[0])]))


# The line of a wall is interrupted at steps of more than this many times the usual one.
MAX_STEP_RATIO = 3.0


def outlines(domain: Domain, most: int = 1024) -> dict[str, list[Float[np.ndarray, "m 2"]]]:
    """The lines inside the box that each wall consists of, by name, with about `most` points in all.

    The result is empty for a domain in space.

    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 8), y=(-2, 2), shape=-Disk(name="cylinder"))
    >>> {name: len(lines) for name, lines in outlines(channel).items()}
    {'cylinder': 1}
    """
    if len(domain.spatial_axes) != 2:
        return {}
    places = {name: places_of(domain, name) for name in domain.wall_names}
    return {name: lines(at, most) for name, at in places.items() if len(at)}


def places_of(domain: Domain, name: str) -> Float[np.ndarray, "n k"]:
    """The places of a wall in order; none where no part of it is in the box."""
    try:
        return np.asarray(domain.wall(name).places, float)
    except InputError:
        return np.zeros((0, len(domain.spatial_axes)))


def lines(places: Float[np.ndarray, "n 2"], most: int) -> list[Float[np.ndarray, "m 2"]]:
    """The lines through places in order, interrupted where the next place is far; a ring is closed."""
    ring = np.concatenate([places, places[:1]])
    step = np.linalg.norm(np.diff(ring, axis=0), axis=1)
    ends = np.flatnonzero(step > MAX_STEP_RATIO * np.median(step)) + 1
    pieces = [piece for piece in np.split(ring, ends) if len(piece) > 1]
    every = max(len(ring) // most, 1)
    return [_thinned(piece, every) for piece in pieces]


def _thinned(line: Float[np.ndarray, "n 2"], every: int) -> Float[np.ndarray, "m 2"]:
    """The line with only every `every`-th point, and its last one."""
    return line[np.unique([*range(0, len(line), every), len(line) - 1])]
