"""The domain itself: its shape, its walls with their names, and where readings are."""

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.dates import are_counted, text
from pgt.data.domain import Domain
from pgt.data.outline_lines import outlines, places_of
from pgt.plots.pieces import INK, PALETTE, SIZE, styled

WRONG = "#D00000"
FRAMES = 6  # of a shape that moves
SIDE = 400  # of the grid on which the inside is painted
FEW = 600  # points of a wall drawn in space


@checked
def domain(domain: Domain, points: Float[np.ndarray, "n d"] | None = None) -> Figure:
    """The shape of a domain, its walls by name, and readings at `points`: those outside are red. Where it
    moves, it is drawn at some instants, each with the readings nearest to it in time.

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
    frames, projection = _frames(domain), "3d" if len(space) == 3 else None
    rows, columns = (2, len(frames) // 2) if domain.moves else (1, 1)
    size = (1.5 + 4.0 * columns, rows * _height(domain))
    figure = Figure(figsize=size, layout="constrained")
    for index, t in enumerate(frames):
        axes = figure.add_subplot(rows, columns, index + 1, projection=projection)
        still = domain.at(t) if domain.moves else domain
        walls = {n: at for n in domain.wall_names if len(at := places_of(still, n))}
        (_draw_solid if len(space) == 3 else _draw_plane)(axes, still, walls)
        if domain.moves:
            said = text(t) if are_counted(domain.units) else f"{t:.4g}"
            axes.set_title(f"$t$ = {said}", fontsize=SIZE, color=INK)
        if points is not None and inside is not None:
            near = np.argmin(np.abs(points[:, -1:] - frames), axis=1) == index
            near |= not domain.moves
            _draw_readings(axes, points[near, : len(space)], inside[near])
        _name_axes(axes, domain)
    return figure


def _frames(domain: Domain) -> list[float]:
    """The instants at which it is drawn; one, where it stands still."""
    low, high = domain.bounds("t") if domain.has_time else (0.0, 0.0)
    return np.linspace(low, high, FRAMES if domain.moves else 1).tolist()


def _height(domain: Domain) -> float:
    """Of a picture, in inches; where several stand below each other, as the plane is high."""
    if not domain.moves or len(domain.spatial_axes) == 3:
        return 4.0
    return 0.8 + 3.6 * float(np.clip(domain.extent[1] / domain.extent[0], 0.25, 1.5))


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
    x, y = (np.linspace(*domain.bounds(axis), SIDE) for axis in domain.spatial_axes)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    axes.pcolormesh(
        x, y, np.where(_inside(domain, grid), 1.0, np.nan).reshape(SIDE, SIDE),
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
            *places[:FEW].T, s=2, color=PALETTE[index % len(PALETTE)], label=name, alpha=0.6
        )
    axes.legend(fontsize=SIZE, frameon=False)
    axes.set_box_aspect(tuple(np.ptp([domain.bounds(a) for a in domain.spatial_axes], axis=1)))


def _draw_readings(axes, places: Float[np.ndarray, "n k"], inside: Bool[np.ndarray, " n"]) -> None:
    axes.scatter(
        *places[inside].T, s=9, facecolor="white", edgecolor="black", linewidth=0.6, zorder=3
    )
    axes.scatter(*places[~inside].T, s=16, color=WRONG, marker="x", linewidth=1.0, zorder=4)
    if not inside.all():
        said = f"{int((~inside).sum())} outside"
        title = f"{axes.get_title()}: {said}" if axes.get_title() else said
        axes.set_title(title, fontsize=SIZE, color=WRONG)


def _inside(domain: Domain, places: Float[np.ndarray, "n k"]):
    if not domain.has_time:
        return domain.contains(places)
    return domain.contains(np.column_stack([places, np.full(len(places), domain.bounds("t")[0])]))
