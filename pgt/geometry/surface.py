"""Shapes of space that are given by the triangles of a closed surface."""

import dataclasses
import hashlib
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from pgt.core.errors import InputError
from pgt.geometry.low_discrepancy import evenly
from pgt.geometry.point_location import Bins
from pgt.geometry.shape import AbstractSolid, Boundary, Bounds, Word, set_fields, wall_name

# Corners closer than this share of the size are merged.
MERGE_DISTANCE = 1e-9
# In an open surface, corners closer than this share of the size are merged: files in single precision
# round one corner to slightly different places.
FILE_MERGE_DISTANCE = 1e-6
# Rays are shifted by this share of the size, so that they miss corners and edges.
RAY_TILT = np.array([2.3e-10, 3.1e-10])
# The nearest triangle is searched among the triangles of this many nearest search places.
TRIANGLES_TRIED = 8
# Triangles larger than the size over this number have search places in several pieces.
PIECES_ALONG_SIZE = 48


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class Surface(AbstractSolid):
    """The inside of a closed surface of triangles.

    Parameters
    ----------
    corners
        (m, 3) places.
    triangles
        (f, 3) numbers of corners, counter-clockwise seen from outside.
    name
        The name of its wall.

    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> simplex = Surface(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> round(6 * simplex.measure(), 9), simplex.inside(np.array([[0.1, 0.1, 0.1]])).tolist()
    (1.0, [True])
    """

    corners: Float[np.ndarray, "m 3"]
    triangles: Int[np.ndarray, "f 3"]
    name: str | None = None

    def __init__(self, corners, triangles, name: Word | None = None):
        merged = _checked(corners, triangles)
        set_fields(self, corners=merged[0], triangles=merged[1], name=wall_name("Surface", name))
        _check_closed(self.triangles)
        if self.measure() <= 0:
            raise InputError(
                "Surface: its triangles are seen clockwise from outside: all normals point inwards. "
                "Reverse the order of each triangle's corners."
            )

    def __repr__(self) -> str:
        return f"Surface({len(self.triangles)} triangles, name={self.name!r})"

    @cached_property
    def _digest(self) -> str:
        parts = (self.corners.tobytes(), self.triangles.tobytes(), str(self.name).encode())
        return hashlib.sha256(b"|".join(parts)).hexdigest()

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other) -> bool:
        return self is other or (isinstance(other, Surface) and self._digest == other._digest)

    @cached_property
    def _faces(self) -> Float[np.ndarray, "f 3 3"]:
        return self.corners[self.triangles]

    @cached_property
    def _normals(self) -> Float[np.ndarray, "f 3"]:
        """The normals of the triangles, with the length of twice the area."""
        a, b, c = np.moveaxis(self._faces, 1, 0)
        return np.cross(b - a, c - a)

    @cached_property
    def _size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.corners, axis=0)))

    @cached_property
    def _bins(self) -> Bins:
        """The triangles in bins of x and y."""
        flat = self._faces[:, :, :2]
        return Bins.build(flat.min(axis=1), flat.max(axis=1), cells=2 * len(flat))

    def measure(self) -> float:
        """The volume, as the sum of the signed pyramids from one point over all triangles."""
        middle = self.corners.mean(axis=0)
        return float(np.sum((self._faces[:, 0] - middle) * self._normals) / 6)

    def inside(self, points, slack=0.0) -> Bool[np.ndarray, " n"]:
        """Which points are inside, by the winding number.

        It is the number of triangles above a point that face up minus those that face down. So closed
        parts may contain each other, or overlap.
        """
        points = self.as_places(points)
        winding, shifted = np.zeros(len(points), int), points[:, :2] + RAY_TILT * self._size
        origin, along, across, flat = self._projected
        for rows, faces in self._bins.pairs(shifted):
            from_origin = shifted[rows] - origin[faces]
            u, v = (
                np.sum(from_origin * along[faces], axis=1),
                np.sum(from_origin * across[faces], axis=1),
            )
            is_hit = (u >= 0) & (v >= 0) & (u + v <= 1) & flat[faces]
            rows, faces, u, v = rows[is_hit], faces[is_hit], u[is_hit], v[is_hit]
            corners = self._faces[faces, :, 2]
            height = corners[:, 0] * (1 - u - v) + corners[:, 1] * u + corners[:, 2] * v
            direction = np.where(self._normals[faces, 2] > 0, 1, -1)
            winding[rows] += np.where(height > points[rows, 2], direction, 0)
        is_inside = winding != 0
        if slack:
            is_inside[self._near(points, abs(slack))] = slack > 0
        return is_inside

    @cached_property
    def _projected(self):
        """The triangles seen from above: first corners, two vectors that give barycentric coordinates,
        and which triangles are not edge-on."""
        a, b, c = np.moveaxis(self._faces, 1, 0)
        p, q = (b - a)[:, :2], (c - a)[:, :2]
        area = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
        flat = np.abs(area) > 1e-300  # the others are seen edge-on
        area = np.where(flat, area, 1.0)[:, None]
        along = np.column_stack([q[:, 1], -q[:, 0]]) / area
        across = np.column_stack([-p[:, 1], p[:, 0]]) / area
        return a[:, :2], along, across, flat

    def _near(self, points, slack: float) -> Bool[np.ndarray, " n"]:
        """Which points are no farther than `slack` from a triangle."""
        near = np.zeros(len(points), bool)
        low, high = self._faces.min(axis=1), self._faces.max(axis=1)
        for rows, faces in self._bins.pairs(points[:, :2]):
            close = np.all(
                (points[rows] >= low[faces] - slack) & (points[rows] <= high[faces] + slack), axis=1
            )
            rows, faces = rows[close], faces[close]
            near[rows] |= to_triangle(points[rows], self._faces[faces]) <= slack
        return near

    def distance(self, points):
        """The signed distance to the nearest of the triangles with a search place near the point."""
        points = np.asarray(points, float)
        tree, owner = self._tree
        _, nearest = tree.query(points, k=TRIANGLES_TRIED)
        faces = self._faces[owner[nearest]]
        size = np.min([to_triangle(points, faces[:, k]) for k in range(TRIANGLES_TRIED)], axis=0)
        return np.where(self.inside(points), -size, size)

    @cached_property
    def _tree(self):
        """A tree of search places on the triangles, and the triangle of each."""
        share = np.array(
            [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]
        )
        share = share / share.sum(axis=1, keepdims=True)
        pieces, owner = small(self._faces, self._size / PIECES_ALONG_SIZE)
        places = np.einsum("qc,fck->fqk", share, pieces).reshape(-1, 3)
        return KDTree(places), np.repeat(owner, len(share))

    def bounds(self) -> Bounds:
        return self.corners.min(axis=0), self.corners.max(axis=0)

    def boundary(self, count: int) -> Boundary:
        length = np.linalg.norm(self._normals, axis=1)
        pick, u, v = evenly(count, 3).T
        face = np.searchsorted(np.cumsum(length) / length.sum(), pick).clip(0, len(length) - 1)
        root = np.sqrt(u)
        share = np.column_stack([1 - root, root * (1 - v), root * v])
        points = np.einsum("nc,nck->nk", share, self._faces[face])
        normals = self._normals[face] / length[face, None]
        return Boundary(points, normals, np.full(count, length.sum() / 2 / count))


def small(faces: Float[np.ndarray, "f 3 3"], longest: float):
    """The pieces of triangles bisected until no edge exceeds `longest`, and the triangle of each."""
    owner, done = np.arange(len(faces)), []
    while len(faces):
        edges = np.linalg.norm(faces - np.roll(faces, -1, axis=1), axis=2)
        large = edges.max(axis=1) > longest
        done.append((faces[~large], owner[~large]))
        turned = np.argmax(edges[large], axis=1)[:, None] + np.arange(3)
        faces, owner = np.take_along_axis(faces[large], turned[..., None] % 3, axis=1), owner[large]
        a, b, c = np.moveaxis(faces, 1, 0)
        middle = (a + b) / 2
        faces = np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
        owner = np.concatenate([owner, owner])
    return tuple(np.concatenate(parts) for parts in zip(*done, strict=True))


def to_triangle(points, faces):
    """The distance from each point to the triangle (3, 3) of its row."""
    a, b, c = np.moveaxis(faces, 1, 0)
    normal = np.cross(b - a, c - a)
    length = np.maximum(np.linalg.norm(normal, axis=1), 1e-300)
    height = np.sum((points - a) * normal, axis=1) / length
    within = np.ones(len(points), bool)
    edges = []
    for start, end in ((a, b), (b, c), (c, a)):
        within &= np.sum(np.cross(end - start, points - start) * normal, axis=1) >= 0
        along, away = end - start, points - start
        share = np.sum(away * along, axis=1) / np.maximum(np.sum(along**2, axis=1), 1e-300)
        edges.append(np.linalg.norm(away - np.clip(share, 0, 1)[:, None] * along, axis=1))
    return np.where(within, np.abs(height), np.min(edges, axis=0))


def _checked(corners, triangles):
    """The corners and triangles as arrays, without repeated corners and triangles of no area."""
    try:
        corners, triangles = np.asarray(corners, float), np.atleast_1d(triangles)
    except (TypeError, ValueError, OverflowError):
        raise InputError("Surface: write corners and triangles as arrays (m, 3), (f, 3).") from None
    if corners.ndim != 2 or corners.shape[1:] != (3,) or not len(triangles):
        raise InputError(
            f"Surface: corners of shape {corners.shape} and {len(triangles)} triangles are no surface; "
            "give corners (m, 3) and triangles (f, 3)."
        )
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise InputError(
            f"Surface: triangles of shape {triangles.shape}; give (f, 3) whole numbers."
        )
    if triangles.min() < 0 or triangles.max() >= len(corners):
        raise InputError(
            f"Surface: a triangle names a corner that is not there ({len(corners)} are)."
        )
    if not np.isfinite(corners).all():
        row = int(np.argwhere(~np.isfinite(corners))[0][0])
        raise InputError(f"Surface: corner {row} is not finite.")
    return _merged(corners, triangles)


def _merged(corners, triangles):
    """The corners and triangles with equal corners merged.

    In an open surface, corners are also merged that differ only by the rounding of files.
    """
    size = max(float(np.ptp(corners, axis=0).max()), 1e-300)
    rounded = np.round((corners - corners.min(axis=0)) / (MERGE_DISTANCE * size)).astype(np.int64)
    _, first, which = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    corners, triangles = corners[first], _with_area(which.reshape(-1)[triangles])
    if _shared(triangles)[1].min(initial=2) == 2:
        return corners, triangles
    close = KDTree(corners).sparse_distance_matrix(KDTree(corners), FILE_MERGE_DISTANCE * size)
    _, group = connected_components(close, directed=False)
    _, first = np.unique(group, return_index=True)
    return corners[first], _with_area(group[triangles])


def _with_area(triangles):
    """The triangles with three different corners."""
    a, b, c = triangles.T
    return triangles[(a != b) & (b != c) & (c != a)]


def _shared(triangles):
    """The directed edges of all triangles, and the number of triangles at each undirected edge."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return edges, np.unique(np.sort(edges, axis=1), axis=0, return_counts=True)[1]


def _check_closed(triangles) -> None:
    """Raise unless every edge belongs to two triangles that run along it in opposite directions."""
    edges, total = _shared(triangles)
    directed, times = np.unique(edges, axis=0, return_counts=True)
    pairs, both = np.unique(np.sort(directed, axis=1), axis=0, return_counts=True)
    if (total == 1).any():
        raise InputError(
            f"Surface: it is open: {int((total == 1).sum())} edges belong to one triangle only. Close "
            "the holes of the surface first."
        )
    if (total > 2).any():
        raise InputError(
            f"Surface: {int((total > 2).sum())} edges belong to more than two triangles; separate the "
            "parts of the surface that touch there."
        )
    if (times > 1).any() or (both != 2).any() or len(pairs) != len(total):
        raise InputError(
            "Surface: some triangles are seen clockwise from outside and others are not; turn all "
            "normals outwards first."
        )
