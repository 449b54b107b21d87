"""The domain itself: its shape, its walls with their names, and where readings are."""

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pgt.data.domain import Domain
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.plots.pieces import INK, PALETTE, SIZE, styled

WRONG = "#D00000"
GROUND = "#EDF2F7"
SIDE = 400  # of the grid on which the inside is painted
APART = 3.0  # times the usual step: a wall is drawn in pieces where its points are that far apart
FEW = 600  # points of a wall drawn in space


@checked
def domain(domain: Domain, points: Float[np.ndarray, "n d"] | None = None) -> Figure:
    """The shape of a domain, its walls by name, and readings at `points`: those outside are red.

    >>> import pgt
    >>> channel = pgt.Domain(x=(-2, 8), y=(-2, 2), shape=-pgt.Disk(name="cylinder"))
    >>> [text.get_text() for text in domain(channel).axes[0].texts]
    ['cylinder']
    """
    space = domain.spatial_axes
    if domain.shape is None or len(space) not in (2, 3):
        raise InputError(
            "plots.domain: the domain has no shape to draw; give it one, shape=Disk()."
        )
    figure = Figure(figsize=(5.5, 4.0), layout="constrained")
    axes = figure.add_subplot(projection="3d" if len(space) == 3 else None)
    walls = {name: domain.wall(name) for name in domain.wall_names if _is_left(domain, name)}
    draw = _draw_solid if len(space) == 3 else _draw_plane
    draw(axes, domain, walls)
    if points is not None:
        _draw_readings(axes, domain, np.asarray(points, float))
    names = [
        f"${axis}$ ({domain.units[axis]})" if axis in domain.units else f"${axis}$"
        for axis in space
    ]
    axes.set(**{f"{letter}label": name for letter, name in zip("xyz", names, strict=False)})
    return figure


def draw_walls(axes: Axes, domain: Domain, colour: str = INK) -> None:
    """The walls of a shape of the plane, as lines."""
    for name in domain.wall_names:
        if _is_left(domain, name):
            _line(axes, np.asarray(domain.wall(name).places), colour)


def _is_left(domain: Domain, name: str) -> bool:
    """Whether something of the wall is in the box."""
    try:
        domain.wall(name)
    except InputError:
        return False
    return True


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
    for index, (name, wall) in enumerate(walls.items()):
        colour, places = PALETTE[index % len(PALETTE)], np.asarray(wall.places)
        _line(axes, places, colour)
        top = places[np.argmax(places @ [0.3, 1.0])]
        axes.annotate(
            name, top, textcoords="offset points", xytext=(3, 3), color=colour, fontsize=SIZE,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
        )  # fmt: skip
    axes.set_aspect("equal")


def _line(axes: Axes, places: Float[np.ndarray, "n 2"], colour: str) -> None:
    """Through places in their order, broken where the next one is far; a ring is closed."""
    ring = np.concatenate([places, places[:1]])
    step = np.linalg.norm(np.diff(ring, axis=0), axis=1)
    broken = np.repeat(ring, 2, axis=0)[1:-1].reshape(-1, 2, 2)
    broken = broken[step <= APART * np.median(step)]
    gaps = np.full((len(broken), 1, 2), np.nan)
    x, y = np.concatenate([broken, gaps], axis=1).reshape(-1, 2).T
    axes.plot(x, y, color=colour, linewidth=1.2)


def _draw_solid(axes, domain: Domain, walls) -> None:
    for index, (name, wall) in enumerate(walls.items()):
        places = np.asarray(wall.places)[:FEW]
        axes.scatter(*places.T, s=2, color=PALETTE[index % len(PALETTE)], label=name, alpha=0.6)
    axes.legend(fontsize=SIZE, frameon=False)
    axes.set_box_aspect(tuple(np.ptp([domain.bounds(a) for a in domain.spatial_axes], axis=1)))


def _draw_readings(axes, domain: Domain, points: Float[np.ndarray, "n d"]) -> None:
    places = points[:, : len(domain.spatial_axes)]
    inside = domain.contains(points)
    axes.scatter(
        *places[inside].T, s=9, facecolor="white", edgecolor="black", linewidth=0.6, zorder=3
    )
    axes.scatter(*places[~inside].T, s=16, color=WRONG, marker="x", linewidth=1.0, zorder=4)
    if not inside.all():
        axes.set_title(f"{int((~inside).sum())} outside", fontsize=SIZE, color=WRONG)


def _inside(domain: Domain, places: Float[np.ndarray, "n k"]):
    if not domain.has_time:
        return domain.contains(places)
    return domain.contains(np.column_stack([places, np.full(len(places), domain.bounds("t")[0])]))
