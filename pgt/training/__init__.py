"""Rows to loss to optimiser.

Every name here is public, as `pgt.Training`; weightings are found in run files under the name they
register. Where things are, in the order in which a fit meets them:

    what is asked       settings, error_bars
    the task            assemble (everything in one place), default_model, scales, wall_scales,
                        known_terms, first_guess, linearity, losses (where models meet physics),
                        likelihood, weighting
    the fit             fit (which of the ways below, and members), budget, deadline, room, progress
    sums of sines       features (bands tried), one_band (solves for one), feature_rows, gaussian
                        (the closed form), basis (what an equation says by itself), coefficients,
                        functions, found (the answer, averaged over bands), smoothness (of
                        functions in conditions)
    networks, by steps  loop (the host's part), step (the compiled part), ensemble, optimisers,
                        soap, history
    second-order steps  polish, shares (of its budget), system (what is solved), rows, jacobian, descent,
                        least_squares, dense, evidence (noise and prior), instruments, posterior,
                        summit (the field there), jackknife, drawn, left_open
    second thoughts     overtaxed, restart, chance, contradicted (conditions that readings deny),
                        displaced (sensors at fault)
    interrupted work    checkpoint, identity
"""

from pgt.ground.stage import Stage as Stage
from pgt.training.default_model import default_model as default_model
from pgt.training.error_bars import Ensemble as Ensemble
from pgt.training.error_bars import Posterior as Posterior
from pgt.training.settings import Polish as Polish
from pgt.training.settings import Training as Training
from pgt.training.weighting import AbstractWeighting as AbstractWeighting
from pgt.training.weighting import Fixed as Fixed
from pgt.training.weighting import GradientNorm as GradientNorm
from pgt.training.weighting import Uncertainty as Uncertainty
