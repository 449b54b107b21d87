"""The mesh of generate_wake.py: curved triangles around a cylinder, periodic across the flow."""

import ngsolve as ng
import numpy as np
from netgen.occ import Circle, Glue, IdentificationType, MoveTo, OCCGeometry, Y, gp_Trsf

XMIN, XMAX, YMIN, YMAX = -15.0, 25.0, -8.0, 8.0


def make_mesh(scale=1.0, curve=6):
    """Triangles: fine ring at the cylinder, medium wake box, coarse rest."""

    def box(x0, x1, y0, y1):
        return MoveTo(x0, y0).Rectangle(x1 - x0, y1 - y0).Face()

    def disc(r):
        return Circle((0, 0), r).Face()

    cyl, ring, ring2 = disc(0.5), disc(0.72), disc(1.2)
    wake = box(-2.6, 9.0, -2.6, 2.6)
    far = box(9.0, XMAX, -3.6, 3.6)
    rest = box(XMIN, XMAX, YMIN, YMAX) - wake - far
    parts = [ring - cyl, ring2 - ring, wake - ring2, far, rest]
    sizes = [0.14, 0.24, 0.42, 0.85, 1.7]
    for part, h in zip(parts, sizes):
        part.faces.maxh = h * scale
    geo = Glue(parts)
    for e in geo.edges:
        c, r = e.center, np.hypot(e.start.x, e.start.y)
        if abs(c.x - XMIN) < 1e-8:
            e.name = "inlet"
        elif abs(c.x - XMAX) < 1e-8:
            e.name = "outlet"
        elif abs(c.y - YMIN) < 1e-8:
            e.name = "bottom"
        elif abs(c.y - YMAX) < 1e-8:
            e.name = "top"
        elif abs(r - 0.5) < 1e-8:
            e.name = "cyl"
        else:
            e.name = "inner"
    geo.edges["bottom"][0].Identify(
        geo.edges["top"][0],
        "per",
        IdentificationType.PERIODIC,
        gp_Trsf.Translation((YMAX - YMIN) * Y),
    )
    mesh = ng.Mesh(OCCGeometry(geo, dim=2).GenerateMesh(maxh=1.7 * scale, grading=0.25))
    mesh.Curve(curve)
    return mesh
