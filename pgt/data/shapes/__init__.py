"""Shapes of the plane and of space, and what can be asked of them."""

from pgt.data.shapes.base import AbstractShape as AbstractShape
from pgt.data.shapes.combine import Complement as Complement
from pgt.data.shapes.combine import Difference as Difference
from pgt.data.shapes.combine import Intersection as Intersection
from pgt.data.shapes.combine import Union as Union
from pgt.data.shapes.files import read_shape as read_shape
from pgt.data.shapes.formula import Formula as Formula
from pgt.data.shapes.moving import Moving as Moving
from pgt.data.shapes.placed import Placed as Placed
from pgt.data.shapes.plane import Disk as Disk
from pgt.data.shapes.plane import Ellipse as Ellipse
from pgt.data.shapes.plane import Rectangle as Rectangle
from pgt.data.shapes.polygon import Polygon as Polygon
from pgt.data.shapes.solid import Ball as Ball
from pgt.data.shapes.solid import Box as Box
from pgt.data.shapes.solid import Cylinder as Cylinder
from pgt.data.shapes.surface import Surface as Surface
