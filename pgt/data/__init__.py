"""What was measured, and where.

Every name here is public, as `pgt.Domain`; samplers are found in run files under the name they register.
"""

from pgt.data.condition_regions import AbstractRegion as AbstractRegion
from pgt.data.domain import Domain as Domain
from pgt.data.observations import Observations as Observations
from pgt.data.sampling import AbstractSampler as AbstractSampler
from pgt.data.sampling import Graded as Graded
from pgt.data.sampling import ResidualAdaptive as ResidualAdaptive
from pgt.data.sampling import Sobol as Sobol
from pgt.data.sampling import Uniform as Uniform
from pgt.data.synthetic import sample as sample
from pgt.geometry import AbstractShape as AbstractShape
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
