"""The uncertainty of a fit: its posterior, its stated error, its doubts and the verdict.

outcome             a fit with its posterior, as the race and the stated error use it
laplace             the Laplace approximation of the posterior of a network
linearized_map      the MAP estimate of a network that is linearized in its weights
null_space          what readings, conditions and equation leave undetermined
members             fields that could all be the true one, and statistics over them

field_error         the stated error of a field over the domain
held_out            errors at readings that were not fitted, beside those of interpolation
calibration         factors by which bands hold left-out readings as often as promised
coverage            calibrated bands, and how often they hold readings
intervals           intervals of learned coefficients

contradictions      conditions and sensors that the readings contradict
misfits             readings, sensors and noise levels that the field contradicts
convergence         whether a fit converged
verdict             all of these in one verdict with its doubts

sensor_placement    where to measure next
"""

from pgt.core.doubt import Doubt as Doubt
from pgt.core.doubt import Verdict as Verdict
from pgt.uncertainty.members import Members as Members
