"""What is stated about a fit: its error, its doubts, and the verdict.

the posterior       outcome (a fit with its posterior), laplace (posterior of a network),
                    linearized_map (the MAP estimate next to a fit), null_space
                    (what readings and equation do not determine), members
the stated error    field_error, calibration, coverage, intervals, held_out
doubts              contradictions (conditions and sensors), misfits (readings and their noise),
                    convergence
the summary         verdict
where to measure    sensor_placement
"""

from pgt.core.doubt import Doubt as Doubt
from pgt.core.doubt import Verdict as Verdict
from pgt.uncertainty.members import Members as Members
