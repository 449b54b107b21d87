"""Figures from labeled data: xarray in, a matplotlib `Figure` out, no global state.

domains     the shape of a domain with its walls and readings
pieces      panels, maps, lines, sensors and labels, of which figures consist
"""

from pgt.plots.domains import domain as domain
from pgt.plots.figures import compare as compare
from pgt.plots.figures import convergence as convergence
from pgt.plots.figures import field as field
from pgt.plots.figures import save as save
