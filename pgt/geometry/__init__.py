"""Shapes of the plane and of space: membership, signed distance, walls with normals, measure.

shape             the base classes, boundaries, checks of arguments
simple_shapes     disks, ellipses, rectangles, balls, cylinders, boxes
polygon, surface  polygons, closed surfaces of triangles
formula           shapes where a formula is below zero
set_operations    unions, intersections, differences, complements
placement         scaled, rotated and moved shapes
walls             the boundary of a shape that combines others
wall_features     holes and reentrant corners, where fields are rough
point_location    parts of walls by a condition; bins for searches
low_discrepancy   evenly spread points of the unit cube
shape_files       shapes from files
"""

from pgt.geometry.formula import Formula as Formula
from pgt.geometry.placement import Placed as Placed
from pgt.geometry.polygon import Polygon as Polygon
from pgt.geometry.set_operations import Complement as Complement
from pgt.geometry.set_operations import Difference as Difference
from pgt.geometry.set_operations import Intersection as Intersection
from pgt.geometry.set_operations import Union as Union
from pgt.geometry.shape import AbstractShape as AbstractShape
from pgt.geometry.shape_files import read_shape as read_shape
from pgt.geometry.simple_shapes import Ball as Ball
from pgt.geometry.simple_shapes import Box as Box
from pgt.geometry.simple_shapes import Cylinder as Cylinder
from pgt.geometry.simple_shapes import Disk as Disk
from pgt.geometry.simple_shapes import Ellipse as Ellipse
from pgt.geometry.simple_shapes import Rectangle as Rectangle
from pgt.geometry.surface import Surface as Surface
