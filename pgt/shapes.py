"""Shapes of the plane and of space, for `Domain(..., shape=...)`.

They are combined by operators: `a | b` is the union, `a & b` the intersection, `a - b` the difference
and `-a` what lies outside. `AbstractShape` in `pgt.extend` describes what every shape can do.
"""

from pgt.geometry import Ball as Ball
from pgt.geometry import Box as Box
from pgt.geometry import Cylinder as Cylinder
from pgt.geometry import Disk as Disk
from pgt.geometry import Ellipse as Ellipse
from pgt.geometry import Formula as Formula
from pgt.geometry import Polygon as Polygon
from pgt.geometry import Rectangle as Rectangle
from pgt.geometry import Surface as Surface
from pgt.geometry import read_shape as read_shape
