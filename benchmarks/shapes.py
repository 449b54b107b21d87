"""Fields in shapes against exact ones, areas and walls against known ones, and the time of inside tests.

    python benchmarks/shapes.py                       # everything, a few minutes on two cores
    python benchmarks/shapes.py --case ring --case room

* ring: steady conduction between two circles. plate: conduction around an insulated hole. room: Poisson's
  equation in an L, singular at its corner. spreading: heat that decays in a ring over time, a Bessel
  function. Each from 100 readings with walls known, everything by default; and beside it the sum of sines
  that suits a box: fewer, and without the functions that wind around holes and are rough at corners.
* measures: area or volume and boundary of shapes, relative to the exact ones.
* inside: seconds of one processor for a million points, a polygon of 1000 edges and a surface of 10 000
  triangles.

Leaves `shapes.json`.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, j0, y0

import pgt
from pgt.core.provenance import provenance
from pgt.geometry import Surface

RESULTS = Path(__file__).parent / "results"
READINGS, ASKED, POINTS = 100, 4000, 10**6
INNER, DIFFUSIVITY = 0.3, 0.05
PI = math.pi
SQUARE = {"x": (-1, 1), "y": (-1, 1)}
RING = pgt.shapes.Disk(name="rim") - pgt.shapes.Disk(radius=INNER, name="hole")
ROOM = pgt.shapes.Rectangle((-1, 1), (-1, 1), name="outer") - pgt.shapes.Rectangle(
    (0, 1), (-1, 0), name="corner"
)


class Case(NamedTuple):
    """A field that is known, the equation it solves, and what is known of its walls."""

    domain: pgt.Domain
    pde: pgt.extend.AbstractPDE
    conditions: list
    field: object


# ----------------------------------------------------------------------------------- the fields


def ring() -> Case:
    """log r between two circles."""

    def field(x, y):
        return np.log(np.hypot(x, y)) / np.log(INNER)

    held = [pgt.Dirichlet(wall="rim", u=0.0), pgt.Dirichlet(wall="hole", u=1.0)]
    return Case(pgt.Domain(**SQUARE, shape=RING), pgt.Laplace(), held, field)


def plate() -> Case:
    """A stream of heat around a hole."""

    def field(x, y):
        return x * (1 + 0.04 / (x**2 + y**2))

    domain = pgt.Domain(x=(-1, 1), y=(-0.5, 0.5), shape=-pgt.shapes.Disk(radius=0.2, name="hole"))
    return Case(domain, pgt.Laplace(), [pgt.Neumann(wall="hole", u=0.0)], field)


def room() -> Case:
    """r^(2/3) sin(2θ/3) at the corner, and a wave that a source makes."""

    def field(x, y):
        angle = np.arctan2(y, x) % (2 * PI)
        return np.hypot(x, y) ** (2 / 3) * np.sin(2 * angle / 3) + np.sin(PI * x) * np.sin(PI * y)

    pde = pgt.Poisson("-2*pi^2*sin(pi*x)*sin(pi*y)")
    held = [pgt.Dirichlet(wall="corner", u=0.0)]
    return Case(pgt.Domain(**SQUARE, shape=ROOM), pde, held, field)


def spreading() -> Case:
    """The slowest mode of a ring whose walls are held at zero."""

    def radial(k, r):
        return j0(k * r) * y0(k * INNER) - y0(k * r) * j0(k * INNER)

    k = float(brentq(lambda k: radial(k, 1.0), 3.5, 5.5))

    def field(x, y, t):
        return radial(k, np.hypot(x, y)) * np.exp(-DIFFUSIVITY * k**2 * t)

    held = [pgt.Dirichlet(wall="rim", u=0.0), pgt.Dirichlet(wall="hole", u=0.0)]
    domain = pgt.Domain(**SQUARE, t=(0, 1), shape=RING)
    return Case(domain, pgt.Heat(DIFFUSIVITY, dimension=2), held, field)


CASES = {"ring": ring, "plate": plate, "room": room, "spreading": spreading}


def measured(case: Case, with_functions: bool) -> dict:
    """The relative L2 error of one fit at places that fill the shape."""
    places, asked = case.domain.even(READINGS, seed=1), case.domain.even(ASKED, seed=2)
    values = case.field(*places.T)
    readings = pgt.Observations.from_arrays(
        dict(zip(case.domain.axes, places.T, strict=True)), {"u": values}
    )
    model = None if with_functions else pgt.Features(pgt.Scaling.fit(readings, case.domain))
    began = time.monotonic()
    result = pgt.reconstruct(
        readings, case.pde, case.domain, case.conditions, model=model, progress=False
    )
    seconds, true = time.monotonic() - began, case.field(*asked.T)
    gap = result.at(asked).u.to_numpy() - true
    return {
        "rel_l2": float(np.linalg.norm(gap) / np.linalg.norm(true)),
        "seconds": seconds,
        "model": result.summary["model"],
    }


# ------------------------------------------------------------------------------------- the shapes


def known_shapes() -> dict:
    """Shapes with their area or volume, and the length or surface of their boundary."""
    hole = pgt.shapes.Disk((1, 0.5), 0.2, name="hole")
    holed = pgt.shapes.Rectangle((0, 2), (0, 1)) - hole
    return {
        "disk": (pgt.shapes.Disk((1, 2), 3), 9 * PI, 6 * PI),
        "ellipse": (pgt.shapes.Ellipse(radii=(2, 1)), 2 * PI, 8 * float(ellipe(0.75))),
        "ring": (RING, (1 - INNER**2) * PI, 2 * (1 + INNER) * PI),
        "plate with a hole": (holed, 2 - 0.04 * PI, 6 + 0.4 * PI),
        "plate, placed": (
            holed.scaled(3).rotated(30).moved(3, 1), 9 * (2 - 0.04 * PI), 18 + 1.2 * PI,
        ),
        "L": (ROOM, 3, 8),
        "quarter": (pgt.shapes.Disk() & pgt.shapes.Rectangle((0, 1), (0, 1)), PI / 4, 2 + PI / 2),
        "formula": (pgt.shapes.Formula("x^2 + y^2 - 4", (-3, 3), (-3, 3)), 4 * PI, 4 * PI),
        "ball": (pgt.shapes.Ball((1, 0, 0), 2), 32 / 3 * PI, 16 * PI),
        "half a ball": (
            pgt.shapes.Ball() & pgt.shapes.Box((-2, 2), (-2, 2), (0, 2)), 2 / 3 * PI, 3 * PI,
        ),
        "hollow": (
            pgt.shapes.Box((-2, 2), (-2, 2), (-2, 2)) - pgt.shapes.Ball(), 64 - 4 / 3 * PI, 96 + 4 * PI,
        ),
        "tube": (
            pgt.shapes.Cylinder(radius=2, z=(0, 3)) - pgt.shapes.Cylinder(radius=1, z=(-1, 4)),
            9 * PI,
            24 * PI,
        ),
    }  # fmt: skip


def measures() -> dict:
    """Relative errors by shape."""
    return {
        name: {
            "measure": abs(shape.measure() / measure - 1),
            "boundary": abs(float(shape.walls().weights.sum()) / boundary - 1),
        }
        for name, (shape, measure, boundary) in known_shapes().items()
    }


def star(edges: int = 1000) -> pgt.shapes.Polygon:
    """A polygon that winds in and out."""
    angle = np.linspace(0, 2 * PI, edges, endpoint=False)
    size = 1 + 0.3 * np.sin(9 * angle)
    return pgt.shapes.Polygon(list(zip(size * np.cos(angle), size * np.sin(angle), strict=True)))


def torus(around: int = 100, across: int = 50) -> Surface:
    """Two triangles for each patch of a torus."""
    a, b = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    u, v = 2 * PI * a / around, 2 * PI * b / across
    ring = 1 + 0.4 * np.cos(v)
    corners = np.stack([ring * np.cos(u), ring * np.sin(u), 0.4 * np.sin(v)], -1).reshape(-1, 3)

    def at(i, j):
        return (i % around) * across + j % across

    one = np.stack([at(a, b), at(a + 1, b), at(a + 1, b + 1)], -1)
    two = np.stack([at(a, b), at(a + 1, b + 1), at(a, b + 1)], -1)
    return Surface(corners, np.concatenate([one.reshape(-1, 3), two.reshape(-1, 3)]))


def inside_seconds() -> dict:
    """Of one processor, for a million points in the box around each shape; the best of three."""
    shapes = {"polygon of 1000 edges": star(), "surface of 10000 triangles": torus()}
    return {name: min(_inside(shape) for _ in range(3)) for name, shape in shapes.items()}


def _inside(shape) -> float:
    points = np.random.default_rng(0).uniform(*shape.bounds(), (POINTS, shape.dimension))
    began = time.process_time()
    shape.inside(points)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    record = provenance() | {"readings": READINGS, "points": POINTS, "fields": {}}
    record |= {"measures": measures(), "inside": inside_seconds()}
    print(json.dumps({name: record[name] for name in ("measures", "inside")}), flush=True)
    for name in options.case or CASES:
        fits = {"with functions": True, "without": False}
        record["fields"][name] = {key: measured(CASES[name](), on) for key, on in fits.items()}
        print(name, json.dumps(record["fields"][name]), flush=True)
    (options.out / "shapes.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
