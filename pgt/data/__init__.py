"""Readings, the domain, and the points at which equation and conditions are enforced.

observations        readings with positions, noise and mask
sensors             sensor models: offset, gain, drift, clock; noise, counts, detection limits
domain              the box of coordinates, with a shape and periodic axes
bounds              the box alone: bounds, sampling, quadrature
shaped_domain       the part of a box inside a shape: sampling, quadrature, walls, checks
shape_points        tables of points inside a shape, and quadrature weights
condition_regions   where conditions hold: faces, walls, seams, instants
sampling            the choice of collocation points
query_points        checks of points and grids that a user asks for
splits              groups of readings for cross-validation
visibility          which pairs of points see each other around walls; cells without readings
units, dates, origin, coordinate_systems    physical units, times, offsets, coordinates
_checks, _readers   checks of readings, and readings from tables and datasets
"""

from pgt.data.domain import Domain as Domain
from pgt.data.observations import Observations as Observations
from pgt.data.observations import sample as sample
from pgt.data.sensors import Sensors as Sensors
