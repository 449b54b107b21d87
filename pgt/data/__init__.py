"""What was measured, and where.

Every name here is public, as `pgt.Domain`; samplers are found in run files under the name they register.
"""

from pgt.data.domain import Domain as Domain
from pgt.data.observations import Observations as Observations
from pgt.data.regions import AbstractRegion as AbstractRegion
from pgt.data.sampling import AbstractSampler as AbstractSampler
from pgt.data.sampling import Graded as Graded
from pgt.data.sampling import ResidualAdaptive as ResidualAdaptive
from pgt.data.sampling import Sobol as Sobol
from pgt.data.sampling import Uniform as Uniform
from pgt.data.shapes import AbstractShape as AbstractShape
from pgt.data.shapes import Ball as Ball
from pgt.data.shapes import Box as Box
from pgt.data.shapes import Cylinder as Cylinder
from pgt.data.shapes import Disk as Disk
from pgt.data.shapes import Ellipse as Ellipse
from pgt.data.shapes import Formula as Formula
from pgt.data.shapes import Polygon as Polygon
from pgt.data.shapes import Rectangle as Rectangle
from pgt.data.shapes import Surface as Surface
from pgt.data.shapes import read_shape as read_shape
from pgt.data.synthetic import sample as sample
