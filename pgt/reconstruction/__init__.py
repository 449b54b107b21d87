"""The result of a fit: a field that can be evaluated anywhere, and its error.

candidates             one candidate of a plan, from its task to its outcome
sensor_rounds          rounds of a fit in which errors of sensors are found and taken out
solver_outcome         the outcome of an equation that is solved on a mesh
race                   the score of an answer, and which candidate is tried and kept
stated_error           the stated error of an outcome

result                 `Reconstruction`, the result of `reconstruct` and `solve`
evaluation             evaluation at points and on grids
grid_evaluation        a faster evaluation on tensor grids
integrals              fluxes, flows, forces and totals with error bars
estimates              learned coefficients and unknown functions
display                text, figures, pages and files of a result

verdict_evidence       what a verdict on a result is based on
held_out_predictions   readings with predictions by fits that did not see them
cross_validation       every reading predicted by a fit without it
"""

from pgt.reconstruction.cross_validation import CrossValidation as CrossValidation
from pgt.reconstruction.cross_validation import cross_validate as cross_validate
from pgt.reconstruction.result import Reconstruction as Reconstruction
