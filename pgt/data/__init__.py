"""What was measured, and where."""

from pgt.data.domain import Domain as Domain
from pgt.data.observations import Observations as Observations
from pgt.data.observations import cell_quadrature as cell_quadrature
from pgt.data.regions import AbstractRegion as AbstractRegion
from pgt.data.sampling import AbstractSampler as AbstractSampler
from pgt.data.sampling import ResidualAdaptive as ResidualAdaptive
from pgt.data.sampling import Sobol as Sobol
from pgt.data.sampling import Uniform as Uniform
from pgt.data.synthetic import sample as sample
